// The capacity of nodes: their memory, and the disk space of their storage pools.
import type { Db } from '../../kernel/db/open.ts'
import type { Location } from '../locations/model.ts'
import { type CapacityRow, capacityRowOf, capacityRowsIn, spacesIn } from '../node-records/queries.ts'
import { type PoolSpace, poolSpacesOn } from '../storage-pools/queries.ts'

export type NodeCapacity = Omit<CapacityRow, 'open'> & {
  open: boolean
  /** By name. */
  pools: PoolSpace[]
  /** Of all its pools together. */
  diskGb: number
  /** Left for orders in the pools that are open: what one disk can take may be less. */
  freeDiskGb: number
}

function capacitiesOf(tx: Db, rows: readonly CapacityRow[]): NodeCapacity[] {
  const pools = Map.groupBy(
    poolSpacesOn(
      tx,
      rows.map(({ id }) => id),
    ),
    ({ nodeId }) => nodeId,
  )
  return rows.map((row) => {
    const own = pools.get(row.id) ?? []
    let [diskGb, freeDiskGb] = [0, 0]
    for (const pool of own) {
      diskGb += pool.diskGb
      if (pool.open) freeDiskGb += pool.freeDiskGb
    }
    return { ...row, open: !!row.open, pools: own, diskGb, freeDiskGb }
  })
}

/** Nodes that are looked at together: the first ones usually fit, and where they do not, many more may not. */
const SLICES = [4, 32, 256, 1024] as const

/**
 * The open nodes of a location that have this much memory left, in the order in which its rule takes them. They are
 * read in slices, so that who takes one of the first pays for these. `leaveOut`: of these no capacity is read.
 */
export function* capacityInOrder(
  tx: Db,
  location: Pick<Location, 'id' | 'placement'>,
  memoryMb: number,
  leaveOut: (node: { id: string; name: string }) => boolean,
): Generator<NodeCapacity> {
  let last: ReturnType<typeof spacesIn>[number] | undefined
  for (let n = 0; ; n++) {
    const many = SLICES[Math.min(n, SLICES.length - 1)]!
    const spaces = spacesIn(tx, location, memoryMb, { last, many })
    const rows = spaces.filter((space) => !leaveOut(space)).map(({ id }) => capacityRowOf(tx, id)!)
    yield* capacitiesOf(tx, rows)
    if (spaces.length < many) return
    last = spaces.at(-1)
  }
}

/** The nodes of a location and their capacity, by name. */
export const capacityIn = (tx: Db, locationId: string): NodeCapacity[] =>
  capacitiesOf(tx, capacityRowsIn(tx, locationId))
/** The capacity of a node that is there. */
export const capacityOf = (tx: Db, nodeId: string): NodeCapacity => capacitiesOf(tx, [capacityRowOf(tx, nodeId)!])[0]!
