// The one place that opens the database. One connection, one writer: every change is one transaction.
import { constants, Database, type Statement } from 'bun:sqlite'
import fs from 'node:fs'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { startFromDisk } from '../../../agent/protocol/linux/page-cache.ts'
import type { Cause } from '../audit/cause.ts'
import { log } from '../log.ts'
import { BUSY_TIMEOUT_MS, DatabaseHealth, DatabaseUnavailable, type HoldKind, type Trouble } from './health.ts'
import { type Migration, migrate } from './migrate.ts'

declare const inTransaction: unique symbol
type Whole = BunSQLiteDatabase & { $client: DatabaseFile }
/** To read from. It has no way to change a row. */
export type Db = Omit<Whole, 'insert' | 'update' | 'delete' | 'run' | 'transaction'>
/** Inside `write`. A function that changes rows takes a Tx, so it cannot run outside a transaction. */
export type Tx = Whole & { readonly [inTransaction]: true }

const pragmas = [
  `busy_timeout=${BUSY_TIMEOUT_MS}`, // first: switching to WAL may itself have to wait for another connection
  'journal_mode=WAL',
  'synchronous=FULL', // an acknowledged change survives a power cut
  'foreign_keys=ON',
  'trusted_schema=OFF',
  'secure_delete=ON', // a secret that is erased is not left in free pages; in orders with their jobs it cost nothing
  'temp_store=MEMORY', // what a savepoint may have to roll back would be written to a temporary file page by page
  'cache_size=-32000', // KiB
]

const readerPragmas = [
  `busy_timeout=${BUSY_TIMEOUT_MS}`,
  'query_only=ON',
  'trusted_schema=OFF',
  'temp_store=MEMORY',
  'cache_size=-32000', // KiB
]

/**
 * `$client.query` keeps this many statements prepared. Bun's usual 20 are fewer than a busy controller has different
 * ones.
 */
Database.MAX_QUERY_CACHE_SIZE = 500

/**
 * The open database and what lives with it: prepared statements, hooks after a commit, and whether a change is going
 * on.
 */
export class DatabaseFile extends Database {
  /** Results of `prepared`, by the function that builds them. */
  readonly statements = new Map<(db: Db) => unknown, unknown>()
  readonly beforeWrite: (() => void)[] = []
  readonly beforeCommit: ((tx: Tx) => void)[] = []
  readonly afterChange: ((tx: Tx, cause: Cause) => void)[] = []
  readonly afterWrite: (() => void)[] = []
  /** Set once the schema is up to date. */
  health!: DatabaseHealth
  /** Inside `write`, where rows are read that may still be rolled back. */
  changing = false
  /** Inside `read`. */
  reading = false
  /** Set where a change is confirmed only when it is stored elsewhere too: resolves when what is committed is. */
  confirmed: (() => Promise<void>) | undefined
  private ownFile: number | undefined
  /** The log of the database as a file, from the first `flush` on. */
  private logFile: number | undefined
  private control:
    | { begin: Record<'IMMEDIATE' | 'DEFERRED', Statement>; commit: Statement; rollback: Statement }
    | undefined

  /** All of `work` or nothing. Throws when a transaction is open already. */
  inOne<T>(kind: 'IMMEDIATE' | 'DEFERRED', work: () => T): T {
    if (this.inTransaction) throw new Error('a transaction inside a transaction')
    this.control ??= {
      begin: { IMMEDIATE: this.prepare('BEGIN IMMEDIATE'), DEFERRED: this.prepare('BEGIN DEFERRED') },
      commit: this.prepare('COMMIT'),
      rollback: this.prepare('ROLLBACK'),
    }
    const { begin, commit, rollback } = this.control
    if (kind === 'IMMEDIATE') this.health.mustBeWritable()
    try {
      begin[kind].run()
      this.changing = kind === 'IMMEDIATE'
      this.reading = kind === 'DEFERRED'
      const result = work()
      commit.run()
      return result
    } catch (error) {
      const met = this.health.met(error)
      // Some errors of the disk have rolled it back already.
      if (this.inTransaction) rollback.run()
      throw kind === 'IMMEDIATE' ? met : error
    } finally {
      this.changing = false
      this.reading = false
    }
  }

  /**
   * Resolves when everything that is committed by now is on disk; others are served meanwhile. Rejects with
   * `DatabaseUnavailable` when the disk did not take it: then changes are refused.
   */
  async flush(): Promise<void> {
    const path = `${this.filename}-wal`
    if (this.logFile === undefined && !fs.existsSync(path)) return // In memory.
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    try {
      this.logFile ??= fs.openSync(path, 'r')
      fs.fdatasync(this.logFile, (error) => (error ? reject(error) : resolve()))
      await promise
    } catch (error) {
      // As SQLite calls it when it flushes itself.
      throw this.health.met(Object.assign(new Error((error as Error).message), { code: 'SQLITE_IOERR_FSYNC' }))
    }
  }

