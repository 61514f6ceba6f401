// The begin of a move. Its next node holds at once what it needs there. A server that waits for its setup is there in
// the same moment, because nothing of it has to be copied.
import { node } from '../../../fleet/node-records/model.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { RECONNECTING } from '../../../fleet/placement/placement.ts'
import { formatIn, poolSpaceOf } from '../../../fleet/storage-pools/queries.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import type { Planned } from '../../../fleet/workloads/stays/group-rule.ts'
import { closeStay, openArriving, switchHome } from '../../../fleet/workloads/stays/stays.ts'
import { type Actor, idOf, nameOf } from '../../../kernel/api/actor.ts'
import { ApiError, restarting } from '../../../kernel/api/errors.ts'
import { type AppContext, see } from '../../../kernel/api/operation.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import type { MailContext } from '../../../kernel/mail/mail.ts'
import { settingValue } from '../../../kernel/setting.ts'
import { keepInterrupted, takeInterrupted } from '../../installation/queries.ts'
import { diskJob } from '../../server-records/disk-lock.ts'
import type { Server } from '../../server-records/model.ts'
import { updateServer } from '../../server-records/queries.ts'
import { atOnce, limitOf } from '../estimate.ts'
import { chooseFrom, forecast, type MoveMode } from '../forecast.ts'
import { tell } from '../model.ts'
import { mustBeMovable } from '../movable.ts'
import { type FitNode, fits, judgeNodes } from '../nodes.ts'
import { changeTransfer, insertTransfer, transferById, transfersAtWorkOn, waitingMoveOf } from '../queries.ts'
import { leaveOld, reserveFor, takeNew } from '../readdressing/addresses.ts'
import { emitChange, tellPlanned } from '../readdressing/tell.ts'
import type { Transfer } from '../tables.ts'
import { holdThings } from './ending.ts'
import { moving } from './moving.ts'

type Choosing = Pick<AppContext, 'nodes'> & {
  tx: Tx
  actor: Actor
  target: Server
  body: { nodeId?: string | null; mode?: MoveMode; maxMbps?: number | null; readdress?: boolean }
  /** Others that move with it. */
  planned?: Planned
}
/**
 * `parentId`: the job of which the move is a part. `waiting`: a move whose time has come, which goes on in its record.
 * `chosen`: the node, where it was judged before. `byOwner`: the owner of the server asks for it.
 */
type Beginning = Choosing &
  Pick<AppContext, 'clock'> & { parentId?: string; waiting?: Transfer; chosen?: FitNode; byOwner?: boolean }

/**
 * Chooses the node, holds what the server needs there, and starts the move; a server that waits for its setup has moved
 * then. It takes the place of a move that waits for its time. Throws what `servers.move` refuses, before it changes a
 * row.
 */
export function beginMove(call: Beginning) {
  const { tx, target, clock, waiting } = call
  const { chosen, foreseen, planned } = plan(call)
  if (!waiting) replaceWaiting(tx, target.id, clock())
  const moved = waiting ? { ...planned, ...lastingOf(waiting) } : planned
  const readdressing = chosen.newAddresses ? reserveFor(tx, moved) : null
  const jobId = foreseen.mode === 'reassigned' ? null : startMove(call, target, moved, chosen)
  if (waiting) changeTransfer(tx, moved.id, { ...moved, jobId, readdressing })
  else insertTransfer(tx, { ...moved, jobId, readdressing })
  if (jobId === null) reassign(tx, target, moved, chosen, clock())
  return { jobId, transferId: moved.id, chosen, foreseen }
}
/** The fields that stay when a move is planned again. */
const lastingOf = ({ id, startedBy, createdAt, startsAt, asked }: Transfer) => ({
  ...{ id, startedBy, createdAt, startsAt, asked },
})

/** Nothing is held before its time: the server stays free for everything else, and the move is planned again then. */
export function moveLater(call: Beginning & MailContext, startsAt: number) {
  const { tx, target, body, clock } = call
  const { chosen, foreseen, planned } = plan(call)
  replaceWaiting(tx, target.id, clock())
  const { nodeId = null, mode = 'auto', maxMbps = null, readdress = false } = body
  const moved = { ...planned, startsAt, asked: { nodeId, mode, maxMbps, readdress } }
  insertTransfer(tx, moved)
  if (chosen.newAddresses) tellPlanned(tx, call, moved)
  return { jobId: null, transferId: planned.id, chosen, foreseen }
}

function replaceWaiting(tx: Tx, serverId: string, now: number) {
  const waiting = waitingMoveOf(tx, serverId)
  if (waiting)
    changeTransfer(tx, waiting.id, { state: 'cancelled', error: 'Another move took its place.', finishedAt: now })
}

