// The brake on mass destruction: what one account asks for is accepted, and beyond a number in an hour the step that
// destroys waits for a second person. A stolen token cannot empty a platform over night, and no call is refused.
import { listedWorkloads } from '../../fleet/workloads/queries.ts'
import { type Actor, idOf, nameOf } from '../../kernel/api/actor.ts'
import { hour } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import type { Saga } from '../../kernel/jobs/saga.ts'
import { type NewJob, startJob } from '../../kernel/jobs/start.ts'
import { automaticSetting, settingValue } from '../../kernel/setting.ts'
import { list } from '../../kernel/words.ts'
import { type Disk, destructionsSince, insertCase, insertDestruction, openCaseOf, setJobOf } from './queries.ts'
import { type DestructionKind, type DiskKind, destructionKinds } from './tables.ts'

const LEAST = 25
const SHARE = 0.05
/** All kinds, for a sentence: `terminations, reinstallations and restores`. */
export const destructionsInWords = list(Object.values(destructionKinds))
export const brakeLimit = automaticSetting({
  name: 'brake.limit',
  title: 'Brake on destruction',
  words: `How many ${destructionsInWords} one account may cause in an hour; ` + 'the rest wait for a second person.',
  weakens: 'higher',
  defaultWords: `${LEAST} or ${SHARE * 100} % of all servers, whichever is more`,
  automatic: (tx) => Math.max(LEAST, Math.ceil(SHARE * listedWorkloads(tx, 'server'))),
  minimum: 1,
  maximum: 100_000,
  unit: 'in an hour',
})
const limitOf = (tx: Db): number => settingValue(tx, brakeLimit) ?? brakeLimit.automatic!(tx)

/** `disk`: the volume or backup that is destroyed; without it, it is the workload itself. */
type Destroying = { workloadId: string; now: number } & (
  | { kind: DiskKind; disk: Disk }
  | { kind: Exclude<DestructionKind, DiskKind>; disk?: undefined }
)
/** `held`: the step that destroys waits until a second person releases it. */
type Decision = { held: boolean; id: number | undefined }
/**
 * Notes that the actor asks for the destruction of a workload's data or of a disk, in the transaction of the call.
 * System is not counted: its schedules carry out what people asked for, and `berth admin` is root on the
 * controller's host.
 */
export function mayDestroy(tx: Tx, actor: Actor, { kind, workloadId, disk, now }: Destroying): Decision {
  if (actor.via.type === 'system') return { held: false, id: undefined }
  const actorId = idOf(actor)
  const open = openCaseOf(tx, actorId)
  const caseId =
    kind === 'lose'
      ? undefined
      : (open ?? (destructionsSince(tx, actorId, now - hour) >= limitOf(tx) ? openCase(tx, actor, now) : undefined))
  const id = insertDestruction(tx, { actorId, at: now, kind, workloadId, disk, caseId: caseId ?? null })
  return { held: caseId !== undefined, id }
}

function openCase(tx: Tx, actor: Actor, now: number): string {
  const id = newId('brk')
  const [actorId, actorName] = [idOf(actor), nameOf(actor)]
  insertCase(tx, { id, actorId, actorName, openedAt: now })
  emit(
    tx,
    now,
    'brake.held',
    { subject: { type: 'brake', id }, customerId: null, resellerId: null },
    { brake: { id, actor: { id: actorId, name: actorName } } },
  )
  return id
}

/** A job destroys data of its subject, which is a workload, or a disk that this server has or had. */
type Destroyed = 'reinstall' | 'restore' | { kind: DiskKind; disk: Disk; serverId: string }
/**
 * As `startJob`, for a job that destroys data: beyond the limit of the account that starts it the job is held before
 * its first step. Answers the job's id.
 */
export function startDestroying<I>(
  tx: Tx,
  saga: Saga<I, any>,
  input: I,
  destroyed: Destroyed,
  job: NewJob & { subject: { type: string; id: string } },
): string {
  const about =
    typeof destroyed === 'string'
      ? { kind: destroyed, workloadId: job.subject.id }
      : { kind: destroyed.kind, disk: destroyed.disk, workloadId: destroyed.serverId }
  const { held, id } = mayDestroy(tx, job.by, { ...about, now: job.now })
  const jobId = startJob(tx, saga, input, {
    ...job,
    ...(held && { held: 'Waiting until a second person releases it' }),
  })
  if (id !== undefined) setJobOf(tx, id, jobId)
  return jobId
}
