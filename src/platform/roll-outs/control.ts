// The ways on for a roll-out: pause, continue, stop; and for one of its nodes: try again, leave out.
import { Type as t } from 'typebox'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { type Call, described, fields, operation } from '../../kernel/api/operation.ts'
import { keptBy } from './due.ts'
import { begin } from './follow.ts'
import { rollOut, rollOutDetailResponse, showDetail } from './model.ts'
import { changeRollOut, changeRollOutNode, nodesOf, type RollOut, rollOutById, rollOutNode } from './queries.ts'
import { acts } from './roll-outs.ts'
import { failedStates } from './tables.ts'

/** Throws `roll_out_ended`. */
function mustBeOpen({ state, finishedAt }: RollOut) {
  if (finishedAt !== null) throw new ApiError('roll_out_ended', 'This roll-out has ended. Start another one.')
  if (state === 'stopping') throw new ApiError('roll_out_ended', 'This roll-out is being stopped.')
}
const inState = (words: string) => new ApiError('roll_out_state', words)
const shown = (call: Call<RollOut>) => showDetail(call.tx, call, rollOutById(call.tx, call.target.id)!)
const unpaused = { state: 'running', failedNodeId: null, reason: null, pausedAt: null } as const

const common = { method: 'POST', access: acts, on: rollOut, response: rollOutDetailResponse } as const

export const pauseRollOut = operation({
  ...common,
  id: 'roll-outs.pause',
  path: '/admin/roll-outs/{id}/actions/pause',
  summary: 'Let no further node begin; those at work come to their end',
  past: 'Paused a roll-out',
  refuses: ['roll_out_ended', 'roll_out_state'],
  run(call) {
    mustBeOpen(call.target)
    if (call.target.state !== 'running') throw inState('It is paused already.')
    changeRollOut(call.tx, call.target.id, { state: 'paused', pausedAt: call.clock() })
    return shown(call)
  },
})

export const continueRollOut = operation({
  ...common,
  id: 'roll-outs.continue',
  path: '/admin/roll-outs/{id}/actions/continue',
  summary: 'Go on with a roll-out that is paused, without the nodes that failed',
  past: 'Continued a roll-out',
  refuses: ['roll_out_ended', 'roll_out_state'],
  run(call) {
    mustBeOpen(call.target)
    if (call.target.state !== 'paused') throw inState('It is not paused.')
    changeRollOut(call.tx, call.target.id, unpaused)
    return shown(call)
  },
})

export const stopRollOut = operation({
  ...common,
  id: 'roll-outs.stop',
  path: '/admin/roll-outs/{id}/actions/stop',
  summary: 'End a roll-out: no further node begins, those at work come to their end, and each stays at its version',
  past: 'Stopped a roll-out',
  refuses: ['roll_out_ended'],
  run(call) {
    const { tx, target, clock } = call
    mustBeOpen(target)
    const isAtWork = nodesOf(tx, target.id).some(({ state }) => state === 'updating')
    const ends = isAtWork ? ({ state: 'stopping' } as const) : ({ state: 'stopped', finishedAt: clock() } as const)
    changeRollOut(tx, target.id, ends)
    return shown(call)
  },
})

const nodeBody = fields({
  nodeId: described(t.String({ minLength: 1, maxLength: 40 }), 'One of the nodes of the roll-out.'),
})

/** Throws `roll_out_ended` and `node_not_found`. */
function memberOf({ tx, target, body }: Call<RollOut, { nodeId: string }>) {
  mustBeOpen(target)
  const row = rollOutNode(tx, target.id, body.nodeId)
  if (!row) throw new ApiError('node_not_found', 'The roll-out has no such node.')
  return { row, node: nodeById(tx, row.nodeId)! }
}

export const leaveNodeOut = operation({
  ...common,
  id: 'roll-outs.leave-out',
  path: '/admin/roll-outs/{id}/actions/leave-out',
  summary: 'Leave a node out that waits or has failed: it stays at its version',
  past: 'Left a node out of a roll-out',
  body: nodeBody,
  refuses: ['node_not_found', 'roll_out_ended', 'roll_out_state'],
  example: { nodeId: '<node_id>' },
  run(call) {
    const { row, node } = memberOf(call)
    if (row.state !== 'waiting' && !failedStates.has(row.state))
      throw inState(`${node.name} neither waits nor has it failed.`)
    changeRollOutNode(call.tx, row, { state: 'left_out', endedAt: call.clock() })
    return shown(call)
  },
})

export const retryNode = operation({
  ...common,
  id: 'roll-outs.retry',
  path: '/admin/roll-outs/{id}/actions/retry',
  summary: 'Try a node again that has failed or was left out; when it stopped the roll-out and succeeds, that goes on',
  past: 'Retried a node of a roll-out',
  body: nodeBody,
  refuses: ['node_not_found', 'roll_out_ended', 'roll_out_state'],
  example: { nodeId: '<node_id>' },
  run(call) {
    const { tx, target } = call
    const { row, node } = memberOf(call)
    if (!failedStates.has(row.state) && row.state !== 'left_out')
      throw inState(`${node.name} has not failed, and was not left out.`)
    if (node.facts.updatedBy !== 'itself') throw inState(`The agent of ${node.name} does not update itself.`)
    if (keptBy(call, target, node) === 'away') throw inState(`${node.name} is away. Try again when it is back.`)
    if (row.wave === null) changeRollOutNode(tx, row, { wave: target.wave })
    // The frame goes out when the transaction is through.
    begin({ tx, app: call, send: (frame) => queueMicrotask(frame) }, row, node)
    return shown(call)
  },
})
