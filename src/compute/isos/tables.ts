import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const isos = sqliteTable('isos', {
  id: text().primaryKey(),
  /** Null: staff's, for everybody. */
  ownerId: text('owner_id'),
  resellerId: text('reseller_id'),
  name: text().notNull(),
  url: text().notNull(),
  checksum: text().notNull(),
  sizeBytes: integer('size_bytes').notNull(),
  createdAt: integer('created_at').notNull(),
  removedAt: integer('removed_at'),
})
export type Iso = typeof isos.$inferSelect

/** The nodes that have downloaded an ISO. */
export const isoCopies = sqliteTable(
  'iso_copies',
  { isoId: text('iso_id').notNull(), nodeId: text('node_id').notNull() },
  (t) => [primaryKey({ columns: [t.isoId, t.nodeId] })],
)
