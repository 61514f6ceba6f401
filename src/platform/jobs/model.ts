// Jobs, as people and billing systems follow them. The engine is kernel/jobs.
import { Type as t } from 'typebox'
import { accessLevel, rightsWith } from '../../identity/team/access.ts'
import { auditActorFor } from '../../identity/team/audit-actor.ts'
import type { AccountKind } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type Failure, type FailureWords, plainCause } from '../../kernel/jobs/failures.ts'
import type { Job } from '../../kernel/jobs/queries.ts'
import type { Saga } from '../../kernel/jobs/saga.ts'
import { outcomeOf, stepStates } from './outcome.ts'
import { type JobRow, jobRow, visibleJobs } from './queries.ts'
import { subjectFields, subjectSchema } from './subjects.ts'

export const job: Resource<JobRow> = {
  name: 'job',
  notFound: 'job_not_found',
  find: (tx, actor, id) => jobRow(tx, visibleJobs(tx, actor), id),
  /** As on the workload that the job works on. */
  rights(tx, actor, { subjectId, ownerId, providerId }) {
    if (subjectId === null || ownerId === null) return undefined
    const level = accessLevel(tx, actor, { id: subjectId, ownerId, resellerId: providerId })
    return level && rightsWith(level)
  },
}

const by = t.Object({ type: t.Enum(['person', 'token', 'system']), id: t.String(), name: t.String() })
export const jobState = t.Enum(['queued', 'running', 'succeeded', 'failed'])
export const jobRecord = namedSchema('Job', {
  id: t.String(),
  kind: described(t.String(), 'Such as install, power or suspend; new ones may come.'),
  title: t.String(),
  state: jobState,
  progress: described(t.Integer(), '0 to 100.'),
  step: t.Object({ n: t.Integer(), of: t.Integer(), name: nullable(t.String()) }),
  startedBy: described(by, 'As much as you may know: a provider is Staff to its customers, without an id.'),
  nodeId: nullable(t.String()),
  nodeName: nullable(t.String()),
  otherNodeId: described(nullable(t.String()), 'The second node of a job that involves two.'),
  otherNodeName: nullable(t.String()),
  ...subjectSchema,
  createdAt: time,
  startedAt: nullable(time),
  finishedAt: nullable(time),
  error: described(
    nullable(t.Object({ code: t.String(), message: t.String() })),
    'The message may change. Staff read the words of the node; everybody else reads a plain cause.',
  ),
  undoing: described(t.Boolean(), 'It failed and is being undone, or is being retried: the error says why.'),
  undoPending: described(t.Boolean(), 'It failed, and the rest of its undo waits until its node is back.'),
  cancellable: described(t.Boolean(), 'You may cancel it now.'),
  cancelled: described(
    nullable(t.Object({ at: time, by })),
    'Somebody asked to cancel it: it stops before its next step, and what it did is undone.',
  ),
})

export const jobDetails = namedSchema('JobDetails', {
  ...jobRecord.properties,
  cause: described(nullable(t.String()), 'Why it failed or is being retried, in plain words.'),
  steps: described(
    t.Array(t.Object({ name: t.String(), state: t.Enum([...stepStates]) })),
    'In their order. A step that is undone has left nothing behind, unless data was lost.',
  ),
  pointOfNoReturn: described(
    nullable(t.Enum(['ahead', 'passed'])),
    'ahead: a failure or a cancellation undoes everything. passed: nothing is undone any more, and a step that fails ' +
      'is tried until it is done. Null: the job can be undone to its last step, or has ended.',
  ),
  waitingSince: described(nullable(time), 'Since when it waits for a node that is away.'),
  dataLost: described(
    nullable(t.Boolean()),
    'Of a failed job: data on the disk of its server was deleted and does not come back.',
  ),
  retry: described(
    nullable(t.String()),
    'Of a failed job: the action of its server that does the same again, if the server allows it.',
  ),
})

/** Undoing is part of running: a job has failed when all that it did is undone. */
export const stateOf = (it: Job) => (it.state === 'undoing' ? 'running' : it.state)

