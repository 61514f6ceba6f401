import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { encryptedColumn } from './encrypted.ts'

export const settings = sqliteTable('settings', { name: text().primaryKey(), value: text({ mode: 'json' }).notNull() })
/** Those that hold a password, each bound to its name. */
export const encryptedSettings = encryptedColumn(settings, 'value', ({ name }: { name: string }) => name)
