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
import type { Registry } from '../../kernel/registry.ts'
import { outcomeOf, stepStates } from './outcome.ts'
import { type JobRow, jobRow, toldAt, visibleJobs } from './queries.ts'
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
  kindTitle: described(t.String(), 'What people call a job of this kind, such as Installation.'),
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
  providerToldAt: described(
    nullable(time),
    'Of a failed job: when your provider was told of it, by a notice. Within a minute, unless it was cancelled.',
  ),
})

/** Undefined for a kind of job that this version does not have. */
export const sagaOf = ({ jobs }: Pick<Registry, 'jobs'>, { kind }: { kind: string }): Saga | undefined =>
  jobs.find((saga) => saga.kind === kind)

/** Undoing is part of running: a job has failed when all that it did is undone. */
export const stateOf = ({ state }: Job) => (state === 'undoing' ? 'running' : state)

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

const startedBy = (actor: Actor, row: JobRow) =>
  asSeenBy(actor, row, {
    type: row.startedByType,
    id: row.startedById,
    name: row.startedByName,
    account: { id: row.actorId, kind: row.actorKind, name: row.actorName, resellerId: row.actorResellerId },
  })

const cancelledBy = (actor: Actor, row: JobRow) =>
  row.cancelRequestedAt === null
    ? null
    : {
        at: iso(row.cancelRequestedAt),
        by: asSeenBy(actor, row, {
          type: row.cancelByType!,
          id: row.cancelById!,
          name: row.cancelByName!,
          account: {
            id: row.cancellerId,
            kind: row.cancellerKind,
            name: row.cancellerName,
            resellerId: row.cancellerResellerId,
          },
        }),
      }

const isOpen = ({ state }: JobRow) => state !== 'succeeded' && state !== 'failed'

/** Why the job cannot be cancelled now; undefined when it can be. */
export function notCancellable(row: JobRow): ApiError | undefined {
  if (!isOpen(row)) return new ApiError('job_ended', `${row.title} has ended.`)
  if (row.cancelScope === null || row.pivotAt !== null)
    return new ApiError('job_not_cancellable', `${row.title} cannot be undone, so it comes to its end by itself.`)
  return undefined
}

/** Does this actor have the right with which such a job is cancelled, on what the job works on? */
export function mayCancel(tx: Db, actor: Actor, row: JobRow): boolean {
  const rights = job.rights?.(tx, actor, row)
  return row.cancelScope !== null && actor.scopes.has(row.cancelScope) && (!rights || rights.has(row.cancelScope))
}

const failureOf = ({ errorCode, errorMessage }: JobRow): Failure | null =>
  errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' }

/** `saga`: the one of its kind, undefined where this version has none. */
export function showJobDetails(tx: Db, actor: Actor, row: JobRow, saga: Saga | undefined, words: FailureWords) {
  const failure = failureOf(row)
  const pointOfNoReturn = row.pivotAt !== null ? ('passed' as const) : saga?.hasPivot ? ('ahead' as const) : null
  return {
    ...showJob(tx, actor, row, words, saga),
    cause: failure && plainCause(words, failure),
    pointOfNoReturn: isOpen(row) && row.state !== 'undoing' ? pointOfNoReturn : null,
    waitingSince: isoOrNull(row.waitingSince),
    ...outcomeOf(tx, row, saga),
    providerToldAt: isoOrNull(row.state === 'failed' ? toldAt(tx, row.id) : null),
  }
}

/** `saga`: as in `showJobDetails`. */
export function showJob(tx: Db, actor: Actor, row: JobRow, words: FailureWords, saga: Saga | undefined) {
  const staff = actor.kind === 'staff'
  const failure = failureOf(row)
  return {
    id: row.id,
    kind: row.kind,
    kindTitle: saga?.title ?? row.kind,
    title: row.title,
    state: stateOf(row),
    progress: row.progress,
    step: { n: row.stepN, of: row.stepOf, name: row.stepName },
    startedBy: startedBy(actor, row),
    nodeId: staff ? row.nodeId : null,
    nodeName: staff ? row.nodeName : null,
    otherNodeId: staff ? row.otherNodeId : null,
    otherNodeName: staff ? row.otherNodeName : null,
    ...subjectFields(row),
    createdAt: iso(row.createdAt),
    startedAt: isoOrNull(row.startedAt),
    finishedAt: isoOrNull(row.finishedAt),
    error: failure && { ...failure, message: staff ? failure.message : plainCause(words, failure) },
    undoing: row.state === 'undoing',
    undoPending: row.undoNodeId !== null,
    cancellable: row.cancelRequestedAt === null && !notCancellable(row) && mayCancel(tx, actor, row),
    cancelled: cancelledBy(actor, row),
  }
}
