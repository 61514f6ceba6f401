// How far the maintenance of a node is, by the book: each step is read from the records, so nobody ticks it.
import { Type as t } from 'typebox'
import { type Node, node } from '../../fleet/node-records/model.ts'
import { workloadsOn } from '../../fleet/workloads/stays/queries.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countJobsOn } from '../../kernel/jobs/queries.ts'
import { count, list } from '../../kernel/words.ts'
import { aNode } from '../transfers/model.ts'
import { runningOn } from './evacuate.ts'
import { drainResponse, named, showDrain, stoppedServer } from './model.ts'
import { scheduledResponse, showScheduled } from './plan/choice.ts'
import { showPlan } from './plan/node-plan.ts'
import { countsOf, type Drain, drainPlanOf, drainsToReturn, lastDrainOf, openDrainOf } from './queries.ts'
import { planReturn, stoppedOn } from './return.ts'
import { rollingOf } from './rolling/queries.ts'

/** The node was emptied and not opened since, and nothing runs on it: it may be switched off. */
export const mayBeOff = (tx: Db, nodeId: string): boolean =>
  drainsToReturn(tx, nodeId).some(({ state }) => state === 'done') && !runningOn(tx, nodeId).length

/** The steps in their order. */
export const maintenanceSteps = {
  closed: 'Closed to new servers',
  drained: 'Its servers have moved',
  stopped: 'No server runs here',
  cleared: 'No disk of a server that moved is left here',
  quiet: 'No job works on it',
  restarted: 'Restart or switch off',
  answers: 'Agent answers again',
  opened: 'Open it',
} as const
export type StepName = keyof typeof maintenanceSteps
const stepNames = Object.keys(maintenanceSteps) as StepName[]

const stepFields = {
  done: t.Boolean(),
  at: described(nullable(time), 'Since when it is done, where that is noted.'),
  by: described(nullable(t.String()), 'The person who did it.'),
  words: described(nullable(t.String()), 'What is known of it, or what is missing.'),
}

export const getMaintenance = operation({
  id: 'nodes.maintenance',
  method: 'GET',
  path: '/admin/nodes/{id}/maintenance',
  summary: 'How far the maintenance of a node is: its steps with their times, and what waits for its end',
  access: { staff: ['nodes:maintain'] },
  on: node,
  response: namedSchema('NodeMaintenance', {
    node: aNode,
    drain: described(nullable(drainResponse), 'The one at work, or the last one until the node is opened again.'),
    scheduled: described(nullable(scheduledResponse), 'The drain of it that begins by itself; null: none.'),
    steps: t.Array(namedSchema('MaintenanceStep', { name: t.Enum(stepNames), title: t.String(), ...stepFields })),
    back: described(
      nullable(
        t.Object({
          servers: t.Integer(),
          live: described(t.Integer(), 'Of them with their memory.'),
          cannot: described(t.Integer(), 'Of them that could not come back now.'),
          atOnce: t.Integer(),
          expectedSeconds: t.Integer(),
        }),
      ),
      'The servers that were here and can come back; null: none.',
    ),
    stopped: described(t.Array(stoppedServer), 'They wait here, off, and are started at its end.'),
    rolling: described(
      nullable(t.Object({ id: t.String(), next: nullable(aNode) })),
      'The maintenance of several nodes of which this is one, and the node after it.',
    ),
  }),
  run(call) {
    const { tx, target } = call
    const drain = openDrainOf(tx, target.id) ?? lastDrainOf(tx, target.id)
    const current = drain && (drain.finishedAt === null || drain.returnedAt === null) ? drain : undefined
    const plan = showPlan(tx, planReturn(call, target.id))
    const { totals, servers, atOnce } = plan
    return {
      node: { id: target.id, name: target.name },
      drain: current ? showDrain(call, current) : null,
      scheduled: showScheduled(drainPlanOf(tx, target.id)),
      steps: stepNames.map((name) => ({ name, title: maintenanceSteps[name], ...steps[name](call, target, current) })),
      back: totals.servers
        ? {
            servers: totals.servers,
            live: servers.filter(({ to, mode }) => to && mode === 'live').length,
            cannot: totals.cannotMove,
            atOnce,
            expectedSeconds: totals.expectedSeconds,
          }
        : null,
      stopped: stoppedOn(tx, target.id).map(({ id, hostname }) => ({ id, hostname })),
      rolling: rollingWith(tx, target.id),
    }
  },
})

