// The journal: one JSON line an event on standard error. What a line may not hold is in one list.

import { journalPriority, type Level } from '../../agent/protocol/systemd.ts'

/** Fields that never stand in a journal, whatever calls them in. */
const hidden = /^(password|rootPassword|token|secret|authorization|cookie|signature|csrf|body)$/i

const plain = (value: unknown): unknown =>
  value instanceof Error
    ? { message: value.message, stack: value.stack, ...(value.cause ? { cause: plain(value.cause) } : {}) }
    : Array.isArray(value)
      ? value.map(plain)
      : value && typeof value === 'object'
        ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, hidden.test(k) ? '***' : plain(v)]))
        : value

/** Ids, which a journal is read by. What else is as long in a path is the one-time token of a link that was mailed. */
const id = /^[a-z]{2,8}_[0-9a-z]{26}$/
const SECRET_SEGMENT = /^(?=.*[0-9A-Z_])[A-Za-z0-9_%-]{20,}$/
/** The path of an address without what must not stand in a journal: its query, and one-time tokens. Control characters are question marks. */
export const plainPath = (address: string): string =>
  address
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
    .replace(/[?#].*$/s, '')
    .replace(/[^\x20-\x7e]/g, '?')
    .split('/')
    .map((segment) => (SECRET_SEGMENT.test(segment) && !id.test(segment) ? '***' : segment))
    .join('/')
    .slice(0, 200)

let quiet = false
/** Tests that provoke errors by the hundred turn it off. */
export const quieten = (on: boolean) => void (quiet = on)

const write =
  (level: Level) =>
  (message: string, fields: Record<string, unknown> = {}) => {
    if (quiet) return
    const line = JSON.stringify({ at: new Date().toISOString(), level, message, ...(plain(fields) as object) })
    process.stderr.write(`${journalPriority(level)}${line}\n`)
  }
export const log = { info: write('info'), warning: write('warning'), error: write('error') }
