import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** By which a new server gets its node; placement.ts says how. */
export const placements = ['spread', 'fill'] as const
export type Placement = (typeof placements)[number]

/** A node group: what customers see as a location. */
export const locations = sqliteTable('locations', {
  id: text().primaryKey(),
  name: text().notNull(),
  placement: text().$type<Placement>().notNull(),
  open: integer({ mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
})
export type Location = typeof locations.$inferSelect
