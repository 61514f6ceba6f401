// Placement of a new workload. A node fits when it is open and connected and has memory, disk and every address that is
// needed, of both versions. Among those `spread` chooses the one with the most free memory, `fill` the fullest, so that
// whole nodes stay empty. The reason is stored with the workload in words, because people ask for it months later.
import { ApiError, restarting } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type AddressNeed, lackingAddresses } from '../../network/ip-pools/allocate.ts'
import type { Location } from '../locations/model.ts'
import { capacityIn, type NodeCapacity } from '../nodes/queries.ts'

export type Need = { memoryMb: number; diskGb: number } & AddressNeed
export type Placed = { node: NodeCapacity; reason: string }

const RECONNECTING = 'is reconnecting'

type LackingAddress = (nodeId: string) => string | undefined
type Judged = { node: NodeCapacity; disabledReason: string | undefined; lacksAddress?: boolean }

/** The reasons why a node cannot take a workload, addresses apart, with their words in a refusal. */
export const roomReasons = {
  closed: 'closed',
  disconnected: 'not connected',
  memory: 'no memory left',
  disk: 'no disk left',
} as const
export type RoomReason = keyof typeof roomReasons

/** `disabledReason`: why the node cannot take it, as a text; undefined when it can. */
function judge(node: NodeCapacity, need: Need, nodes: Nodes, lackingAddress: LackingAddress): Judged {
  const lacksRoom = withoutRoom(node, need, nodes)
  if (lacksRoom !== undefined) return { node, disabledReason: roomReasons[lacksRoom] }
  const lacking = lackingAddress(node.id)
  if (lacking) return { node, disabledReason: lacking, lacksAddress: true }
  return { node, disabledReason: nodes.connected(node.id) ? undefined : RECONNECTING }
}

/** Undefined: the node has capacity, and is connected or will be in a moment. */
export function withoutRoom(
  node: NodeCapacity,
  need: Pick<Need, 'memoryMb' | 'diskGb'>,
  nodes: Nodes,
): RoomReason | undefined {
  if (!node.open) return 'closed'
  if (!nodes.connected(node.id) && !nodes.isReconnecting(node.id)) return 'disconnected'
  if (node.memoryMb - node.heldMemoryMb < need.memoryMb) return 'memory'
  if (node.freeDiskGb < need.diskGb) return 'disk'
  return undefined
}

export type Nodes = Pick<AppContext['nodes'], 'connected' | 'isReconnecting'>

type PlacementOptions = {
  nodes: Nodes
  /** A node that staff asked for by name. */
  wantedId?: string | null | undefined
  /** True for staff: refusals name nodes and what each lacks. */
  namesNodes: boolean
}

/**
 * Chooses the node. Throws `location_closed`; `restarting` when a node that fits is reconnecting and no other one fits;
 * `no_capacity`, or `no_addresses` when only addresses are missing.
 */
export function placeIn(
  tx: Db,
  location: Location,
  need: Need,
  { nodes, wantedId, namesNodes }: PlacementOptions,
): Placed {
  if (!location.open)
    throw new ApiError(
      'location_closed',
      `${location.name} is closed for new servers. Choose another location, or ask for it to be opened.`,
    )
  const lackingAddress = lackingAddresses(tx, need)
  const judged = capacityIn(tx, location.id)
    .filter((node) => !wantedId || node.id === wantedId)
    .map((node) => judge(node, need, nodes, lackingAddress))
  const fitting = judged.filter((j) => !j.disabledReason).map((j) => j.node)
  const others = judged.filter((j) => j.disabledReason).map((j) => `${j.node.name} ${j.disabledReason}`)
  if (!fitting.length) {
    // Out of stock is an answer that shops remember; a node that comes back in a moment must not cause it.
    if (judged.some((j) => j.disabledReason === RECONNECTING))
      throw restarting(`${location.name} is reconnecting to the panel. Nothing was ordered; try again in a minute.`)
    const lacking = judged.find((j) => j.lacksAddress)?.disabledReason
    const code = lacking ? 'no_addresses' : 'no_capacity'
    const lacks = `${lacking ? lacking[0]!.toUpperCase() + lacking.slice(1) : 'No room'} in ${location.name}`
    if (!namesNodes)
      throw new ApiError(code, `${lacks} for this package now. Choose another location, or ask your provider.`)
    const because = others.length ? others.join(', ') : 'it has no node yet'
    throw new ApiError(
      code,
      `${lacks}: ${because}.${code === 'no_addresses' ? ' Add a pool, or attach one to a node with room.' : ''}`,
    )
  }
  const node = chosenOf(location, fitting)
  const why = wantedId
    ? 'chosen by staff'
    : fitting.length === 1
      ? `the only one of ${judged.length} with room`
      : `${location.placement === 'spread' ? 'most' : 'least'} free memory of ${fitting.length}`
  return { node, reason: `${node.name}: ${why}${others.length ? `; ${others.join(', ')}` : ''}` }
}

/** Orders nodes by the rule of the location: the node that it takes comes first. */
export function byRuleOf({ placement }: Pick<Location, 'placement'>) {
  const free = (n: NodeCapacity) => n.memoryMb - n.heldMemoryMb
  const sign = placement === 'spread' ? -1 : 1
  return (a: NodeCapacity, b: NodeCapacity): number => sign * (free(a) - free(b)) || (a.name < b.name ? -1 : 1)
}

/** The node that the rule of the location takes, of those that fit. */
function chosenOf(location: Pick<Location, 'placement'>, fitting: readonly NodeCapacity[]): NodeCapacity {
  const order = byRuleOf(location)
  return fitting.reduce((best, node) => (order(node, best) < 0 ? node : best))
}
