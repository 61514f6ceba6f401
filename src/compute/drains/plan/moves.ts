// A plan of many moves, one after another: each takes its capacity from what those before it have left. Nothing is
// held by a plan, so each server is placed anew when its move begins.
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { capacityIn, type NodeCapacity } from '../../../fleet/placement/capacity.ts'
import { RECONNECTING } from '../../../fleet/placement/placement.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { lockOfServer, type Server } from '../../server-records/model.ts'
import { refusalOf } from '../../snapshots/model.ts'
import { forecast, type MoveMode } from '../../transfers/forecast.ts'
import { mustBeMovable } from '../../transfers/movable.ts'
import { type FitNode, fits, judgeNodes } from '../../transfers/nodes.ts'
import type { DrainChoice } from '../queries.ts'
import { fitTogether, take, togetherIn, tooManyFor } from './group-moves.ts'

export type Foreseen = ReturnType<typeof forecast>
export type PlannedMove = {
  server: Server
  foreseen: Foreseen
  to: { id: string; name: string } | undefined
  /** Why it cannot move; undefined where it can. */
  reason: string | undefined
  /** The next step about that, in words. */
  remedy: string | undefined
  /** A job works on it now: its move waits for the end. */
  busy: boolean
  /** The choice of a person for it. */
  choice?: DrainChoice | undefined
}
export type NodeLoad = { id: string; name: string; memoryMb: number; heldBeforeMb: number; heldAfterMb: number }

type Planning = Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }
type Wanted = {
  mode: MoveMode
  maxMbps: number | undefined
  /** All of them go to this node, which is open by then. */
  to?: string
  /** The choices of people, by the id of the server. */
  choices?: ReadonlyMap<string, DrainChoice>
}

/**
 * Those with a chosen place come before; then servers that wait for their setup, then those that are off; of each kind
 * the small ones first.
 */
function inOrder(moves: readonly PlannedMove[]): PlannedMove[] {
  const rank = ({ foreseen }: PlannedMove) =>
    foreseen.mode === 'reassigned' ? 0 : foreseen.expectedDowntimeMs === 0 && foreseen.mode === 'cold' ? 1 : 2
  const placeOf = ({ choice }: PlannedMove) => choice?.place ?? Number.MAX_SAFE_INTEGER
  return moves.toSorted(
    (a, b) =>
      placeOf(a) - placeOf(b) ||
      rank(a) - rank(b) ||
      a.foreseen.bytes - b.foreseen.bytes ||
      (a.server.hostname < b.server.hostname ? -1 : a.server.hostname > b.server.hostname ? 1 : 0),
  )
}

const FIRST = 'Do that first, or stop it with a notice when you evacuate the node.'
const LEFT = 'Take that choice back, or stop it with a notice when you evacuate the node.'
const SPLIT = 'Free room on one node, or make the rule of the group soft.'
const ANOTHER = 'Choose another node for it, or let placement choose.'
const OTHER_WAY = 'Choose another way for it.'
const FREE = 'Free what is missing on one of them, or stop it with a notice when you evacuate the node.'

