import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const scripts = sqliteTable('scripts', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  /** Unique among those of the owner. */
  name: text().notNull(),
  content: text().notNull(),
  createdAt: integer('created_at').notNull(),
  changedAt: integer('changed_at').notNull(),
})
export type Script = typeof scripts.$inferSelect
