import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Power } from '../../../agent/protocol/wire.ts'

export const statuses = [
  'provisioning',
  'pending_setup',
  'running',
  'stopped',
  'suspended',
  'failed',
  'terminated',
] as const
export type Status = (typeof statuses)[number]

export const servers = sqliteTable('servers', {
  id: text().primaryKey(),
  /** Counts up; its tap on the node is `bth<number>` and until it has a hostname it is called `server<number>`. */
  number: integer().notNull(),
  ownerId: text('owner_id').notNull(),
  resellerId: text('reseller_id'),
  nodeId: text('node_id').notNull(),
  locationId: text('location_id').notNull(),
  packageId: text('package_id').notNull(),
  imageId: text('image_id'),
  hostname: text().notNull(),
  name: text().notNull(),
  status: text().$type<Status>().notNull(),
  /** What unsuspending returns it to. */
  statusBefore: text('status_before').$type<Status>(),
  suspendReason: text('suspend_reason'),
  /** What its node reported last. */
  power: text().$type<Power>(),
  vcpus: integer().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  diskGb: integer('disk_gb').notNull(),
  trafficGb: integer('traffic_gb'),
  portMbps: integer('port_mbps'),
  mac: text().notNull(),
  /** The node's storage pool, and the format its disk was made in: never detected, always remembered. */
  pool: text().notNull(),
  format: text().$type<'qcow2' | 'raw'>().notNull(),
  /** Why it stands where it stands. */
  placement: text().notNull(),
  protected: integer({ mode: 'boolean' }).notNull().default(false),
  /** Why its install failed, in words. */
  failure: text(),
  createdAt: integer('created_at').notNull(),
  terminatedAt: integer('terminated_at'),
  /** When node, disk and addresses were given back: until then they are held. */
  releasedAt: integer('released_at'),
})
export type Server = typeof servers.$inferSelect
