// Pools whose nodes are awaited. A database that takes the place of another one may lack the last orders: its free
// addresses are known when every node that routes their pool has named those on it.
import type { Database } from 'bun:sqlite'
import { ApiError, restarting } from '../../kernel/api/errors.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'

/** SQL: no node is awaited that routes the pool. While none is awaited at all, it takes no measurable time. */
export const isGiven = (poolId: string) =>
  `NOT EXISTS (SELECT 1 FROM awaited_nodes aw CROSS JOIN pool_nodes awp
     ON awp.pool_id = ${poolId} AND awp.node_id = aw.node_id)`

const statements = prepared(({ $client }) => ({
  withheld: $client.prepare<unknown, [string, number]>(
    `SELECT 1 FROM pool_nodes pn JOIN pools p ON p.id = pn.pool_id
     WHERE pn.node_id = +? AND p.version = ? AND NOT ${isGiven('p.id')} LIMIT 1`,
  ),
  ofPool: $client.prepare<{ id: string }, [string]>(
    `SELECT aw.node_id AS id FROM awaited_nodes aw CROSS JOIN pool_nodes pn
     ON pn.pool_id = ? AND pn.node_id = aw.node_id`,
  ),
  blocking: $client.prepare<{ id: string; pools: number }, []>(
    `SELECT aw.node_id AS id, count(*) AS pools FROM awaited_nodes aw CROSS JOIN pool_nodes pn
     ON pn.node_id = aw.node_id GROUP BY aw.node_id`,
  ),
  isAwaited: $client.prepare<unknown, [string]>('SELECT 1 FROM awaited_nodes WHERE node_id = ?'),
  end: $client.prepare<unknown, [string]>('DELETE FROM awaited_nodes WHERE node_id = ?'),
}))

/** Does the node route a pool of this version that gives no addresses yet? */
export const withholdsFor = (tx: Db, nodeId: string, version: 4 | 6): boolean =>
  statements(tx).withheld.get(nodeId, version) !== null
/** The nodes for which the pool waits. */
export const awaitedOf = (tx: Db, poolId: string): string[] =>
  statements(tx)
    .ofPool.all(poolId)
    .map(({ id }) => id)
/** The awaited nodes that route pools, and how many pools. */
export const awaitedWithPools = (tx: Db) => statements(tx).blocking.all()
export const isAwaited = (tx: Db, nodeId: string): boolean => statements(tx).isAwaited.get(nodeId) !== null
/** The node has named the addresses on it, or will not any more. */
export const awaitNoLonger = (tx: Tx, nodeId: string) => void statements(tx).end.run(nodeId)

/**
 * From now on these nodes are awaited, in the file of a database that is put in place of another one. One from before
 * this table gets it by its migration, with these nodes in it.
 */
export function awaitNodesIn(file: Database, nodeIds: readonly string[]) {
  const hasTable = file.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'awaited_nodes'").get()
  if (!hasTable) return
  const add = file.query('INSERT OR IGNORE INTO awaited_nodes (node_id) VALUES (?)')
  for (const id of nodeIds) add.run(id)
}

type Need = { ipv4: number; ipv6Prefix: number | null }
/** Does an awaited node tell its addresses in a moment? `isSoon` says so of a node. */
export const isReportNear = (tx: Db, isSoon: (nodeId: string) => boolean): boolean =>
  awaitedWithPools(tx).some(({ id }) => isSoon(id))
/** Does an order of this need wait for such a node, on one of these nodes? */
export const waitsForNearReport = (
  tx: Db,
  isSoon: (nodeId: string) => boolean,
  { ipv4, ipv6Prefix, nodeIds }: Need & { nodeIds: readonly string[] },
): boolean =>
  isReportNear(tx, isSoon) &&
  nodeIds.some((id) => (ipv4 > 0 && withholdsFor(tx, id, 4)) || (ipv6Prefix !== null && withholdsFor(tx, id, 6)))

/**
 * The refusal where only addresses are missing that awaited nodes may have. `where`: what gives none. Out of stock is
 * an answer that shops remember; a node that comes back in a moment must not cause it.
 */
export function awaitingReports(where: string, isNear = false): ApiError {
  if (isNear)
    return restarting(
      `${where} gives no addresses yet: the panel was restored, and nodes are reconnecting that tell which addresses ` +
        'are in use. Nothing was changed; try again in a minute.',
    )
  return new ApiError(
    'no_addresses',
    `${where} gives no addresses yet: the panel was restored a while ago, and not every node has told since which ` +
      'addresses are in use on it. Nothing was changed; try again in a few minutes.',
  )
}
