// Queries on IP pools and addresses, for this feature and others.

import { and, count, eq, getTableColumns } from 'drizzle-orm'
import { ended, type Slice, type Sorts } from '../../kernel/api/list.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy, type Where } from '../../kernel/db/rows.ts'
import { choicesIn } from '../../kernel/search/choices.ts'
import { type Network, toNumber, toText } from './ranges.ts'
import { type Address, addresses, type Pool, poolNodes, pools } from './tables.ts'

export const poolReference = reference(pools, ['name'])
export const poolTarget: AuditTarget = {
  prefix: 'pool',
  isGone: (id) => `NOT EXISTS (SELECT 1 FROM pools WHERE id = ${id})`,
}

// ---------------------------------------------------------------- SQL text for the queries of others
const isFree = (address: string) =>
  `${address}.workload_id IS NULL AND ${address}.reserved_for IS NULL AND ${address}.rests_until IS NULL`

/** The workload's addresses as a JSON array of `HeldAddressJson`, in no order. `workloadId` is an SQL expression. */
export const addressesJson = (workloadId: string) =>
  `(SELECT json_group_array(json_object('address', a.address, 'prefixLength', a.prefix_length, 'version', a.version,
      'gateway', ap.gateway, 'isPrimary', a.is_primary, 'isFloating', a.holder_id IS NOT NULL))
    FROM addresses a JOIN pools ap ON ap.id = a.pool_id WHERE a.workload_id = ${workloadId})`
export type HeldAddressJson = {
  address: string
  prefixLength: number
  version: number
  gateway: string
  isPrimary: number
  isFloating: number
}

/** The workload's addresses with a space between them. */
export const addressesText = (workloadId: string) =>
  `(SELECT group_concat(a.address, ' ') FROM addresses a WHERE a.workload_id = ${workloadId})`

/** An address in the spelling in which it is stored; undefined where the text is not a whole address. */
export function storedAddress(text: string): string | undefined {
  const whole = wholeAddress(text)
  return whole && toText(whole.version, whole.n)
}
/** Has the workload a prefix with this address in it? False for a text that is not a whole address. */
export function prefixFits(workloadId: string, text: string): Where {
  const whole = wholeAddress(text)
  if (!whole) return { where: '0', values: [] }
  const bits = whole.version === 4 ? 32 : 128
  // Each prefix that the address lies in, from a single address up.
  const prefixes = Array.from({ length: bits + 1 }, (_, host) => {
    const first = (whole.n >> BigInt(host)) << BigInt(host)
    return [toText(whole.version, first), bits - host]
  })
  return {
    where: `${workloadId} IN (SELECT a.workload_id FROM json_each(+?) e CROSS JOIN addresses a
      ON a.address = json_extract(e.value, '$[0]') AND a.prefix_length = json_extract(e.value, '$[1]')
      WHERE a.workload_id IS NOT NULL)`,
    values: [JSON.stringify(prefixes)],
  }
}
/** An IPv4 address may be written as IPv6. */
const wholeAddress = (text: string) => toNumber(text.replace(/^::ffff:(?=[0-9.]+$)/i, ''))

/** How many addresses of this version count in a reseller's quota beside those of its workloads: floating ones. */
export const heldAddressCount = (resellerId: string, version: 4 | 6) =>
  `(SELECT count(*) FROM addresses a WHERE a.holder_reseller_id = ${resellerId} AND a.version = ${version})`

// ---------------------------------------------------------------- pools and their addresses
export const poolChoices = choicesIn(pools)
export const poolById = rowBy(pools, pools.id)
export const addressById = rowBy(addresses, addresses.id)
export const allPools = (tx: Db): Pool[] => tx.select().from(pools).all()
/** The orders of the list. */
export const poolSorts = { name: 'pools.name', version: 'pools.version' } satisfies Sorts
/** A slice of the pools, by name where nothing else is asked for. */
export function poolsByName(tx: Db, slice: Slice): Pool[] {
  const { behind, inOrder, sortValue } = ended(slice, pools.name, 'ASC')
  return tx
    .select({ ...getTableColumns(pools), ...sortValue })
    .from(pools)
    .where(behind)
    .orderBy(...inOrder)
    .limit(slice.limit)
    .offset(slice.skip)
    .all()
}
export const countPools = (tx: Db): number => tx.select({ n: count() }).from(pools).get()!.n
/** A slice of the addresses of the pool, in their order. */
export function addressesInOrder(tx: Db, poolId: string, slice: Slice): Address[] {
  const { behind, inOrder } = ended(slice, addresses.place, 'ASC')
  return tx
    .select()
    .from(addresses)
    .where(and(eq(addresses.poolId, poolId), behind))
    .orderBy(...inOrder)
    .limit(slice.limit)
    .offset(slice.skip)
    .all()
}

