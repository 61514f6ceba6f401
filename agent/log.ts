// The agent's own log: one JSON line per event on standard error, where systemd's journal picks it up. What belongs to one
// command goes to that command's log instead (job-log.ts); the controller keeps it with the job.

import { journalPriority, type Level } from './protocol/systemd.ts'

/** Values under these names never reach a log. */
const SECRET = /pass|secret|token|signature|private|authorization|userdata/i

const redact = (name: string, value: unknown) => {
  if (SECRET.test(name)) return '[redacted]'
  if (value instanceof Error) return { message: value.message, stack: value.stack, cause: value.cause }
  return value
}

/** Writes one line. `about` holds what a person at three in the morning needs to see next to the words. */
export function log(level: Level, text: string, about: Record<string, unknown> = {}) {
  const line = { at: new Date().toISOString(), level, text, ...about }
  process.stderr.write(`${journalPriority(level)}${JSON.stringify(line, redact)}\n`)
}
