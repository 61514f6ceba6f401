import { sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The installation that a suspension stopped, with the input of its job. */
export const interruptedInstallations = sqliteTable('interrupted_installations', {
  serverId: text('server_id').primaryKey(),
  kind: text().notNull(),
  input: text({ mode: 'json' }).$type<object>().notNull(),
})
