// Addresses that a node says are in use on it, and that the database does not give to what uses them: after a restore
// that lost an order, for instance. While the node says so, no order gets them.
//
// A node may lie. So a claim counts only for a pool that the node routes, takes nothing from anybody who has the
// address, and a node has a limited number of them.
import { eq } from 'drizzle-orm'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting } from '../../kernel/db/rows.ts'
import { isFreePrefix, nextPlaceIn, pools6Of } from './allocate.ts'
import { awaitNoLonger } from './awaited.ts'
import { startOf } from './prefixes.ts'
import { poolById } from './queries.ts'
import { type Network, toNetwork, toNumber, toText } from './ranges.ts'
import { type Address, addresses, poolNodes } from './tables.ts'

/** The addresses that are held for one node at most. */
export const MOST_CLAIMS = 1000
/** Of a report, so many addresses are looked at that the database does not give to what has them. */
const MOST_LOOKED_AT = 2 * MOST_CLAIMS
/** No package gives a shorter prefix, and one claim must not take half of a pool. */
const SHORTEST_PREFIX = 56

/** An address as a node names it: an IPv6 prefix with its length. */
export type NamedAddress = { workload: string; address: string }
type Row = Pick<Address, 'id' | 'address' | 'workloadId' | 'reservedFor' | 'holderId'>
type Claim = { addressId: string; workloadId: string; words: string; address: string; holder: string | null }

/** SQL: each address that two have, and each workload with others. 1000 claims take 1 ms, and their words twenty. */
const places = `count(iif(a.workload_id <> c.workload_id, 1, NULL))
  + count(DISTINCT iif(a.workload_id IS NULL, c.workload_id, NULL))`
const statements = prepared(({ $client }) => ({
  // Of a node as it should be, none is left. 4 µs for each address.
  unknown: $client.prepare<NamedAddress, [string, number]>(
    `SELECT named.value ->> 'workload' AS workload, named.value ->> 'address' AS address FROM json_each(?) named
     WHERE NOT EXISTS (SELECT 1 FROM addresses a WHERE +a.workload_id = named.value ->> 'workload' AND a.address =
       iif(instr(named.value ->> 'address', '/') = 0, named.value ->> 'address',
         substr(named.value ->> 'address', 1, instr(named.value ->> 'address', '/') - 1)))
     LIMIT ?`,
  ),
  routed: $client.prepare<Row & { prefixLength: number; version: number }, [string, string]>(
    `SELECT a.id, a.address, a.version, a.workload_id AS workloadId, a.reserved_for AS reservedFor,
       a.holder_id AS holderId, a.prefix_length AS prefixLength
     FROM addresses a JOIN pool_nodes pn ON pn.pool_id = a.pool_id AND pn.node_id = ? WHERE a.address = ?`,
  ),
  ofNode: $client.prepare<Claim, [string]>(
    `SELECT c.address_id AS addressId, c.workload_id AS workloadId, c.words, a.address, a.workload_id AS holder
     FROM address_claims c JOIN addresses a ON a.id = c.address_id WHERE c.node_id = ? ORDER BY a.pool_id, a.place`,
  ),
  places: $client.prepare<{ n: number }, [string]>(
    `SELECT ${places} AS n FROM address_claims c JOIN addresses a ON a.id = c.address_id WHERE c.node_id = ?`,
  ),
  placesOfEach: $client.prepare<{ nodeId: string; n: number }, []>(
    `SELECT c.node_id AS nodeId, ${places} AS n FROM address_claims c JOIN addresses a ON a.id = c.address_id
     GROUP BY c.node_id`,
  ),
  conflicts: $client.prepare<Claim & { nodeId: string }, [number]>(
    `SELECT c.address_id AS addressId, c.node_id AS nodeId, c.workload_id AS workloadId, c.words, a.address,
       a.workload_id AS holder
     FROM address_claims c JOIN addresses a ON a.id = c.address_id
     WHERE a.workload_id IS NOT NULL AND a.workload_id <> c.workload_id ORDER BY c.since, a.address LIMIT ?`,
  ),
  put: $client.prepare<unknown, [string, string, string, string, number]>(
    `INSERT INTO address_claims (address_id, node_id, workload_id, words, since) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (address_id, node_id) DO UPDATE SET words = excluded.words, workload_id = excluded.workload_id,
       overruled = iif(workload_id = excluded.workload_id, overruled, 0)`,
  ),
  drop: $client.prepare<unknown, [string, string]>('DELETE FROM address_claims WHERE address_id = ? AND node_id = ?'),
  overrule: $client.prepare<unknown, [string]>('UPDATE address_claims SET overruled = 1 WHERE address_id = ?'),
  inForce: $client.prepare<{ words: string }, [string]>(
    'SELECT words FROM address_claims WHERE address_id = ? AND overruled = 0 ORDER BY since, node_id LIMIT 1',
  ),
  isClaim: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM address_claims WHERE address_id = ? AND overruled = 0 AND words = ?',
  ),
  reserve: $client.prepare<unknown, [string | null, string]>('UPDATE addresses SET reserved_for = ? WHERE id = ?'),
  address: $client.prepare<Row & { poolId: string; cutEarly: number; prefixLength: number }, [string]>(
    `SELECT id, address, workload_id AS workloadId, reserved_for AS reservedFor, holder_id AS holderId,
       pool_id AS poolId, cut_early AS cutEarly, prefix_length AS prefixLength FROM addresses WHERE id = ?`,
  ),
  inPool: $client.prepare<{ address: string }, [string]>(
    `SELECT a.address FROM address_claims c CROSS JOIN addresses a ON a.id = c.address_id
     WHERE +a.pool_id = ? AND c.overruled = 0 LIMIT 1`,
  ),
  delete: $client.prepare<unknown, [string]>('DELETE FROM addresses WHERE id = ?'),
}))
const insert = inserting(addresses)

