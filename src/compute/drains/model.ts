// A drain: the record of emptying a node, or of bringing its servers back.
import { Type as t } from 'typebox'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { capacityIn } from '../../fleet/placement/capacity.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { aNode, modeField } from '../transfers/model.ts'
import { transferById } from '../transfers/queries.ts'
import { failureOf, failureResponse } from './failures.ts'
import { countsOf, type Drain, type DrainServer, drainById, serversOfDrain } from './queries.ts'
import { chosenModes, drainKinds, drainServerStates, drainStates, onFailures } from './tables.ts'

export type { Drain, DrainServer }

export const drain: Resource<Drain> = {
  name: 'drain',
  notFound: 'drain_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? drainById(tx, id) : undefined),
}

export const drainResponse = namedSchema('Drain', {
  id: t.String(),
  kind: described(t.Enum([...drainKinds]), 'drain: the node is emptied. return: servers come back to it.'),
  node: aNode,
  state: described(
    t.Enum([...drainStates]),
    'paused: no move begins until somebody resumes it. cancelling: moves at work come to their end first.',
  ),
  pausedBy: described(nullable(t.Enum(['person', 'failure'])), 'Null while it is not paused.'),
  ofDrainId: described(nullable(t.String()), 'The drain whose servers come back.'),
  jobId: t.String(),
  atOnce: t.Integer(),
  maxMbps: nullable(t.Integer()),
  onFailure: described(t.Enum([...onFailures]), 'pause: it waits for a person when a server could not move.'),
  startedBy: t.Object({ id: t.String(), name: t.String() }),
  expectedSeconds: described(t.Integer(), 'How long it was to take, as it was planned.'),
  waitsFor: described(nullable(t.String()), 'Why no move begins now although it runs, in words.'),
  counts: described(
    t.Object({
      servers: t.Integer(),
      waiting: t.Integer(),
      moving: t.Integer(),
      moved: t.Integer(),
      failed: t.Integer(),
      left: described(t.Integer(), 'Those that cannot move.'),
      gone: described(t.Integer(), 'Terminated meanwhile, or moved by somebody else.'),
      stopping: t.Integer(),
      stopped: described(t.Integer(), 'Stopped with a notice to their owners.'),
    }),
    'Of its servers.',
  ),
  pausedSeconds: described(t.Integer(), 'All its pauses together.'),
  createdAt: time,
  pausedAt: nullable(time),
  finishedAt: nullable(time),
  returnedAt: described(nullable(time), 'When its node was opened again.'),
})

export const drainServerResponse = namedSchema('DrainServer', {
  id: t.String(),
  kind: t.Enum(['server', 'gpu_instance']),
  hostname: t.String(),
  state: t.Enum([...drainServerStates]),
  mode: described(nullable(modeField), 'Null where it could not move.'),
  to: described(nullable(aNode), 'Where its move goes or went; as it was planned until that begins.'),
  transferId: nullable(t.String()),
  jobId: described(nullable(t.String()), 'The job that stops it.'),
  bytesCopied: t.Integer(),
  expectedDowntimeMs: t.Integer(),
  downtimeMs: described(nullable(t.Integer()), 'How long its system was off for it; null before its move ends.'),
  reason: described(nullable(t.String()), 'Why it failed, was left or waits.'),
  chosenNode: described(
    nullable(aNode),
    'Where a person has sent it, while it has not moved; null: placement chooses.',
  ),
  chosenMode: described(nullable(t.Enum([...chosenModes])), 'The way that a person has chosen for it.'),
  failure: described(nullable(failureResponse), 'Of one that failed in a drain that goes on; of the first few alone.'),
  endedAt: nullable(time),
})
/** One that maintenance stops, or starts again. */
export const stoppedServer = t.Object({ id: t.String(), hostname: t.String() })

export const drainDetailResponse = namedSchema('DrainDetail', {
  ...drainResponse.properties,
  servers: described(t.Array(drainServerResponse), 'In the order in which they move.'),
  targets: described(t.Array(aNode), 'Open nodes to which a server of it can be sent; none when it has ended.'),
})

type Nodes = Parameters<typeof failureOf>[1]
type Showing = { tx: Db; nodes: Nodes; clock: () => number }

export const named = (tx: Db, id: string) => ({ id, name: nodeById(tx, id)?.name ?? '' })

