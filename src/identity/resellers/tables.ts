import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Quotas } from './quota.ts'

/** The terms of an account of kind reseller. A trigger inserts the row with the account. */
export const resellers = sqliteTable('resellers', {
  id: text().primaryKey(),
  quotas: text({ mode: 'json' }).$type<Partial<Quotas>>().notNull().default({}),
  suspendedAt: integer('suspended_at'),
  suspendReason: text('suspend_reason'),
})
export type Terms = typeof resellers.$inferSelect

export const resellerPackages = sqliteTable(
  'reseller_packages',
  { resellerId: text('reseller_id').notNull(), packageId: text('package_id').notNull() },
  (t) => [primaryKey({ columns: [t.resellerId, t.packageId] })],
)
export const resellerLocations = sqliteTable(
  'reseller_locations',
  { resellerId: text('reseller_id').notNull(), locationId: text('location_id').notNull() },
  (t) => [primaryKey({ columns: [t.resellerId, t.locationId] })],
)
