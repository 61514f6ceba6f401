// The end of maintenance: the node is opened, what was stopped there is started, and servers come back if wanted.
import { Type as t } from 'typebox'
import { node } from '../../fleet/node-records/model.ts'
import { openColumns, reportNode } from '../../fleet/node-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { settingValue } from '../../kernel/setting.ts'
import { instanceById } from '../gpu-instances/model.ts'
import { changePower as changeInstance } from '../gpu-instances/run/power-job.ts'
import { type Server, serverById } from '../server-records/model.ts'
import { changePower } from '../servers/power-job.ts'
import { atOnce } from '../transfers/estimate.ts'
import { aNode } from '../transfers/model.ts'
import { drainResponse, named, showDrain, stoppedServer } from './model.ts'
import { planMoves } from './plan/moves.ts'
import { planFields, showPlan } from './plan/node-plan.ts'
import { changeDrain, drainById, drainsToReturn, openDrainOf, returnable } from './queries.ts'
import { addDrain, limitFields, mustBeThere } from './start.ts'

export const returnPlan = operation({
  id: 'nodes.return-plan',
  method: 'GET',
  path: '/admin/nodes/{id}/return-plan',
  summary: 'The servers that can come back to a node after maintenance, how and for how long; and those stopped there',
  access: { staff: ['nodes:maintain'] },
  on: node,
  response: namedSchema('ReturnPlan', {
    node: aNode,
    ...planFields,
    stopped: described(t.Array(stoppedServer), 'Stopped by an evacuation, and off since: they are started.'),
  }),
  run(call) {
    const { tx, target } = call
    return {
      node: { id: target.id, name: target.name },
      ...showPlan(tx, planReturn(call, target.id)),
      stopped: stoppedOn(tx, target.id).map(({ id, hostname }) => ({ id, hostname })),
    }
  },
})

export const returnToNode = operation({
  id: 'nodes.end-maintenance',
  method: 'POST',
  path: '/admin/nodes/{id}/actions/end-maintenance',
  summary: 'Open a node again, start what an evacuation stopped there, and bring its servers back if wanted',
  past: 'Ended maintenance of a node',
  access: { staff: ['nodes:maintain'] },
  on: node,
  body: fields({
    bringBack: t.Optional(described(t.Boolean(), 'Its servers come back from where they are. Without it: they stay.')),
    ...limitFields,
  }),
  response: namedSchema('MaintenanceEnded', {
    node: aNode,
    started: described(t.Array(stoppedServer), 'Started again.'),
    drain: described(nullable(drainResponse), 'The moves back; null: no server comes back.'),
  }),
  status: 202,
  idempotent: true,
  refuses: ['drain_at_work', 'node_is_lost', 'node_is_away'],
  example: { bringBack: true },
  run(call) {
    const { tx, target, body } = call
    mustBeThere(target)
    if (!call.nodes.connected(target.id))
      throw new ApiError('node_is_away', `${target.name} is not connected. Open it when its agent answers again.`)
    if (openDrainOf(tx, target.id))
      throw new ApiError('drain_at_work', `${target.name} is being emptied. Wait for the end, or cancel that first.`)
    const { started, drainId } = endMaintenance(call, target.id, body)
    return {
      node: named(tx, target.id),
      started,
      drain: drainId === null ? null : showDrain(call, drainById(tx, drainId)!),
    }
  },
})

type Call = Parameters<typeof addDrain>[0]
type Wanted = { bringBack?: boolean } & Parameters<typeof addDrain>[1]['limits']

/** Opens the node. Answers what is started, and the drain with which servers come back. */
export function endMaintenance(call: Call, nodeId: string, { bringBack, ...limits }: Wanted) {
  const { tx, actor, clock } = call
  const now = clock()
  reportNode(tx, nodeId, openColumns(true, now, null))
  const started = stoppedOn(tx, nodeId)
    .filter((one) => start(tx, one, { by: actor, now }))
    .map(({ id, hostname }) => ({ id, hostname }))
  const plan = planReturn(call, nodeId, limits)
  const [last] = drainsToReturn(tx, nodeId)
  const drainId =
    bringBack && plan.moves.length
      ? addDrain(call, { kind: 'return', nodeId, plan, limits, ofDrainId: last?.id ?? null })
      : null
  for (const { id } of drainsToReturn(tx, nodeId)) changeDrain(tx, id, { returnedAt: now })
  return { started, drainId }
}

/** The way back of the servers that drains took from the node and that are elsewhere now. */
export function planReturn(
  call: Parameters<typeof planMoves>[0],
  nodeId: string,
  limits: { atOnce?: number; maxMbps?: number | null } = {},
) {
  const { tx } = call
  const servers = returnable(tx, nodeId, 'moved').flatMap((id): Server[] => {
    const server = serverById(tx, id)
    return server && server.terminatedAt === null && server.nodeId !== nodeId ? [server] : []
  })
  const wanted = { mode: 'auto' as const, maxMbps: limits.maxMbps ?? undefined, to: nodeId }
  const { moves, loads } = planMoves(call, servers, wanted)
  return { moves, loads, staying: [], atOnce: limits.atOnce ?? settingValue(tx, atOnce) }
}

type Stopped = { id: string; hostname: string; start(tx: Tx, about: { by: Actor; now: number }): string }
/** Those that an evacuation stopped, that are on the node still, and off. */
export function stoppedOn(tx: Db, nodeId: string): Stopped[] {
  return returnable(tx, nodeId, 'stopped').flatMap((id): Stopped[] => {
    const server = serverById(tx, id)
    if (server)
      return server.status === 'stopped' && server.nodeId === nodeId
        ? [{ id, hostname: server.hostname, start: (tx, about) => changePower(tx, server, 'start', about) }]
        : []
    const instance = instanceById(tx, id)
    return instance?.status === 'stopped'
      ? [{ id, hostname: instance.name, start: (tx, about) => changeInstance(tx, instance, 'start', about) }]
      : []
  })
}

/** False where its state refuses, or a job works on it: its owner decides then. */
function start(tx: Tx, one: Stopped, about: { by: Actor; now: number }): boolean {
  try {
    one.start(tx, about)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}
