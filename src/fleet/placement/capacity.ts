// The capacity of nodes: their memory, and the disk space of their storage pools.
import type { Db } from '../../kernel/db/open.ts'
import { type CapacityRow, capacityRowOf, capacityRowsIn } from '../node-records/queries.ts'
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
    const sum = (of: (pool: PoolSpace) => number) => own.reduce((all, pool) => all + of(pool), 0)
    return {
      ...row,
      open: !!row.open,
      pools: own,
      diskGb: sum((pool) => pool.diskGb),
      freeDiskGb: sum((pool) => (pool.open ? pool.freeDiskGb : 0)),
    }
  })
}

/** The nodes of a location and their capacity, by name. */
export const capacityIn = (tx: Db, locationId: string): NodeCapacity[] =>
  capacitiesOf(tx, capacityRowsIn(tx, locationId))
/** The capacity of a node that is there. */
export const capacityOf = (tx: Db, nodeId: string): NodeCapacity => capacitiesOf(tx, [capacityRowOf(tx, nodeId)!])[0]!