export type ClaimRules = {
  /** Why no order gets the address, in words. */
  wordsFor(workloadId: string): string
  /** False: the report is older than what the database knows of the workload. Claims that stand stay. */
  isNews(workloadId: string): boolean
  /** The database has the workload on other nodes alone: what it has there, too, is in use here. */
  isElsewhere(workloadId: string): boolean
  /** False: it is no conflict that the database gives the address to `holder`. */
  conflicts(workloadId: string, holder: string, isFloating: boolean): boolean
}
/** The changes by a report: the addresses that are held since, and those that are not any more. */
export type ClaimChange = { held: string[]; ended: string[]; isTooMany: boolean }

/**
 * Takes in all addresses that are in use on a node. `named` replaces what it named before: addresses that it does not
 * name any more are free again.
 */
export function takeClaims(
  tx: Tx,
  nodeId: string,
  named: readonly NamedAddress[],
  { wordsFor, isNews, isElsewhere, conflicts }: ClaimRules,
  now: number,
): ClaimChange {
  const elsewhere = new Set([...new Set(named.map(({ workload }) => workload))].filter(isElsewhere))
  const own = named.filter(({ workload }) => elsewhere.has(workload)).slice(0, MOST_LOOKED_AT)
  const before = new Map(claimsOf(tx, nodeId).map((claim) => [claim.addressId, claim]))
  const stands = new Set<string>()
  const change: ClaimChange = { held: [], ended: [], isTooMany: false }
  const unknown = statements(tx).unknown.all(JSON.stringify(named), MOST_LOOKED_AT)
  for (const { workload, address } of [...unknown, ...own]) {
    const row = rowOf(tx, nodeId, address)
    const isOwn = row?.workloadId === workload
    // The record gives it to this workload in another spelling, or to another one that is about to have it.
    if (!row || (isOwn && !elsewhere.has(workload)) || stands.has(row.id)) continue
    const isNew = 'poolId' in row || !before.has(row.id)
    if (isNew && !isNews(workload)) continue
    if (row.workloadId !== null && !isOwn && !conflicts(workload, row.workloadId, row.holderId !== null)) continue
    if (stands.size >= MOST_CLAIMS) {
      change.isTooMany = true
      break
    }
    const id = 'poolId' in row ? insertEarly(tx, row) : row.id
    stands.add(id)
    const words = wordsFor(workload)
    if (before.get(id)?.words === words) continue
    if (isReservedByClaim(tx, row)) statements(tx).reserve.run(null, id)
    statements(tx).put.run(id, nodeId, workload, words, now)
    if (holdClaimed(tx, id) && isNew) change.held.push(row.address)
  }
  for (const { addressId, address } of before.values())
    if (!stands.has(addressId) && endClaim(tx, { addressId, nodeId })) change.ended.push(address)
  return change
}

