// The plan of emptying a node: every server and GPU instance on it, where it would go, how, for how long, and what
// has to be done about those that cannot move.
import { Type as t } from 'typebox'
import { type Node, node } from '../../../fleet/node-records/model.ts'
import { capacityIn } from '../../../fleet/placement/capacity.ts'
import { workloadsOn } from '../../../fleet/workloads/stays/queries.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { described, namedSchema, nullable, operation, type Query, stream, time } from '../../../kernel/api/operation.ts'
import { wholeNumber } from '../../../kernel/api/query.ts'
import { type CsvColumns, csvPages } from '../../../kernel/csv.ts'
import { iso } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { settingValue } from '../../../kernel/setting.ts'
import { instanceById } from '../../gpu-instances/model.ts'
import { type Server, serverById, serverKind } from '../../server-records/model.ts'
import { atOnce } from '../../transfers/estimate.ts'
import { MOST_MBPS } from '../../transfers/forecast.ts'
import { aNode, modeField } from '../../transfers/model.ts'
import { choicesFor, drainPlanOf } from '../queries.ts'
import { choiceResponse, scheduledResponse, showChoice, showScheduled } from './choice.ts'
import { type NodeLoad, type PlannedMove, planMoves, totalSeconds } from './moves.ts'

export const MOST_AT_ONCE = 8

const plannedServer = namedSchema('PlannedServer', {
  id: t.String(),
  kind: t.Enum(['server', 'gpu_instance']),
  hostname: t.String(),
  owner: t.Object({ id: t.String(), name: t.String() }),
  running: t.Boolean(),
  mode: described(nullable(modeField), 'Null where it cannot move.'),
  to: described(nullable(aNode), 'Where it would go now; it is placed anew when its move begins.'),
  bytes: described(t.Integer(), 'To be copied at most: holes of its disks are not.'),
  expectedSeconds: t.Integer(),
  expectedDowntimeMs: described(t.Integer(), 'How long its system is off for it; 0 where it is off already.'),
  changes: described(t.Array(t.String()), 'What its owner notices, in sentences.'),
  busy: described(t.Boolean(), 'A job works on it now: its move waits for the end.'),
  reason: described(nullable(t.String()), 'Why it cannot move, in the words of placement; null: it can.'),
  remedy: described(nullable(t.String()), 'What to do about that.'),
  choice: described(nullable(choiceResponse), 'What a person has chosen for it; null: nothing.'),
})

const nodeLoad = namedSchema('PlannedNode', {
  node: aNode,
  memoryPercent: described(t.Integer(), 'Of its memory that is held now.'),
  memoryPercentAfter: t.Integer(),
})

export const planFields = {
  servers: t.Array(plannedServer),
  nodes: described(t.Array(nodeLoad), 'Nodes that take some of them.'),
  totals: t.Object({
    servers: t.Integer(),
    moves: t.Integer(),
    cannotMove: t.Integer(),
    off: described(t.Integer(), 'Of those that move: off already, or not set up, so nobody notices.'),
    owners: described(t.Integer(), 'Owners of all of them.'),
    ownersToTell: described(t.Integer(), 'Owners whose server is off for it while it should run.'),
    bytes: t.Integer(),
    expectedSeconds: described(t.Integer(), 'Until all have moved, so many at once.'),
    longestDowntimeMs: t.Integer(),
  }),
  atOnce: t.Integer(),
}
export const planResponse = namedSchema('DrainPlan', {
  node: aNode,
  madeAt: time,
  targets: described(t.Array(aNode), 'The other nodes of its location, to choose from.'),
  scheduled: described(nullable(scheduledResponse), 'The drain that begins by itself; null: none.'),
  ended: described(
    t.Integer(),
    'Terminated workloads whose disks stay on the node until they can no longer be brought back.',
  ),
  ...planFields,
})

const planQuery = {
  atOnce: wholeNumber('So many moves at a time. Without it: the setting.', 1, { maximum: MOST_AT_ONCE }),
  maxMbps: wholeNumber('The most megabit per second that one move takes.', 1, { maximum: MOST_MBPS }),
}

export const planOfNode = operation({
  id: 'nodes.drain-plan',
  method: 'GET',
  path: '/admin/nodes/{id}/drain-plan',
  summary: 'What emptying a node would do: where each server goes, how, for how long, and what cannot move and why',
  access: { staff: ['nodes:maintain'] },
  on: node,
  query: planQuery,
  response: planResponse,
  run(call) {
    const { target, tx, clock } = call
    const { ended, ...plan } = planDrain(call, target, limitsIn(call.query))
    return {
      node: { id: target.id, name: target.name },
      madeAt: iso(clock()),
      targets: capacityIn(tx, target.locationId)
        .filter(({ id, open }) => open && id !== target.id)
        .map(({ id, name }) => ({ id, name })),
      scheduled: showScheduled(drainPlanOf(tx, target.id)),
      ended,
      ...showPlan(tx, plan),
    }
  },
})
function limitsIn(query: Query): Limits {
  const given = (name: string) => (query[name] === undefined ? undefined : Number(query[name]))
  return { atOnce: given('atOnce'), maxMbps: given('maxMbps') }
}

type ShownPlan = ReturnType<typeof showPlan>['servers'][number]
const columns: CsvColumns<ShownPlan> = {
  id: (row) => row.id,
  kind: (row) => row.kind,
  hostname: (row) => row.hostname,
  owner: (row) => row.owner.name,
  ownerId: (row) => row.owner.id,
  running: (row) => String(row.running),
  mode: (row) => row.mode,
  to: (row) => row.to?.name ?? null,
  bytes: (row) => row.bytes,
  expectedSeconds: (row) => row.expectedSeconds,
  expectedDowntimeMs: (row) => row.expectedDowntimeMs,
  changes: (row) => row.changes.join(' '),
  reason: (row) => row.reason,
  remedy: (row) => row.remedy,
}