/** The node, the forecast, and the record of a move before it is stored. */
function plan(call: Beginning) {
  const { tx, actor, target, body, clock } = call
  mustBeMovable(tx, actor, target)
  const chosen = call.chosen ?? chosenFor(call)
  const asked = { mode: body.mode ?? 'auto', maxMbps: body.maxMbps ?? undefined }
  const { changes, ...rest } = forecast(tx, target, {
    ...asked,
    to: chosen.nodeId,
    isRestarted: chosen.newAddresses,
  })
  const foreseen = { ...rest, changes: chosen.newAddresses ? [...changes, NEW_ADDRESSES] : changes }
  if (asked.mode === 'live' && foreseen.mode !== 'live' && foreseen.mode !== 'reassigned')
    throw new ApiError(
      'not_movable',
      `${target.hostname} cannot move to ${chosen.name} with its memory: ${foreseen.notLive}. Choose another mode.`,
    )
  const planned: Transfer = {
    id: newId('trf'),
    serverId: target.id,
    mode: foreseen.mode,
    state: 'queued',
    fromNodeId: target.nodeId,
    toNodeId: chosen.nodeId,
    jobId: null,
    startedBy: { id: idOf(actor), name: nameOf(actor) },
    maxMbps: limitOf(tx, body.maxMbps ?? undefined),
    limitChangedAt: null,
    bytesTotal: foreseen.bytes,
    bytesCopied: 0,
    copyMs: null,
    expectedSeconds: foreseen.expectedSeconds,
    expectedDowntimeMs: foreseen.expectedDowntimeMs,
    beganAt: null,
    stoppedAt: null,
    downtimeMs: null,
    error: null,
    createdAt: clock(),
    startsAt: null,
    asked: null,
    readdressing: null,
    byOwner: call.byOwner === true,
    heldUntil: null,
    finishedAt: null,
  }
  return { chosen, foreseen, planned }
}

/** Throws `already_done`, `restarting`, and `no_addresses` or `no_capacity` with what each node lacks. */
function chosenFor({ tx, actor, target, body, nodes, planned }: Choosing): FitNode {
  const { nodeId, mode } = body
  const wanted = nodeId == null ? undefined : see(tx, actor, node, nodeId, 'nodeId')
  if (wanted?.id === target.nodeId)
    throw new ApiError('already_done', `${target.hostname} is on ${wanted.name} already.`)
  const judged = judgeNodes(tx, nodes, target, { only: wanted?.id, readdress: body.readdress, planned })
  const chosen = chooseFrom(tx, target, judged, mode)
  if (chosen) return chosen
  if (judged.some(({ disabledReason }) => disabledReason === RECONNECTING))
    throw restarting('A node that fits is reconnecting to the panel. Nothing was moved; try again in a minute.')
  const unfit = judged.filter((one) => !fits(one))
  const lacksAddress = unfit.some((one) => one.lacksAddress)
  const breaksGroup = unfit.some((one) => one.breaksGroup)
  const because = judged.map(({ name, disabledReason }) => `${name} ${disabledReason}`).join(', ')
  throw new ApiError(
    breaksGroup ? 'placement_group_unmet' : lacksAddress ? 'no_addresses' : 'no_capacity',
    `${target.hostname} fits on no other node: ${because || 'there is none'}.`,
  )
}

/** Holds what it needs on its next node, and starts the job; that waits while as many moves are at work as may be. */
function startMove(
  { tx, actor, clock, parentId }: Beginning,
  target: Server,
  moved: Transfer,
  { nodeId, pool, shared, volumes, newAddresses: readdressed }: FitNode,
): string {
  const { id: transferId, serverId, fromNodeId, mode, maxMbps, expectedSeconds } = moved
  const limit = settingValue(tx, atOnce)
  const isFull = [fromNodeId, nodeId].some((one) => transfersAtWorkOn(tx, one) >= limit)
  const input = {
    ...{ serverId, from: fromNodeId, to: nodeId, pool, shared, volumes },
    ...{ transferId, mode: mode as Exclude<typeof mode, 'reassigned'>, maxMbps, expectedSeconds },
  }
  const about = diskJob(target, { by: actor, title: `Move ${target.hostname}`, now: clock() })
  const jobId = startJob(tx, moving, input, {
    ...about,
    otherNodeId: nodeId,
    parentId,
    ...(isFull && { held: WAITS }),
  })
  openArriving(tx, serverId, { nodeId, pool, spareDiskGb: 0, volumes, readdressed }, clock())
  holdThings(tx, serverId, jobId)
  return jobId
}
/** The step of a job that waits for others. */
export const WAITS = 'Waiting until other moves have ended'

const NEW_ADDRESSES =
  'It gets new addresses, and gives up its old ones when the move has ended; names in reverse DNS do not come along. ' +
  'It is told so before and after.'

/** Moves what is a record alone. */
function reassign(tx: Tx, target: Server, moved: Transfer, chosen: FitNode, now: number) {
  const { nodeId, name, pool, newAddresses: readdressed } = chosen
  const { id, nodeId: from } = target
  openArriving(tx, id, { nodeId, pool, spareDiskGb: 0, readdressed }, now)
  switchHome(tx, id, { nodeId, locationId: nodeById(tx, nodeId)!.locationId })
  closeStay(tx, id, from, now)
  updateServer(tx, id, { format: formatIn(poolSpaceOf(tx, { nodeId, pool })!) })
  changeWorkload(tx, id, { placement: `${name}: moved from ${nodeById(tx, from)!.name}` })
  // It begins again where the server is.
  const interrupted = takeInterrupted(tx, id)
  if (interrupted) keepInterrupted(tx, { ...interrupted, input: { ...interrupted.input, nodeId } })
  changeTransfer(tx, moved.id, { beganAt: now })
  tell(tx, now, transferById(tx, moved.id)!, { type: 'transfer.started' })
  changeTransfer(tx, moved.id, { state: 'finished', downtimeMs: 0, finishedAt: now })
  const row = transferById(tx, moved.id)!
  takeNew(tx, row)
  leaveOld(tx, row, now)
  emitChange(tx, now, row)
  tell(tx, now, transferById(tx, moved.id)!, { type: 'transfer.finished', downtimeMs: 0 })
}
