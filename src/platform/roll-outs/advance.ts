// One turn of a roll-out. Each turn reads the tables and is one transaction, so that a restart goes on with it.

import type { Node } from '../../fleet/node-records/model.ts'
import { isGone, nodeById } from '../../fleet/node-records/queries.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { second } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { keptBy } from './due.ts'
import { awaySince, begin, type FollowContext, follow } from './follow.ts'
import {
  addSentBytes,
  changeRollOut,
  changeRollOutNode,
  nodesOf,
  openRollOut,
  type RollOut,
  type RollOutNode,
} from './queries.ts'
import { stopAt } from './stop.ts'
import type { RollOutNodeState } from './tables.ts'

/** A node that was updated and is away for so long while its wave is watched has failed. */
const SILENT_MS = 90 * second

/** All that a turn reads: the roll-out, its nodes, and the records of those nodes. */
type Turn = FollowContext & { rollOut: RollOut; rows: RollOutNode[]; node(id: string): Node }

export function advanceRollOut(db: Db, app: AppContext) {
  const frames: (() => void)[] = []
  const sent = app.releases.takeSentBytes()
  if (sent.length || openRollOut(db))
    write(db, (tx) => {
      for (const [nodeId, bytes] of sent) addSentBytes(tx, nodeId, bytes)
      const rollOut = openRollOut(tx)
      if (rollOut) turn(turnOf(tx, app, rollOut, frames))
    })
  for (const send of frames) send()
}

function turnOf(tx: Tx, app: AppContext, rollOut: RollOut, frames: (() => void)[]): Turn {
  const records = new Map<string, Node>()
  const node = (id: string) => records.get(id) ?? records.set(id, nodeById(tx, id)!).get(id)!
  return { tx, app, rollOut, rows: nodesOf(tx, rollOut.id), node, send: (frame) => void frames.push(frame) }
}

function turn(call: Turn) {
  for (const row of call.rows) look(call, row)
  const { tx, app, rollOut } = call
  if (rollOut.state === 'stopping' && !isAtWork(call))
    return changeRollOut(tx, rollOut.id, { state: 'stopped', finishedAt: app.clock() })
  if (rollOut.state !== 'running') return
  if (rollOut.watchUntil !== null) {
    if (!isWatchOver(call)) return
    rollOut.wave++
    rollOut.watchUntil = null
  }
  chooseFirst(call)
  beginDue(call)
  endWave(call)
  changeRollOut(tx, rollOut.id, { wave: rollOut.wave, watchUntil: rollOut.watchUntil })
}

const isAtWork = ({ rows }: Turn) => rows.some(({ state }) => state === 'updating')
const set = ({ tx }: Turn, row: RollOutNode, values: Partial<RollOutNode>) => {
  Object.assign(row, values)
  changeRollOutNode(tx, row, values)
}

/** Takes what became of a node since the last turn. */
function look(call: Turn, row: RollOutNode) {
  const { app, rollOut } = call
  if (row.state !== 'waiting' && row.state !== 'updating') return
  const node = call.node(row.nodeId)
  if (isGone(node))
    return set(call, row, { state: 'left_out', reason: 'It was removed or lost.', endedAt: app.clock() })
  if (row.state === 'waiting') {
    // Somebody updated it by hand.
    if (app.nodes.connected(node.id) && node.facts.agentVersion === rollOut.version)
      set(call, row, { state: 'already', endedAt: app.clock() })
    return
  }
  const followed = follow(call, rollOut, row, node)
  if (followed === 'at_work') return
  if (followed === 'waits') return set(call, row, { state: 'waiting', startedAt: null })
  if (followed === 'done') {
    set(call, row, { state: 'done', endedAt: app.clock() })
    // The node at which it had stopped was tried again.
    if (rollOut.state === 'paused' && rollOut.failedNodeId === node.id)
      changeNow(call, { state: 'running', failedNodeId: null, reason: null, pausedAt: null })
    return
  }
  fail(call, row, followed)
}

function changeNow({ tx, rollOut }: Turn, values: Partial<RollOut>) {
  Object.assign(rollOut, values)
  changeRollOut(tx, rollOut.id, values)
}

function fail(call: Turn, row: RollOutNode, failure: Parameters<typeof stopAt>[4]) {
  Object.assign(call.rollOut, stopAt(call.tx, call.app, call.rollOut, row, failure))
  Object.assign(row, failure)
}

/** Nodes of the wave that were updated must go on answering while it is watched. */
function isWatchOver(call: Turn): boolean {
  const { app, rollOut, rows } = call
  const now = app.clock()
  for (const row of rows) {
    if (row.state !== 'done' || row.wave !== rollOut.wave) continue
    const { id } = call.node(row.nodeId)
    if (app.nodes.connected(id) || now - awaySince(app, id, row.endedAt!) < SILENT_MS) continue
    const reason = `It was updated, and has not answered for ${SILENT_MS / second} seconds.`
    fail(call, row, { state: 'not_back', code: 'silent', reason })
  }
  return rollOut.state === 'running' && now >= rollOut.watchUntil!
}

/** Where the first node was left out or failed, another one goes first. */
function chooseFirst(call: Turn) {
  const { rollOut, rows } = call
  const counts = new Set<RollOutNodeState>(['waiting', 'updating', 'done', 'already'])
  if (rollOut.wave !== 0 || rows.some(({ wave, state }) => wave === 0 && counts.has(state))) return
  const next = rows.find(({ state }) => state === 'waiting')
  if (next) set(call, next, { wave: 0 })
}

const isDue = (rollOut: RollOut, row: RollOutNode) => row.state === 'waiting' && row.wave! <= rollOut.wave

/** As many at once as the wave has nodes, those that were away before included. */
function beginDue(call: Turn) {
  const { app, rollOut, rows } = call
  const size = rows.filter(({ wave }) => wave === rollOut.wave).length
  let free = Math.max(1, size) - rows.filter(({ state }) => state === 'updating').length
  for (const row of rows) {
    if (free <= 0) return
    if (!isDue(rollOut, row) || keptBy(app, rollOut, call.node(row.nodeId))) continue
    begin(call, row, call.node(row.nodeId))
    row.state = 'updating'
    free--
  }
}

/** A wave is over when none of its nodes is at work or waits for its window; one that is away follows later. */
function endWave(call: Turn) {
  const { app, rollOut, rows } = call
  if (isAtWork(call)) return
  const waiting = rows.filter((row) => isDue(rollOut, row))
  const isFirst = rollOut.wave === 0
  if (waiting.some((row) => isFirst || keptBy(app, rollOut, call.node(row.nodeId)) !== 'away')) return
  const isLast = !rows.some(({ wave, state }) => state === 'waiting' && wave! > rollOut.wave)
  if (isLast && waiting.length) return
  const updated = rows.filter(({ wave, state }) => wave === rollOut.wave && state === 'done')
  const watchedUntil = Math.max(0, ...updated.map(({ endedAt }) => endedAt! + rollOut.watchSeconds * second))
  if (watchedUntil > app.clock()) rollOut.watchUntil = watchedUntil
  else if (isLast) changeNow(call, { state: 'done', finishedAt: app.clock() })
  else rollOut.wave++
}
