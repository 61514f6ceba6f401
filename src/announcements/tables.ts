import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const audiences = ['everybody', 'customers', 'resellers', 'staff'] as const
export const levels = ['info', 'warn', 'bad'] as const

export const announcements = sqliteTable('announcements', {
  id: text().primaryKey(),
  text: text().notNull(),
  audience: text({ enum: audiences }).notNull(),
  level: text({ enum: levels }).notNull(),
  startsAt: integer('starts_at').notNull(),
  /** Null: until it is removed. */
  endsAt: integer('ends_at'),
  createdAt: integer('created_at').notNull(),
})
export type Announcement = typeof announcements.$inferSelect
