// The agent's own log: one JSON line per event on standard error, for systemd's journal. Lines about one command go to
// that command's log instead (job-log.ts), which the controller stores with the job.

import { journalPriority, type Level } from './protocol/systemd.ts'

/** Values under these names never reach a log. */
const SECRET = /pass|secret|token|signature|private|authorization|userdata/i

const redact = (name: string, value: unknown) => {
  if (SECRET.test(name)) return '[redacted]'
  if (value instanceof Error) return { message: value.message, stack: value.stack, cause: value.cause }
  return value
}

/** Writes one line. `about` holds the fields beside the text; values under secret names are redacted. */
export function log(level: Level, text: string, about: Record<string, unknown> = {}) {
  const line = { at: new Date().toISOString(), level, text, ...about }
  process.stderr.write(`${journalPriority(level)}${JSON.stringify(line, redact)}\n`)
}
