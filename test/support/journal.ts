// Captures the journal lines of a controller in this process.
import { quieten } from '../../src/kernel/log.ts'

export type JournalLine = { level: string; message: string; [about: string]: unknown }

/** The lines that are written while `work` goes on; `count` tells it how many there are. */
export async function journalOf(work: (count: () => number) => Promise<void>): Promise<JournalLine[]> {
  const lines: string[] = []
  const write = process.stderr.write
  process.stderr.write = ((text: string) => lines.push(String(text)) > 0) as typeof write
  quieten(false)
  try {
    await work(() => lines.length)
  } finally {
    process.stderr.write = write
    quieten(true)
  }
  return lines.map((line) => JSON.parse(line))
}