/** Throws a unique violation when the name is taken. */
export const insertPool = (tx: Tx, row: typeof pools.$inferInsert): Pool =>
  tx.insert(pools).values(row).returning().get()
/** Changes columns of a pool; answers it as it is then. */
export const changePool = (tx: Tx, id: string, change: Partial<Pool>): Pool =>
  tx.update(pools).set(change).where(eq(pools.id, id)).returning().get()!
/** With its addresses. */
export const deletePool = (tx: Tx, id: string) => void tx.delete(pools).where(eq(pools.id, id)).run()
/** The reason why no workload gets the address; null: it can be given. */
export const reserve = (tx: Tx, addressId: string, reservedFor: string | null) =>
  void tx.update(addresses).set({ reservedFor }).where(eq(addresses.id, addressId)).run()

/** The reason why the address is never given out again: it is reserved when it is free. Null: it can be given. */
export const setRetiredFor = (tx: Tx, addressId: string, retiredFor: string | null) =>
  void tx.update(addresses).set({ retiredFor }).where(eq(addresses.id, addressId)).run()

/** Inserts the IPv4 addresses of a new pool in their order: 65 536 of a /16. */
export function fillPool(
  tx: Tx,
  { id: poolId, scope }: Pick<Pool, 'id' | 'scope'>,
  prefixLength: number,
  rows: Iterable<{ id: string; address: string; reservedFor: string | null }>,
) {
  const { fill } = statements(tx)
  let place = 0
  for (const { id, address, reservedFor } of rows)
    fill.run(id, poolId, address, prefixLength, place++, reservedFor, scope)
}

/** Addresses that take over the scope of their pool in one transaction: some 5 ms, and 20 on a busy host. */
const RESCOPED_AT_ONCE = 1000
/**
 * Its addresses are unique in this scope from now on, which the caller has checked for the whole range: a large pool's
 * rows follow in parts. Throws a unique violation where one of the first part is there already.
 */
export function rescopePool(tx: Tx, id: string, scope: string) {
  statements(tx).rescope.run(scope, id)
  rescopeNext(tx, id)
}
/** The next part of the rows of a pool takes over its scope; those that have it stay as they are. */
export function rescopeNext(tx: Tx, id: string) {
  const { rescopeRows, rescopedTo } = statements(tx)
  rescopeRows.run(id, RESCOPED_AT_ONCE)
  rescopedTo.run(id, RESCOPED_AT_ONCE)
}
/** Before rows are inserted or take over another scope: none may meet one that has a former scope still. */
export function rescopeRest(tx: Tx) {
  for (let ids = poolsToRescope(tx); ids.length; ids = poolsToRescope(tx)) rescopeNext(tx, ids[0]!)
}
/** The pools some of whose addresses have not taken over the scope yet. */
export const poolsToRescope = (tx: Db): string[] =>
  statements(tx)
    .rescoping.all()
    .map(({ id }) => id)
/** These nodes route the pool from now on, and no others. */
export function attachTo(tx: Tx, poolId: string, nodeIds: readonly string[]) {
  tx.delete(poolNodes).where(eq(poolNodes.poolId, poolId)).run()
  for (const nodeId of new Set(nodeIds)) tx.insert(poolNodes).values({ poolId, nodeId }).run()
}
/** The ids of the nodes that route the pool, as a query inside another. */
export const routersOf = (poolId: string): Where => ({
  where: 'SELECT pn.node_id FROM pool_nodes pn WHERE pn.pool_id = +?',
  values: [poolId],
})
export const countNodesOf = (tx: Db, poolId: string): number => statements(tx).routers.get(poolId)!.n
/** The ids of the nodes that route the pool. */
export const nodeIdsOf = (tx: Db, poolId: string): string[] =>
  tx
    .select({ id: poolNodes.nodeId })
    .from(poolNodes)
    .where(eq(poolNodes.poolId, poolId))
    .all()
    .map(({ id }) => id)

