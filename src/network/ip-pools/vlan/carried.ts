// The VLANs in which servers get their addresses. A server has one network card, so all its addresses are in pools of
// one VLAN, or of none. A node gives addresses of a pool only while its uplink carries the VLAN of that pool.
import { ApiError } from '../../../kernel/api/errors.ts'
import { type Db, prepared } from '../../../kernel/db/open.ts'
import type { Pool } from '../tables.ts'
import { type PoolContext, routerName } from '../users.ts'

/** Null: none, the network of the node's bridge. */
export type Vlan = number | null
/** Where a workload gets addresses: on this node, from pools of this VLAN. */
export type At = { nodeId: string; vlan: Vlan }

/** SQL: the node carries the VLAN; each carries none. */
export const isCarried = (vlan: string, nodeId: string) =>
  `(${vlan} IS NULL OR EXISTS (SELECT 1 FROM node_vlans nv WHERE nv.node_id = ${nodeId}
     AND ${vlan} BETWEEN nv.first AND nv.last))`
/** SQL: the pool is in a VLAN that the node carries; in this one, where `vlan` names a parameter. */
export const isOffered = (poolId: string, nodeId: string, vlan?: string) =>
  `EXISTS (SELECT 1 FROM pools vp WHERE vp.id = ${poolId}${vlan ? ` AND vp.vlan IS ${vlan}` : ''}
     AND ${isCarried('vp.vlan', nodeId)})`

/** SQL: the VLAN of the workload; NULL also while it has no address. */
export const vlanOf = (workloadId: string) =>
  `(SELECT vp.vlan FROM addresses va JOIN pools vp ON vp.id = va.pool_id WHERE va.workload_id = ${workloadId} LIMIT 1)`

const statements = prepared(({ $client }) => ({
  ofNode: $client.prepare<{ vlan: Vlan }, [string]>(
    `SELECT p.vlan FROM pool_nodes pn JOIN pools p ON p.id = pn.pool_id
     WHERE pn.node_id = ?1 AND ${isCarried('p.vlan', '?1')} GROUP BY p.vlan ORDER BY min(p.id)`,
  ),
  carries: $client.prepare<unknown, [string, number]>(
    'SELECT 1 FROM node_vlans WHERE node_id = ? AND ? BETWEEN first AND last',
  ),
  uncarried: $client.prepare<{ nodeId: string; poolId: string; pool: string; vlan: number }, []>(
    `SELECT pn.node_id AS nodeId, p.id AS poolId, p.name AS pool, p.vlan FROM pools p
     CROSS JOIN pool_nodes pn ON pn.pool_id = p.id
     WHERE p.vlan IS NOT NULL AND NOT ${isCarried('p.vlan', 'pn.node_id')} ORDER BY p.name, pn.node_id`,
  ),
  uncarriedOn: $client.prepare<{ pool: string; vlan: number }, [string, number]>(
    `SELECT p.name AS pool, p.vlan FROM pool_nodes pn JOIN pools p ON p.id = pn.pool_id
     WHERE pn.node_id = ?1 AND p.version = ?2 AND NOT ${isCarried('p.vlan', '?1')} ORDER BY p.id LIMIT 1`,
  ),
  // +?: as of `primaryIpv4`.
  ofWorkload: $client.prepare<{ vlan: Vlan }, [string]>(
    `SELECT p.vlan FROM addresses a JOIN pools p ON p.id = a.pool_id WHERE a.workload_id = +? LIMIT 1`,
  ),
}))

/** The VLANs of the pools that the node routes and carries; that of its oldest pool first. */
export const vlansOfNode = (tx: Db, nodeId: string): Vlan[] =>
  statements(tx)
    .ofNode.all(nodeId)
    .map(({ vlan }) => vlan)
export const carriesVlan = (tx: Db, nodeId: string, vlan: Vlan): boolean =>
  vlan === null || statements(tx).carries.get(nodeId, vlan) !== null
/** Pools that a node routes and whose VLAN it does not carry any more, by the name of the pool. */
export const uncarriedPools = (tx: Db) => statements(tx).uncarried.all()
/** The VLAN of the workload; undefined while it has no address. */
export const vlanOfWorkload = (tx: Db, workloadId: string): Vlan | undefined =>
  statements(tx).ofWorkload.get(workloadId)?.vlan

/** The VLAN in which all these addresses are: that of the first. */
export const vlanOfAddresses = (held: readonly { pool: Pick<Pool, 'vlan'> }[]): Vlan => held[0]?.pool.vlan ?? null
/** `VLAN 20`, or `no VLAN`. */
export const vlanWords = (vlan: Vlan): string => (vlan === null ? 'no VLAN' : `VLAN ${vlan}`)

/** Behind the words for a lack on a node: `; it does not carry VLAN 20 of Frankfurt`. Nothing where it carries all. */
export function uncarriedWords(tx: Db, nodeId: string, version: 4 | 6): string {
  const found = statements(tx).uncarriedOn.get(nodeId, version)
  return found ? `; it does not carry VLAN ${found.vlan} of the pool ${found.pool}` : ''
}

/** Throws `vlan_not_carried`. */
export function mustCarry(call: PoolContext, vlan: Vlan, nodeIds: readonly string[]) {
  const without = nodeIds.filter((id) => !carriesVlan(call.tx, id, vlan))
  if (!without.length) return
  const names = without.map((id) => routerName(call, id) ?? id)
  const shown = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
  throw new ApiError(
    'vlan_not_carried',
    `${shown} ${names.length === 1 ? 'does' : 'do'} not carry VLAN ${vlan}. Let the switch ports have it, and say so ` +
      `on each node: berth agent uplink --uplink NAME --vlans ${vlan}`,
  )
}
