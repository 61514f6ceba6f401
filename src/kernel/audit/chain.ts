// The audit log is a chain: each line's hash covers the line before it, so that a line changed, removed or put in
// between behind the product's back shows from there on. Lines cut off at the end, and a log whose every later hash was
// made anew, show against the anchor (anchor.ts).
import type { Database } from 'bun:sqlite'
import { type Db, prepared } from '../db/open.ts'

/**
 * Everything a line says, in the order in which it is stored and hashed. `details` is the text as it lies in the
 * database.
 */
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
  'changes',
  'job_id',
] as const
type Value = string | number | null
export type Line = Record<Exclude<(typeof columns)[number], 'seq'>, Value>

/** The first line's hash covers this in place of a previous line. */
const START = { seq: 0, hash: '' }

// Length and type of each value are in the JSON, so no two lines hash the same text. What is null at the end is left
// out (changes, a job): so it is of lines from before there was such a column.
const hashOf = (before: string, values: readonly Value[]) =>
  new Bun.CryptoHasher('sha256')
    .update(`${before}\n${JSON.stringify(values.slice(0, values.findLastIndex((value) => value !== null) + 1))}`)
    .digest('hex')

/** The number of a line and its hash. */
export type Newest = typeof START
export const NEWEST_LINE = 'SELECT seq, hash FROM audit WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1'
/** Of a file that is no open controller's: when its newest line was written. */
export const newestLineAt = (file: Database): number | undefined =>
  file.query<{ at: number }, []>('SELECT at FROM audit ORDER BY rowid DESC LIMIT 1').get()?.at
const last = prepared(({ $client }) => $client.prepare<Newest, []>(NEWEST_LINE))
/** The newest line; undefined in a log without lines. */
export const headOf = (db: Db): Newest | undefined => last(db).get() ?? undefined

const bySeq = prepared(({ $client }) =>
  $client.prepare<{ hash: string }, [number]>('SELECT hash FROM audit WHERE seq = ?'),
)
/** The hash of the line with this number; undefined where there is none. */
export const hashAt = (db: Db, seq: number): string | undefined => bySeq(db).get(seq)?.hash

const placeAt = prepared(({ $client }) => ({
  newest: $client.prepare<{ seq: number | null }, []>('SELECT max(seq) AS seq FROM audit'),
  line: $client.prepare<{ id: string; at: number }, [number]>('SELECT id, at FROM audit WHERE seq = ?'),
}))
/**
 * The id of the first line from this time on, in ms; undefined where there is none yet. Lines are in the order of their
 * times, so halving finds it: an index over the times would be a tenth of the log.
 */
export function firstLineSince(db: Db, at: number): string | undefined {
  const { newest, line } = placeAt(db)
  let [from, end] = [1, (newest.get()!.seq ?? 0) + 1]
  while (from < end) {
    const middle = Math.floor((from + end) / 2)
    const found = line.get(middle)
    if (found && found.at < at) from = middle + 1
    else end = middle
  }
  return line.get(from)?.id
}

const insert = prepared(({ $client }) =>
  $client.prepare(`INSERT INTO audit (${columns}, hash) VALUES (${columns.map(() => '?')}, ?)`),
)

/**
 * In the transaction of the change. The last line is asked for each time: one kept in mind would outlive a rollback.
 */
export function appendLine(tx: Db, line: Line) {
  const before = last(tx).get() ?? START
  const all = { ...line, seq: before.seq + 1 }
  // Half a character is stored as U+FFFD; it is hashed as what will be read back.
  const values = columns.map((name) => (typeof all[name] === 'string' ? all[name].toWellFormed() : all[name]))
  insert(tx).run(...values, hashOf(before.hash, values))
}

/** So many lines are checked in one go, in some milliseconds; then others have their turn. */
const SLICE = 500
const toCheck = prepared(({ $client }) => ({
  last: $client.prepare<{ seq: number | null }, []>('SELECT max(seq) AS seq FROM audit'),
  placeless: $client.prepare<{ id: string | null; n: number }, []>(
    'SELECT min(id) AS id, count(*) AS n FROM audit WHERE seq IS NULL',
  ),
  slice: $client.prepare<Line & typeof START, [number, number, number]>(
    `SELECT ${columns}, hash FROM audit WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
  ),
}))

/**
 * Goes through the log as it is now, once. `brokenAt` is the first line that does not follow from those before it.
 * Reads outside a transaction and in slices: lines are only ever added, so what is added meanwhile is not missed but
 * not looked at.
 */
export async function checkChain(db: Db): Promise<{ lines: number; ok: boolean; brokenAt: string | null }> {
  const { last, placeless, slice } = toCheck(db)
  const end = last.get()!.seq ?? 0
  const without = placeless.get()!
  let before = START
  let lines = without.n
  let brokenAt: string | null = without.id
  // Backwards from nothing would be a place too.
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const found = slice.all(after, end, SLICE)
    if (!found.length) return { lines, ok: brokenAt === null, brokenAt }
    for (const line of found) {
      const values = columns.map((name) => line[name])
      if (brokenAt === null && (line.seq !== before.seq + 1 || line.hash !== hashOf(before.hash, values)))
        brokenAt = String(line.id)
      before = { seq: line.seq, hash: line.hash }
    }
    lines += found.length
    after = before.seq
    await Bun.sleep(0)
  }
}
