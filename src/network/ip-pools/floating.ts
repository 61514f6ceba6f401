// Addresses that belong to somebody beside a workload, and point to one workload or to none. `reserved_for` keeps them
// from orders; the one column `workload_id` says where each points, so that none ever points to two.
import { ApiError } from '../../kernel/api/errors.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting } from '../../kernel/db/rows.ts'
import { cutFrom, nextPlaceIn, noteCut } from './allocate.ts'
import { awaitingReports, isGiven, withholdsFor } from './awaited.ts'
import { restingWords } from './quarantine/rest.ts'
import { poolById } from './queries.ts'
import { addresses } from './tables.ts'
import { isCarried, isOffered, type Vlan } from './vlan/queries.ts'

const RESERVED_FOR = 'Floating address'
const insert = inserting(addresses)
const statements = prepared(({ $client }) => ({
  // The pool that most of the nodes route comes first: the address can move between these.
  pools: $client.prepare<{ id: string; vlan: Vlan }, [number, string]>(
    `SELECT p.id, p.vlan FROM pools p JOIN pool_nodes pn ON pn.pool_id = p.id
     WHERE p.version = ? AND pn.node_id IN (SELECT value FROM json_each(?)) AND ${isGiven('p.id')}
       AND ${isCarried('p.vlan', 'pn.node_id')}
     GROUP BY p.id ORDER BY count(*) DESC, p.id`,
  ),
  free: $client.prepare<{ id: string }, [string, number]>(
    `SELECT id FROM addresses INDEXED BY addresses_free WHERE pool_id = +? AND prefix_length IN (+?, 128)
     AND (version = 4 OR prefix_length = 128) AND workload_id IS NULL AND reserved_for IS NULL AND rests_until IS NULL
     ORDER BY place LIMIT 1`,
  ),
  take: $client.prepare(
    `UPDATE addresses SET holder_id = ?, holder_reseller_id = ?, reserved_for = '${RESERVED_FOR}'
     WHERE id = ? AND workload_id IS NULL AND reserved_for IS NULL AND rests_until IS NULL`,
  ),
  point: $client.prepare('UPDATE addresses SET workload_id = ? WHERE id = ? AND holder_id IS NOT NULL'),
  release: $client.prepare(
    `UPDATE addresses SET holder_id = NULL, holder_reseller_id = NULL, reserved_for = NULL, workload_id = NULL
     WHERE id = ? AND holder_id IS NOT NULL`,
  ),
  routed: $client.prepare<unknown, [string, string]>(
    `SELECT 1 FROM addresses a JOIN pool_nodes pn ON pn.pool_id = a.pool_id
     WHERE a.id = ?1 AND pn.node_id = ?2 AND ${isOffered('pn.pool_id', '?2')}`,
  ),
}))

type Holder = { id: string; resellerId: string | null }
/**
 * Takes an address for a holder from a pool that one of the nodes routes; answers its id. `vlans`: those in which it is
 * of use, because servers of the owner are there. Throws `no_addresses`.
 */
export function takeFloating(
  tx: Tx,
  holder: Holder,
  version: 4 | 6,
  { nodeIds, vlans }: { nodeIds: readonly string[]; vlans: ReadonlySet<Vlan> },
): string {
  const { pools, free, take } = statements(tx)
  for (const { id: poolId, vlan } of pools.all(version, JSON.stringify(nodeIds))) {
    if (!vlans.has(vlan)) continue
    const pool = poolById(tx, poolId)!
    const found = free.get(poolId, Number(pool.network.split('/')[1]))
    if (found) {
      take.run(holder.id, holder.resellerId, found.id)
      return found.id
    }
    const cut = version === 6 && cutFrom(tx, pool, 128)
    if (!cut) continue
    const id = newId('ip')
    insert(tx, {
      id,
      poolId,
      version: 6,
      address: cut.address,
      rangeStart: cut.rangeStart,
      prefixLength: 128,
      place: nextPlaceIn(tx, poolId),
      holderId: holder.id,
      holderResellerId: holder.resellerId,
      reservedFor: RESERVED_FOR,
      scope: pool.scope,
    })
    noteCut(tx, pool, cut.nextOffset)
    return id
  }
  if (nodeIds.some((nodeId) => withholdsFor(tx, nodeId, version))) throw awaitingReports('This location')
  const resting = nodeIds
    .map((id) => restingWords(tx, id, { version, prefixLength: 128, missing: 1 }))
    .find((words) => words !== '')
  throw new ApiError(
    'no_addresses',
    `There is no free IPv${version} address in the pools of this location${resting ?? ''}. ` +
      'Choose another location, or add a pool.',
  )
}

/** The workload that the address points to from now on; null: none. */
export const pointFloating = (tx: Tx, addressId: string, workloadId: string | null) =>
  void statements(tx).point.run(workloadId, addressId)
/** Gives the address back to its pool. */
export const releaseFloating = (tx: Tx, addressId: string) => void statements(tx).release.run(addressId)
/** Does the node route the pool of this address, and carry its VLAN? */
export const isRoutedBy = (tx: Db, addressId: string, nodeId: string): boolean =>
  statements(tx).routed.get(addressId, nodeId) !== null
