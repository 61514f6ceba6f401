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
  billingProductId: text('billing_product_id'),
  archived: integer({ mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
})
export type Package = typeof packages.$inferSelect
