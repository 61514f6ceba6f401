// Migrations are SQL files inside the executable, applied in order at start, each in its own transaction. Beside the
// name of each stands what it said when it was applied: a file that was edited since would leave a database that looks
// like ours and is not.
import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { migrations as product } from '../../../migrations/index.ts'
import { digest } from '../crypto/secrets.ts'

/** SQL that brings the schema from one version to the next, applied once in its own transaction. */
export type Migration = { name: string; sql: string }

/** This program and this database do not belong together; the message says why and what to do. */
export class NotOurDatabase extends Error {}
/** There is no database where there was one; the message says what to do. */
export class DatabaseMissing extends Error {}

/** A database of one page may have its tables in the write-ahead log. */
const ONE_PAGE_BYTES = 4096

/** Is there no database at `path`, or one without a table? A file that is no database is not empty. */
export function isEmptyDatabase(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0 || size > ONE_PAGE_BYTES) return size === 0
  const file = new Database(path, { readwrite: true, create: false })
  try {
    return file.query('SELECT 1 FROM sqlite_master').get() === null
  } catch (error) {
    if ((error as { code?: string }).code === 'SQLITE_NOTADB') return false
    throw error
  } finally {
    file.close()
  }
}

/** Checksums by the text of their migrations, which are constants: one is needed to check it and to apply it. */
const checksums = new Map<string, string>()

/** The hash of a migration's statements: comments and line breaks may change. */
export function checksumOf(sql: string): string {
  let checksum = checksums.get(sql)
  if (checksum === undefined)
    checksums.set(sql, (checksum = digest(sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim())))
  return checksum
}

/** Throws `NotOurDatabase`, before anything is changed: going on would damage it. */
export function migrate(file: Database, migrations: readonly Migration[] = product) {
  mustFit(file, migrations)
  file.run(
    'CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at INTEGER ' +
      'NOT NULL) STRICT',
  )
  const isApplied = file.query<unknown, [string]>('SELECT 1 FROM migrations WHERE name = ?')
  for (const { name, sql } of migrations) {
    const apply = file.transaction(() => {
      if (isApplied.get(name)) return
      file.run(sql)
      file.run('INSERT INTO migrations (name, checksum, applied_at) VALUES (?, ?, ?)', [
        name,
        checksumOf(sql),
        Date.now(),
      ])
    })
    // Two may start at once: who comes second waits, and finds it done.
    if (!isApplied.get(name)) apply.immediate()
  }
}

/** Reads only: is this database one that the program can open or bring up to date? Throws `NotOurDatabase`. */
export function mustFit(file: Database, migrations: readonly Migration[] = product) {
  const applied = appliedTo(file)
  const own = new Map(migrations.map(({ name, sql }) => [name, checksumOf(sql)]))
  const last = migrations.at(-1)?.name ?? ''
  const changed = applied.filter(({ name, checksum }) => (own.has(name) ? own.get(name) !== checksum : name < last))
  if (changed.length)
    throw new NotOurDatabase(
      `This database was made by a Berth that was never released (its ${names(changed)} is not what this version ` +
        'knows by that name), and there ' +
        'is no way from there to here. Start the program that made it; or begin with an empty data directory, or ' +
        'with a backup that a released Berth made.',
    )
  const newer = applied.filter(({ name }) => !own.has(name))
  if (newer.length)
    throw new NotOurDatabase(
      `This database was written by a newer Berth (it has ${names(newer)}). Start that version; or go back with ` +
        'a backup that this one ' +
        'made: stop the controller, then sudo berth backup restore FILE.',
    )
}

const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).join(', ')

/** Nothing where the database is new. Before checksums were kept there was no release: those rows have none. */
function appliedTo(file: Database): { name: string; checksum: string }[] {
  const columns = file
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('migrations')")
    .all()
    .map(({ name }) => name)
  if (!columns.length) return []
  const checksum = columns.includes('checksum') ? 'checksum' : "''"
  return file
    .query<{ name: string; checksum: string }, []>(`SELECT name, ${checksum} AS checksum FROM migrations ORDER BY name`)
    .all()
}
