// The VLANs in which servers get their addresses. A server has one network card, so all its addresses are in pools of
// one VLAN, or of none. A node gives addresses of a pool only while its uplink carries the VLAN of that pool.
import { type Db, prepared } from '../../../kernel/db/open.ts'
import { transitReasons } from './in-transit.ts'

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
  nodesWithout: $client.prepare<{ id: string }, [string, number]>(
    `SELECT pn.node_id AS id FROM pools p CROSS JOIN pool_nodes pn ON pn.pool_id = p.id
     WHERE p.id = ? AND p.vlan IS NOT NULL AND NOT ${isCarried('p.vlan', 'pn.node_id')} LIMIT ?`,
  ),
  uncarriedOn: $client.prepare<{ pool: string; vlan: number }, [string, number]>(
    `SELECT p.name AS pool, p.vlan FROM pool_nodes pn JOIN pools p ON p.id = pn.pool_id
     WHERE pn.node_id = ?1 AND p.version = ?2 AND NOT ${isCarried('p.vlan', '?1')} ORDER BY p.id LIMIT 1`,
  ),
  inTransit: $client.prepare<{ address: string }, string[]>(
    `SELECT address FROM addresses WHERE pool_id = ?1 AND workload_id IS NULL AND reserved_for IS NOT NULL
     AND (${Object.values(transitReasons)
       .map((_, n) => `substr(reserved_for, 1, length(?${n + 2})) = ?${n + 2}`)
       .join(' OR ')}) LIMIT 1`,
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

/** The first nodes that route the pool and do not carry its VLAN. */
export const nodesWithoutVlan = (tx: Db, poolId: string, most: number): string[] =>
  statements(tx)
    .nodesWithout.all(poolId, most)
    .map(({ id }) => id)
/** A pool of this version that the node routes and whose VLAN it does not carry; undefined: there is none. */
export const uncarriedOn = (tx: Db, nodeId: string, version: 4 | 6) =>
  statements(tx).uncarriedOn.get(nodeId, version) ?? undefined
/** An address of the pool that is on its way to a workload; undefined: there is none. */
export const addressInTransit = (tx: Db, poolId: string): string | undefined =>
  statements(tx).inTransit.get(poolId, ...Object.values(transitReasons).map((reason) => reason('')))?.address
