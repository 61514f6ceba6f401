// The one place that opens the database. One connection, one writer: every change is one transaction.
import { Database } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { migrate } from './migrate.ts'

declare const inTransaction: unique symbol
type Whole = BunSQLiteDatabase & { $client: Database }
/** To read from. It has no way to change a row. */
export type Db = Omit<Whole, 'insert' | 'update' | 'delete' | 'run' | 'transaction'>
/** Inside `write`. A function that changes rows takes a Tx, so it cannot run outside a transaction. */
export type Tx = Whole & { readonly [inTransaction]: true }

const pragmas = [
  'busy_timeout=5000', // first: switching to WAL may itself have to wait for another connection
  'journal_mode=WAL',
  'synchronous=FULL', // an acknowledged change survives a power cut
  'foreign_keys=ON',
  'trusted_schema=OFF',
  'cache_size=-32000', // KiB
]

/** `$client.query` keeps this many statements prepared. Bun's usual 20 are fewer than a busy controller has different ones. */
Database.MAX_QUERY_CACHE_SIZE = 500

/**
 * SQLite plans a query anew each time a value is bound at which the plan has looked, and a plan of a join or of a LIMIT has: that
 * costs ten times what the query does (five joins by id: 100 µs instead of 20). A plus before a value changes nothing in it and
 * keeps the planner from looking.
 */
export const steady = (sql: string) => sql.replace(/(=|<|>|\b(?:limit|offset))\s*(?=\?)/gi, '$1 +')
class Steady extends Database {
  override prepare(...[sql, ...more]: Parameters<Database['prepare']>): any {
    return super.prepare(steady(sql), ...more)
  }
}

/** Opens (and makes) the database at `path`, `:memory:` for one that is gone afterwards, and brings its schema up to date. */
export function openDb(path: string): Db {
  const file = new Steady(path, { create: true, strict: true })
  for (const pragma of pragmas) file.run(`PRAGMA ${pragma}`)
  migrate(file)
  return drizzle(file)
}

const afterWrites = new WeakMap<Db, (() => void)[]>()

/** `work` runs after each transaction that committed: the runner looks for new jobs there. */
export const afterWrite = (db: Db, work: () => void) => void afterWrites.set(db, [...(afterWrites.get(db) ?? []), work])

/**
 * One immediate transaction: all of `work` is on disk when this returns, or nothing of it.
 * `T extends Promise` is refused: bun:sqlite commits when the callback returns, not when its promise settles. So is a Tx: there is no
 * transaction inside a transaction.
 */
export function write<T>(
  db: Db & { readonly [inTransaction]?: never },
  work: (tx: Tx) => T extends Promise<unknown> ? never : T,
): T {
  const answer = transaction(db, 'IMMEDIATE', () => (work as (tx: Tx) => T)(db as Db as Tx))
  for (const after of afterWrites.get(db) ?? []) after()
  return answer
}

/** One snapshot for a whole answer. */
export const read = <T>(db: Db, work: (tx: Db) => T): T => transaction(db, 'DEFERRED', () => work(db))

function transaction<T>(db: Db, kind: 'IMMEDIATE' | 'DEFERRED', work: () => T): T {
  if (db.$client.inTransaction) throw new Error('a transaction inside a transaction')
  const { begin, commit, rollback } = statements(db)
  begin[kind].run()
  if (kind === 'IMMEDIATE') changing.add(db)
  try {
    const answer = work()
    commit.run()
    return answer
  } catch (error) {
    if (db.$client.inTransaction) rollback.run()
    throw error
  } finally {
    changing.delete(db)
  }
}

const changing = new WeakSet<Db>()
/** Inside `write`, where rows are read that may still be taken back. */
export const isChanging = (db: Db): boolean => changing.has(db)

const statementCache = new WeakMap<Db, ReturnType<typeof prepareStatements>>()
const prepareStatements = ({ $client }: Db) => ({
  begin: { IMMEDIATE: $client.prepare('BEGIN IMMEDIATE'), DEFERRED: $client.prepare('BEGIN DEFERRED') },
  commit: $client.prepare('COMMIT'),
  rollback: $client.prepare('ROLLBACK'),
})
function statements(db: Db) {
  const known = statementCache.get(db) ?? prepareStatements(db)
  statementCache.set(db, known)
  return known
}

/**
 * A query prepared once per database: `const find = prepared((db) => db.select()….prepare())`, then `find(tx).get({ id })`.
 * Preparing is most of what a small query costs (16k against 133k a second).
 */
export function prepared<T>(build: (db: Db) => T): (db: Db) => T {
  const made = new WeakMap<Db, T>()
  return (db) => {
    let statement = made.get(db)
    if (!statement) made.set(db, (statement = build(db)))
    return statement
  }
}

/**
 * Did this error come from a unique index? The index is the lock; the caller turns it into a refusal. Which one, where a row has several:
 * its last column (`accounts.email`), or the name of an index over more than columns (`accounts_external_id`).
 */
export const isUniqueViolation = (error: unknown, index?: string): boolean => {
  const e = error as { code?: string; message?: string; cause?: unknown } | undefined
  if (!e) return false
  // The database's own error is innermost; what is around it may quote the statement, which names every column.
  if (e.code !== 'SQLITE_CONSTRAINT_UNIQUE' && e.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY')
    return !!e.cause && isUniqueViolation(e.cause, index)
  return index === undefined || new RegExp(`(^| |')${index}'?$`).test(e.message ?? '')
}
