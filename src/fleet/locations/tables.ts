import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Rules for the choice of a node; placement.ts applies them. */
export const placements = ['spread', 'fill'] as const
export type Placement = (typeof placements)[number]

/** Units of the reserve: the largest nodes, percent of the memory, GiB. */
export const reserveUnits = ['nodes', 'percent', 'gb'] as const

/** A node group: what customers see as a location. */
export const locations = sqliteTable('locations', {
  id: text().primaryKey(),
  name: text().notNull(),
  placement: text().$type<Placement>().notNull(),
  open: integer({ mode: 'boolean' }).notNull(),
  /** The memory that orders leave free, in `reserveUnit`; 0: none. */
  reserve: integer().notNull().default(0),
  reserveUnit: text('reserve_unit').$type<(typeof reserveUnits)[number]>().notNull().default('nodes'),
  /** The CPU model of new servers; null: that of their node. */
  cpuModel: text('cpu_model'),
  createdAt: integer('created_at').notNull(),
})
export type Location = typeof locations.$inferSelect

/** Servers may move from the one to the other; they get new addresses there. */
export const locationMoves = sqliteTable(
  'location_moves',
  {
    fromId: text('from_id').notNull(),
    toId: text('to_id').notNull(),
    /** Owners of servers may choose it themselves. */
    offered: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.fromId, t.toId] })],
)
