import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The storage pools of nodes, as their nodes reported them last. */
export const storagePools = sqliteTable('storage_pools', {
  id: text().primaryKey(),
  nodeId: text('node_id').notNull(),
  /** The node's own name of it, which never changes. */
  name: text().notNull(),
  kind: text().notNull(),
  /** Packages ask for it, such as `nvme`; null: the node names none. */
  class: text(),
  path: text().notNull(),
  /** The storage itself, in the same words on each node that reaches it; null: no other node can. */
  storage: text(),
  totalBytes: integer('total_bytes').notNull(),
  /** Null before the first report. */
  freeBytes: integer('free_bytes'),
  /** The space for metadata; null where the kind has none of its own. */
  metadataTotalBytes: integer('metadata_total_bytes'),
  metadataFreeBytes: integer('metadata_free_bytes'),
  /** The node's words for what is wrong with it. */
  warnings: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
  /** Staff let it take the disks of new servers. */
  open: integer({ mode: 'boolean' }).notNull().default(true),
  /** The share of its size that may be promised to disks. */
  overcommitPercent: integer('overcommit_percent').notNull().default(100),
  /** Since when its node does not report it any more. */
  missingSince: integer('missing_since'),
  /** Since when it does not answer its node; its figures are the last that are known. */
  silentSince: integer('silent_since'),
  createdAt: integer('created_at').notNull(),
})
export type StoragePool = typeof storagePools.$inferSelect

/** The space that disks hold in each pool until they are deleted; triggers keep the sums, see the migration. */
export const storageHeld = sqliteTable(
  'storage_held',
  {
    nodeId: text('node_id').notNull(),
    pool: text().notNull(),
    diskGb: integer('disk_gb').notNull(),
  },
  (t) => [primaryKey({ columns: [t.nodeId, t.pool] })],
)
