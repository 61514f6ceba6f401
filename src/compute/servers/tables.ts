import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Columns that only servers have, under the id of their workload. */
export const servers = sqliteTable('servers', {
  id: text().primaryKey(),
  packageId: text('package_id').notNull(),
  imageId: text('image_id'),
  trafficGb: integer('traffic_gb'),
  portMbps: integer('port_mbps'),
  /** The node's storage pool, and the format in which the disk was made: stored, never detected. */
  pool: text().notNull(),
  format: text().$type<'qcow2' | 'raw'>().notNull(),
  /** The billing system's own identifier of it. */
  billingServiceId: text('billing_service_id'),
  protected: integer({ mode: 'boolean' }).notNull().default(false),
})
