// The cases of the brake: a second person releases what one account asked for, or refuses it.
import { type Static, Type as t } from 'typebox'
import { undeleteWorkload } from '../../fleet/workloads/kind.ts'
import { changeWorkload, workloadById } from '../../fleet/workloads/queries.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { idOf, nameOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import {
  type AppContext,
  type Call,
  described,
  fields,
  namedSchema,
  nullable,
  operation,
  type Resource,
  time,
} from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { type Db, savepoint, type Tx } from '../../kernel/db/open.ts'
import { cancelJob, releaseJob } from '../../kernel/jobs/start.ts'
import { allIn, caseById, heldItems, pageOfCases, settle, unsettledOf, updateCase, waitingIn } from './queries.ts'
import { type BrakeCase, type Destruction, type DestructionKind, type DiskKind, destructionKinds } from './tables.ts'

/** The end of a held destruction of a volume or backup that is no job, once somebody has decided it. */
export type HeldDestruction = {
  kind: DiskKind
  release(call: AppContext & { tx: Tx }, diskId: string): void
  refuse(call: AppContext & { tx: Tx }, diskId: string): void
}
declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    heldDestructions?: readonly HeldDestruction[]
  }
}
const heldBy = ({ registry }: AppContext, kind: DestructionKind): HeldDestruction | undefined =>
  registry.features.flatMap(({ heldDestructions = [] }) => heldDestructions).find((one) => one.kind === kind)

const MOST_LISTED = 200
const access = { staff: ['servers.terminate'] } as const

export const brakeCase: Resource<BrakeCase> = {
  name: 'brake',
  notFound: 'brake_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? caseById(tx, id) : undefined),
}

const caseResponse = namedSchema('Brake', {
  id: t.String(),
  actor: described(t.Object({ id: t.String(), name: t.String() }), 'The account that asked for the destruction.'),
  openedAt: time,
  count: described(t.Integer(), 'So many were held in all.'),
  waiting: described(t.Integer(), 'So many still wait.'),
  held: described(
    t.Array(
      t.Object({
        id: described(t.String(), 'Of the server, GPU instance, volume or backup that is destroyed.'),
        name: t.String(),
        owner: t.Object({ id: t.String(), name: t.String() }),
        kind: t.Enum(Object.keys(destructionKinds) as (keyof typeof destructionKinds)[]),
        workload: described(
          t.Object({ id: t.String(), kind: t.String(), hostname: t.String() }),
          'The server or GPU instance; of a volume or backup the server that has it or had it.',
        ),
        at: time,
      }),
    ),
    `The first ${MOST_LISTED} that wait.`,
  ),
  decidedAt: nullable(time),
  decision: nullable(t.Enum(['released', 'refused'])),
  decidedBy: nullable(t.String()),
  own: described(t.Boolean(), 'You asked for it yourself: somebody else decides.'),
})

type Reader = { tx: Db; actor: Parameters<typeof idOf>[0] }
function show({ tx, actor }: Reader, one: BrakeCase): Static<typeof caseResponse> {
  return {
    id: one.id,
    actor: { id: one.actorId, name: one.actorName },
    openedAt: iso(one.openedAt),
    count: allIn(tx, one.id),
    waiting: waitingIn(tx, one.id),
    held: heldItems(tx, one.id, MOST_LISTED).map((item) => ({
      id: item.id,
      name: item.name,
      owner: { id: item.ownerId, name: accountById(tx, item.ownerId)?.name ?? '' },
      kind: item.kind,
      workload: { id: item.workloadId, kind: item.workloadKind, hostname: item.hostname },
      at: iso(item.at),
    })),
    decidedAt: isoOrNull(one.decidedAt),
    decision: one.decision,
    decidedBy: one.decidedByName,
    own: one.actorId === idOf(actor),
  }
}

export const listBrakes = operation({
  id: 'brakes.list',
  method: 'GET',
  path: '/admin/brakes',
  summary: 'Destructions that wait for a second person, by the account that asked for them, newest first',
  access,
  response: page(caseResponse),
  run: (call) => pageOfCases(call, (one) => show(call, one)),
})

