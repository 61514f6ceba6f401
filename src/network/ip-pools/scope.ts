// Where the addresses of a pool are unique. A public range is in one pool alone. A private range means something else
// at each location, so each can have a pool of it; no two pools that may meet at one location share an address.

import { floatingOf } from './queries.ts'
import { type Network, toNetwork } from './ranges.ts'
import { EVERYWHERE, type Pool } from './tables.ts'
import { locationsOf, type PoolContext } from './users.ts'

/** RFC 1918, RFC 6598 and RFC 4193. */
const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'].map(
  (cidr) => toNetwork(cidr)!,
)
export const isPrivateRange = ({ version, first, last }: Network): boolean =>
  privateRanges.some((range) => range.version === version && range.first <= first && last <= range.last)

/**
 * The scope of a pool that these nodes are about to route: `EVERYWHERE` for a public range and for a private one of
 * several locations, else the id of its location. Floating addresses count with the nodes: their location may be one
 * that the pool leaves; its workloads stand on its nodes. Without any, the scope stays.
 */
export function scopeFor(call: PoolContext, pool: Pick<Pool, 'id' | 'network' | 'scope'>, nodeIds: readonly string[]) {
  if (!isPrivateRange(toNetwork(pool.network)!)) return EVERYWHERE
  const locations = locationsOf(call, [...nodeIds, ...floatingOf(call.tx, pool.id)])
  const [only, ...more] = locations
  return only === undefined ? pool.scope : more.length ? EVERYWHERE : only
}

/** May an address of one be at a location where the other has one too? */
export const canMeet = (a: string, b: string): boolean => a === b || a === EVERYWHERE || b === EVERYWHERE
