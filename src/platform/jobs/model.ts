// Jobs, as people and billing systems follow them. The engine is kernel/jobs.
import { Type as t } from 'typebox'
import type { Actor } from '../../kernel/api/actor.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Job } from '../../kernel/jobs/queries.ts'
import { asKnownTo } from '../audit/doer.ts'
import { type JobRow, jobRow, visibleJobs } from './queries.ts'
import { subjectFields, subjectSchema } from './subjects.ts'

export const job: Resource<JobRow> = {
  name: 'job',
  notFound: 'job_not_found',
  find: (tx, actor, id) => jobRow(tx, visibleJobs(tx, actor), id),
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

/** Undoing is part of running: a job has failed when everything it began is taken back. */
export const stateOf = (it: Job) => (it.state === 'undoing' ? 'running' : it.state)

/** The name of a token goes with its id: an actor who may not know the id reads the person behind the token instead. */
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
