// The log of a container, from the file that Podman's helper writes. Podman's own interface tells times of lines to the
// second only, so nothing could be read on from where the last reader stopped.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { LogPart } from '../container.ts'

/** More than one answer to the controller can carry. */
const MOST_BYTES = 2 << 20
/** A line of the file: its time, the output, whether the line goes on in the next one (`P`) or ends (`F`), the text. */
const RECORD = /^\S+ (stdout|stderr) ([PF]) (.*)$/s
/** The cursor of a log that is not there yet. */
const NOWHERE = '0-0'

/**
 * The last lines of the log file, or where `since` is a cursor of an earlier answer, those behind it. The cursor is the
 * file's inode with the bytes that were read: the helper begins another file when one is full, and then all of the new
 * one is behind the cursor. A line that was read before it ended goes on as a line of its own.
 */
export function readLog(path: string, lines: number, since?: string): LogPart {
  const file = opened(path)
  if (file === undefined) return { text: '', cursor: NOWHERE, skipped: false }
  try {
    const { ino, size } = fstatSync(file)
    const [inode, read] = (since ?? NOWHERE).split('-').map(Number)
    const isSame = inode === ino && read! <= size
    const begin = isSame ? read! : 0
    const from = Math.max(begin, size - MOST_BYTES)
    const bytes = Buffer.alloc(size - from)
    const got = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from))
    const end = got.lastIndexOf('\n') + 1
    // A place within the file that is no cursor may be within a line.
    const start = from === begin ? 0 : Math.min(got.indexOf('\n') + 1, end)
    const all = textOf(got.subarray(start, end).toString('utf8'))
    const kept = all.slice(-lines)
    const skipped = since !== undefined && (from > begin || kept.length < all.length)
    return { text: kept.join(''), cursor: `${ino}-${from + end}`, skipped }
  } finally {
    closeSync(file)
  }
}

/** The file to read; undefined without one: the container was never started. */
function opened(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The lines of both outputs in their order, each with its line break; the last of each may have none yet. */
function textOf(records: string): string[] {
  const lines: string[] = []
  const begun = new Map<string, string>()
  for (const record of records.split('\n')) {
    const [, output, part, text] = RECORD.exec(record) ?? []
    if (output === undefined) continue
    const line = (begun.get(output) ?? '') + text
    if (part === 'P') begun.set(output, line)
    else {
      begun.delete(output)
      lines.push(`${line}\n`)
    }
  }
  return [...lines, ...[...begun.values()].map((line) => `${line}\n`)]
}
