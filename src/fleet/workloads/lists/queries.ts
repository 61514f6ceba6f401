// The statements of a list of one kind of workload: the keys of a slice, and how many fit.
import { endOf, type Slice, sortColumn } from '../../../kernel/api/list.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { Where } from '../../../kernel/db/rows.ts'
import { fromWorkloads, listedWorkloads, workloadKey } from '../queries.ts'
import type { SearchedFrom } from '../search.ts'

/**
 * The workloads of a list; `where` is over `workloads w`. `join`: a JOIN with the rows of the kind, where `where` or
 * the order names one of their columns; without it the list reads `workloads w` alone. `isEverything`: every one of the
 * kind that is not terminated fits.
 */
export type ListFilter = Where & SearchedFrom & { kind: string; join: string | undefined; isEverything: boolean }

/**
 * Those on some of these nodes, or on none of them; `+w.node_id` keeps the index of nodes away, where another one finds
 * them sooner.
 */
export const onNodes = (
  is: 'w.node_id IN' | '+w.node_id IN' | '+w.node_id NOT IN',
  nodeIds: readonly string[],
): Where => ({ where: `${is} (SELECT value FROM json_each(?))`, values: [JSON.stringify(nodeIds)] })

const fromListed = ({ from = fromWorkloads, join = '', where }: ListFilter) => `${from} ${join} WHERE ${where}`

/** Those of a slice. */
export function listedIds(tx: Db, filter: ListFilter, slice: Slice): { id: string }[] {
  const end = endOf(slice, filter.id ?? 'w.id')
  return tx.$client
    .query<{ id: string }, (string | number)[]>(`SELECT w.id${sortColumn(slice)} ${fromListed(filter)}${end.sql}`)
    .all(...filter.values, ...end.values)
}

/** The same with what tells whether a record has changed: JSON of `RowKey`s. */
export function listedKeys(tx: Db, filter: ListFilter, slice: Slice): string {
  const end = endOf(slice, filter.id ?? 'w.id')
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
