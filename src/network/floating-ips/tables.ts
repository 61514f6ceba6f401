import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const floatingIps = sqliteTable('floating_ips', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  resellerId: text('reseller_id'),
  locationId: text('location_id').notNull(),
  addressId: text('address_id').notNull(),
  name: text().notNull(),
  /** The job that moves it; null: none does. */
  jobId: text('job_id'),
  createdAt: integer('created_at').notNull(),
})
export type FloatingIp = typeof floatingIps.$inferSelect
