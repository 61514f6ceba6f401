import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { DEFAULT_QUARANTINE_HOURS } from './quarantine/hours.ts'

/** The scope of a pool whose addresses no other pool has. */
export const EVERYWHERE = ''

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
  /** Where its addresses are unique: scope.ts. */
  scope: text().notNull().default(EVERYWHERE),
  /** The place of the next address that takes over the scope; null: all have. */
  rescoped: integer(),
  /** So long a freed address rests before another workload gets it; 0: not at all. */
  quarantineHours: integer('quarantine_hours').notNull().default(DEFAULT_QUARANTINE_HOURS),
  /** The VLAN of its servers; null: none. See vlan/carried.ts. */
  vlan: integer(),
  createdAt: integer('created_at').notNull(),
})
export type Pool = typeof pools.$inferSelect

/** `address` is unique in its scope: the index keeps two orders from getting one address. */
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
  /** IPv6 only: its first address as 32 digits, in whose order the prefixes of a pool are found. */
  rangeStart: text('range_start'),
  /** A claimed or imported prefix that lies where its pool has not cut yet: it is left out there. */
  cutEarly: integer('cut_early', { mode: 'boolean' }).notNull().default(false),
  /** That of its pool. */
  scope: text().notNull().default(EVERYWHERE),
  /** It was freed, and can be given again from then on; null: it does not rest. */
  restsUntil: integer('rests_until'),
  /** Why it is never given out again; null: it can be. Triggers reserve it when it is free. */
  retiredFor: text('retired_for'),
})
export type Address = typeof addresses.$inferSelect

/** The VLANs that a node carries, both ends included: triggers keep them as in its facts. */
export const nodeVlans = sqliteTable(
  'node_vlans',
  { nodeId: text('node_id').notNull(), first: integer().notNull(), last: integer().notNull() },
  (v) => [primaryKey({ columns: [v.nodeId, v.first] })],
)

/** Which nodes route a pool. */
export const poolNodes = sqliteTable(
  'pool_nodes',
  { poolId: text('pool_id').notNull(), nodeId: text('node_id').notNull() },
  (p) => [primaryKey({ columns: [p.poolId, p.nodeId] })],
)

/**
 * Addresses that a node says a workload on it has, which the database does not give to that workload. No order gets one
 * while the node says so: `reserved_for` then has the `words`.
 */
export const addressClaims = sqliteTable(
  'address_claims',
  {
    addressId: text('address_id').notNull(),
    nodeId: text('node_id').notNull(),
    /** As the node names it; the database may know none with this id. */
    workloadId: text('workload_id').notNull(),
    words: text().notNull(),
    /** Staff freed the address all the same: it is not reserved again. */
    overruled: integer({ mode: 'boolean' }).notNull().default(false),
    since: integer().notNull(),
  },
  (c) => [primaryKey({ columns: [c.addressId, c.nodeId] })],
)

/** Nodes that have not named the addresses on them since the database was put in place of another one. */
export const awaitedNodes = sqliteTable('awaited_nodes', { nodeId: text('node_id').primaryKey() })

/** How many addresses a pool has, and how many of them no workload holds; kept by triggers. */
export const addressCounts = sqliteTable('address_counts', {
  poolId: text('pool_id').primaryKey(),
  total: integer().notNull(),
  free: integer().notNull(),
  reserved: integer().notNull(),
  resting: integer().notNull(),
})
