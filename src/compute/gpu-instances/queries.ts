// The statements about GPU instances: rows of lists with the names beside them, and what needs attention.
import { locationReference } from '../../fleet/locations/queries.ts'
import { auditTargetOf, fromWorkloads, workloadReference } from '../../fleet/workloads/queries.ts'
import type { SearchedFrom } from '../../fleet/workloads/search.ts'
import { accountReference } from '../../identity/account-records/queries.ts'
import { visible } from '../../identity/team/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { endOf, type Slice, type Sorts, sortColumn } from '../../kernel/api/list.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'
import { inserting, updating, type Where } from '../../kernel/db/rows.ts'
import { instanceStatuses } from './model.ts'
import { gpuInstances } from './tables.ts'

export const instanceTarget: AuditTarget = {
  ...auditTargetOf('gpu'),
  name: (id) => workloadReference.value('name', id),
  scope: 'servers:read',
}

export const insertInstance = inserting(gpuInstances)
/** Changes what only instances have; their workload is changed through the feature workloads. */
export const updateInstance = updating(gpuInstances, gpuInstances.id)

/** The orders of the list. */
export const instanceSorts = {
  name: 'w.name',
  status: instanceStatuses.sql,
  location: locationReference.value('name', 'w.location_id'),
  owner: accountReference.value('name', 'w.owner_id'),
  createdAt: 'w.created_at',
} satisfies Sorts

type Key = { id: string }
type InstanceFilter = Where & SearchedFrom
const fromInstances = ({ from = fromWorkloads, where }: InstanceFilter) =>
  `${from} JOIN gpu_instances g ON g.id = w.id WHERE ${where}`
/** The instances of a slice that fit; `filter` is over `workloads w` and `gpu_instances g`. */
export function instanceKeys(tx: Db, filter: InstanceFilter, slice: Slice): Key[] {
  const end = endOf(slice, filter.id ?? 'w.id')
  return tx.$client
    .query<Key, (string | number)[]>(`SELECT w.id${sortColumn(slice)} ${fromInstances(filter)}${end.sql}`)
    .all(...filter.values, ...end.values)
}
export const countInstances = (tx: Db, filter: InstanceFilter): number =>
  tx.$client.query<{ n: number }, string[]>(`SELECT count(*) AS n ${fromInstances(filter)}`).get(...filter.values)!.n

/** Does the actor see an instance that is not deleted? Others order none themselves, so it would be an empty list. */
export const hasInstances = (tx: Db, actor: Actor): boolean => {
  const { where, values } = visible(tx, actor)
  return (
    tx.$client
      .query(
        `SELECT 1 ${fromWorkloads} WHERE w.kind = 'gpu_instance' AND w.terminated_at IS NULL AND (${where}) LIMIT 1`,
      )
      .get(...values) !== null
  )
}

const uses = prepared(({ $client }) => {
  const having = (column: string) =>
    $client.prepare<{ n: number }, [string]>(
      `SELECT count(*) AS n ${fromWorkloads} JOIN gpu_instances g ON g.id = w.id
       WHERE g.${column} = +? AND w.released_at IS NULL`,
    )
  return { image: having('image_id'), offer: having('offer_id') }
})
/** Instances that are not deleted yet. */
export const instancesWithImage = (tx: Db, imageId: string): number => uses(tx).image.get(imageId)!.n
export const instancesWithOffer = (tx: Db, offerId: string): number => uses(tx).offer.get(offerId)!.n

const onNode = prepared(({ $client }) =>
  $client.prepare<{ id: string }, [string]>(
    `SELECT w.id ${fromWorkloads} JOIN gpu_instances g ON g.id = w.id
     WHERE w.node_id = +? AND w.lifecycle <> 'terminated' ORDER BY w.id`,
  ),
)
/** The instances of a node that are not deleted and not being deleted. */
export const instancesOnNode = (tx: Db, nodeId: string): string[] =>
  onNode(tx)
    .all(nodeId)
    .map(({ id }) => id)
