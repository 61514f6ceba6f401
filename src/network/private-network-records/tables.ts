import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const privateNetworks = sqliteTable('private_networks', {
  /** Counts up over all networks and is never used twice. */
  number: integer().primaryKey({ autoIncrement: true }),
  id: text().notNull(),
  ownerId: text('owner_id').notNull(),
  resellerId: text('reseller_id'),
  locationId: text('location_id').notNull(),
  name: text().notNull(),
  ipv4: text().notNull(),
  ipv6: text(),
  createdAt: integer('created_at').notNull(),
})
export type PrivateNetworkRow = typeof privateNetworks.$inferSelect

export const privateNetworkMembers = sqliteTable('private_network_members', {
  /** Counts up over the cards of all networks. */
  number: integer().primaryKey({ autoIncrement: true }),
  networkId: text('network_id').notNull(),
  workloadId: text('workload_id').notNull(),
  ipv4: text().notNull(),
  ipv6: text(),
  /** Its card comes at its next start, because the running machine could not take it. */
  waits: integer({ mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
})
export type Member = typeof privateNetworkMembers.$inferSelect

/** The digest of the last state of a network that a node has confirmed. */
export const privateNetworkNodes = sqliteTable(
  'private_network_nodes',
  { networkId: text('network_id').notNull(), nodeId: text('node_id').notNull(), told: text().notNull() },
  (t) => [primaryKey({ columns: [t.networkId, t.nodeId] })],
)