/** The claims of a node, in the order of their pools. `holder`: the workload that has the address in the database. */
export const claimsOf = (tx: Db, nodeId: string): Claim[] => statements(tx).ofNode.all(nodeId)
/** In how many places the claims of a node differ from the database, as they are told in words. */
export const claimedPlaces = (tx: Db, nodeId: string): number => statements(tx).places.get(nodeId)!.n
/** The same of every node that has claims. */
export const claimedPlacesOfEach = (tx: Db): ReadonlyMap<string, number> =>
  new Map(
    statements(tx)
      .placesOfEach.all()
      .map(({ nodeId, n }) => [nodeId, n]),
  )
/** An address of the pool that a node says is in use on it; undefined: there is none. */
export const addressWithClaim = (tx: Db, poolId: string): string | undefined =>
  statements(tx).inPool.get(poolId)?.address
/** Claims on addresses that the database gives to another workload: two have them. */
export const conflictingClaims = (tx: Db, limit: number) => statements(tx).conflicts.all(limit)

/**
 * For a node that is removed: it routes no pool, is not awaited, and what it claimed is free. Answers the ids of these
 * addresses.
 */
export function detachNode(tx: Tx, nodeId: string): string[] {
  const freed = claimsOf(tx, nodeId).flatMap(({ addressId }) =>
    endClaim(tx, { addressId, nodeId }) ? [addressId] : [],
  )
  awaitNoLonger(tx, nodeId)
  tx.delete(poolNodes).where(eq(poolNodes.nodeId, nodeId)).run()
  return freed
}

/** Is the address reserved because a node says that it is in use? */
const isReservedByClaim = (tx: Db, { id, reservedFor }: Pick<Row, 'id' | 'reservedFor'>): boolean =>
  reservedFor !== null && statements(tx).isClaim.get(id, reservedFor) !== null

/** Staff frees a claimed address: the claim is shown still, and reserves it no more. */
export function overruleClaims(tx: Tx, address: Pick<Row, 'id' | 'reservedFor'>) {
  if (isReservedByClaim(tx, address)) statements(tx).overrule.run(address.id)
}

/** Reserves an address that is free and claimed. False: it is neither, or nothing has to be done. */
export function holdClaimed(tx: Tx, addressId: string): boolean {
  const row = statements(tx).address.get(addressId)!
  if (row.workloadId !== null || row.reservedFor !== null) return false
  const claim = statements(tx).inForce.get(addressId)
  if (claim) statements(tx).reserve.run(claim.words, addressId)
  return claim !== null
}

/** Answers whether the address is free since. */
function endClaim(tx: Tx, { addressId, nodeId }: { addressId: string; nodeId: string }) {
  const row = statements(tx).address.get(addressId)!
  const isHeld = isReservedByClaim(tx, row)
  statements(tx).drop.run(addressId, nodeId)
  if (!isHeld) return false
  statements(tx).reserve.run(null, addressId)
  holdClaimed(tx, addressId)
  // Another node may claim it too, or it is never given out again.
  if (statements(tx).address.get(addressId)!.reservedFor !== null) return false
  if (!row.cutEarly) return true
  const prefix = toNetwork(`${row.address}/${row.prefixLength}`)!
  // The pool will be cut there.
  if (isFreePrefix(tx, poolById(tx, row.poolId)!, prefix, addressId)) statements(tx).delete.run(addressId)
  return true
}

type Early = Row & { poolId: string; prefix: Network }
/** The address in a pool that the node routes; one with `poolId` is not cut yet. Undefined: no order can get it. */
function rowOf(tx: Db, nodeId: string, named: string): Row | Early | undefined {
  const prefix = named.includes('/') ? toNetwork(named) : undefined
  const single = prefix ? { version: prefix.version, n: prefix.first } : toNumber(named)
  if (!single || (single.version === 6) !== (prefix !== undefined)) return undefined
  const address = toText(single.version, single.n)
  const found = statements(tx).routed.get(nodeId, address)
  if (found) return single.version === 4 || found.prefixLength === prefix!.bits ? found : undefined
  if (!prefix || prefix.bits < SHORTEST_PREFIX) return undefined
  const poolId = pools6Of(tx, nodeId).find((pool) => isFreePrefix(tx, pool, prefix))?.id
  if (poolId === undefined) return undefined
  return { id: '', address, workloadId: null, reservedFor: null, holderId: null, poolId, prefix }
}

function insertEarly(tx: Tx, { poolId, address, prefix }: Early): string {
  const id = newId('ip')
  const prefixLength = prefix.bits
  const { scope } = poolById(tx, poolId)!
  const [place, rangeStart] = [nextPlaceIn(tx, poolId), startOf(prefix.first)]
  insert(tx, { id, poolId, version: 6, address, prefixLength, place, rangeStart, cutEarly: true, scope })
  return id
}
