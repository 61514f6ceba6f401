// The difference that a change made: the gate compares the row before and after, so that no operation has to.
import { iso } from '../db/clock.ts'

export type Change = { field: string; before: unknown; after: unknown }

/** The log shows that such a column changed, never its value. */
const SECRET = /hash|secret|encrypt|password|token|csrf|seed|private|codes|credential/i
const MOST_CHARACTERS = 500
/** Names of a removed thing, as people know it. */
const names = ['name', 'hostname', 'email', 'address', 'title', 'text']

type Row = Record<string, unknown>

/** An undefined row does not exist (any more). Null when there is no difference to show. */
export function changesOf(before: Row | undefined, after: Row | undefined): Change[] | null {
  if (!before) return null
  const fields = after ? Object.keys({ ...before, ...after }) : names.filter((name) => before[name] != null)
  const changes = fields
    .filter((field) => JSON.stringify(before[field] ?? null) !== JSON.stringify(after?.[field] ?? null))
    .map((field) => ({ field, before: shown(field, before[field]), after: shown(field, after?.[field]) }))
  return changes.length ? changes : null
}

function shown(field: string, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (SECRET.test(field) && typeof value !== 'boolean') return '***'
  if (typeof value === 'number' && /(At|Until)$/.test(field)) return iso(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length > MOST_CHARACTERS) return `${text.slice(0, MOST_CHARACTERS)}…`
  return value
}
