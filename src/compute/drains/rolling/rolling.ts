import { Type as t } from 'typebox'
import { node } from '../../../fleet/node-records/model.ts'
import { idOf, nameOf } from '../../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { page } from '../../../kernel/api/list.ts'
import { described, fields, operation, see } from '../../../kernel/api/operation.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { named } from '../model.ts'
import { limitFields } from '../start.ts'
import { beginNode, goOn, goOnAfterPause, next } from './advance.ts'
import { rolling, rollingResponse, showRolling } from './model.ts'
import { changeRolling, insertRolling, pageOfRollings, type Rolling, rollingById } from './queries.ts'
import { signals } from './tables.ts'

const access = { staff: ['nodes:maintain'] } as const
const MOST_NODES = 100

export const startRolling = operation({
  id: 'rolling.start',
  method: 'POST',
  path: '/admin/rolling-maintenance',
  summary:
    'Empty several nodes one after another; each waits until its work is done, and the first that fails stops it',
  past: 'Started maintenance of several nodes',
  access,
  body: fields({
    nodeIds: t.Array(t.String({ minLength: 1, maxLength: 40 }), { minItems: 1, maxItems: MOST_NODES }),
    waitsFor: t.Optional(
      described(
        t.Enum([...signals]),
        'The sign that the work on a node is done. person: `rolling.confirm`. reboot: the node has restarted and is ' +
          'connected; a person may confirm before. Without it: person.',
      ),
    ),
    bringBack: t.Optional(described(t.Boolean(), 'Servers come back to each node. Without it: they stay away.')),
    atOnce: limitFields.atOnce,
    maxMbps: limitFields.maxMbps,
  }),
  response: rollingResponse,
  status: 201,
  idempotent: true,
  refuses: ['drain_at_work', 'node_is_lost'],
  example: { nodeIds: ['<node_id>'], waitsFor: 'reboot', bringBack: true },
  run(call) {
    const { tx, actor, body, clock } = call
    if (new Set(body.nodeIds).size !== body.nodeIds.length)
      throw invalid({ field: 'nodeIds', message: 'must name each node once.' })
    for (const id of body.nodeIds) see(tx, actor, node, id, 'nodeIds')
    const id = newId('rol')
    const row: Rolling = {
      ...{ id, state: 'running', phase: 'draining', nodeIds: body.nodeIds, position: 0, skippedIds: [] },
      waitsFor: body.waitsFor ?? 'person',
      bringBack: body.bringBack ?? false,
      atOnce: body.atOnce ?? null,
      maxMbps: body.maxMbps ?? null,
      ...{ drainId: null, reason: null, createdAt: clock(), finishedAt: null },
      startedBy: { id: idOf(actor), name: nameOf(actor) },
    }
    insertRolling(tx, row)
    beginNode(call, row)
    return showRolling(tx, rollingById(tx, id)!)
  },
})

export const listRollings = operation({
  id: 'rolling.list',
  method: 'GET',
  path: '/admin/rolling-maintenance',
  summary: 'Maintenance of several nodes one after another, newest first',
  access,
  response: page(rollingResponse),
  run: (call) => pageOfRollings(call, (row) => showRolling(call.tx, row)),
})

export const getRolling = operation({
  id: 'rolling.get',
  method: 'GET',
  path: '/admin/rolling-maintenance/{id}',
  summary: 'One maintenance of several nodes; follow it until `finishedAt` is set',
  access,
  on: rolling,
  response: rollingResponse,
  run: ({ tx, target }) => showRolling(tx, target),
})

/** Throws `drain_ended`. */
function mustNotHaveEnded(row: Rolling) {
  if (row.finishedAt !== null) throw new ApiError('drain_ended', 'This maintenance has ended.')
}

export const confirmRolling = operation({
  id: 'rolling.confirm',
  method: 'POST',
  path: '/admin/rolling-maintenance/{id}/actions/confirm',
  summary: 'Say that the work on the node at hand is done: it is opened, and the next one follows',
  past: 'Confirmed the work on a node',
  access,
  on: rolling,
  response: rollingResponse,
  refuses: ['drain_ended', 'drain_state', 'drain_at_work', 'node_is_away', 'node_is_lost'],
  run(call) {
    const { tx, target, nodes } = call
    mustNotHaveEnded(target)
    const { id, name } = nodeAtHand(tx, target)
    if (target.state === 'paused')
      throw new ApiError('drain_state', `It is paused at ${name}. Resume it, or skip ${name}.`)
    if (target.phase !== 'working') throw new ApiError('drain_state', `${name} is not waiting for the end of its work.`)
    if (!nodes.connected(id)) throw new ApiError('node_is_away', `${name} is not connected. Confirm when it is.`)
    goOn(call, target)
    return showRolling(tx, rollingById(tx, target.id)!)
  },
})
const nodeAtHand = (tx: Db, { nodeIds, position }: Rolling) => named(tx, nodeIds[position]!)

/** Throws `drain_ended`, and `drain_state` where it is not paused. */
function mustBePaused(row: Rolling) {
  mustNotHaveEnded(row)
  if (row.state !== 'paused') throw new ApiError('drain_state', 'This maintenance is not paused.')
}

export const resumeRolling = operation({
  id: 'rolling.resume',
  method: 'POST',
  path: '/admin/rolling-maintenance/{id}/actions/resume',
  summary:
    'Go on with maintenance of several nodes that paused: the node at hand is emptied again; what did not come ' +
    'back to it stays away',
  past: 'Resumed maintenance of several nodes',
  access,
  on: rolling,
  response: rollingResponse,
  refuses: ['drain_ended', 'drain_state', 'drain_at_work', 'node_is_lost'],
  run(call) {
    const { tx, target } = call
    mustBePaused(target)
    goOnAfterPause(call, target)
    return showRolling(tx, rollingById(tx, target.id)!)
  },
})

export const skipNode = operation({
  id: 'rolling.skip',
  method: 'POST',
  path: '/admin/rolling-maintenance/{id}/actions/skip',
  summary:
    'Skip the node at which maintenance of several nodes paused: it stays closed as it is, and the next one follows',
  past: 'Skipped a node',
  access,
  on: rolling,
  response: rollingResponse,
  refuses: ['drain_ended', 'drain_state'],
  run(call) {
    const { tx, target } = call
    mustBePaused(target)
    const skippedIds = [...target.skippedIds, nodeAtHand(tx, target).id]
    changeRolling(tx, target.id, { skippedIds })
    next(call, { ...target, skippedIds })
    return showRolling(tx, rollingById(tx, target.id)!)
  },
})

export const cancelRolling = operation({
  id: 'rolling.cancel',
  method: 'POST',
  path: '/admin/rolling-maintenance/{id}/actions/cancel',
  summary:
    'End maintenance of several nodes: no further node is emptied; a drain at work goes on until it is cancelled too',
  access,
  on: rolling,
  response: rollingResponse,
  refuses: ['drain_ended'],
  run({ tx, target, clock }) {
    mustNotHaveEnded(target)
    changeRolling(tx, target.id, { state: 'cancelled', finishedAt: clock() })
    return showRolling(tx, rollingById(tx, target.id)!)
  },
})
