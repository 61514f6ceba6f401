import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Extra volumes. Each stands in a storage pool of one node and stays there; triggers count its space. */
export const volumes = sqliteTable('volumes', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  resellerId: text('reseller_id'),
  nodeId: text('node_id').notNull(),
  locationId: text('location_id').notNull(),
  pool: text().notNull(),
  format: text().$type<'qcow2' | 'raw'>().notNull(),
  name: text().notNull(),
  sizeGb: integer('size_gb').notNull(),
  /** The space that is held for it: more than its size while it grows. */
  heldGb: integer('held_gb').notNull(),
  state: text().$type<'creating' | 'ready' | 'deleting'>().notNull(),
  /** The server that has it; null: none. */
  serverId: text('server_id'),
  /** The server for which it was made, or that had it last: its jobs are shown there. */
  lastServerId: text('last_server_id').notNull(),
  /** The job that changes it; null: none does. */
  jobId: text('job_id'),
  /** Its loss with its node waits for a second person: the node stays. */
  lossHeld: integer('loss_held', { mode: 'boolean' }).notNull().default(false),
  /** When that loss was last counted without being held, or released; null: never. */
  lossPassedAt: integer('loss_passed_at'),
  createdAt: integer('created_at').notNull(),
})
export type VolumeRow = typeof volumes.$inferSelect

/** How large a volume was from `since` up to `until`, in ms; null: it still is. A closed interval never changes. */
export const volumeIntervals = sqliteTable('volume_intervals', {
  id: integer().primaryKey(),
  volumeId: text('volume_id').notNull(),
  ownerId: text('owner_id').notNull(),
  resellerId: text('reseller_id'),
  name: text().notNull(),
  storageClass: text('storage_class'),
  sizeGb: integer('size_gb').notNull(),
  since: integer().notNull(),
  until: integer(),
})
