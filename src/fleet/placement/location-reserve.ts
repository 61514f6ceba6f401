// The reserve of a location: memory that orders leave free for the loss of a node. Moves and drains use it.
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Location } from '../locations/model.ts'
import type { NodeCapacity } from './capacity.ts'

type Sized = Pick<NodeCapacity, 'id' | 'open' | 'memoryMb' | 'heldMemoryMb'>
type Live = Pick<AppContext['nodes'], 'connected' | 'isReconnecting'>

/** Nodes that could take servers: what a closed node or one that is away has left helps nobody. */
const live = <N extends Sized>(all: readonly N[], nodes: Live): N[] =>
  all.filter(({ id, open }) => open && (nodes.connected(id) || nodes.isReconnecting(id)))

/**
 * MiB in the reserve of a location. For nodes it is the memory of the largest ones: as much has to be free in all so
 * that their servers fit on the others.
 */
export function reserveMbOf({ reserve, reserveUnit }: Location, all: readonly Sized[], nodes: Live): number {
  if (reserve === 0) return 0
  if (reserveUnit === 'gb') return reserve * 1024
  const sizes = live(all, nodes).map(({ memoryMb }) => memoryMb)
  const sum = (of: readonly number[]) => of.reduce((all, one) => all + one, 0)
  if (reserveUnit === 'percent') return Math.ceil((sum(sizes) * reserve) / 100)
  return sum(sizes.toSorted((a, b) => b - a).slice(0, reserve))
}

/** MiB that orders may still take of a location, beside what each node has left. Negative: the reserve is in use. */
export function beyondReserveMb(location: Location, all: readonly Sized[], nodes: Live): number {
  if (location.reserve === 0) return Number.MAX_SAFE_INTEGER
  const free = live(all, nodes).reduce((sum, node) => sum + Math.max(0, node.memoryMb - node.heldMemoryMb), 0)
  return free - reserveMbOf(location, all, nodes)
}
