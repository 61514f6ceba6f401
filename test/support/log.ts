// Captures journal lines while a function runs.
import { quieten } from '../../src/kernel/log.ts'

export async function listenToLog<T>(work: () => T | Promise<T>): Promise<{ answer: T; lines: string[] }> {
  const lines: string[] = []
  const write = process.stderr.write
  process.stderr.write = ((text: string) => lines.push(String(text)) > 0) as typeof process.stderr.write
  quieten(false)
  try {
    return { answer: await work(), lines }
  } finally {
    quieten(true)
    process.stderr.write = write
  }
}
