// The moves that would relieve the nodes of a location that are nearly full.

import type { Location } from '../../fleet/locations/model.ts'
import { capacityIn, type NodeCapacity } from '../../fleet/placement/capacity.ts'
import { fullness, relieve } from '../../fleet/placement/relief.ts'
import { workloadsOn } from '../../fleet/workloads/stays/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { isHeldByJob } from '../../kernel/jobs/queries.ts'
import { type Server, server, serverKind } from '../server-records/model.ts'
import { GIB } from '../server-vm/definition.ts'
import { refusalOf } from '../snapshots/model.ts'
import { forecast } from '../transfers/forecast.ts'
import { bytesOf, mustBeMovable } from '../transfers/movable.ts'
import { type FitNode, fits, judgeNodes } from '../transfers/nodes.ts'

/** Percent up to which nodes are relieved: where a location fills one node after the other, a full one is wanted. */
const limits = { spread: 80, fill: 90 } as const
export const limitOf = ({ placement }: Pick<Location, 'placement'>): number => limits[placement]
/** More than a person wants to check at a time; when they are through, the next ones are suggested. */
export const MOST_MOVES = 5

type Planning = Pick<AppContext, 'nodes'> & { tx: Db; actor: Actor }
type Movable = { id: string; memoryMb: number; diskGb: number; server: Server }

/** Servers at home on the node that the reader sees and that could begin to move now. */
function movableOn({ tx, actor }: Planning, nodeId: string): Movable[] {
  return workloadsOn(tx, nodeId)
    .filter(({ kind, role, terminatedAt }) => kind === serverKind.kind && role === 'home' && terminatedAt === null)
    .flatMap(({ id }) => server.find(tx, actor, id) ?? [])
    .filter((one) => !isHeldByJob(tx, one.id) && refusalOf(() => mustBeMovable(tx, actor, one)) === null)
    .map((one) => ({ id: one.id, memoryMb: one.memoryMb, diskGb: bytesOf(tx, one) / GIB, server: one }))
}

export function planBalance(call: Planning, location: Location) {
  const { tx, nodes } = call
  const capacities = capacityIn(tx, location.id)
  const byId = new Map(capacities.map((node) => [node.id, node]))
  const before = capacities.map((node) => ({ ...node }))
  const planned = new Map<string, string>()
  const chosen = new Map<string, FitNode>()
  const { moves } = relieve<NodeCapacity, Movable>({
    loads: before.filter(({ id, open }) => open && nodes.connected(id)),
    limit: limitOf(location) / 100,
    most: MOST_MOVES,
    weightsOn: (nodeId) => movableOn(call, nodeId),
    takerOf({ server }, may) {
      const able = capacities.filter(({ id }) => may(id))
      if (!able.length) return undefined
      const taker = judgeNodes(tx, nodes, server, { capacities: able, planned })
        .filter(fits)
        .find(({ broken }) => broken === undefined)
      if (taker) chosen.set(server.id, taker)
      return taker?.nodeId
    },
    take({ server }, to) {
      planned.set(server.id, to)
      take(call.tx, server, byId, chosen.get(server.id)!)
    },
  })
  return {
    moves: moves.map(({ weight: { server }, from, to }) => ({
      server,
      from: named(byId.get(from)!),
      to: named(byId.get(to)!),
      foreseen: forecast(tx, server, { mode: 'auto', maxMbps: undefined, to }),
    })),
    nodes: before
      .map((node) => ({ ...named(node), before: node, after: byId.get(node.id)! }))
      .toSorted((a, b) => fullness(b.before) - fullness(a.before) || (a.name < b.name ? -1 : 1)),
  }
}

const named = ({ id, name }: { id: string; name: string }) => ({ id, name })

/** Counts down what its next node has left, and what its present one has then. */
function take(tx: Db, server: Server, byId: ReadonlyMap<string, NodeCapacity>, taker: FitNode) {
  const { nodeId, pool, shared, volumes } = taker
  const [from, to] = [byId.get(server.nodeId)!, byId.get(nodeId)!]
  const gb = bytesOf(tx, server) / GIB
  from.heldMemoryMb -= server.memoryMb
  from.heldDiskGb -= gb
  to.heldMemoryMb += server.memoryMb
  to.heldDiskGb += gb
  for (const disk of [{ pool, shared, diskGb: server.diskGb }, ...volumes]) {
    const found = to.pools.find((one) => one.name === disk.pool)
    if (found && disk.shared === undefined) found.freeDiskGb -= disk.diskGb
  }
}
