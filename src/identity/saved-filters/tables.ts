import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const savedFilters = sqliteTable('saved_filters', {
  id: text().primaryKey(),
  accountId: text('account_id').notNull(),
  list: text().$type<'servers'>().notNull(),
  /** Unique among those of the account for the list. */
  name: text().notNull(),
  query: text().notNull(),
  createdAt: integer('created_at').notNull(),
})
export type SavedFilter = typeof savedFilters.$inferSelect