export const exportPlan = operation({
  id: 'nodes.drain-plan-export',
  method: 'GET',
  path: '/admin/nodes/{id}/drain-plan.csv',
  summary: 'The servers of the same plan as a spreadsheet',
  access: { staff: ['nodes:maintain'] },
  on: node,
  query: planQuery,
  produces: 'text/csv',
  response: stream,
  run: (call) => csvPages(columns, [showPlan(call.tx, planDrain(call, call.target, limitsIn(call.query))).servers]),
})

/** A workload that no move takes away. */
export type Staying = {
  id: string
  kind: 'server' | 'gpu_instance'
  ownerId: string
  hostname: string
  running: boolean
}
export type Plan = { moves: PlannedMove[]; staying: Staying[]; loads: NodeLoad[]; atOnce: number }
type Planning = Parameters<typeof planMoves>[0]
type Limits = { atOnce?: number | undefined; maxMbps?: number | undefined }

/** The plan of a node as it is now. */
export function planDrain(call: Planning, node: Pick<Node, 'id'>, limits: Limits = {}): Plan & { ended: number } {
  const { servers, instances, ended } = atHomeOn(call.tx, node.id)
  const choices = choicesFor(call.tx, node.id)
  const { moves, loads } = planMoves(call, servers, { mode: 'auto', maxMbps: limits.maxMbps, choices })
  return { moves, staying: instances, loads, ended, atOnce: limits.atOnce ?? settingValue(call.tx, atOnce) }
}

/** The workloads at home on the node; `ended`: how many terminated ones have their disks there. */
export function atHomeOn(tx: Db, nodeId: string) {
  const atHome = workloadsOn(tx, nodeId).filter(({ role }) => role === 'home')
  const living = atHome.filter(({ terminatedAt }) => terminatedAt === null)
  const servers = living.flatMap(({ kind, id }) => (kind === serverKind.kind ? serverById(tx, id)! : []))
  const instances = living.flatMap(({ kind, id, ownerId }): Staying[] => {
    const instance = kind === serverKind.kind ? undefined : instanceById(tx, id)
    if (!instance) return []
    return [{ id, kind: 'gpu_instance', ownerId, hostname: instance.name, running: instance.status === 'running' }]
  })
  return { servers, instances, ended: atHome.length - living.length }
}

/** Is it to run? A suspended server is off. */
export const runs = ({ power, suspendedAt }: Pick<Server, 'power' | 'suspendedAt'>): boolean =>
  power === 'running' && suspendedAt === null

const STAYS = 'A GPU instance stays with the cards of its host.'
const ASK = 'Stop it with a notice when you evacuate the node, or ask its owner to delete it.'

export function showPlan(tx: Db, { moves, staying, loads, atOnce }: Plan) {
  const ownerOf = ownersIn(tx)
  const going = moves.filter(({ to }) => to)
  const isNoticed = ({ foreseen }: PlannedMove) => foreseen.expectedDowntimeMs > 0
  const percent = (heldMb: number, { memoryMb }: NodeLoad) => (memoryMb ? Math.round((100 * heldMb) / memoryMb) : 0)
  const all = [...moves.map(({ server }) => server.ownerId), ...staying.map(({ ownerId }) => ownerId)]
  return {
    servers: [
      ...moves.map(({ server, foreseen, to, reason, remedy, busy, choice }) => ({
        id: server.id,
        kind: 'server' as const,
        hostname: server.hostname,
        owner: ownerOf(server.ownerId),
        running: runs(server),
        mode: to ? foreseen.mode : null,
        to: to ?? null,
        bytes: foreseen.bytes,
        expectedSeconds: foreseen.expectedSeconds,
        expectedDowntimeMs: foreseen.expectedDowntimeMs,
        changes: foreseen.changes,
        busy,
        reason: reason ?? null,
        remedy: remedy ?? null,
        choice: choice ? showChoice(tx, choice) : null,
      })),
      ...staying.map(({ id, kind, hostname, ownerId, running }) => ({
        ...{ id, kind, hostname, owner: ownerOf(ownerId), running, mode: null, to: null, bytes: 0 },
        ...{
          expectedSeconds: 0,
          expectedDowntimeMs: 0,
          changes: [],
          busy: false,
          reason: STAYS,
          remedy: ASK,
          choice: null,
        },
      })),
    ],
    nodes: loads
      .filter((load) => load.heldAfterMb !== load.heldBeforeMb)
      .map((load) => ({
        node: { id: load.id, name: load.name },
        memoryPercent: percent(load.heldBeforeMb, load),
        memoryPercentAfter: percent(load.heldAfterMb, load),
      })),
    totals: {
      servers: moves.length + staying.length,
      moves: going.length,
      cannotMove: moves.length + staying.length - going.length,
      off: going.filter((move) => !isNoticed(move)).length,
      owners: new Set(all).size,
      ownersToTell: new Set(going.filter(isNoticed).map(({ server }) => server.ownerId)).size,
      bytes: going.reduce((sum, { foreseen }) => sum + foreseen.bytes, 0),
      expectedSeconds: totalSeconds(moves, atOnce),
      longestDowntimeMs: Math.max(0, ...going.map(({ foreseen }) => foreseen.expectedDowntimeMs)),
    },
    atOnce,
  }
}

/** Each owner is looked up once. */
export function ownersIn(tx: Db) {
  const known = new Map<string, { id: string; name: string }>()
  return (id: string) => {
    const owner = known.get(id) ?? { id, name: accountById(tx, id)?.name ?? '' }
    known.set(id, owner)
    return owner
  }
}