// ---------------------------------------------------------------- prepared queries
const statements = prepared(({ $client }) => ({
  freeIpv4: $client.prepare<{ n: number }, [string]>(
    `SELECT coalesce(sum(c.free), 0) AS n FROM pools p JOIN address_counts c ON c.pool_id = p.id
     WHERE p.version = 4 AND EXISTS (SELECT 1 FROM pool_nodes pn WHERE pn.pool_id = p.id
       AND +pn.node_id IN (SELECT value FROM json_each(?)))`,
  ),
  // Kept by triggers (0216_large_totals.sql): counted from indexes, 500,000 addresses take 60 ms.
  counts: $client.prepare<{ total: number; free: number; reserved: number; resting: number }, [string]>(
    'SELECT total, free, reserved, resting FROM address_counts WHERE pool_id = ?',
  ),
  fill: $client.prepare<unknown, [string, string, string, number, number, string | null, string]>(
    `INSERT INTO addresses (id, pool_id, version, address, prefix_length, place, reserved_for, scope)
     VALUES (?, ?, 4, ?, ?, ?, ?, ?)`,
  ),
  nearlyUsedUp: $client.prepare<{ id: string; name: string; free: number }, []>(
    `SELECT p.id, p.name, c.free FROM pools p JOIN address_counts c ON c.pool_id = p.id
     WHERE p.version = 4 AND c.free * 20 < c.total`,
  ),
  ofNode: $client.prepare<{ id: string; name: string; network: string; vlan: number | null }, [string]>(
    `SELECT p.id, p.name, p.network, p.vlan FROM pools p JOIN pool_nodes pn ON pn.pool_id = p.id
     WHERE pn.node_id = ? ORDER BY p.name`,
  ),
  holders: $client.prepare<{ id: string }, [string]>(
    // +pool_id: by the index of holders, of which there are few; a pool has 65,000 addresses.
    'SELECT DISTINCT holder_id AS id FROM addresses WHERE +pool_id = ?1 AND holder_id IS NOT NULL',
  ),
  rescope: $client.prepare<unknown, [string, string]>('UPDATE pools SET scope = ?, rescoped = 0 WHERE id = ?'),
  rescopeRows: $client.prepare<unknown, [string, number]>(
    `UPDATE addresses SET scope = p.scope FROM pools p
     WHERE p.id = ?1 AND addresses.pool_id = ?1 AND addresses.place >= p.rescoped
       AND addresses.place < p.rescoped + ?2 AND addresses.scope <> p.scope`,
  ),
  rescopedTo: $client.prepare<unknown, [string, number]>(
    `UPDATE pools SET rescoped = iif(EXISTS (SELECT 1 FROM addresses WHERE pool_id = ?1 AND place >= rescoped + ?2),
       rescoped + ?2, NULL) WHERE id = ?1`,
  ),
  rescoping: $client.prepare<{ id: string }, []>('SELECT id FROM pools WHERE rescoped IS NOT NULL'),
  routing: $client.prepare<{ id: string }, []>('SELECT DISTINCT node_id AS id FROM pool_nodes'),
  routers: $client.prepare<{ n: number }, [string]>('SELECT count(*) AS n FROM pool_nodes WHERE pool_id = ?'),
  kept: $client.prepare<unknown, [string]>(
    'SELECT 1 FROM addresses WHERE pool_id = ? AND holder_id IS NOT NULL LIMIT 1',
  ),
  anyFree: $client.prepare(
    `SELECT 1 FROM pool_nodes pn JOIN addresses a ON a.pool_id = pn.pool_id WHERE ${isFree('a')} LIMIT 1`,
  ),
}))

/** The condition that the workload whose id the SQL expression is has an address of the pool. */
export const hasAddressOf =
  (poolId: string) =>
  (workloadId: string): Where => ({
    where: `EXISTS (SELECT 1 FROM addresses a WHERE a.workload_id = ${workloadId} AND a.pool_id = +?)`,
    values: [poolId],
  })
/** The ids of what holds addresses of the pool beside workloads, such as floating addresses. */
export const floatingOf = (tx: Db, poolId: string): string[] =>
  statements(tx)
    .holders.all(poolId)
    .map(({ id }) => id)

