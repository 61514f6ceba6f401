import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Facts } from '../../../agent/protocol/wire.ts'

/** A difference between a node and the database. It is shown; nothing is repaired by itself. */
export type Difference = {
  kind:
    | 'missing_vm'
    | 'missing_volume'
    | 'orphan_vm'
    | 'orphan_volume'
    | 'unused_volume'
    | 'power'
    | 'foreign'
    | 'unknown_address'
    | 'address_conflict'
  workloadId: string | null
  words: string
}

export const nodes = sqliteTable('nodes', {
  id: text().primaryKey(),
  name: text().notNull(),
  locationId: text('location_id').notNull(),
  publicKey: text('public_key').notNull(),
  /** The bridge its servers hang on. */
  bridge: text().notNull(),
  /** Takes new servers. */
  open: integer({ mode: 'boolean' }).notNull().default(true),
  /** Since when it takes none; null while it is open, and where nobody knows. */
  closedAt: integer('closed_at'),
  /** Why, in the words of who closed it. */
  closedReason: text('closed_reason'),
  /** Kept for the host itself, not sold. */
  reservedMemoryMb: integer('reserved_memory_mb').notNull(),
  facts: text({ mode: 'json' }).$type<Facts>().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  threads: integer().notNull(),
  credentialRevokedAt: integer('credential_revoked_at'),
  /** `EnrollRequest.machineId`. */
  machineId: text('machine_id'),
  skewMs: integer('skew_ms').notNull().default(0),
  connectedAt: integer('connected_at'),
  seenAt: integer('seen_at').notNull(),
  differences: text({ mode: 'json' }).$type<Difference[]>().notNull().default([]),
  inventoryAt: integer('inventory_at'),
  createdAt: integer('created_at').notNull(),
  /** Declared lost by staff: its credential has ended, and its workloads have failed. */
  lostAt: integer('lost_at'),
  removedAt: integer('removed_at'),
  /** Lost or removed, it has said that nothing of ours runs on it: it starts none of it again. */
  stoppedAt: integer('stopped_at'),
})
export type Node = typeof nodes.$inferSelect

/** The resources that a node's workloads hold until it has deleted them; triggers keep the sums, see the migration. */
export const nodeHeld = sqliteTable('node_held', {
  nodeId: text('node_id').primaryKey(),
  workloads: integer().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  diskGb: integer('disk_gb').notNull(),
})

/** Open nodes in the order in which orders take them; triggers keep it, see the migration. */
export const nodeSpaces = sqliteTable('node_spaces', {
  nodeId: text('node_id').primaryKey(),
  locationId: text('location_id').notNull(),
  /** MiB of memory that are left; negative in a location that spreads. */
  rank: integer().notNull(),
  name: text().notNull(),
})

/** Memory and disk that a node holds beside its workloads, such as for a restore drill; counted as theirs. */
export const nodeGuests = sqliteTable('node_guests', {
  /** The id under which the node has it. */
  id: text().primaryKey(),
  nodeId: text('node_id').notNull(),
  pool: text().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  diskGb: integer('disk_gb').notNull(),
})

/** The CPU models that vms can have on each node; triggers keep them as in its facts. */
export const nodeCpuModels = sqliteTable(
  'node_cpu_models',
  { model: text().notNull(), nodeId: text('node_id').notNull() },
  (t) => [primaryKey({ columns: [t.model, t.nodeId] })],
)

/** When each node was away: its newest times; triggers keep them. `until` null: it still is. */
export const nodeAbsences = sqliteTable(
  'node_absences',
  { nodeId: text('node_id').notNull(), since: integer().notNull(), until: integer() },
  (t) => [primaryKey({ columns: [t.nodeId, t.since] })],
)
export type NodeAbsence = typeof nodeAbsences.$inferSelect

export const enrollments = sqliteTable('enrollments', {
  id: text().primaryKey(),
  tokenHash: text('token_hash').notNull(),
  locationId: text('location_id').notNull(),
  name: text(),
  bridge: text(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  usedAt: integer('used_at'),
  /** The node whose credential it renews; null: it makes a node. */
  renewsNodeId: text('renews_node_id'),
  nodeId: text('node_id'),
})
export type Enrollment = typeof enrollments.$inferSelect

/**
 * Addresses that were released while their guest may still run on a node that is gone. `reserved_for` has the `words`
 * until the node confirms that it stopped its guests, and at most until `until`.
 */
export const goneAddresses = sqliteTable('gone_addresses', {
  addressId: text('address_id').primaryKey(),
  nodeId: text('node_id').notNull(),
  words: text().notNull(),
  until: integer().notNull(),
})
export type GoneAddress = typeof goneAddresses.$inferSelect
