import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const holdingKinds = ['primary', 'extra', 'floating'] as const
export type HoldingKind = (typeof holdingKinds)[number]

/** The holder of an address from `since` up to `until`, in ms; null: still. */
export const addressHistory = sqliteTable('address_history', {
  id: integer().primaryKey(),
  addressId: text('address_id').notNull(),
  poolId: text('pool_id').notNull(),
  address: text().notNull(),
  prefixLength: integer('prefix_length').notNull(),
  version: integer().$type<4 | 6>().notNull(),
  kind: text().$type<HoldingKind>().notNull(),
  /** The workload that has it, or to which a floating one points; null: none. */
  workloadId: text('workload_id'),
  floatingIpId: text('floating_ip_id'),
  ownerId: text('owner_id').notNull(),
  /** Names as they were when it ended; of an open one, when it began. */
  hostname: text(),
  floatingIpName: text('floating_ip_name'),
  since: integer().notNull(),
  /** False: it had the address when this history began; since when is not known. */
  sinceKnown: integer('since_known', { mode: 'boolean' }).notNull().default(true),
  beganAction: text('began_action'),
  beganBy: text('began_by'),
  beganJob: text('began_job'),
  until: integer(),
  endedAction: text('ended_action'),
  endedBy: text('ended_by'),
  endedJob: text('ended_job'),
  /** The end of its rest after this; null: it did not rest. */
  restedUntil: integer('rested_until'),
})
export type Holding = typeof addressHistory.$inferSelect

/** Addresses of which the history does not say yet who has them; triggers add them (0165_address_history.sql). */
export const addressHistoryDue = sqliteTable('address_history_due', { addressId: text('address_id').primaryKey() })
