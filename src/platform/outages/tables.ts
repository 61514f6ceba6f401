import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Absences of nodes that lasted longer than the delay before staff are told. Times in ms. */
export const nodeOutages = sqliteTable('node_outages', {
  id: text().primaryKey(),
  nodeId: text('node_id').notNull(),
  /** Where the node was then. */
  locationId: text('location_id').notNull(),
  /** Nodes of a location that went away together have one notice, and so has a node that goes away again soon. */
  incidentId: text('incident_id').notNull(),
  /** The node was heard of last then. */
  since: integer().notNull(),
  notedAt: integer('noted_at').notNull(),
  /** Null: no mail was sent of it, because the node had one a moment ago. */
  mailedAt: integer('mailed_at'),
  /** The names of those who got the notice or the mail. */
  told: text({ mode: 'json' }).$type<string[]>().notNull(),
  endedAt: integer('ended_at'),
  endedAs: text('ended_as', { enum: ['back', 'lost', 'removed'] }),
  /** When its end was mailed. */
  endMailedAt: integer('end_mailed_at'),
})

/** Storage of which staff were told that it is nearly full. */
export const storageWarnings = sqliteTable('storage_warnings', {
  /** The id of the storage, or of the pool where no other node reaches it. */
  storage: text().primaryKey(),
  poolId: text('pool_id').notNull(),
  warnedAt: integer('warned_at').notNull(),
})
