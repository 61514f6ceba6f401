// Settings: small values of the installation by name. What is secret is in an encrypted setting instead.
import type { Database } from 'bun:sqlite'
import { type Db, prepared, type Tx } from './open.ts'

const statements = prepared(({ $client }) => ({
  get: $client.prepare<{ value: string }, [string]>('SELECT value FROM settings WHERE name = ?'),
  put: $client.prepare<unknown, [string, string]>('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)'),
  remove: $client.prepare<unknown, [string]>('DELETE FROM settings WHERE name = ?'),
}))

/** The value, parsed from JSON; undefined when it is not set. */
export function getSetting(tx: Db, name: string): unknown {
  const row = statements(tx).get.get(name)
  return row === null ? undefined : JSON.parse(row.value)
}
export const putSetting = (tx: Tx, name: string, value: unknown) =>
  void statements(tx).put.run(name, JSON.stringify(value))
export const removeSetting = (tx: Tx, name: string) => void statements(tx).remove.run(name)

/** The setting with the product's time, noted each minute: the next process goes on from there. */
export const LAST_TIME = 'clock.last'

/** Of a file that is no open controller's, such as a backup: the value as JSON text, undefined when it is not set. */
export const settingIn = (file: Database, name: string): string | undefined =>
  file.query<{ value: string }, [string]>('SELECT value FROM settings WHERE name = ?').get(name)?.value
export const putSettingIn = (file: Database, name: string, value: unknown) =>
  void file.query('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)').run(name, JSON.stringify(value))
