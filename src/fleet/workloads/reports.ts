// The queries of overviews, quotas and the audit log. A `Where` is over `workloads w`, such as `visible`.
import { type Db, prepared } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { heldAddressCount } from '../../network/ip-pools/queries.ts'
import { type Vlan, vlanOf } from '../../network/ip-pools/vlan/queries.ts'
import type { WorkloadKind } from './kind.ts'
import { fromWorkloads, type Workload } from './queries.ts'
import { statusIs, statusOf } from './status.ts'

/** The ids of the workloads that an account has or cares for, terminated ones too; two parameters, both the account. */
export const workloadIdsOf = `SELECT w.id ${fromWorkloads} WHERE w.owner_id = ? OR w.reseller_id = ?`

type Held = { servers: number; vcpus: number; memoryMb: number; diskGb: number; gpus: number; ipv4: number }
// Kept by triggers (0079_totals.sql): adding up 6,000 servers takes 40 ms, and each order of a reseller asks.
const held = prepared(({ $client }) => ({
  byWorkloads: $client.prepare<Held, [string]>(
    `SELECT servers, vcpus, memory_mb AS memoryMb, disk_gb AS diskGb, gpus, ipv4
     FROM account_holdings WHERE account_id = ?`,
  ),
  floating: $client.prepare<{ n: number }, [string]>(`SELECT ${heldAddressCount('?', 4)} AS n`),
}))
const nothing: Held = { servers: 0, vcpus: 0, memoryMb: 0, diskGb: 0, gpus: 0, ipv4: 0 }
/** Resources that the workloads of a reseller and of its customers hold together, by the names of its quotas. */
export function heldUnder(tx: Db, resellerId: string): Held {
  const { byWorkloads, floating } = held(tx)
  const ofWorkloads = byWorkloads.get(resellerId) ?? nothing
  return { ...ofWorkloads, ipv4: ofWorkloads.ipv4 + floating.get(resellerId)!.n }
}

const owned = prepared(({ $client }) =>
  $client.prepare<{ n: number }, [string]>(
    `SELECT count(*) AS n ${fromWorkloads} WHERE w.kind = 'server' AND w.owner_id = +? AND w.terminated_at IS NULL`,
  ),
)
/** How many servers the account itself has. */
export const serversOfOwner = (tx: Db, ownerId: string): number => owned(tx).get(ownerId)!.n

const inLocation = prepared(({ $client }) =>
  $client.prepare<unknown, [string, string]>(
    `SELECT 1 ${fromWorkloads}
     WHERE w.owner_id = +? AND w.location_id = ? AND w.kind = 'server' AND w.terminated_at IS NULL LIMIT 1`,
  ),
)
/** Has the account itself a server in the location? */
export const hasServerIn = (tx: Db, ownerId: string, locationId: string): boolean =>
  inLocation(tx).get(ownerId, locationId) !== null

const inVlans = prepared(({ $client }) =>
  $client.prepare<{ vlan: Vlan }, [string, string]>(
    `SELECT DISTINCT ${vlanOf('w.id')} AS vlan ${fromWorkloads}
     WHERE w.owner_id = +? AND w.location_id = ? AND w.kind = 'server' AND w.terminated_at IS NULL`,
  ),
)
/** The VLANs of the servers that the account itself has in the location; null among them: one is in none. */
export const vlansOfServersIn = (tx: Db, ownerId: string, locationId: string): ReadonlySet<Vlan> =>
  new Set(
    inVlans(tx)
      .all(ownerId, locationId)
      .map(({ vlan }) => vlan),
  )

const beside = prepared(({ $client }) =>
  $client.prepare<{ id: string; hostname: string }, [string, string, number]>(
    `SELECT w.id, w.hostname ${fromWorkloads}
     WHERE w.owner_id = +? AND w.node_id = ? AND w.kind = 'server' AND w.terminated_at IS NULL
     ORDER BY w.hostname LIMIT ?`,
  ),
)
/** The servers of an account on one node, by name, at most `most`. */
export const serversBeside = (tx: Db, { ownerId, nodeId }: { ownerId: string; nodeId: string }, most: number) =>
  beside(tx).all(ownerId, nodeId, most)

type Group = Pick<Workload, 'lifecycle' | 'suspendedAt' | 'power'> & { n: number }
/** Null without a filter by nodes, which is one parameter: a JSON array of ids. */
const ON_NODES = (column: string) => `(? IS NULL OR ${column} IN (SELECT value FROM json_each(?)))`

