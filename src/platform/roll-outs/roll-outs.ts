import { type Static, Type as t } from 'typebox'
import { location } from '../../fleet/locations/model.ts'
import { node } from '../../fleet/node-records/model.ts'
import { nodeById, nodeFigureRows } from '../../fleet/node-records/queries.ts'
import { idOf, nameOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { type Call, described, fields, operation, see } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db } from '../../kernel/db/open.ts'
import { timeZones } from '../../kernel/time-zones.ts'
import { VERSION } from '../../kernel/version.ts'
import { rollOut, rollOutDetailResponse, rollOutResponse, showDetail, showRollOut, windowBody } from './model.ts'
import { type Candidate, planned } from './plan.ts'
import { insertRollOut, insertRollOutNode, openRollOut, pageOfRollOuts, rollOutById } from './queries.ts'
import type { UpdateWindow } from './tables.ts'

export const reads = { staff: ['nodes:read'] } as const
export const acts = { staff: ['nodes:write'] } as const

const MOST_WAVES = 20
const MOST_AT_ONCE = 100
const USUAL = { watchSeconds: 900, trialSeconds: 60, waveSizes: [3, 5, 10] }
const nodeIdField = t.String({ minLength: 1, maxLength: 40 })

const startBody = fields({
  firstNodeId: t.Optional(described(nodeIdField, 'Without it: the connected node with the fewest servers.')),
  watchSeconds: t.Optional(
    described(
      t.Integer({ minimum: 0, maximum: 86_400 }),
      `How long the first node and each wave is watched before the next one begins. Without it: ` +
        `${USUAL.watchSeconds}.`,
    ),
  ),
  trialSeconds: t.Optional(
    described(
      t.Integer({ minimum: 5, maximum: 600 }),
      `How long an agent must run well before its version stays. Without it: ${USUAL.trialSeconds}.`,
    ),
  ),
  waveSizes: t.Optional(
    described(
      t.Array(t.Integer({ minimum: 1, maximum: MOST_AT_ONCE }), { minItems: 1, maxItems: MOST_WAVES }),
      `How many nodes are updated at once in each wave; the last number counts for all that follow. Without it: ` +
        `${USUAL.waveSizes.join(', ')}.`,
    ),
  ),
  windows: t.Optional(
    described(
      t.Array(windowBody, { maxItems: 200 }),
      'When nodes of a location may begin; nodes of other locations may at any time.',
    ),
  ),
  leftOutNodeIds: t.Optional(t.Array(nodeIdField, { maxItems: 1000 })),
})
type StartBody = Static<typeof startBody>

export const startRollOut = operation({
  id: 'roll-outs.start',
  method: 'POST',
  path: '/admin/roll-outs',
  summary: 'Bring the agents of all nodes to the version of the controller: one first, then waves; a failure stops it',
  past: 'Started a roll-out of agents',
  access: acts,
  body: startBody,
  response: rollOutDetailResponse,
  status: 201,
  idempotent: true,
  refuses: ['roll_out_at_work', 'roll_out_release', 'roll_out_empty'],
  example: { firstNodeId: '<node_id>', waveSizes: [3, 10] },
  prepare: ({ releases }) => releases.flaw(VERSION),
  run(call) {
    const { tx, actor, body, clock } = call
    for (const [field, ids] of [
      ['firstNodeId', body.firstNodeId === undefined ? [] : [body.firstNodeId]],
      ['leftOutNodeIds', body.leftOutNodeIds ?? []],
    ] as const)
      for (const id of ids) see(tx, actor, node, id, field)
    const windows = windowsOf(call)
    if (openRollOut(tx)) throw new ApiError('roll_out_at_work', 'Another roll-out is under way. Stop it first.')
    if (call.prepared !== undefined) throw new ApiError('roll_out_release', call.prepared)
    const members = planned(candidates(tx, call.nodes.connected), {
      firstNodeId: body.firstNodeId,
      waveSizes: body.waveSizes ?? USUAL.waveSizes,
      windows,
      leftOut: new Set(body.leftOutNodeIds),
    })
    const waiting = members.filter(({ state }) => state === 'waiting')
    if (!waiting.length)
      throw new ApiError('roll_out_empty', `No node is there whose agent can be brought to ${VERSION}.`)
    if (body.firstNodeId !== undefined && waiting[0]!.nodeId !== body.firstNodeId)
      throw invalid({ field: 'firstNodeId', message: 'must be a node that takes part.' })
    const id = newId('rlo')
    insertRollOut(tx, {
      ...{ id, version: VERSION, state: 'running', wave: 0, watchUntil: null, windows },
      watchSeconds: body.watchSeconds ?? USUAL.watchSeconds,
      trialSeconds: body.trialSeconds ?? USUAL.trialSeconds,
      startedBy: { id: idOf(actor), name: nameOf(actor) },
      createdAt: clock(),
    })
    for (const member of members) insertRollOutNode(tx, { rollOutId: id, ...member })
    return showDetail(tx, call, rollOutById(tx, id)!)
  },
})

/** A window for each location. Throws `validation_failed`. */
function windowsOf({ tx, actor, body }: Pick<Call<unknown, StartBody>, 'tx' | 'actor' | 'body'>): UpdateWindow[] {
  const windows = (body.windows ?? []).flatMap(({ locationIds, ...window }) =>
    locationIds.map((locationId) => ({ locationId, ...window })),
  )
  for (const { locationId, timeZone } of windows) {
    see(tx, actor, location, locationId, 'windows')
    if (!timeZones().includes(timeZone))
      throw invalid({ field: 'windows', message: `${timeZone} is no time zone. Use a name like Europe/Helsinki.` })
  }
  if (new Set(windows.map(({ locationId }) => locationId)).size !== windows.length)
    throw invalid({ field: 'windows', message: 'must name each location once.' })
  return windows
}

function candidates(tx: Db, connected: (id: string) => boolean): Candidate[] {
  return nodeFigureRows(tx).flatMap(({ id, lostAt, workloads }) =>
    lostAt === null ? [{ node: nodeById(tx, id)!, workloads, connected: connected(id) }] : [],
  )
}

export const listRollOuts = operation({
  id: 'roll-outs.list',
  method: 'GET',
  path: '/admin/roll-outs',
  summary: 'Updates of the agents of all nodes, newest first',
  access: reads,
  response: page(rollOutResponse),
  run: (call) => pageOfRollOuts(call, (row) => showRollOut(call.tx, row)),
})

export const getRollOut = operation({
  id: 'roll-outs.get',
  method: 'GET',
  path: '/admin/roll-outs/{id}',
  summary: 'One roll-out with its nodes; follow it until `finishedAt` is set',
  access: reads,
  on: rollOut,
  response: rollOutDetailResponse,
  run: (call) => showDetail(call.tx, call, call.target),
})
