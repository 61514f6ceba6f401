// The audit log is a chain: each line's hash covers the line before it, so that a line changed, removed or put in between behind
// the product's back shows from there on. What does not show: lines cut off at the end, and a log whose every later hash was made
// anew. Both show against a backup.
import { type Db, prepared } from '../db/open.ts'

/** Everything a line says, in the order in which it is stored and hashed. `details` is the text as it lies in the database. */
const columns = [
  'seq',
  'id',
  'at',
  'actor_id',
  'actor_name',
  'via',
  'operation',
  'target',
  'from_address',
  'request_id',
  'result',
  'details',
] as const
type Value = string | number | null
export type Line = Record<Exclude<(typeof columns)[number], 'seq'>, Value>

/** What the first line's hash covers in place of a line before it. */
const START = { seq: 0, hash: '' }

// Length and type of each value are in the JSON, so no two lines hash the same text.
const hashOf = (before: string, values: readonly Value[]) =>
  new Bun.CryptoHasher('sha256').update(`${before}\n${JSON.stringify(values)}`).digest('hex')

const last = prepared(({ $client }) =>
  $client.prepare<typeof START, []>('SELECT seq, hash FROM audit WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1'),
)
const insert = prepared(({ $client }) => $client.prepare(`INSERT INTO audit (${columns}, hash) VALUES (${columns.map(() => '?')}, ?)`))

/** In the transaction of the change. The last line is asked for each time: one kept in mind would outlive a rollback. */
export function appendLine(tx: Db, line: Line) {
  const before = last(tx).get() ?? START
  const all = { ...line, seq: before.seq + 1 }
  // Half a character is stored as U+FFFD; it is hashed as what will be read back.
  const values = columns.map((name) => (typeof all[name] === 'string' ? all[name].toWellFormed() : all[name]))
  insert(tx).run(...values, hashOf(before.hash, values))
}

/** Goes through the whole log once, a line at a time. `brokenAt` is the first line that does not follow from those before it. */
export function checkChain(db: Db): { lines: number; ok: boolean; brokenAt: string | null } {
  let before = START
  let lines = 0
  let brokenAt: string | null = null
  const all = db.$client.query<Line & typeof START, []>(`SELECT ${columns}, hash FROM audit ORDER BY seq`)
  for (const line of all.iterate()) {
    lines++
    if (brokenAt !== null) continue
    const values = columns.map((name) => line[name])
    if (line.seq !== before.seq + 1 || line.hash !== hashOf(before.hash, values)) brokenAt = String(line.id)
    before = { seq: line.seq, hash: line.hash }
  }
  return { lines, ok: brokenAt === null, brokenAt }
}