const counted = prepared(({ $client }) =>
  $client.prepare<Group, [string, string | null, string | null]>(
    `SELECT lifecycle, nullif(suspended, 0) AS suspendedAt, power, sum(workloads) AS n FROM workload_states
     WHERE kind = ? AND ${ON_NODES('node_id')} AND lifecycle <> 'terminated'
     GROUP BY lifecycle, suspended, power HAVING n > 0`,
  ),
)
/** Grouped by columns of the row: by the expression of the status it takes six times as long. */
const grouped = (tx: Db, kind: string, { where, values }: Where, nodes: string | null): Group[] =>
  tx.$client
    .query<Group, (string | null)[]>(
      `SELECT w.lifecycle, w.suspended_at AS suspendedAt, w.power, count(*) AS n ${fromWorkloads}
       WHERE w.kind = ? AND ${where} AND ${ON_NODES('w.node_id')} AND w.lifecycle <> 'terminated'
       GROUP BY w.lifecycle, w.suspended_at, w.power`,
    )
    .all(kind, ...values, nodes, nodes)

/**
 * How many workloads of this kind have which status; terminated ones are left out. `nodeIds`: only those on these
 * nodes. The counts of all workloads are stored (0008_record_versions.sql).
 */
export function countByStatus(
  tx: Db,
  { kind }: Pick<WorkloadKind, 'kind'>,
  where: Where,
  nodeIds?: readonly string[],
): Record<string, number> {
  const nodes = nodeIds ? JSON.stringify(nodeIds) : null
  const isEverything = where.where === everyWorkload.where
  const counts: Record<string, number> = {}
  for (const group of isEverything ? counted(tx).all(kind, nodes, nodes) : grouped(tx, kind, where, nodes))
    counts[statusOf(group)] = (counts[statusOf(group)] ?? 0) + group.n
  return counts
}

const nodeCounts = prepared(({ $client }) =>
  $client.prepare<{ n: number; on: number }, [string, string]>(
    `SELECT coalesce(sum(workloads), 0) AS n,
       coalesce(sum(workloads) FILTER (WHERE node_id IN (SELECT value FROM json_each(?))), 0) AS "on"
     FROM workload_states WHERE kind = ? AND lifecycle <> 'terminated'`,
  ),
)
/** Workloads of the kind that are not terminated, and those of them that are on these nodes; both are stored. */
export const countOnNodes = (tx: Db, kind: string, nodeIds: readonly string[]): { n: number; on: number } =>
  nodeCounts(tx).get(JSON.stringify(nodeIds), kind)!

/** For queries that ask about all workloads. */
export const everyWorkload: Where = { where: '1', values: [] }

const IS_SET_UP = `NOT (${statusIs.pending_setup} OR ${statusIs.provisioning} OR ${statusIs.failed})`
const first = (tx: Db, { kind }: WorkloadKind, { where, values }: Where, more: string) =>
  tx.$client
    .query<{ id: string }, string[]>(
      // +w.kind: in the order of the ids; by an index of the kind all 60,000 are read and sorted, 80 ms.
      `SELECT w.id ${fromWorkloads} WHERE +w.kind = ? AND ${where} AND ${more} ORDER BY w.id LIMIT 1`,
    )
    .get(kind, ...values)?.id
/** Has any of these workloads ever been installed? */
export const isAnySetUp = (tx: Db, kind: WorkloadKind, where: Where): boolean =>
  first(tx, kind, where, IS_SET_UP) !== undefined
/** The id of the oldest of these workloads that waits for its owner to set it up. */
export const firstToSetUp = (tx: Db, kind: WorkloadKind, where: Where): string | undefined =>
  first(tx, kind, where, statusIs.pending_setup)

export type PowerRow = Pick<Workload, 'id' | 'nodeId' | 'ownerId' | 'lifecycle' | 'suspendedAt' | 'power'>
/** The power of each of these workloads, in one query; those that do not exist are left out. */
export const powersOf = (tx: Db, ids: readonly string[]): PowerRow[] => powers(tx).all(JSON.stringify(ids))
const powers = prepared(({ $client }) =>
  $client.prepare<PowerRow, [string]>(
    `SELECT w.id, w.node_id AS nodeId, w.owner_id AS ownerId, w.lifecycle, w.suspended_at AS suspendedAt, w.power
     ${fromWorkloads} WHERE w.id IN (SELECT value FROM json_each(?))`,
  ),
)

type EndedRow = Pick<Workload, 'id' | 'purgeAt'>
/** Those of these workloads that are terminated; with a null `purgeAt` nothing brings them back. */
export const endedAmong = (tx: Db, ids: readonly string[]): EndedRow[] => endedRows(tx).all(JSON.stringify(ids))
const endedRows = prepared(({ $client }) =>
  $client.prepare<EndedRow, [string]>(
    `SELECT w.id, w.purge_at AS purgeAt
     ${fromWorkloads} WHERE w.id IN (SELECT value FROM json_each(?)) AND w.terminated_at IS NOT NULL`,
  ),
)