/** Has the pool a floating address, assigned or not? */
export const hasFloating = (tx: Db, poolId: string): boolean => statements(tx).kept.get(poolId) !== null

/** How many IPv4 addresses are free for these nodes together: a pool that several of them route counts once. */
export const countFreeIpv4 = (tx: Db, nodeIds: readonly string[]): number =>
  statements(tx).freeIpv4.get(JSON.stringify(nodeIds))!.n

/** Of an IPv6 pool that nobody has an address of. */
const noAddresses = { total: 0, free: 0, reserved: 0, resting: 0 }
/** How many addresses the pool has: workloads hold some, some are reserved, and freed ones rest. */
export function countAddresses(tx: Db, poolId: string) {
  const { total, free, reserved, resting } = statements(tx).counts.get(poolId) ?? noAddresses
  return { total, held: total - free - reserved - resting, reserved, resting }
}
/** IPv4 pools of which less than a twentieth is free, and how many addresses that is. */
export const poolsNearlyUsedUp = (tx: Db) => statements(tx).nearlyUsedUp.all()

/** The ids of the nodes that route a pool. */
export const nodesWithPool = (tx: Db): Set<string> =>
  new Set(
    statements(tx)
      .routing.all()
      .map(({ id }) => id),
  )

/** The pools that the node routes, by name. */
export const poolsOfNode = (tx: Db, nodeId: string) => statements(tx).ofNode.all(nodeId)

/** Is an address free on any node? */
export const isAnyAddressFree = (tx: Db): boolean => statements(tx).anyFree.get() !== null

// ---------------------------------------------------------------- what has an address already
export type AddressUse = {
  scope: string
  text: string
  workloadId: string | null
  holderId: string | null
  reservedFor: string | null
}
const isUsed = '(a.workload_id IS NOT NULL OR a.holder_id IS NOT NULL OR a.reserved_for IS NOT NULL)'
const used = `SELECT a.scope, a.address AS text, a.workload_id AS workloadId, a.holder_id AS holderId,
  a.reserved_for AS reservedFor`
const usesOf = prepared(({ $client }) => ({
  single: $client.prepare<AddressUse, [string]>(`${used} FROM addresses a WHERE a.address = ? AND ${isUsed}`),
  before: $client.prepare<AddressUse & { start: string; bits: number }, [string, string]>(
    `${used}, a.range_start AS start, a.prefix_length AS bits FROM addresses a
     WHERE a.pool_id = ? AND a.range_start <= ? AND ${isUsed} ORDER BY a.range_start DESC LIMIT 1`,
  ),
}))
/** The rows that hold an IPv4 address, or anything of an IPv6 prefix, in any pool: private ones in each scope. */
export function usesOfAddress(tx: Db, { version, first, last }: Network): AddressUse[] {
  if (version === 4) return usesOf(tx).single.all(toText(4, first))
  return allPools(tx).flatMap((pool) => {
    if (pool.version !== 6) return []
    const found = usesOf(tx).before.get(pool.id, last.toString(16).padStart(32, '0'))
    if (!found) return []
    const end = BigInt(`0x${found.start}`) + (1n << BigInt(128 - found.bits)) - 1n
    return end >= first ? [found] : []
  })
}

const rowsWith = prepared(({ $client }) =>
  $client.prepare<Pick<Address, 'id' | 'poolId' | 'workloadId' | 'holderId' | 'reservedFor'>, [string]>(
    `SELECT id, pool_id AS poolId, workload_id AS workloadId, holder_id AS holderId, reserved_for AS reservedFor
     FROM addresses WHERE version = 4 AND address = ?`,
  ),
)
/** The rows of an IPv4 address: one, or one in each scope of a private range. */
export const rowsOfIpv4 = (tx: Db, address: string) => rowsWith(tx).all(address)

const rowsStored = prepared(({ $client }) =>
  $client.prepare<{ id: string }, [string]>(
    `SELECT a.id FROM json_each(?) e CROSS JOIN addresses a ON a.address = e.value ->> 0
     AND (e.value ->> 1 IS NULL OR a.prefix_length = e.value ->> 1)`,
  ),
)
/** The ids of the rows with one of these addresses, each with the length of its prefix or null. */
export const idsStoredAs = (tx: Db, spellings: readonly (readonly [string, number | null])[]): string[] =>
  rowsStored(tx)
    .all(JSON.stringify(spellings))
    .map(({ id }) => id)
