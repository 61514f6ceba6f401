// Which moves relieve the nodes of a location that are nearly full. A node is relieved down to a limit, and no node is
// filled up to it, so a node that took a server is never one that gives it away: suggestions do not go back and forth.

export type Load = { id: string; memoryMb: number; heldMemoryMb: number; diskGb: number; heldDiskGb: number }
/** A workload that a node could give away. */
export type Weight = { id: string; memoryMb: number; diskGb: number }

/** The part of its memory or of its disk that a node has given away, whichever is larger: 1 is all. */
export const fullness = ({ memoryMb, heldMemoryMb, diskGb, heldDiskGb }: Load): number =>
  Math.max(memoryMb ? heldMemoryMb / memoryMb : 0, diskGb ? heldDiskGb / diskGb : 0)

const without = <L extends Load>(load: L, { memoryMb, diskGb }: Weight): L => ({
  ...load,
  heldMemoryMb: load.heldMemoryMb - memoryMb,
  heldDiskGb: load.heldDiskGb - diskGb,
})
const withThis = <L extends Load>(load: L, { memoryMb, diskGb }: Weight): L =>
  without(load, { id: '', memoryMb: -memoryMb, diskGb: -diskGb })

/** Workloads of a node in the order in which they are tried: the smallest one that relieves it, then the largest. */
export function inOrderOfRelief<W extends Weight>(load: Load, weights: readonly W[], limit: number): W[] {
  const after = new Map(weights.map((weight) => [weight, fullness(without(load, weight))]))
  const size = ({ memoryMb, diskGb }: W) =>
    (load.memoryMb ? memoryMb / load.memoryMb : 0) + (load.diskGb ? diskGb / load.diskGb : 0)
  const isEnough = (weight: W) => after.get(weight)! <= limit
  return weights
    .filter((weight) => after.get(weight)! < fullness(load))
    .toSorted(
      (a, b) =>
        Number(isEnough(b)) - Number(isEnough(a)) ||
        (isEnough(a) ? size(a) - size(b) : after.get(a)! - after.get(b)!) ||
        (a.id < b.id ? -1 : 1),
    )
}

/** May a node take this workload for the relief of another one? It stays below the limit, and emptier than that was. */
export const mayRelieve = (from: Load, to: Load, weight: Weight, limit: number): boolean =>
  fullness(withThis(to, weight)) < Math.min(limit, fullness(from))

type Relief<L extends Load, W extends Weight> = {
  /** Those of which servers may be moved away, and to which. */
  loads: readonly L[]
  limit: number
  most: number
  /** The workloads of a node that could be moved. Asked once for each node. */
  weightsOn(nodeId: string): readonly W[]
  /** The node that takes it, of those for which `may` holds; undefined: none does. */
  takerOf(weight: W, may: (nodeId: string) => boolean): string | undefined
  /** Called for each move in its turn: what it takes is gone for the next. */
  take(weight: W, to: string): void
}
export type ReliefMove<W extends Weight> = { weight: W; from: string; to: string }

/** The moves, the fullest node first, and the loads after them. */
export function relieve<L extends Load, W extends Weight>({
  loads,
  limit,
  most,
  ...ask
}: Relief<L, W>): { moves: ReliefMove<W>[]; loads: L[] } {
  const now = new Map(loads.map((load) => [load.id, load]))
  const moves: ReliefMove<W>[] = []
  const fullFirst = loads
    .filter((load) => fullness(load) > limit)
    .toSorted((a, b) => fullness(b) - fullness(a) || (a.id < b.id ? -1 : 1))
  // A workload holds its place on a node until it has left, so a node that gives does not take.
  const givers = new Set(fullFirst.map(({ id }) => id))
  for (const from of [...givers].slice(0, MOST_GIVERS)) {
    const left = new Set(ask.weightsOn(from))
    while (moves.length < most && fullness(now.get(from)!) > limit) {
      const found = inOrderOfRelief(now.get(from)!, [...left], limit)
        .slice(0, MOST_TRIED)
        .values()
        .map((weight) => {
          const may = (id: string) => {
            const load = now.get(id)
            return load !== undefined && !givers.has(id) && mayRelieve(now.get(from)!, load, weight, limit)
          }
          return { weight, to: ask.takerOf(weight, may) }
        })
        .find(({ to }) => to !== undefined)
      if (!found) break
      const { weight, to } = { ...found, to: found.to! }
      left.delete(weight)
      now.set(from, without(now.get(from)!, weight))
      now.set(to, withThis(now.get(to)!, weight))
      ask.take(weight, to)
      moves.push({ weight, from, to })
    }
  }
  return { moves, loads: [...now.values()] }
}
/** Servers of a node that are tried for each move: each is judged on every node that may take it. */
const MOST_TRIED = 10
/** The fullest nodes, for which the servers are looked at: a location may be full as a whole. */
const MOST_GIVERS = 10
