// Jobs, as people and billing systems follow them. The engine is kernel/jobs.
import { Type as t } from 'typebox'
import { visible } from '../../compute/workloads/access.ts'
import type { AccountKind } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Job } from '../../kernel/jobs/tables.ts'
import { asKnownTo } from '../audit/doer.ts'
import { subjectFields, subjectSchema } from './subjects.ts'

/** Who sees the server sees its jobs; jobs of no server are work on a node, and for who sees nodes. */
export function seen(tx: Db, actor: Actor): { where: string; values: string[] } {
  const { where, values } = visible(tx, actor)
  const nodesToo = actor.kind === 'staff' && actor.scopes.has('nodes:read')
  return { where: `(j.subject_id IS NOT NULL AND ${where})${nodesToo ? ' OR j.subject_id IS NULL' : ''}`, values }
}

export const job: Resource<JobRow> = {
  name: 'job',
  notFound: 'job_not_found',
  find(tx, actor, id) {
    const { where, values } = seen(tx, actor)
    return (
      tx.$client.query<JobRow, string[]>(`${selectJobs} WHERE j.id = ? AND (${where})`).get(id, ...values) ?? undefined
    )
  },
}

export const jobState = t.Enum(['queued', 'running', 'succeeded', 'failed'])
export const jobRecord = namedSchema('Job', {
  id: t.String(),
  kind: described(t.String(), 'Such as install, power or suspend; new ones may come.'),
  title: t.String(),
  state: jobState,
  progress: described(t.Integer(), '0 to 100.'),
  step: t.Object({ n: t.Integer(), of: t.Integer(), name: nullable(t.String()) }),
  startedBy: described(
    t.Object({ type: t.Enum(['person', 'token', 'system']), id: t.String(), name: t.String() }),
    'As far as it is yours to know: a provider is Staff to its customers, without an id.',
  ),
  nodeId: nullable(t.String()),
  nodeName: nullable(t.String()),
  ...subjectSchema,
  createdAt: time,
  startedAt: nullable(time),
  finishedAt: nullable(time),
  error: nullable(t.Object({ code: t.String(), message: t.String() })),
  undoing: described(t.Boolean(), 'It failed and is being taken back, or is tried again: the error says why.'),
})

export type JobRow = Job & {
  nodeName: string | null
  ownerId: string | null
  providerId: string | null
  doerId: string | null
  doerKind: AccountKind | null
  doerName: string | null
  doerResellerId: string | null
}
const columns = `j.id, j.kind, j.title, j.state, j.progress, j.step_n AS stepN, j.step_of AS stepOf, j.step_name AS stepName, j.started_by_type AS startedByType, j.started_by_id AS startedById,
  j.started_by_name AS startedByName, j.node_id AS nodeId, j.subject_type AS subjectType, j.subject_id AS subjectId, j.created_at AS createdAt, j.started_at AS startedAt, j.finished_at AS finishedAt, j.error_code AS errorCode,
  j.error_message AS errorMessage, n.name AS nodeName, w.owner_id AS ownerId, w.reseller_id AS providerId, ac.id AS doerId, ac.kind AS doerKind, ac.name AS doerName, ac.reseller_id AS doerResellerId`
/** The tables of a query about jobs, which are `j` in it. */
export const fromJobs = `FROM jobs j LEFT JOIN nodes n ON n.id = j.node_id LEFT JOIN workloads w ON w.id = j.subject_id
  LEFT JOIN tokens tk ON j.started_by_type = 'token' AND tk.id = j.started_by_id LEFT JOIN accounts ac ON ac.id = coalesce(tk.account_id, j.started_by_id)`
/** The start of a query whose rows `showJob` takes. */
export const selectJobs = `SELECT ${columns} ${fromJobs}`

/** Undoing is part of running: a job has failed when everything it began is taken back. */
export const stateOf = (it: Job) => (it.state === 'undoing' ? 'running' : it.state)

/** The name of a token goes with its id: who may not know the one is told of the person behind it. */
function startedBy(actor: Actor, it: JobRow) {
  const whole = { type: it.startedByType, id: it.startedById, name: it.startedByName }
  const { doerId, ownerId, providerId } = it
  const asking = ownerId === actor.accountId || providerId === actor.accountId ? 'own' : 'guest'
  const did = {
    accountId: doerId ?? it.startedById,
    kind: it.doerKind,
    name: it.startedByName,
    resellerId: it.doerResellerId,
    providerId,
  }
  const known = asKnownTo(actor, did, asking)
  if (known.token) return whole
  if (known.name !== did.name) return { ...whole, id: '', name: known.name }
  return it.startedByType === 'token' ? { ...whole, id: '', name: it.doerName ?? '' } : whole
}

export function showJob(actor: Actor, it: JobRow) {
  const staff = actor.kind === 'staff'
  return {
    id: it.id,
    kind: it.kind,
    title: it.title,
    state: stateOf(it),
    progress: it.progress,
    step: { n: it.stepN, of: it.stepOf, name: it.stepName },
    startedBy: startedBy(actor, it),
    nodeId: staff ? it.nodeId : null,
    nodeName: staff ? it.nodeName : null,
    ...subjectFields(it),
    createdAt: iso(it.createdAt),
    startedAt: isoOrNull(it.startedAt),
    finishedAt: isoOrNull(it.finishedAt),
    error: it.errorCode ? { code: it.errorCode, message: it.errorMessage ?? '' } : null,
    undoing: it.state === 'undoing',
  }
}
