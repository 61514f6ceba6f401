import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { sealedColumn } from './encrypted.ts'

export const settings = sqliteTable('settings', { name: text().primaryKey(), value: text({ mode: 'json' }).notNull() })
/** Those that hold a password, each bound to its name. */
export const sealedSettings = sealedColumn(settings, 'value', ({ name }: { name: string }) => name)
