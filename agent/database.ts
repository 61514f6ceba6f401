import { Database } from 'bun:sqlite'

/**
 * Opens one of the agent's database files and runs `schema`. A statement returns when its data is on the disk
 * (synchronous FULL), which the journal and the state after a power failure depend on.
 */
export function openDatabase(path: string, schema: string): Database {
  const db = new Database(path, { create: true, strict: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = FULL')
  db.run('PRAGMA busy_timeout = 5000')
  db.run(schema)
  return db
}
