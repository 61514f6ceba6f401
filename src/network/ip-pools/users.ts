// Pools are routed by nodes, and their addresses are held by workloads. Both belong to features above this one, which
// declare here what pools have to know of them.
import type { Slice } from '../../kernel/api/list.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'

export type Holder = { id: string; kind: string; hostname: string }
export type Router = { id: string; name: string }
export type PoolUsers = {
  /** The name of the node with this id that may route pools; undefined where there is none. */
  routerName?(tx: Db, nodeId: string): string | undefined
  /** A slice of the nodes whose ids the query `ids` finds, by name; a slice begins behind the name `after`. */
  routersByName?(tx: Db, ids: Where, slice: Slice): Router[]
  /** The locations of those of these that are this feature's nodes or holders. */
  locations?(tx: Db, ids: readonly string[]): readonly string[]
  /** The locations of holders on nodes that were removed. `holds`: as of `holderOn`. */
  locationsLeft?(tx: Db, holds: (id: string) => Where): readonly string[]
  /** The name of the location with this id; undefined where there is none. */
  locationName?(tx: Db, locationId: string): string | undefined
  /** The holder with this id; undefined where it is none of this feature's. */
  holder?(tx: Db, id: string): Holder | undefined
  /**
   * A holder that stands on one of these nodes; undefined where there is none. `holds`: the condition, as SQL, that the
   * SQL expression `id` is a holder.
   */
  holderOn?(tx: Db, nodeIds: readonly string[], holds: (id: string) => Where): Holder | undefined
}

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Nodes that route pools, or things that hold their addresses. */
    poolUsers?: PoolUsers
  }
}

export type PoolContext = Pick<AppContext, 'registry'> & { tx: Db }
/** The first answer of a feature that has one. */
function asked<T>({ registry }: PoolContext, ask: (users: PoolUsers) => T | undefined): T | undefined {
  for (const { poolUsers } of registry.features) {
    const found = poolUsers && ask(poolUsers)
    if (found !== undefined) return found
  }
  return undefined
}

export const routerName = (call: PoolContext, nodeId: string) =>
  asked(call, (users) => users.routerName?.(call.tx, nodeId))
export const routersByName = (call: PoolContext, ids: Where, slice: Slice): Router[] =>
  asked(call, (users) => users.routersByName?.(call.tx, ids, slice)) ?? []
/** The locations of these nodes and holders of addresses, each once. */
export const locationsOf = ({ registry, tx }: PoolContext, ids: readonly string[]): string[] => [
  ...new Set(registry.features.flatMap(({ poolUsers }) => poolUsers?.locations?.(tx, ids) ?? [])),
]
/** The locations of what holds addresses on nodes that were removed: it may still come back there. */
export const locationsLeft = ({ registry, tx }: PoolContext, holds: (id: string) => Where): string[] =>
  registry.features.flatMap(({ poolUsers }) => poolUsers?.locationsLeft?.(tx, holds) ?? [])
export const locationName = (call: PoolContext, id: string) => asked(call, (users) => users.locationName?.(call.tx, id))
export const holderOf = (call: PoolContext, id: string) => asked(call, (users) => users.holder?.(call.tx, id))
export const holderOn = (call: PoolContext, nodeIds: readonly string[], holds: (id: string) => Where) =>
  asked(call, (users) => users.holderOn?.(call.tx, nodeIds, holds))
