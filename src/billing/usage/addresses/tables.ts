import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Those that are billed beside what comes with a workload. */
export const billedKinds = ['extra', 'floating'] as const
export type AddressKind = 'primary' | (typeof billedKinds)[number]

/** The holder of an address from `since` up to `until`, in ms; null: still. A closed interval never changes. */
export const addressIntervals = sqliteTable('address_intervals', {
  id: integer().primaryKey(),
  addressId: text('address_id').notNull(),
  address: text().notNull(),
  prefixLength: integer('prefix_length').notNull(),
  version: integer().$type<4 | 6>().notNull(),
  kind: text().$type<AddressKind>().notNull(),
  /** The id of the workload or floating address that has it. */
  holderId: text('holder_id').notNull(),
  /** Where it is or points to; null: nowhere. */
  workloadId: text('workload_id'),
  ownerId: text('owner_id').notNull(),
  resellerId: text('reseller_id'),
  /** The billing system's own identifier of that workload. */
  billingServiceId: text('billing_service_id'),
  since: integer().notNull(),
  until: integer(),
})
export type AddressInterval = typeof addressIntervals.$inferSelect

/** Addresses of which the ledger does not say yet who has them now; triggers add them (0068_address_usage.sql). */
export const addressDue = sqliteTable('address_due', { addressId: text('address_id').primaryKey() })