function rollingWith(tx: Db, nodeId: string) {
  const row = rollingOf(tx, nodeId)
  if (!row) return null
  const next = row.nodeIds[row.nodeIds.indexOf(nodeId) + 1]
  return { id: row.id, next: next === undefined ? null : named(tx, next) }
}

type Step = { done: boolean; at: string | null; by: string | null; words: string | null }
type Reading = { tx: Db; nodes: { connected(nodeId: string): boolean } }
const said = (done: boolean, words: string | null = null, about: Partial<Step> = {}): Step => ({
  ...{ done, words, at: null, by: null },
  ...about,
})

/** A node is away for its restart, or comes up again, once this is so. */
const isRestarted = ({ facts }: Node, drain: Drain | undefined) => !!drain && facts.bootedAt > drain.bootedAt

const steps: Record<StepName, (call: Reading, target: Node, drain: Drain | undefined) => Step> = {
  closed: (_, { open, closedAt, closedReason }, drain) =>
    said(!open, open ? null : closedReason, {
      at: open ? null : isoOrNull(closedAt),
      by: !open && drain?.kind === 'drain' && closedAt === drain.createdAt ? drain.startedBy.name : null,
    }),
  drained({ tx }, _, drain) {
    if (drain?.kind !== 'drain') return said(false)
    const { moved = 0, stopped = 0, gone = 0, failed = 0, left = 0, waiting = 0, moving = 0 } = countsOf(tx, drain.id)
    const parts = [
      `${moved} moved`,
      ...(stopped ? [`${stopped} stopped with a notice`] : []),
      ...(gone ? [`${gone} gone otherwise`] : []),
      ...(failed + left ? [`${failed + left} could not move`] : []),
      ...(waiting + moving ? [`${waiting + moving} to go`] : []),
    ]
    return said(drain.finishedAt !== null && failed + left + waiting === 0, list(parts), {
      at: isoOrNull(drain.finishedAt),
      by: drain.startedBy.name,
    })
  },
  stopped({ tx }, { id }) {
    const running = runningOn(tx, id)
    return said(
      !running.length,
      running.length ? stillRunning(running.map(({ hostname }) => hostname).toSorted()) : null,
    )
  },
  cleared({ tx, nodes }, { id }) {
    const left = workloadsOn(tx, id).filter(({ role }) => role !== 'home').length
    if (!left) return said(true)
    const when = nodes.connected(id) ? 'is being deleted' : 'is deleted when the node answers'
    return said(false, `What ${count(left, 'server')} left here ${when}.`)
  },
  quiet({ tx }, { id }) {
    const n = countJobsOn(tx, id)
    return said(
      !n,
      n ? `${count(n, 'job')} ${n === 1 ? 'is' : 'are'} at work, such as a backup. Wait for the end.` : null,
    )
  },
  restarted(_, target, drain) {
    if (!isRestarted(target, drain)) return said(false, 'Restart the machine or switch it off, if its work needs that.')
    const { kernel, bootedAt } = target.facts
    const words = drain!.kernel && drain!.kernel !== kernel ? `Linux ${drain!.kernel} → ${kernel}` : `Linux ${kernel}`
    return said(true, words, { at: iso(bootedAt) })
  },
  answers({ nodes }, target, drain) {
    const isConnected = nodes.connected(target.id)
    if (!isConnected) return said(false, 'It does not answer now: it restarts, is off, or is cut off.')
    if (!isRestarted(target, drain)) return said(false, 'It answers now, and was not restarted yet.')
    return said(true, `Agent ${target.facts.agentVersion}`, { at: isoOrNull(target.connectedAt) })
  },
  opened: (_, { open }) => said(open),
}

/** At most so many are named. */
const NAMED = 3
function stillRunning(names: readonly string[]) {
  const shown = names.slice(0, NAMED)
  const more = names.length - shown.length
  const runs = names.length === 1 ? 'runs' : 'run'
  return `${list(more ? [...shown, count(more, 'other', 'others')] : shown)} ${runs} still.`
}
