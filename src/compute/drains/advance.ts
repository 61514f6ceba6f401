// One turn of every drain: moves that have ended are noted, and the next ones begin, each placed anew. A turn reads and
// writes the tables alone, each server in a transaction of its own, so it does not matter where a turn is cut off.
import { isGone, nodeById } from '../../fleet/node-records/queries.ts'
import { groupOf } from '../../fleet/placement-group-records/queries.ts'
import { workloadById } from '../../fleet/workloads/queries.ts'
import { memberStays } from '../../fleet/workloads/stays/queries.ts'
import { type Actor, system } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { minute, second } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { jobFacts } from '../../kernel/jobs/queries.ts'
import { noteHeld, releaseJob } from '../../kernel/jobs/start.ts'
import { settingValue } from '../../kernel/setting.ts'
import { type Server, serverById } from '../server-records/model.ts'
import { atOnce } from '../transfers/estimate.ts'
import { beginMove } from '../transfers/job/begin.ts'
import { transferById } from '../transfers/queries.ts'
import { endCancelled, WAITS } from './job.ts'
import { waitsFor } from './model.ts'
import { planMoves } from './plan/moves.ts'
import {
  busyServersOf,
  changeDrain,
  changeDrainServer,
  countsOf,
  type Drain,
  type DrainServer,
  drainById,
  drainsAtWork,
  nextServerOf,
  openDrains,
  serverOfDrain,
} from './queries.ts'

/** A server on which something else works is tried again after this, so often. */
const BUSY_PAUSE_MS = 30 * second
const MOST_TRIES = 60
/** Refusals that pass by themselves. */
const passing: ReadonlySet<string> = new Set(['server_busy', 'in_use', 'restarting', 'volume_busy', 'floating_ip_busy'])

type App = Pick<AppContext, 'clock' | 'nodes'>

/** Moves of the drain are those of the person who started it; System makes them. */
export const onBehalfOf = ({ startedBy }: Drain): Actor => ({
  ...system,
  accountId: startedBy.id,
  name: startedBy.name,
})

export function advanceDrains(db: Db, app: App) {
  const ids = new Set([...openDrains(db).map(({ id }) => id), ...drainsAtWork(db)])
  for (const id of ids) advance(db, app, id)
}

function advance(db: Db, app: App, id: string) {
  const { clock } = app
  write(db, (tx) => {
    for (const one of busyServersOf(tx, id)) noteEnd(tx, drainById(tx, id)!, one, clock())
  })
  if (drainById(db, id)!.state === 'running') beginNext(db, app, id)
  write(db, (tx) => settle(tx, drainById(tx, id)!, clock()))
}

// ---------------------------------------------------------------- ends
function noteEnd(tx: Tx, row: Drain, one: DrainServer, now: number) {
  if (one.state === 'stopping') return noteStop(tx, one, now)
  const transfer = transferById(tx, one.transferId!)!
  if (transfer.finishedAt === null) return
  const ended = { endedAt: now, reason: null }
  if (transfer.state === 'finished') changeDrainServer(tx, one, { ...ended, state: 'moved' })
  else if (workloadById(tx, one.workloadId)!.terminatedAt !== null)
    changeDrainServer(tx, one, { ...ended, state: 'gone', reason: 'It was terminated.' })
  else if (one.movesLater && transfer.state === 'cancelled')
    changeDrainServer(tx, one, { state: 'waiting', movesLater: false, reason: null })
  else {
    changeDrainServer(tx, one, { ...ended, state: 'failed', reason: transfer.error ?? 'Its move failed.' })
    pauseForFailure(tx, row, now)
  }
}

function noteStop(tx: Tx, one: DrainServer, now: number) {
  const job = one.powerJobId === null ? undefined : jobFacts(tx, one.powerJobId)
  if (job && job.state !== 'succeeded' && job.state !== 'failed') return
  const isStopped = job?.state !== 'failed'
  changeDrainServer(tx, one, {
    state: isStopped ? 'stopped' : 'left',
    reason: isStopped ? one.reason : 'It could not be stopped. Look at the log of its job.',
    endedAt: now,
  })
}

function pauseForFailure(tx: Tx, { id }: Drain, now: number) {
  const row = drainById(tx, id)!
  if (row.state === 'running' && row.onFailure === 'pause')
    changeDrain(tx, id, { state: 'paused', pausedBy: 'failure', pausedAt: now })
}

/** Says how far it is, and ends it when nothing of it is left to do. */
function settle(tx: Tx, row: Drain, now: number) {
  if (row.finishedAt !== null) return
  const { waiting = 0, moving = 0, moved = 0, failed = 0, left = 0, gone = 0 } = countsOf(tx, row.id)
  if (moving) return say(tx, row, { moved, all: waiting + moving + moved + failed + left + gone })
  if (row.state === 'cancelling') return endCancelled(tx, row, now)
  if (row.state === 'running' && !waiting) return void releaseJob(tx, row.jobId)
  say(tx, row, { moved, all: waiting + moved + failed + left + gone })
}

