// The journal: one JSON line an event on standard error. What a line may not hold is in one list.

type Level = 'info' | 'warning' | 'error'

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

let quiet = false
/** Tests that provoke errors by the hundred turn it off. */
export const quieten = (on: boolean) => void (quiet = on)

const write =
  (level: Level) =>
  (message: string, fields: Record<string, unknown> = {}) => {
    if (!quiet) process.stderr.write(JSON.stringify({ at: new Date().toISOString(), level, message, ...(plain(fields) as object) }) + '\n')
  }
export const log = { info: write('info'), warning: write('warning'), error: write('error') }
