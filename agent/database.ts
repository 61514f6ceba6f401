import { Database } from 'bun:sqlite'

/**
 * Opens one of the agent's database files. What was written has reached the disk when the statement returns
 * (synchronous FULL): the journal's promises and the state after a power cut rest on that.
 */
export function openDatabase(path: string, schema: string): Database {
  const db = new Database(path, { create: true, strict: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = FULL')
  db.run('PRAGMA busy_timeout = 5000')
  db.run(schema)
  return db
}
