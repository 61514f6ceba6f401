import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The states of a workload while it is there. A suspension counts before the rest. */
export const usageStates = ['pending_setup', 'provisioning', 'active', 'failed', 'suspended'] as const
export type UsageState = (typeof usageStates)[number]
export type UsagePower = 'running' | 'stopped'

/** The facts of a workload from `since` up to `until`, in ms; null: it still is. A closed interval never changes. */
export const usageIntervals = sqliteTable(
  'usage_intervals',
  {
    id: integer().primaryKey(),
    workloadId: text('workload_id').notNull(),
    kind: text().notNull(),
    ownerId: text('owner_id').notNull(),
    resellerId: text('reseller_id'),
    hostname: text().notNull(),
    /** The product that was sold, such as its package. */
    productId: text('product_id'),
    productName: text('product_name'),
    billingProductId: text('billing_product_id'),
    /** The billing system's own identifier of it. */
    billingServiceId: text('billing_service_id'),
    state: text().$type<UsageState>().notNull(),
    /** Null for kinds that are not billed by it, and while suspended. */
    power: text().$type<UsagePower>(),
    since: integer().notNull(),
    until: integer(),
  },
  (t) => [
    index('usage_intervals_line').on(t.workloadId, t.ownerId, t.since, t.until),
    index('usage_intervals_owner').on(t.ownerId, t.workloadId, t.since, t.until),
  ],
)
export type UsageInterval = typeof usageIntervals.$inferSelect

/** Workloads of which the ledger does not say yet what they are now; triggers add them (0014_usage.sql). */
export const usageDue = sqliteTable('usage_due', { workloadId: text('workload_id').primaryKey() })