export function showDrain({ tx, nodes, clock }: Showing, row: Drain) {
  const counts = countsOf(tx, row.id)
  const of = (state: DrainServer['state']) => counts[state] ?? 0
  const isPaused = row.state === 'paused'
  const pausedMs = row.pausedMs + (isPaused && row.pausedAt !== null ? clock() - row.pausedAt : 0)
  return {
    id: row.id,
    kind: row.kind,
    node: named(tx, row.nodeId),
    state: row.state,
    pausedBy: isPaused ? row.pausedBy : null,
    ofDrainId: row.ofDrainId,
    jobId: row.jobId,
    atOnce: row.atOnce,
    maxMbps: row.maxMbps,
    onFailure: row.onFailure,
    startedBy: row.startedBy,
    expectedSeconds: row.expectedSeconds,
    waitsFor: row.state === 'running' ? (waitsFor({ tx, nodes }, row) ?? null) : null,
    counts: {
      servers: Object.values(counts).reduce((sum, n) => sum + n, 0),
      ...{ waiting: of('waiting'), moving: of('moving'), moved: of('moved'), failed: of('failed') },
      ...{ left: of('left'), gone: of('gone'), stopping: of('stopping'), stopped: of('stopped') },
    },
    pausedSeconds: Math.round(pausedMs / 1000),
    createdAt: iso(row.createdAt),
    pausedAt: isPaused ? isoOrNull(row.pausedAt) : null,
    finishedAt: isoOrNull(row.finishedAt),
    returnedAt: isoOrNull(row.returnedAt),
  }
}

/** Why no move of it can begin, in words; undefined: nothing keeps it. */
export function waitsFor({ tx, nodes }: { tx: Db; nodes: Nodes }, { nodeId }: Pick<Drain, 'nodeId'>) {
  const node = nodeById(tx, nodeId)!
  return nodes.connected(nodeId) ? undefined : `${node.name} is not connected. It goes on when the node is back.`
}

export const showDetail = (call: Showing, row: Drain) => ({
  ...showDrain(call, row),
  servers: serversOf(call, row),
  targets: row.kind === 'drain' && row.finishedAt === null ? targetsOf(call.tx, row) : [],
})

/** Those of the location of its node. */
const targetsOf = (tx: Db, { nodeId }: Drain) =>
  capacityIn(tx, nodeById(tx, nodeId)!.locationId)
    .filter(({ id, open }) => open && id !== nodeId)
    .map(({ id, name }) => ({ id, name }))

/** Of so many servers the failure is looked into. */
const FAILURES_SHOWN = 5
function serversOf({ tx, nodes }: Showing, { id, kind, finishedAt }: Drain) {
  const all = serversOfDrain(tx, id)
  const failed = finishedAt === null && kind === 'drain' ? all.filter(({ state }) => state === 'failed') : []
  const shown = new Set(failed.slice(0, FAILURES_SHOWN))
  return all.map((one) => ({
    ...showServer(tx, one),
    failure: (shown.has(one) && failureOf(tx, nodes, one)) || null,
  }))
}

function showServer(tx: Db, one: DrainServer) {
  const transfer = one.transferId === null ? undefined : transferById(tx, one.transferId)
  return {
    id: one.workloadId,
    kind: one.workloadId.startsWith('gpu_') ? ('gpu_instance' as const) : ('server' as const),
    hostname: one.hostname,
    state: one.state,
    mode: one.mode,
    to: one.toNodeId === null ? null : named(tx, one.toNodeId),
    transferId: one.transferId,
    jobId: one.powerJobId,
    bytesCopied: transfer?.bytesCopied ?? 0,
    expectedDowntimeMs: one.expectedDowntimeMs,
    downtimeMs: transfer?.downtimeMs ?? null,
    reason: one.reason,
    chosenNode: one.chosenNodeId === null || one.state === 'moved' ? null : named(tx, one.chosenNodeId),
    chosenMode: one.state === 'moved' ? null : one.chosenMode,
    endedAt: isoOrNull(one.endedAt),
  }
}

// ---------------------------------------------------------------- events
const inEvents = t.Object({ id: t.String(), kind: t.Enum([...drainKinds]) })
export const startedData = t.Object({
  drain: inEvents,
  node: aNode,
  servers: described(t.Integer(), 'How many are to move.'),
})
export const finishedData = t.Object({
  drain: inEvents,
  node: aNode,
  cancelled: t.Boolean(),
  moved: t.Integer(),
  failed: t.Integer(),
  left: described(t.Integer(), 'Still on the node: they cannot move, or were not moved before it was cancelled.'),
})

const concerning = ({ nodeId }: Drain) => ({
  subject: { type: 'node', id: nodeId },
  customerId: null,
  resellerId: null,
})
export function tellStarted(tx: Tx, now: number, row: Drain) {
  emit(tx, now, 'node.drain_started', concerning(row), {
    drain: { id: row.id, kind: row.kind },
    node: named(tx, row.nodeId),
    servers: countsOf(tx, row.id).waiting ?? 0,
  })
}
export function tellFinished(tx: Tx, now: number, row: Drain) {
  const { moved = 0, failed = 0, left = 0, waiting = 0 } = countsOf(tx, row.id)
  emit(tx, now, 'node.drain_finished', concerning(row), {
    drain: { id: row.id, kind: row.kind },
    node: named(tx, row.nodeId),
    cancelled: row.state === 'cancelled',
    moved,
    failed,
    left: left + waiting,
  })
}
