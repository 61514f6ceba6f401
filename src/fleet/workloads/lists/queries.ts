// The statements of a list of one kind of workload: the keys of a slice, and how many fit.
import { endOf, type Slice, sortColumn, type Way } from '../../../kernel/api/list.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { Where } from '../../../kernel/db/rows.ts'
import { fromWorkloads, listedWorkloads, workloadKey } from '../queries.ts'
import type { SearchedFrom } from '../search.ts'

/**
 * The workloads of a list; `where` is over `workloads w`. `join`: a JOIN with the rows of the kind, where `where` or
 * the order names one of their columns; without it the list reads `workloads w` alone. `isEverything`: every one of the
 * kind that is not terminated fits. `isOneValue`: it leaves one value of what the list is sorted by.
 */
export type ListFilter = Where &
  SearchedFrom & { kind: string; join: string | undefined; isEverything: boolean; way?: Way; isOneValue?: boolean }

/**
 * Where a list of workloads that are not terminated begins, so that its rows come in order: SQLite, which knows nothing
 * of how many rows there are, would read all of them and sort. The functions take the SQL of an id, and stand behind
 * what it is read from.
 */
export const inOrder = {
  byName: `${fromWorkloads} INDEXED BY workloads_named`,
  byStatus: `${fromWorkloads} INDEXED BY workloads_status`,
  inLocation: (id: string) => `CROSS JOIN workloads w INDEXED BY workloads_located ON w.location_id = ${id}`,
  ofOwner: (id: string) => `CROSS JOIN workloads w INDEXED BY workloads_owner_listed ON w.owner_id = ${id}`,
}

/**
 * Those on some of these nodes, or on none of them; `+w.node_id` keeps the index of nodes away, where another one finds
 * them sooner.
 */
export const onNodes = (
  is: 'w.node_id IN' | '+w.node_id IN' | '+w.node_id NOT IN',
  nodeIds: readonly string[],
): Where => ({ where: `${is} (SELECT value FROM json_each(?))`, values: [JSON.stringify(nodeIds)] })

/** Where the order says nothing beside that of ids, as that of creation, it is theirs. */
function asPlaced({ id = 'w.id', isOneValue }: ListFilter, slice: Slice): Slice {
  const { order } = slice
  return order && (isOneValue || order.by === 'w.id') ? { ...slice, order: { ...order, by: id } } : slice
}

const fromListed = ({ from = fromWorkloads, join = '', where }: ListFilter) => `${from} ${join} WHERE ${where}`

/** Those of a slice. */
export function listedIds(tx: Db, filter: ListFilter, asked: Slice): { id: string }[] {
  const slice = asPlaced(filter, asked)
  const end = endOf(slice, filter.id ?? 'w.id', filter.way)
  return tx.$client
    .query<{ id: string }, (string | number)[]>(`SELECT w.id${sortColumn(slice)} ${fromListed(filter)}${end.sql}`)
    .all(...filter.values, ...end.values)
}

/** The same with what tells whether a record has changed: JSON of `RowKey`s. */
export function listedKeys(tx: Db, filter: ListFilter, asked: Slice): string {
  const slice = asPlaced(filter, asked)
  const end = endOf(slice, filter.id ?? 'w.id', filter.way)
  const columns = slice.order ? 'id, version, sortValue' : 'id, version'
  return tx.$client
    .query<{ keys: string }, (string | number)[]>(
      `SELECT json_group_array(json_array(${columns})) AS keys
       FROM (SELECT ${workloadKey}${sortColumn(slice)} ${fromListed(filter)}${end.sql})`,
    )
    .get(...filter.values, ...end.values)!.keys
}

/** How many fit. */
export const countListed = (tx: Db, filter: ListFilter): number =>
  filter.isEverything
    ? listedWorkloads(tx, filter.kind)
    : tx.$client.query<{ n: number }, string[]>(`SELECT count(*) AS n ${fromListed(filter)}`).get(...filter.values)!.n

export type OwnedWorkload = { id: string; ownerId: string; hostname: string; nodeId: string; locationId: string }
/** The owners and places of these workloads, by their hostnames. */
export const ownedWorkloads = (tx: Db, ids: readonly string[]): OwnedWorkload[] =>
  tx.$client
    .query<OwnedWorkload, [string]>(
      `SELECT id, owner_id AS ownerId, hostname, node_id AS nodeId, location_id AS locationId FROM workloads
       WHERE id IN (SELECT value FROM json_each(?)) ORDER BY hostname`,
    )
    .all(JSON.stringify(ids))
