import { auditTargetOf, fromWorkloads, workloadReference } from '../../fleet/workloads/queries.ts'
import { visible } from '../../identity/team/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'
import { inserting, updating } from '../../kernel/db/rows.ts'
import { gpuInstances } from './tables.ts'

export const instanceTarget: AuditTarget = {
  ...auditTargetOf('gpu'),
  name: (id) => workloadReference.value('name', id),
  scope: 'servers:read',
}

export const insertInstance = inserting(gpuInstances)
/** Changes what only instances have; their workload is changed through the feature workloads. */
export const updateInstance = updating(gpuInstances, gpuInstances.id)

/** Joins the rows of instances, `g`, to those of `workloads w`. */
export const joinInstances = 'JOIN gpu_instances g ON g.id = w.id'

/** Does the actor see an instance that is not deleted? */
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
      `SELECT count(*) AS n ${fromWorkloads} ${joinInstances}
       WHERE g.${column} = +? AND w.released_at IS NULL`,
    )
  return { image: having('image_id'), offer: having('offer_id') }
})
/** Instances that are not deleted yet. */
export const instancesWithImage = (tx: Db, imageId: string): number => uses(tx).image.get(imageId)!.n
export const instancesWithOffer = (tx: Db, offerId: string): number => uses(tx).offer.get(offerId)!.n

const onNode = prepared(({ $client }) =>
  $client.prepare<{ id: string }, [string]>(
    `SELECT w.id ${fromWorkloads} ${joinInstances}
     WHERE w.node_id = +? AND w.lifecycle <> 'terminated' ORDER BY w.id`,
  ),
)
/** The instances of a node that are not deleted and not being deleted. */
export const instancesOnNode = (tx: Db, nodeId: string): string[] =>
  onNode(tx)
    .all(nodeId)
    .map(({ id }) => id)
