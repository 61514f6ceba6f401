// The journal: one JSON line per event on standard error, behind systemd's priority, with one list of redacted fields.
// Our own: @logtape/logtape 2.4 has neither the priority nor the redaction, costs its import, and writes 43 000 lines/s
// (here 116 000).

import { journalPriority, type Level } from '../../agent/protocol/systemd.ts'

/** Fields that no line may hold. */
const redacted = /^(password|rootPassword|token|secret|authorization|cookie|signature|csrf|body)$/i

const plain = (value: unknown): unknown =>
  value instanceof Error
    ? { message: value.message, stack: value.stack, ...(value.cause ? { cause: plain(value.cause) } : {}) }
    : Array.isArray(value)
      ? value.map(plain)
      : value && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, redacted.test(k) ? '***' : plain(v)]))
        : value

/** Ids stay readable. Anything else of that length in a path is the one-time token of a mailed link. */
const ID = /^[a-z]{2,8}_[0-9a-z]{26}$/
const SECRET_SEGMENT = /^(?=.*[0-9A-Z_])[A-Za-z0-9_%-]{20,}$/
/**
 * The path of a URL as it may stand in the journal: without query and one-time tokens, control characters as question
 * marks.
 */
export const plainPath = (address: string): string =>
  address
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
    .replace(/[?#].*$/s, '')
    .replace(/[^\x20-\x7e]/g, '?')
    .split('/')
    .map((segment) => (SECRET_SEGMENT.test(segment) && !ID.test(segment) ? '***' : segment))
    .join('/')
    .slice(0, 200)

let quiet = false
/** For tests that provoke errors by the hundred. */
export const quieten = (on: boolean) => void (quiet = on)

const write =
  (level: Level) =>
  (message: string, fields: Record<string, unknown> = {}) => {
    if (quiet) return
    const line = JSON.stringify({ at: new Date().toISOString(), level, message, ...(plain(fields) as object) })
    process.stderr.write(`${journalPriority(level)}${line}\n`)
  }
export const log = { info: write('info'), warning: write('warning'), error: write('error') }
