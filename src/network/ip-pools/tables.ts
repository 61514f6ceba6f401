import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const pools = sqliteTable('pools', {
  id: text().primaryKey(),
  name: text().notNull(),
  version: integer().$type<4 | 6>().notNull(),
  network: text().notNull(),
  gateway: text().notNull(),
  first: text().notNull(),
  last: text().notNull(),
  resolvers: text({ mode: 'json' }).$type<string[]>().notNull(),
  /** IPv6 only: where the next prefix begins, in single addresses from the start of the range, decimal. */
  nextOffset: text('next_offset').notNull().default('0'),
  createdAt: integer('created_at').notNull(),
})
export type Pool = typeof pools.$inferSelect

/** `address` is unique across all pools: the index keeps two orders from getting one address. */
export const addresses = sqliteTable('addresses', {
  id: text().primaryKey(),
  poolId: text('pool_id').notNull(),
  version: integer().$type<4 | 6>().notNull(),
  address: text().notNull(),
  prefixLength: integer('prefix_length').notNull(),
  /** Its place in the pool, from 0. */
  place: integer().notNull(),
  workloadId: text('workload_id'),
  /** The reason why no workload gets the address, in words. */
  reservedFor: text('reserved_for'),
  isPrimary: integer('is_primary', { mode: 'boolean' }).notNull().default(false),
  /** The id of a thing beside workloads that has the address, such as a floating address: no order gets it. */
  holderId: text('holder_id'),
  /** The reseller in whose quota a holder's address counts. */
  holderResellerId: text('holder_reseller_id'),
})
export type Address = typeof addresses.$inferSelect

/** Which nodes route a pool. */
export const poolNodes = sqliteTable(
  'pool_nodes',
  { poolId: text('pool_id').notNull(), nodeId: text('node_id').notNull() },
  (p) => [primaryKey({ columns: [p.poolId, p.nodeId] })],
)