  /** For reading; closed with the database, because closing it earlier would release SQLite's own locks of the file. */
  mainFile(): number {
    return (this.ownFile ??= fs.openSync(this.filename, 'r'))
  }

  /** The log is copied into the database only when somebody asks for it, and stays where it is after the end. */
  keepLog() {
    this.run('PRAGMA wal_autocheckpoint=0')
    this.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1)
  }

  override close(throwOnError?: boolean) {
    if (this.logFile !== undefined) fs.closeSync(this.logFile)
    this.logFile = undefined
    super.close(throwOnError)
    if (this.ownFile !== undefined) fs.closeSync(this.ownFile)
    this.ownFile = undefined
  }
}

/**
 * Opens (and makes) the database at `path`, `:memory:` for one that is gone afterwards, and brings its schema up to
 * date. `keepsLog`: for a replica, which reads the log. Throws `NotOurDatabase`.
 */
export function openDb(path: string, migrations?: readonly Migration[], { keepsLog = false } = {}): Db {
  startFromDisk(path)
  const file = new DatabaseFile(path, { create: true, strict: true })
  for (const pragma of pragmas) file.run(`PRAGMA ${pragma}`)
  if (keepsLog) file.keepLog()
  migrate(file, migrations)
  file.health = new DatabaseHealth(file)
  return drizzle(file) as unknown as Whole
}

/**
 * Another connection to a database that is open, for another thread: it sees what is committed and changes nothing.
 * An error that it meets says nothing about changes, which go on.
 */
export function openReader(path: string): Db {
  const file = new DatabaseFile(path, { readonly: true, strict: true })
  for (const pragma of readerPragmas) file.run(`PRAGMA ${pragma}`)
  file.health = { met: (error: unknown) => error } as DatabaseHealth
  return drizzle(file) as unknown as Whole
}

/** `work` runs before each transaction of `write` begins: it may write what must be there when that one commits. */
export const beforeWrite = (db: Db, work: () => void) => void db.$client.beforeWrite.push(work)

/**
 * `work` runs at the end of each transaction and is part of it. Small notes that wait go to disk with the change of
 * another, because a transaction of their own would cost a flush. What it throws takes the change back.
 */
export const beforeCommit = (db: Db, work: (tx: Tx) => void) => void db.$client.beforeCommit.push(work)

/**
 * `work` runs at the end of each change that a call or a job makes, in its transaction: several of them share one, so
 * `beforeCommit` does not know their causes.
 */
export const afterChange = (db: Db, work: (tx: Tx, cause: Cause) => void) => void db.$client.afterChange.push(work)
/** The change of this cause is complete. */
export function changeMade(tx: Tx, cause: Cause) {
  for (const work of tx.$client.afterChange) work(tx, cause)
}

/** `work` runs after each transaction that committed: the runner looks for new jobs there. */
export const afterWrite = (db: Db, work: () => void) => void db.$client.afterWrite.push(work)

/**
 * One immediate transaction: all of `work` is on disk when this returns, or nothing of it. `T extends Promise` is
 * refused: bun:sqlite commits when the callback returns, not when its promise settles. So is a Tx: there is no
 * transaction inside a transaction. Throws `DatabaseUnavailable` when the database cannot be written.
 */
export function write<T>(
  db: Db & { readonly [inTransaction]?: never },
  work: (tx: Tx) => T extends Promise<unknown> ? never : T,
): T {
  const { $client } = db as Db
  const tx = db as Db as Tx
  for (const before of $client.beforeWrite) before()
  const result = $client.inOne('IMMEDIATE', () => {
    const made = (work as (tx: Tx) => T)(tx)
    for (const join of $client.beforeCommit) join(tx)
    return made
  })
  // The change is on disk: an error of work that follows it must not make it look refused.
  for (const after of $client.afterWrite)
    try {
      after()
    } catch (error) {
      log.error('work that follows a change failed and is taken up later', { error: $client.health.met(error) })
    }
  return result
}

/** Thrown at the end of a transaction to roll it back, with its result. */
class RolledBack {
  constructor(readonly made: unknown) {}
}

/**
 * `write` whose rows are all rolled back at the end; answers the result of `work`. No work that follows a commit is
 * done. Throws what `write` throws.
 */
