// Migrations are SQL files inside the executable, applied in order at start, each in its own transaction.
import type { Database } from 'bun:sqlite'
import { migrations } from '../../../migrations/index.ts'

/** Throws when the database was written by a newer version: going on would damage it. */
export function migrate(file: Database) {
  file.run('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT')
  const applied = new Set(
    file
      .query<{ name: string }, []>('SELECT name FROM migrations')
      .all()
      .map((m) => m.name),
  )
  const unknown = [...applied].filter((name) => !migrations.some((m) => m.name === name))
  if (unknown.length)
    throw new Error(
      `This database was written by a newer Berth (it has ${unknown.join(', ')}). Start that version, or restore a backup made by this one.`,
    )
  for (const { name, sql } of migrations) {
    if (applied.has(name)) continue
    file.transaction(() => {
      file.run(sql)
      file.run('INSERT INTO migrations VALUES (?, ?)', [name, Date.now()])
    })()
  }
}
