import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** A node group: what customers see as a location. */
export const locations = sqliteTable('locations', {
  id: text().primaryKey(),
  name: text().notNull(),
  placement: text().$type<'spread' | 'fill'>().notNull(),
  open: integer({ mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
})
export type Location = typeof locations.$inferSelect