export function rehearse<T>(
  db: Db & { readonly [inTransaction]?: never },
  work: (tx: Tx) => T extends Promise<unknown> ? never : T,
): T {
  try {
    return (db as Db).$client.inOne('IMMEDIATE', (): T => {
      throw new RolledBack((work as (tx: Tx) => T)(db as Db as Tx))
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.made as T
    throw error
  }
}

/**
 * One transaction that is not flushed to the disk by itself: the next `write` flushes it too, because both are in one
 * log. A power cut before that may lose it, a crash of the process does not. For what nobody was promised, such as
 * lines of a log. It takes nothing of others along. Throws `DatabaseUnavailable`.
 */
export function writeUnflushed(db: Db & { readonly [inTransaction]?: never }, work: (tx: Tx) => void): void {
  const { $client } = db as Db
  $client.run('PRAGMA synchronous=NORMAL')
  try {
    $client.inOne('IMMEDIATE', () => work(db as Db as Tx))
  } finally {
    $client.run('PRAGMA synchronous=FULL')
  }
}

/**
 * `write`, or `writeUnflushed`, for a change that a read can do without: nothing is done while the database cannot be
 * written.
 */
export function writeIfPossible(
  db: Db & { readonly [inTransaction]?: never },
  work: (tx: Tx) => void,
  how: typeof writeUnflushed = write<void>,
) {
  try {
    how(db, work)
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error
  }
}

/** False after an error that has rolled the transaction back. */
export const isInTransaction = (tx: Db): boolean => tx.$client.inTransaction

/** Why changes are refused now; undefined while they are made. */
export const troubleOf = (db: Db): Trouble | undefined => db.$client.health.trouble

/** Refuses changes for a reason outside of the database, until `releaseChanges`. */
export const holdChanges = (db: Db, trouble: Trouble & { kind: HoldKind }) => db.$client.health.hold(trouble)
export const releaseChanges = (db: Db, kind: HoldKind) => db.$client.health.release(kind)

/** `work` runs when changes are made again after a time in which they were refused. */
export const whenHealed = (db: Db, work: () => void) => void db.$client.health.whenHealed.push(work)

/** One snapshot for a whole answer; inside another `read` that one's. */
export const read = <T>(db: Db, work: (tx: Db) => T): T =>
  db.$client.reading ? work(db) : db.$client.inOne('DEFERRED', () => work(db))

/** Inside `write`, where rows are read that may still be rolled back. */
export const isChanging = (db: Db): boolean => db.$client.changing

/**
 * A query prepared once per database: `const find = prepared((db) => db.select()….prepare())`, then `find(tx).get({ id
 * })`. Preparing is most of what a small query costs (16k against 133k a second).
 */
export const prepared =
  <T>(build: (db: Db) => T): ((db: Db) => T) =>
  (db) => {
    const { statements } = db.$client
    let statement = statements.get(build) as T | undefined
    if (!statement) statements.set(build, (statement = build(db)))
    return statement
  }

const pages = prepared(({ $client }) => ({
  count: $client.prepare<{ page_count: number }, []>('PRAGMA page_count'),
  size: $client.prepare<{ page_size: number }, []>('PRAGMA page_size'),
}))
/** How large the database is, in bytes. */
export function bytesOf(db: Db): number {
  const { count, size } = pages(db)
  return count.get()!.page_count * size.get()!.page_size
}

const savepoints = prepared(({ $client }) => ({
  begin: $client.prepare('SAVEPOINT part'),
  rollback: $client.prepare('ROLLBACK TO part'),
  release: $client.prepare('RELEASE part'),
}))

/**
 * Part of a transaction: all of `work` or nothing of it, and what others wrote in the transaction stays. Throws what
 * `work` throws.
 */
export function savepoint<T>(tx: Tx, work: () => T): T {
  const { begin, rollback, release } = savepoints(tx)
  begin.run()
  try {
    const result = work()
    release.run()
    return result
  } catch (error) {
    // Some errors of the disk have ended the whole transaction already, and the savepoint with it.
    if (tx.$client.inTransaction) {
      rollback.run()
      release.run()
    }
    throw error
  }
}

/**
 * Did this error come from a unique index? The index is the lock; the caller turns it into a refusal. Which one, where
 * a row has several: its last column (`accounts.email`), or the name of an index over more than columns
 * (`accounts_external_id`).
 */
export const isUniqueViolation = (error: unknown, index?: string): boolean => {
  const e = error as { code?: string; message?: string; cause?: unknown } | undefined
  if (!e) return false
  // The database's own error is innermost; what is around it may quote the statement, which names every column.
  if (e.code !== 'SQLITE_CONSTRAINT_UNIQUE' && e.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY')
    return !!e.cause && isUniqueViolation(e.cause, index)
  return index === undefined || new RegExp(`(^| |')${index}'?$`).test(e.message ?? '')
}
