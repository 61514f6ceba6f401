// The nodes that placement looks at: in the order in which the rule of the location takes them, and no more of them
// than it takes to find one.
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Location } from '../locations/model.ts'
import { isNodeIn } from '../node-records/queries.ts'
import { capacityIn, capacityInOrder, capacityOf, type NodeCapacity } from './capacity.ts'

type Live = Pick<AppContext['nodes'], 'connected' | 'isReconnecting'>
/** Is it connected, or will be in a moment? */
export const mayConnect = (nodes: Live, nodeId: string) => nodes.connected(nodeId) || nodes.isReconnecting(nodeId)

/** Orders nodes by the rule of the location: the node that it takes comes first. */
export function byRuleOf({ placement }: Pick<Location, 'placement'>) {
  const free = (n: NodeCapacity) => n.memoryMb - n.heldMemoryMb
  const sign = placement === 'spread' ? -1 : 1
  return (a: NodeCapacity, b: NodeCapacity): number => sign * (free(a) - free(b)) || (a.name < b.name ? -1 : 1)
}

export type Candidates = {
  /** Those with enough memory, the one that the rule of the location takes first. */
  inOrder(): Iterable<NodeCapacity>
  /** Those of these nodes. */
  among(nodeIds: readonly string[]): NodeCapacity[]
  /** All that could be asked for, whatever they lack. */
  every(): NodeCapacity[]
}
type CandidateOptions = {
  nodes: Live
  /** No other node will do. */
  wantedId?: string | null | undefined
  /** In place of what the nodes have now. */
  planned?: readonly NodeCapacity[] | undefined
}

/** Reads nothing before it is asked. */
export function candidatesFor(
  tx: Db,
  location: Location,
  { memoryMb }: { memoryMb: number },
  { nodes, wantedId, planned }: CandidateOptions,
): Candidates {
  const wanted = wantedId ? [wantedId] : undefined
  const sorted = (all: readonly NodeCapacity[]) =>
    all.filter((node) => node.memoryMb - node.heldMemoryMb >= memoryMb).toSorted(byRuleOf(location))
  const every = (ids: readonly string[] | undefined = wanted): NodeCapacity[] => {
    if (planned) return planned.filter(({ id }) => !ids || ids.includes(id))
    if (!ids) return capacityIn(tx, location.id)
    return ids.filter((id) => isNodeIn(tx, id, location.id)).map((id) => capacityOf(tx, id))
  }
  return {
    inOrder: () =>
      wanted || planned ? sorted(every()) : capacityInOrder(tx, location, memoryMb, ({ id }) => !mayConnect(nodes, id)),
    among: (nodeIds) => sorted(every(wanted ? nodeIds.filter((id) => id === wantedId) : nodeIds)),
    every: () => every(),
  }
}
