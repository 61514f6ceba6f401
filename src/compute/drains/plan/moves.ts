// A plan of many moves, one after another: each takes its capacity from what those before it have left. Nothing is
// held by a plan, so each server is placed anew when its move begins.
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
}
export type NodeLoad = { id: string; name: string; memoryMb: number; heldBeforeMb: number; heldAfterMb: number }

type Planning = Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }
type Wanted = {
  mode: MoveMode
  maxMbps: number | undefined
  /** All of them go to this node, which is open by then. */
  to?: string
}

/** Servers that wait for their setup first, then those that are off; of each kind the small ones first. */
function inOrder(moves: readonly PlannedMove[]): PlannedMove[] {
  const rank = ({ foreseen }: PlannedMove) =>
    foreseen.mode === 'reassigned' ? 0 : foreseen.expectedDowntimeMs === 0 && foreseen.mode === 'cold' ? 1 : 2
  return moves.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      a.foreseen.bytes - b.foreseen.bytes ||
      (a.server.hostname < b.server.hostname ? -1 : a.server.hostname > b.server.hostname ? 1 : 0),
  )
}

const FIRST = 'Do that first, or stop it with a notice when you evacuate the node.'
const SPLIT = 'Free room on one node, or make the rule of the group soft.'
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
  const before = new Map<string, number>()
  const planned = new Map<string, string | null>()
  const ordered = inOrder(
    servers.map((server) => ({
      server,
      foreseen: forecast(tx, server, wanted),
      to: undefined,
      reason: undefined,
      remedy: undefined,
      busy: isHeldByJob(tx, lockOfServer(server.id).holds),
    })),
  ).map((move): PlannedMove => {
    const reason = refusalOf(() => mustBeMovable(tx, actor, move.server))
    return reason === null ? move : { ...move, reason, remedy: FIRST }
  })
  const groups = togetherIn(tx, ordered)
  for (const { members } of groups.values()) for (const { id } of members) planned.set(id, null)
  const moves = ordered.map((move): PlannedMove => {
    if (move.reason !== undefined) return move
    const capacities = capacitiesOf(move.server)
    for (const { id, heldMemoryMb } of capacities) if (!before.has(id)) before.set(id, heldMemoryMb)
    const judged = judgeNodes(tx, nodes, move.server, { only: wanted.to, capacities, planned })
    const group = groups.get(move.server.id)
    const rest = group?.members.filter(({ id }) => id !== move.server.id && planned.get(id) === null) ?? []
    const takesAll = (one: FitNode) =>
      fitTogether({ tx, nodes }, { first: move.server, one, rest, capacities, planned })
    const forAll = judged.filter(fits).find(takesAll)
    const chosen = forAll ?? (group?.hard ? undefined : judged.find(fits))
    if (!chosen) {
      if (!group || !judged.some(fits)) return { ...move, reason: lackOf(judged), remedy: FREE }
      return { ...move, reason: tooManyFor(group), remedy: SPLIT }
    }
    take(tx, move.server, chosen)
    planned.set(move.server.id, chosen.nodeId)
    // The way is that to the chosen node.
    const foreseen = forecast(tx, move.server, { ...wanted, to: chosen.nodeId })
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
