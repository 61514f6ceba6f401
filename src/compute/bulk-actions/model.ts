// An action for many workloads, as the API shows it: the plan of one that is not started yet has the same form.
import { Type as t } from 'typebox'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { bulkKindOf } from './deeds.ts'
import { type BulkAction, type BulkWorkload, bulkActionById, countsOf, reasonsOf } from './queries.ts'
import type { Planned } from './select.ts'
import { bulkStates, bulkWorkloadStates } from './tables.ts'

export const bulkAction: Resource<BulkAction> = {
  name: 'bulk action',
  notFound: 'bulk_action_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? bulkActionById(tx, id) : undefined),
}

const counts = t.Object({
  all: t.Integer(),
  waiting: described(t.Integer(), 'In a plan: those that it can be done to.'),
  running: t.Integer(),
  done: t.Integer(),
  failed: described(t.Integer(), 'Their jobs failed; the log of each says why.'),
  refused: described(t.Integer(), 'Nothing was done to them.'),
  cancelled: described(t.Integer(), 'They had not begun when it was cancelled.'),
})
export const bulkActionResponse = namedSchema('BulkAction', {
  id: described(nullable(t.String()), 'Null in a plan (`dryRun=true`).'),
  jobId: described(nullable(t.String()), 'The parent of the jobs of its servers. Null in a plan.'),
  kind: t.String(),
  action: t.String(),
  title: t.String(),
  state: described(t.Enum(['planned', ...bulkStates]), 'cancelling: what has begun comes to its end.'),
  counts,
  reasons: described(
    t.Array(
      t.Object({
        code: t.String(),
        reason: described(t.String(), 'In the words for the first of them.'),
        count: t.Integer(),
        names: described(t.Array(t.String()), 'The first few.'),
      }),
    ),
    'Why some are refused or failed, the most frequent first.',
  ),
  busy: described(t.Integer(), 'In a plan: so many wait until a job of their own has ended.'),
  startedBy: nullable(t.Object({ id: t.String(), name: t.String() })),
  createdAt: nullable(time),
  finishedAt: nullable(time),
})

export const bulkWorkloadResponse = namedSchema('BulkActionServer', {
  id: t.String(),
  name: described(t.String(), 'As it was called when the action began.'),
  state: t.Enum([...bulkWorkloadStates]),
  jobId: described(nullable(t.String()), 'Its own job; null where it has none.'),
  code: nullable(t.String()),
  reason: described(nullable(t.String()), 'Why it was refused, failed or waits.'),
  endedAt: nullable(time),
})

export const titleOf = ({ kind, action, body }: Pick<BulkAction, 'kind' | 'action' | 'body'>, n: number): string => {
  const { words, deeds } = bulkKindOf(kind)
  return `${deeds[action]!.title(body)} ${n.toLocaleString('en')} ${n === 1 ? words.one : words.many}`
}

export function showBulkAction(tx: Db, row: BulkAction) {
  const of = countsOf(tx, row.id)
  const all = Object.values(of).reduce((sum, n) => sum + n, 0)
  const none = { waiting: 0, running: 0, done: 0, failed: 0, refused: 0, cancelled: 0 }
  return {
    ...{ id: row.id, jobId: row.jobId, kind: row.kind, action: row.action },
    title: titleOf(row, all),
    state: row.state,
    counts: { all, ...none, ...of },
    reasons: reasonsOf(tx, row.id),
    busy: 0,
    startedBy: row.startedBy,
    createdAt: iso(row.createdAt),
    finishedAt: isoOrNull(row.finishedAt),
  }
}

const NAMES_SHOWN = 5
/** The same for one that is not started. */
export function showPlan(of: Pick<BulkAction, 'kind' | 'action' | 'body'>, plan: readonly Planned[]) {
  const refused = plan.filter(({ code, waits }) => code !== null && !waits)
  const reasons = [...Map.groupBy(refused, ({ code }) => code!)].map(([code, them]) => ({
    code,
    reason: them[0]!.reason!,
    count: them.length,
    names: them.slice(0, NAMES_SHOWN).map(({ name }) => name),
  }))
  return {
    ...{ id: null, jobId: null, kind: of.kind, action: of.action },
    title: titleOf(of, plan.length),
    state: 'planned' as const,
    counts: {
      all: plan.length,
      waiting: plan.length - refused.length,
      ...{ running: 0, done: 0, failed: 0, refused: refused.length, cancelled: 0 },
    },
    reasons: reasons.toSorted((a, b) => b.count - a.count),
    busy: plan.filter(({ waits }) => waits).length,
    ...{ startedBy: null, createdAt: null, finishedAt: null },
  }
}

export const showWorkload = ({ workloadId, name, state, jobId, code, reason, endedAt }: BulkWorkload) => ({
  ...{ id: workloadId, name, state, jobId, code, reason },
  endedAt: isoOrNull(endedAt),
})
