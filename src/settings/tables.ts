import { sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const settings = sqliteTable('settings', { name: text().primaryKey(), value: text({ mode: 'json' }).notNull() })
