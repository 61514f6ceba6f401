import { Database } from 'bun:sqlite'
import { wordsOf } from './failure.ts'
import { log } from './log.ts'
import { startFromDisk } from './protocol/linux/page-cache.ts'

/**
 * Opens one of the agent's database files and runs `schema`. A statement returns when its data is on the disk
 * (synchronous FULL), which the journal and the state after a power failure depend on.
 */
export function openDatabase(path: string, schema: string): Database {
  startFromDisk(path)
  const db = new Database(path, { create: true, strict: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = FULL')
  db.run('PRAGMA busy_timeout = 5000')
  db.run(schema)
  return db
}

/**
 * Ends the program when `error` is one of the disk under its database. What it would write after a failed flush could
 * be lost without another error; the next process begins with what the disk has. Call it with the errors of commands.
 */
export function endAfterDiskError(error: unknown) {
  if (!String((error as { code?: unknown } | undefined)?.code).startsWith('SQLITE_IOERR')) return
  log('error', 'the disk of the agent answers with errors: the agent ends and begins anew', { error: wordsOf(error) })
  process.exit(1)
}