function say(tx: Tx, row: Drain, { moved, all }: { moved: number; all: number }) {
  const paused = row.state === 'paused' ? ', paused' : ''
  noteHeld(tx, row.jobId, `${WAITS}: ${moved} of ${all}${paused}`, all ? Math.floor((99 * moved) / all) : 0)
}

// ---------------------------------------------------------------- begins
function beginNext(db: Db, app: App, id: string) {
  const row = drainById(db, id)!
  if (isGone(nodeById(db, row.nodeId)!)) return write(db, (tx) => leaveRest(tx, row, app.clock()))
  if (waitsFor({ tx: db, nodes: app.nodes }, row)) return
  const limit = Math.min(row.atOnce, settingValue(db, atOnce))
  for (;;) {
    const { state } = drainById(db, id)!
    if (state !== 'running' || (countsOf(db, id).moving ?? 0) >= limit) return
    const next = nextServerOf(db, id, app.clock())
    if (!next) return
    begin(db, app, row, next)
  }
}

/** Its node was declared lost or removed: nothing can be moved from there or to there. */
function leaveRest(tx: Tx, { id, nodeId }: Drain, now: number) {
  const { name } = nodeById(tx, nodeId)!
  for (
    let next = nextServerOf(tx, id, Number.MAX_SAFE_INTEGER);
    next;
    next = nextServerOf(tx, id, Number.MAX_SAFE_INTEGER)
  )
    changeDrainServer(tx, next, { state: 'left', reason: `${name} is lost.`, endedAt: now })
}

function begin(db: Db, app: App, row: Drain, next: DrainServer) {
  const now = app.clock()
  try {
    write(db, (tx) => moveOne(tx, app, row, next))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    write(db, (tx) => noteRefusal(tx, row, next, error, now))
  }
}

function moveOne(tx: Tx, app: App, row: Drain, next: DrainServer) {
  const now = app.clock()
  const server = serverById(tx, next.workloadId)!
  const gone = (reason: string) => changeDrainServer(tx, next, { state: 'gone', reason, endedAt: now })
  if (server.terminatedAt !== null) return gone('It was terminated.')
  if (row.kind === 'drain' && server.nodeId !== row.nodeId) return gone('It was moved by somebody else.')
  if (row.kind === 'return' && server.nodeId === row.nodeId) return gone('It is there already.')
  const actor = onBehalfOf(row)
  const nodeId = row.kind === 'return' ? row.nodeId : next.chosenNodeId
  const together = withGroup({ ...app, tx, actor }, row, server, nodeId)
  const { transferId, chosen, foreseen } = beginMove({
    ...{ ...app, tx, actor, target: server, parentId: row.jobId },
    body: { nodeId: together?.nodeId ?? nodeId, mode: next.chosenMode ?? 'auto', maxMbps: row.maxMbps },
    ...(together && { planned: together.planned }),
  })
  changeDrainServer(tx, next, {
    ...{ state: 'moving', transferId, mode: foreseen.mode, toNodeId: chosen.nodeId, bytes: foreseen.bytes },
    ...{ expectedSeconds: foreseen.expectedSeconds, expectedDowntimeMs: foreseen.expectedDowntimeMs },
    ...{ reason: null, notBefore: null },
  })
  // One that waits for its setup has moved in this transaction.
  noteEnd(tx, row, { ...next, state: 'moving', transferId }, now)
}

/**
 * The node for a server whose group is to be together, and those of the group that follow it: undefined for any other
 * server. Throws `placement_group_unmet` where no node takes all of them.
 */
function withGroup(call: Parameters<typeof planMoves>[0], row: Drain, server: Server, wanted: string | null) {
  const { tx } = call
  const group = groupOf(tx, server.id)
  if (group?.policy !== 'affinity') return undefined
  const others = memberStays(tx, group.id).filter(
    ({ workloadId, role }) =>
      role === 'home' && workloadId !== server.id && serverOfDrain(tx, row.id, workloadId)?.state === 'waiting',
  )
  const followers = others.flatMap(({ workloadId }) => serverById(tx, workloadId) ?? [])
  if (!followers.length) return undefined
  const asked = { mode: 'auto' as const, maxMbps: row.maxMbps ?? undefined, ...(wanted !== null && { to: wanted }) }
  const { moves } = planMoves(call, [server, ...followers], asked)
  const { to, reason } = moves.find((move) => move.server.id === server.id)!
  if (!to) throw new ApiError('placement_group_unmet', reason!)
  const going = moves.filter((move) => move.to?.id === to.id && move.server.id !== server.id)
  return { nodeId: to.id, planned: new Map(going.map((move) => [move.server.id, null])) }
}

function noteRefusal(tx: Tx, row: Drain, next: DrainServer, { code, message }: ApiError, now: number) {
  const tries = next.tries + 1
  if (passing.has(code) && tries < MOST_TRIES)
    return changeDrainServer(tx, next, { tries, notBefore: now + BUSY_PAUSE_MS, reason: message })
  changeDrainServer(tx, next, { state: 'failed', tries, reason: message, endedAt: now })
  pauseForFailure(tx, row, now)
}

/** Half an hour, so that a backup may end. */
export const LONGEST_WAIT_MS = (MOST_TRIES * BUSY_PAUSE_MS) / minute