const chosen = fields({
  heldIds: t.Optional(
    described(
      t.Array(t.String({ minLength: 1, maxLength: 40 }), { minItems: 1, maxItems: 1000 }),
      'Only these, by the `id` of what is held; without it, all.',
    ),
  ),
})
const decided = namedSchema('BrakeDecided', {
  settled: described(t.Integer(), 'So many were decided by this call.'),
  waiting: described(t.Integer(), 'So many of the case still wait.'),
  failed: described(
    t.Array(t.Object({ id: t.String(), code: t.String(), message: t.String() })),
    'Those that could not be brought back; they stay held.',
  ),
})
/** A person, recently confirmed, and never the account that asked. */
const deciding = {
  method: 'POST' as const,
  access,
  requiresSession: true as const,
  requiresRecentAuth: true as const,
  on: brakeCase,
  body: chosen,
  response: decided,
  refuses: ['forbidden', 'already_done'] as const,
  example: {},
}

export const releaseBrake = operation({
  ...deciding,
  id: 'brakes.release',
  path: '/admin/brakes/{id}/actions/release',
  summary: 'Release what was held: disks of servers are deleted when their undelete window ends, and held jobs begin',
  run: (call) =>
    decide(call, 'released', ({ tx, clock }, { kind, workloadId, jobId, diskId }) => {
      if (kind === 'terminate') changeWorkload(tx, workloadId, { purgeHeld: false })
      else if (kind === 'give_up_window') {
        // It may have been brought back since.
        if (workloadById(tx, workloadId)?.purgeHeld)
          changeWorkload(tx, workloadId, { purgeHeld: false, purgeAt: clock() })
      } else if (jobId !== null) releaseJob(tx, jobId)
      else if (diskId !== null) heldBy(call, kind)?.release(call, diskId)
    }),
})

export const refuseBrake = operation({
  ...deciding,
  id: 'brakes.refuse',
  path: '/admin/brakes/{id}/actions/refuse',
  summary: 'Refuse what was held: terminated servers are brought back, and held jobs are cancelled',
  run: (call) =>
    decide(call, 'refused', ({ tx, actor, clock, registry }, { kind, workloadId, jobId, diskId }) => {
      const asked = { by: actor, now: clock() }
      const workload = workloadById(tx, workloadId)
      if (kind === 'give_up_window') {
        // The window goes on, or has ended by itself.
        if (workload?.purgeHeld) changeWorkload(tx, workloadId, { purgeHeld: false })
      } else if (kind !== 'terminate') {
        if (jobId === null && diskId !== null) heldBy(call, kind)?.refuse(call, diskId)
        if (jobId !== null) cancelJob(tx, jobId, { ...asked, reason: `refused by ${nameOf(actor)}` })
      } else if (workload?.purgeHeld && workload.terminatedAt !== null) undeleteWorkload(registry, tx, workload, asked)
    }),
})

const destroyedBy = ({ diskId, workloadId }: Destruction): string => diskId ?? workloadId

type Deciding = Call<BrakeCase, Static<typeof chosen>>
function decide(
  call: Deciding,
  decision: 'released' | 'refused',
  settleOne: (call: Deciding, one: Destruction) => void,
): Static<typeof decided> {
  const { tx, actor, target, body, clock } = call
  if (target.actorId === idOf(actor))
    throw new ApiError('forbidden', 'You asked for this yourself. Another member of staff has to decide it.')
  if (target.decidedAt !== null) throw new ApiError('already_done', 'This was decided already.')
  const now = clock()
  const failed: Static<typeof decided>['failed'] = []
  let settled = 0
  const held = unsettledOf(tx, target.id)
  if (body.heldIds?.some((id) => !held.some((one) => destroyedBy(one) === id)))
    throw invalid({ field: 'heldIds', message: 'must be held here.' })
  for (const one of held) {
    if (body.heldIds && !body.heldIds.includes(destroyedBy(one))) continue
    try {
      savepoint(tx, () => {
        settleOne(call, one)
        settle(tx, one.id, now)
      })
      settled++
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      failed.push({ id: destroyedBy(one), code: error.code, message: error.message })
    }
  }
  const waiting = waitingIn(tx, target.id)
  if (!waiting) updateCase(tx, target.id, { decidedAt: now, decision, decidedByName: nameOf(actor) })
  return { settled, waiting, failed }
}
