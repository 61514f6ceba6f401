import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { RestartPolicy } from '../../../agent/protocol/wire.ts'
import type { OverTraffic } from './over-traffic.ts'

export const packages = sqliteTable('packages', {
  id: text().primaryKey(),
  name: text().notNull(),
  vcpus: integer().notNull(),
  memoryMb: integer('memory_mb').notNull(),
  diskGb: integer('disk_gb').notNull(),
  trafficGb: integer('traffic_gb'),
  portMbps: integer('port_mbps'),
  ipv4: integer().notNull(),
  /** Length of the IPv6 prefix a server gets, 56 to 128; null: none. */
  ipv6Prefix: integer('ipv6_prefix'),
  /** The reaction of a node to a server that ends although nobody stopped it. */
  restartPolicy: text('restart_policy').$type<RestartPolicy>().notNull().default('on_failure'),
  /** See `overTrafficPolicies`. */
  overTraffic: text('over_traffic').$type<OverTraffic>().notNull().default('nothing'),
  /** Megabit per second in each direction for a server that `throttle` slows down. */
  throttleMbps: integer('throttle_mbps'),
  /** Its servers may connect to mail servers. */
  smtpAllowed: integer('smtp_allowed', { mode: 'boolean' }).notNull().default(false),
  /** Limits of what one server may send; null: those of the installation. */
  newConnectionsPerSecond: integer('new_connections_per_second'),
  packetsPerSecond: integer('packets_per_second'),
  /** Snapshots that a server may have at a time. */
  snapshotLimit: integer('snapshot_limit').notNull().default(3),
  /** Its servers' disks are made in storage pools of this class; null: in any. */
  storageClass: text('storage_class'),
  /** Limits of each disk per second, in operations and MiB; null: none. */
  diskReadIops: integer('disk_read_iops'),
  diskWriteIops: integer('disk_write_iops'),
  diskReadMbPerSecond: integer('disk_read_mb_per_second'),
  diskWriteMbPerSecond: integer('disk_write_mb_per_second'),
  /** GiB of extra volumes that come with a server; those of all its servers are the owner's together. */
  volumeGb: integer('volume_gb').notNull().default(0),
  /** They are made in storage pools of this class; null: of that in which the server's disk stands. */
  volumeClass: text('volume_class'),
  billingProductId: text('billing_product_id'),
  archived: integer({ mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
})
export type Package = typeof packages.$inferSelect
