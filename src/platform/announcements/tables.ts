import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Audience, Level } from './model.ts'

export const announcements = sqliteTable('announcements', {
  id: text().primaryKey(),
  text: text().notNull(),
  audience: text().$type<Audience>().notNull(),
  level: text().$type<Level>().notNull(),
  startsAt: integer('starts_at').notNull(),
  /** Null: until it is removed. */
  endsAt: integer('ends_at'),
  /** Only for those who see a server on this node; null: for its whole audience. */
  nodeId: text('node_id'),
  /** It ends when the node is connected again. */
  untilConnected: integer('until_connected', { mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
})
export type Announcement = typeof announcements.$inferSelect