/** Plans a move of each server, in the order in which they are made. */
export function planMoves({ tx, actor, nodes }: Planning, servers: readonly Server[], wanted: Wanted) {
  const byLocation = new Map<string, NodeCapacity[]>()
  const capacitiesOf = ({ locationId }: Server) => {
    const known = byLocation.get(locationId)
    if (known) return known
    const read = capacityIn(tx, locationId).map((node) => (node.id === wanted.to ? { ...node, open: true } : node))
    byLocation.set(locationId, read)
    return read
  }
  const wantedFor = ({ id }: Server) => {
    const choice = wanted.choices?.get(id)
    return { ...wanted, mode: choice?.mode ?? wanted.mode, to: wanted.to ?? choice?.toNodeId ?? undefined }
  }
  const before = new Map<string, number>()
  const planned = new Map<string, string | null>()
  const ordered = inOrder(
    servers.map((server) => ({
      server,
      choice: wanted.choices?.get(server.id),
      foreseen: forecast(tx, server, wantedFor(server)),
      to: undefined,
      reason: undefined,
      remedy: undefined,
      busy: isHeldByJob(tx, lockOfServer(server.id).holds),
    })),
  ).map((move): PlannedMove => {
    if (move.choice?.leaves) return { ...move, reason: `${move.choice.setBy} leaves it here.`, remedy: LEFT }
    const reason = refusalOf(() => mustBeMovable(tx, actor, move.server))
    return reason === null ? move : { ...move, reason, remedy: FIRST }
  })
  const groups = togetherIn(tx, ordered)
  for (const { members } of groups.values()) for (const { id } of members) planned.set(id, null)
  const moves = ordered.map((move): PlannedMove => {
    if (move.reason !== undefined) return move
    const capacities = capacitiesOf(move.server)
    for (const { id, heldMemoryMb } of capacities) if (!before.has(id)) before.set(id, heldMemoryMb)
    const judged = judgeNodes(tx, nodes, move.server, { only: wantedFor(move.server).to, capacities, planned })
    const group = groups.get(move.server.id)
    const rest = group?.members.filter(({ id }) => id !== move.server.id && planned.get(id) === null) ?? []
    const takesAll = (one: FitNode) =>
      fitTogether({ tx, nodes }, { first: move.server, one, rest, capacities, planned })
    const forAll = judged.filter(fits).find(takesAll)
    const chosen = forAll ?? (group?.hard ? undefined : judged.find(fits))
    if (!chosen) {
      const wish = move.choice?.toNodeId
      if (wish && !judged.some(fits)) return { ...move, reason: unfitChoice(tx, wish, judged), remedy: ANOTHER }
      if (!group || !judged.some(fits)) return { ...move, reason: lackOf(judged), remedy: FREE }
      return { ...move, reason: tooManyFor(group), remedy: SPLIT }
    }
    // The way is that to the chosen node.
    const foreseen = forecast(tx, move.server, { ...wantedFor(move.server), to: chosen.nodeId })
    if (move.choice?.mode === 'live' && foreseen.mode !== 'live' && foreseen.mode !== 'reassigned') {
      const why = foreseen.notLive ?? 'it is off'
      return { ...move, reason: `It was to move with its memory, and cannot: ${why}.`, remedy: OTHER_WAY }
    }
    take(tx, move.server, chosen)
    planned.set(move.server.id, chosen.nodeId)
    return { ...move, foreseen, to: { id: chosen.nodeId, name: chosen.name } }
  })
  const loads = [...byLocation.values()].flat().map(
    ({ id, name, memoryMb, heldMemoryMb }): NodeLoad => ({
      id,
      name,
      memoryMb,
      heldBeforeMb: before.get(id) ?? heldMemoryMb,
      heldAfterMb: heldMemoryMb,
    }),
  )
  return { moves, loads }
}

/** Why the node that a person has chosen does not take it. */
function unfitChoice(tx: Db, id: string, judged: ReturnType<typeof judgeNodes>): string {
  const name = nodeById(tx, id)?.name ?? id
  const found = judged.find(({ nodeId }) => nodeId === id)
  return found && !fits(found)
    ? `${name}, which was chosen for it, does not take it: ${found.disabledReason}.`
    : `${name}, which was chosen for it, is gone.`
}

/** `fra-02 no memory left, fra-04 closed`, without nodes of other locations. */
function lackOf(judged: ReturnType<typeof judgeNodes>): string {
  const near = judged.filter(({ capacity }) => capacity !== undefined)
  if (!near.length) return 'There is no other node in its location.'
  const lacks = near.map((node) => `${node.name} ${fits(node) ? RECONNECTING : node.disabledReason}`)
  return `No node takes it: ${lacks.join(', ')}.`
}

/** How long they take in all, so many at once, each begun when another has ended. */
export function totalSeconds(moves: readonly PlannedMove[], atOnce: number): number {
  const ends = Array.from({ length: atOnce }, () => 0)
  for (const { to, foreseen } of moves) {
    if (!to) continue
    const next = ends.indexOf(Math.min(...ends))
    ends[next]! += foreseen.expectedSeconds
  }
  return Math.max(...ends)
}
