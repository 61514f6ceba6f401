import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Rules for the choice of a node; placement.ts applies them. */
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
