import { Type as t } from 'typebox'
import { type Node, node } from '../../fleet/node-records/model.ts'
import { nodeById, openColumns, reportNode } from '../../fleet/node-records/queries.ts'
import { type Actor, idOf, nameOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { type AppContext, described, fields, line, nullable, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { MOST_MBPS } from '../transfers/forecast.ts'
import { draining, drainLockOf, WAITS } from './job.ts'
import { drainResponse, showDrain, tellStarted } from './model.ts'
import { totalSeconds } from './plan/moves.ts'
import { MOST_AT_ONCE, type Plan, planDrain } from './plan/node-plan.ts'
import { type Drain, drainById, dropChoices, dropDrainPlan, insertDrain, insertDrainServer } from './queries.ts'
import { type DrainWishes, onFailures } from './tables.ts'

/** The fields by which moves of a drain, or back, are limited. */
export const limitFields = {
  atOnce: t.Optional(
    described(
      t.Integer({ minimum: 1, maximum: MOST_AT_ONCE }),
      'So many moves at a time, and no more than the setting. Without it: the setting.',
    ),
  ),
  maxMbps: t.Optional(
    described(
      nullable(t.Integer({ minimum: 1, maximum: MOST_MBPS })),
      'The most megabit per second that a move takes.',
    ),
  ),
  onFailure: t.Optional(
    described(
      t.Enum([...onFailures]),
      'continue: a server that could not move is listed, and the others go on. pause: it waits for a person. ' +
        'Without it: continue.',
    ),
  ),
}

export const startDrain = operation({
  id: 'drains.start',
  method: 'POST',
  path: '/admin/nodes/{id}/actions/drain',
  summary: 'Close a node and move its servers to others, as the plan says; each is placed anew when its move begins',
  past: 'Started a drain',
  access: { staff: ['nodes:maintain'] },
  on: node,
  body: fields({
    ...limitFields,
    reason: t.Optional(described(line(200, 0), 'Why the node is closed, for colleagues.')),
  }),
  response: drainResponse,
  status: 202,
  idempotent: true,
  refuses: ['drain_at_work', 'node_is_lost'],
  example: { reason: 'Memory is exchanged' },
  run(call) {
    const { tx, target, body } = call
    return showDrain(call, drainById(tx, beginDrain(call, target, body))!)
  },
})

type Beginning = Pick<AppContext, 'nodes' | 'clock'> & { tx: Tx; actor: Actor }
type Limits = Omit<DrainWishes, 'reason'>

/** Closes the node and starts a drain of it. Answers its id. Throws `drain_at_work` and `node_is_lost`. */
export function beginDrain(call: Beginning, target: Node, limits: DrainWishes): string {
  const { tx, clock } = call
  mustBeThere(target)
  const now = clock()
  const reason = limits.reason || target.closedReason || 'Maintenance'
  reportNode(tx, target.id, openColumns(false, target.closedAt ?? now, reason))
  const plan = planDrain(call, target, { atOnce: limits.atOnce, maxMbps: limits.maxMbps ?? undefined })
  // One moment for both: the record says then who closed it.
  const id = addDrain(
    { ...call, clock: () => now },
    { kind: 'drain', nodeId: target.id, plan, limits, ofDrainId: null },
  )
  // They are in the drain from now on.
  dropChoices(tx, target.id)
  dropDrainPlan(tx, target.id)
  return id
}

export function mustBeThere({ name, lostAt }: Node) {
  if (lostAt !== null)
    throw new ApiError('node_is_lost', `${name} is lost, so nothing can be moved. Restore its servers elsewhere.`)
}

type Added = Pick<Drain, 'kind' | 'nodeId' | 'ofDrainId'> & { plan: Plan; limits: Limits }
/** Starts the job of a drain, and notes its servers in the order of the plan. Throws `drain_at_work`. */
export function addDrain({ tx, actor, clock }: Beginning, { plan, limits, ...about }: Added): string {
  const now = clock()
  const id = newId('drn')
  const { name, facts } = nodeById(tx, about.nodeId)!
  const jobId = startJob(
    tx,
    draining,
    { drainId: id },
    {
      by: actor,
      title: about.kind === 'drain' ? `Drain ${name}` : `Bring servers back to ${name}`,
      holds: drainLockOf(about.nodeId),
      busy: () =>
        new ApiError('drain_at_work', `${name} is being emptied or filled already. Wait, or cancel that first.`),
      subject: { type: 'node', id: about.nodeId },
      held: WAITS,
      now,
    },
  )
  insertDrain(tx, {
    ...about,
    id,
    state: 'running',
    pausedBy: null,
    jobId,
    atOnce: plan.atOnce,
    maxMbps: limits.maxMbps ?? null,
    onFailure: limits.onFailure ?? 'continue',
    startedBy: { id: idOf(actor), name: nameOf(actor) },
    expectedSeconds: totalSeconds(plan.moves, plan.atOnce),
    bootedAt: facts.bootedAt,
    kernel: facts.kernel,
    pausedAt: null,
    createdAt: now,
    finishedAt: null,
    returnedAt: null,
  })
  for (const [position, { server, foreseen, to, reason, choice }] of plan.moves.entries())
    insertDrainServer(tx, {
      ...{ drainId: id, workloadId: server.id, position, hostname: server.hostname },
      // Every server is tried, because what kept it may be gone by then.
      ...(choice?.leaves ? { state: 'left' as const, endedAt: now } : { state: 'waiting' as const }),
      chosenNodeId: choice?.toNodeId ?? null,
      chosenMode: choice?.mode ?? null,
      mode: to ? foreseen.mode : null,
      toNodeId: to?.id ?? choice?.toNodeId ?? null,
      bytes: foreseen.bytes,
      expectedSeconds: foreseen.expectedSeconds,
      expectedDowntimeMs: foreseen.expectedDowntimeMs,
      reason: reason ?? null,
    })
  for (const [i, { id: workloadId, hostname }] of plan.staying.entries())
    insertDrainServer(tx, {
      ...{ drainId: id, workloadId, position: plan.moves.length + i, hostname, state: 'left', mode: null },
      ...{ toNodeId: null, bytes: 0, expectedSeconds: 0, expectedDowntimeMs: 0, endedAt: now },
      reason: 'A GPU instance stays with the cards of its host.',
    })
  tellStarted(tx, now, drainById(tx, id)!)
  return id
}
