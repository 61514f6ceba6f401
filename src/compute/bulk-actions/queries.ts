// The statements about actions for many workloads.
import { and, eq, isNull, lt, type SQL } from 'drizzle-orm'
import { workloadReference } from '../../fleet/workloads/queries.ts'
import { newest, paginate } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { day } from '../../kernel/db/clock.ts'
import { expiring } from '../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { columnList, decoding, inserting, rowBy, updating } from '../../kernel/db/rows.ts'
import {
  type BulkAction,
  type BulkWorkload,
  type BulkWorkloadState,
  bulkActions,
  bulkActionWorkloads,
} from './tables.ts'

export type { BulkAction, BulkWorkload, BulkWorkloadState }

export const bulkActionTarget: AuditTarget = { prefix: 'blk', scope: 'servers:read' }

export const bulkActionById = rowBy(bulkActions, bulkActions.id)
export const insertBulkAction = inserting(bulkActions)
export const changeBulkAction = updating(bulkActions, bulkActions.id)
export const insertBulkWorkload = inserting(bulkActionWorkloads)
export const changeBulkWorkload = (
  tx: Tx,
  { bulkActionId, position }: Pick<BulkWorkload, 'bulkActionId' | 'position'>,
  values: Partial<BulkWorkload>,
) =>
  void tx
    .update(bulkActionWorkloads)
    .set(values)
    .where(and(eq(bulkActionWorkloads.bulkActionId, bulkActionId), eq(bulkActionWorkloads.position, position)))
    .run()

/** Those that have not ended, the oldest first. */
export const openBulkActions = (tx: Db): BulkAction[] =>
  tx.select().from(bulkActions).where(isNull(bulkActions.finishedAt)).orderBy(bulkActions.id).all()

export const pageOfBulkActions = <Shown>(call: ReadContext, show: (row: BulkAction) => Shown) =>
  newest({ call, name: 'bulk actions', table: bulkActions, where: undefined, show })

const columns = {
  bulkActionId: bulkActionWorkloads.bulkActionId,
  position: bulkActionWorkloads.position,
  workloadId: bulkActionWorkloads.workloadId,
  name: bulkActionWorkloads.name,
  state: bulkActionWorkloads.state,
  jobId: bulkActionWorkloads.jobId,
  code: bulkActionWorkloads.code,
  reason: bulkActionWorkloads.reason,
  notBefore: bulkActionWorkloads.notBefore,
  tries: bulkActionWorkloads.tries,
  endedAt: bulkActionWorkloads.endedAt,
}
const decode = decoding<BulkWorkload>(columns)
const statements = prepared(({ $client }) => ({
  counts: $client.prepare<{ state: BulkWorkloadState; n: number }, [string]>(
    'SELECT state, count(*) AS n FROM bulk_action_workloads WHERE bulk_action_id = ? GROUP BY state',
  ),
  inState: $client.prepare<unknown, [string, BulkWorkloadState, number]>(
    `SELECT ${columnList(columns)} FROM bulk_action_workloads
     WHERE bulk_action_id = ? AND state = ? AND not_before <= +? ORDER BY position`,
  ),
  atWork: $client.prepare<{ nodeId: string; n: number }, []>(
    `SELECT ${workloadReference.value('nodeId', 'b.workload_id')} AS nodeId, count(*) AS n
     FROM bulk_action_workloads b WHERE b.state = 'running' GROUP BY nodeId`,
  ),
  reasons: $client.prepare<{ code: string; reason: string; n: number; names: string }, [string]>(
    `SELECT code, min(reason) AS reason, count(*) AS n,
       (SELECT json_group_array(name) FROM (SELECT name FROM bulk_action_workloads s
         WHERE s.bulk_action_id = b.bulk_action_id AND s.state IN ('refused', 'failed') AND s.code = b.code
         ORDER BY position LIMIT 5)) AS names
     FROM bulk_action_workloads b WHERE bulk_action_id = ? AND state IN ('refused', 'failed') GROUP BY code
     ORDER BY n DESC, code`,
  ),
  cancelWaiting: $client.prepare<unknown, [number, string]>(
    `UPDATE bulk_action_workloads SET state = 'cancelled', ended_at = ?, reason = NULL, code = NULL
     WHERE bulk_action_id = ? AND state = 'waiting'`,
  ),
}))
/** How many of its workloads are in each state. */
export const countsOf = (tx: Db, id: string): Partial<Record<BulkWorkloadState, number>> =>
  Object.fromEntries(
    statements(tx)
      .counts.all(id)
      .map(({ state, n }) => [state, n]),
  )
/** Its workloads in this state which may be tried now, in their order. */
export const workloadsIn = (tx: Db, id: string, state: BulkWorkloadState, now = Number.MAX_SAFE_INTEGER) =>
  statements(tx)
    .inState.all(id, state, now)
    .map((row) => decode(row)!)
/** How many jobs of all these actions are at work on each node. */
export const atWorkByNode = (tx: Db): Map<string, number> =>
  new Map(
    statements(tx)
      .atWork.all()
      .map(({ nodeId, n }) => [nodeId, n]),
  )
/** Why workloads of it were refused or failed; of each reason the first few names. */
export const reasonsOf = (tx: Db, id: string) =>
  statements(tx)
    .reasons.all(id)
    .map(({ names, n, ...why }) => ({ ...why, count: n, names: JSON.parse(names) as string[] }))
export const cancelWaiting = (tx: Tx, id: string, now: number) => void statements(tx).cancelWaiting.run(now, id)

type Part = { id: string; state: BulkWorkloadState | undefined }
/** A page of its workloads, in their order. */
export const pageOfWorkloads = <Shown>(call: ReadContext, { id, state }: Part, show: (row: BulkWorkload) => Shown) => {
  const where: SQL | undefined = and(
    eq(bulkActionWorkloads.bulkActionId, id),
    state === undefined ? undefined : eq(bulkActionWorkloads.state, state),
  )
  const all = call.tx.select().from(bulkActionWorkloads).where(where).orderBy(bulkActionWorkloads.position).all()
  return paginate({
    call,
    name: `workloads of ${id} ${state}`,
    rows: ({ after, skip, limit }) =>
      all.filter(({ position }) => after === undefined || position > Number(after)).slice(skip, skip + limit),
    keyOf: ({ position }) => String(position),
    show,
    total: () => all.length,
  })
}

const KEPT_MS = 400 * day
export const expiringBulkActions = expiring(bulkActions, (now) => lt(bulkActions.finishedAt, now - KEPT_MS))
