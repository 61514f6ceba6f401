// Queries on IP pools and addresses, for this feature and others.
import { workloadReference } from '../../compute/workloads/queries.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { LIKE } from '../../kernel/db/rows.ts'
import type { AuditTarget } from '../../platform/audit/target.ts'
import { pools } from './tables.ts'

export const poolReference = reference(pools, ['name'])
export const poolTarget: AuditTarget = {
  prefix: 'pool',
  isGone: (id) => `NOT EXISTS (SELECT 1 FROM pools WHERE id = ${id})`,
}

// ---------------------------------------------------------------- SQL text for the queries of others
const isFree = (address: string) => `${address}.workload_id IS NULL AND ${address}.reserved_for IS NULL`

/** Has a pool of this node a free IPv4 address? `nodeId` is an SQL expression. */
export const hasFreeIpv4 = (nodeId: string) =>
  `EXISTS (SELECT 1 FROM pool_nodes pn JOIN addresses a ON a.pool_id = pn.pool_id
    WHERE pn.node_id = ${nodeId} AND a.version = 4 AND ${isFree('a')})`

/** The workload's addresses as a JSON array of `HeldAddressJson`, in no order. `workloadId` is an SQL expression. */
export const addressesJson = (workloadId: string) =>
  `(SELECT json_group_array(json_object('address', a.address, 'prefixLength', a.prefix_length, 'version', a.version,
      'gateway', ap.gateway, 'isPrimary', a.is_primary))
    FROM addresses a JOIN pools ap ON ap.id = a.pool_id WHERE a.workload_id = ${workloadId})`
export type HeldAddressJson = {
  address: string
  prefixLength: number
  version: number
  gateway: string
  isPrimary: number
}

/** The workload's addresses with a space between them. */
export const addressesText = (workloadId: string) =>
  `(SELECT group_concat(a.address, ' ') FROM addresses a WHERE a.workload_id = ${workloadId})`

/** Has the workload an address that contains a text? One parameter: `partOf(text)`. */
export const addressContains = (workloadId: string) =>
  `EXISTS (SELECT 1 FROM addresses a WHERE a.workload_id = ${workloadId} AND a.address ${LIKE})`

/** How many addresses of this version the workload has. */
export const addressCount = (workloadId: string, version: 4 | 6) =>
  `(SELECT count(*) FROM addresses a WHERE a.workload_id = ${workloadId} AND a.version = ${version})`

// ---------------------------------------------------------------- queries
const statements = prepared(({ $client }) => ({
  freeIpv4: $client.prepare<{ n: number }, [string]>(
    `SELECT count(*) AS n FROM addresses a WHERE ${isFree('a')} AND a.pool_id IN
     (SELECT pn.pool_id FROM json_each(?) node JOIN pool_nodes pn ON pn.node_id = node.value
      JOIN pools p ON p.id = pn.pool_id WHERE p.version = 4)`,
  ),
  ofNode: $client.prepare<{ id: string; name: string; network: string }, [string]>(
    `SELECT p.id, p.name, p.network FROM pools p JOIN pool_nodes pn ON pn.pool_id = p.id
     WHERE pn.node_id = ? ORDER BY p.name`,
  ),
  elsewhere: $client.prepare<{ hostname: string }, [string, string]>(
    `SELECT ${workloadReference.column('w', 'hostname')}
     FROM addresses a ${workloadReference.join('w', 'a.workload_id')}
     WHERE a.pool_id = ?
       AND ${workloadReference.column('w', 'nodeId')} NOT IN (SELECT value FROM json_each(?)) LIMIT 1`,
  ),
  anyFree: $client.prepare(
    `SELECT 1 FROM pool_nodes pn JOIN addresses a ON a.pool_id = pn.pool_id WHERE ${isFree('a')} LIMIT 1`,
  ),
}))

/**
 * The hostname of a workload that has an address of the pool and stands on none of these nodes; undefined when there is
 * none.
 */
export const holderElsewhere = (tx: Db, poolId: string, nodeIds: readonly string[]): string | undefined =>
  statements(tx).elsewhere.get(poolId, JSON.stringify(nodeIds))?.hostname

/** How many IPv4 addresses are free for these nodes together: a pool that several of them route counts once. */
export const countFreeIpv4 = (tx: Db, nodeIds: readonly string[]): number =>
  statements(tx).freeIpv4.get(JSON.stringify(nodeIds))!.n

/** The pools that the node routes, by name. */
export const poolsOfNode = (tx: Db, nodeId: string) => statements(tx).ofNode.all(nodeId)

/** Is an address free on any node? */
export const isAnyAddressFree = (tx: Db): boolean => statements(tx).anyFree.get() !== null
