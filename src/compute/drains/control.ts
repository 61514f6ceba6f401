// Pausing, resuming and cancelling a drain, and trying a server of it again.
import { Type as t } from 'typebox'
import { node } from '../../fleet/node-records/model.ts'
import { type Actor, nameOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { type AppContext, described, fields, nullable, operation, see } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { cancelJob } from '../../kernel/jobs/start.ts'
import { transferById } from '../transfers/queries.ts'
import { endCancelled } from './job.ts'
import { drain, drainResponse, named, showDrain } from './model.ts'
import { busyServersOf, changeDrain, changeDrainServer, type Drain, drainById, serverOfDrain } from './queries.ts'

const access = { staff: ['nodes:maintain'] } as const
const serverField = t.String({ minLength: 1, maxLength: 40 })

const moves = t.Optional(
  described(
    t.Enum(['finish', 'cancel']),
    'Moves at work come to their end, or are cancelled as far as they can be. Without it: finish.',
  ),
)

/** Throws `drain_ended`, and `drain_state` where the drain is in another state. */
function mustBe(tx: Tx, row: Drain, states: readonly Drain['state'][], otherwise: string) {
  const { name } = named(tx, row.nodeId)
  if (row.finishedAt !== null) throw new ApiError('drain_ended', `The drain of ${name} has ended.`)
  if (!states.includes(row.state)) throw new ApiError('drain_state', `The drain of ${name} ${otherwise}`)
}

/** Cancels the moves at work that have not passed their point of no return. */
function cancelMoves(tx: Tx, row: Drain, { actor, reason, now }: { actor: Actor; reason: string; now: number }) {
  for (const one of busyServersOf(tx, row.id)) {
    const transfer = one.transferId === null ? undefined : transferById(tx, one.transferId)
    if (one.state !== 'moving' || !transfer?.jobId) continue
    if (cancelJob(tx, transfer.jobId, { by: actor, reason, now })) changeDrainServer(tx, one, { movesLater: true })
  }
}

export const pauseDrain = operation({
  id: 'drains.pause',
  method: 'POST',
  path: '/admin/drains/{id}/actions/pause',
  summary: 'Pause a drain: no further move begins, until it is resumed',
  access,
  on: drain,
  body: fields({ moves }),
  response: drainResponse,
  refuses: ['drain_ended', 'drain_state'],
  example: { moves: 'finish' },
  run(call) {
    const { tx, actor, target, body, clock } = call
    mustBe(tx, target, ['running'], 'does not run, so it cannot be paused.')
    const now = clock()
    changeDrain(tx, target.id, { state: 'paused', pausedBy: 'person', pausedAt: now })
    if (body.moves === 'cancel') cancelMoves(tx, target, { actor, reason: 'The drain was paused.', now })
    return shown(call, target)
  },
})

export const resumeDrain = operation({
  id: 'drains.resume',
  method: 'POST',
  path: '/admin/drains/{id}/actions/resume',
  summary: 'Resume a drain that was paused; servers that failed stay on the list',
  past: 'Resumed a drain',
  access,
  on: drain,
  response: drainResponse,
  refuses: ['drain_ended', 'drain_state'],
  run(call) {
    const { tx, target, clock } = call
    mustBe(tx, target, ['paused'], 'is not paused.')
    resume(tx, target, clock())
    return shown(call, target)
  },
})

export function resume(tx: Tx, row: Drain, now: number) {
  const pausedMs = row.pausedMs + Math.max(0, now - (row.pausedAt ?? now))
  changeDrain(tx, row.id, { state: 'running', pausedBy: null, pausedAt: null, pausedMs })
}

export const retryServer = operation({
  id: 'drains.retry',
  method: 'POST',
  path: '/admin/drains/{id}/actions/retry',
  summary: 'Try a server again that could not move: it waits for its turn, and is placed anew',
  past: 'Retried a server of a drain',
  access,
  on: drain,
  body: fields({ serverId: serverField }),
  response: drainResponse,
  refuses: ['drain_ended', 'drain_state'],
  example: { serverId: '<server_id>' },
  run(call) {
    const { tx, target, body } = call
    mustBe(tx, target, ['running', 'paused'], 'is being cancelled.')
    const one = serverOfDrain(tx, target.id, body.serverId)
    if (one?.state !== 'failed') throw invalid({ field: 'serverId', message: 'must be a server of it that failed.' })
    changeDrainServer(tx, one, anotherTurn)
    return shown(call, target)
  },
})
const anotherTurn = { state: 'waiting', reason: null, endedAt: null, tries: 0, notBefore: null } as const

/** A server of the drain that waits or failed. Throws `validation_failed`. */
function notMoved(tx: Tx, row: Drain, serverId: string) {
  mustBe(tx, row, ['running', 'paused'], 'is being cancelled.')
  const one = serverOfDrain(tx, row.id, serverId)
  if (one?.state !== 'failed' && one?.state !== 'waiting')
    throw invalid({ field: 'serverId', message: 'must be a server of it that waits or failed.' })
  return one
}

export const sendServer = operation({
  id: 'drains.send',
  method: 'POST',
  path: '/admin/drains/{id}/actions/send',
  summary: 'Send a server of a drain to a node of your choice; one that failed gets another turn',
  past: 'Chose the node for a server of a drain',
  access,
  on: drain,
  body: fields({
    serverId: serverField,
    nodeId: described(nullable(t.String({ minLength: 1, maxLength: 40 })), 'null: placement chooses.'),
  }),
  response: drainResponse,
  refuses: ['drain_ended', 'drain_state'],
  example: { serverId: '<server_id>', nodeId: '<node_id>' },
  run(call) {
    const { tx, actor, target, body } = call
    const one = notMoved(tx, target, body.serverId)
    const to = body.nodeId === null ? null : see(tx, actor, node, body.nodeId, 'nodeId')
    if (target.kind === 'return')
      throw invalid({ field: 'nodeId', message: `cannot be chosen: its servers come back to one node.` })
    if (to?.id === target.nodeId) throw invalid({ field: 'nodeId', message: `must be another node than ${to.name}.` })
    changeDrainServer(tx, one, { ...anotherTurn, chosenNodeId: to?.id ?? null, ...(to && { toNodeId: to.id }) })
    return shown(call, target)
  },
})

export const leaveServer = operation({
  id: 'drains.leave',
  method: 'POST',
  path: '/admin/drains/{id}/actions/leave',
  summary: 'Leave a server of a drain where it is: it is tried no more, and the others go on',
  past: 'Left a server out of a drain',
  access,
  on: drain,
  body: fields({ serverId: serverField }),
  response: drainResponse,
  refuses: ['drain_ended', 'drain_state'],
  example: { serverId: '<server_id>' },
  run(call) {
    const { tx, actor, target, body, clock } = call
    const one = notMoved(tx, target, body.serverId)
    const reason = `${nameOf(actor)} left it here.`
    changeDrainServer(tx, one, {
      state: 'left',
      reason: one.reason ? `${one.reason} ${reason}` : reason,
      endedAt: clock(),
    })
    return shown(call, target)
  },
})

export const cancelDrain = operation({
  id: 'drains.cancel',
  method: 'POST',
  path: '/admin/drains/{id}/actions/cancel',
  summary: 'Cancel a drain: what has moved stays where it is, and the node stays closed',
  access,
  on: drain,
  body: fields({ moves }),
  response: drainResponse,
  status: 202,
  refuses: ['drain_ended'],
  example: { moves: 'cancel' },
  run(call) {
    const { tx, actor, target, body, clock } = call
    mustBe(tx, target, ['running', 'paused', 'cancelling'], '')
    const now = clock()
    changeDrain(tx, target.id, { state: 'cancelling', pausedBy: null })
    if (body.moves === 'cancel') cancelMoves(tx, target, { actor, reason: 'The drain was cancelled.', now })
    if (!busyServersOf(tx, target.id).length) endCancelled(tx, drainById(tx, target.id)!, now)
    return shown(call, target)
  },
})

type Showing = Pick<AppContext, 'nodes' | 'clock'> & { tx: Tx }
const shown = (call: Showing, { id }: Drain) => showDrain(call, drainById(call.tx, id)!)