type JobActor = {
  type: 'person' | 'token' | 'system'
  id: string
  name: string
  account: { id: string | null; kind: AccountKind | null; name: string | null; resellerId: string | null }
}
/** The name of a token goes with its id: an actor who may not know the id reads the person behind the token instead. */
function asSeenBy(actor: Actor, { ownerId, providerId }: JobRow, { type, id, name, account }: JobActor) {
  const whole = { type, id, name }
  const relation = ownerId === actor.accountId || providerId === actor.accountId ? 'own' : 'guest'
  const did = { accountId: account.id ?? id, kind: account.kind, name, resellerId: account.resellerId, providerId }
  const known = auditActorFor(actor, did, relation)
  if (known.token) return whole
  if (known.name !== name) return { ...whole, id: '', name: known.name }
  return type === 'token' ? { ...whole, id: '', name: account.name ?? '' } : whole
}

const startedBy = (actor: Actor, it: JobRow) =>
  asSeenBy(actor, it, {
    type: it.startedByType,
    id: it.startedById,
    name: it.startedByName,
    account: { id: it.actorId, kind: it.actorKind, name: it.actorName, resellerId: it.actorResellerId },
  })

const cancelledBy = (actor: Actor, it: JobRow) =>
  it.cancelRequestedAt === null
    ? null
    : {
        at: iso(it.cancelRequestedAt),
        by: asSeenBy(actor, it, {
          type: it.cancelByType!,
          id: it.cancelById!,
          name: it.cancelByName!,
          account: {
            id: it.cancellerId,
            kind: it.cancellerKind,
            name: it.cancellerName,
            resellerId: it.cancellerResellerId,
          },
        }),
      }

const isOpen = ({ state }: JobRow) => state !== 'succeeded' && state !== 'failed'

/** Why the job cannot be cancelled now; undefined when it can be. */
export function notCancellable(it: JobRow): ApiError | undefined {
  if (!isOpen(it)) return new ApiError('job_ended', `${it.title} has ended.`)
  if (it.cancelScope === null || it.pivotAt !== null)
    return new ApiError('job_not_cancellable', `${it.title} cannot be undone, so it comes to its end by itself.`)
  return undefined
}

/** Does this actor have the right with which such a job is cancelled, on what the job works on? */
export function mayCancel(tx: Db, actor: Actor, it: JobRow): boolean {
  const rights = job.rights?.(tx, actor, it)
  return it.cancelScope !== null && actor.scopes.has(it.cancelScope) && (!rights || rights.has(it.cancelScope))
}

const failureOf = ({ errorCode, errorMessage }: JobRow): Failure | null =>
  errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' }

/** `saga`: the one of its kind, undefined where this version has none. */
export function showJobDetails(tx: Db, actor: Actor, it: JobRow, saga: Saga | undefined, words: FailureWords) {
  const failure = failureOf(it)
  const pointOfNoReturn = it.pivotAt !== null ? ('passed' as const) : saga?.hasPivot ? ('ahead' as const) : null
  return {
    ...showJob(tx, actor, it, words),
    cause: failure && plainCause(words, failure),
    pointOfNoReturn: isOpen(it) && it.state !== 'undoing' ? pointOfNoReturn : null,
    waitingSince: isoOrNull(it.waitingSince),
    ...outcomeOf(tx, it, saga),
  }
}

export function showJob(tx: Db, actor: Actor, it: JobRow, words: FailureWords) {
  const staff = actor.kind === 'staff'
  const failure = failureOf(it)
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
    otherNodeId: staff ? it.otherNodeId : null,
    otherNodeName: staff ? it.otherNodeName : null,
    ...subjectFields(it),
    createdAt: iso(it.createdAt),
    startedAt: isoOrNull(it.startedAt),
    finishedAt: isoOrNull(it.finishedAt),
    error: failure && { ...failure, message: staff ? failure.message : plainCause(words, failure) },
    undoing: it.state === 'undoing',
    undoPending: it.undoNodeId !== null,
    cancellable: it.cancelRequestedAt === null && !notCancellable(it) && mayCancel(tx, actor, it),
    cancelled: cancelledBy(actor, it),
  }
}
