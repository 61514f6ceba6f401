// Where the addresses of a pool are unique. A public range is in one pool alone. A private range means something else
// at each location, so each can have a pool of it; no two pools that may meet at one location share an address.

import { type Db, write } from '../../kernel/db/open.ts'
import { floatingOf, hasAddressOf, poolsToRescope, rescopeNext } from './queries.ts'
import { type Network, toNetwork } from './ranges.ts'
import { EVERYWHERE, type Pool } from './tables.ts'
import { locationsLeft, locationsOf, type PoolContext } from './users.ts'

/** RFC 1918, RFC 6598 and RFC 4193. */
const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'].map(
  (cidr) => toNetwork(cidr)!,
)
export const isPrivateRange = ({ version, first, last }: Network): boolean =>
  privateRanges.some((range) => range.version === version && range.first <= first && last <= range.last)

/**
 * The scope of a pool that these nodes are about to route: `EVERYWHERE` for a public range and for a private one of
 * several locations, else the id of its location. Floating addresses count with the nodes: their location may be one
 * that the pool leaves. Its workloads stand on its nodes, but for those on a node that was removed while it was lost.
 * Without any, the scope stays.
 */
export function scopeFor(call: PoolContext, pool: Pick<Pool, 'id' | 'network' | 'scope'>, nodeIds: readonly string[]) {
  if (!isPrivateRange(toNetwork(pool.network)!)) return EVERYWHERE
  const found = locationsOf(call, [...nodeIds, ...floatingOf(call.tx, pool.id)])
  const locations = [...new Set([...found, ...locationsLeft(call, hasAddressOf(pool.id))])]
  const [only, ...more] = locations
  return only === undefined ? pool.scope : more.length ? EVERYWHERE : only
}

/** One turn: every pool whose addresses have not taken over its scope yet does so, others being served between. */
export async function followScopes(db: Db) {
  for (let ids = poolsToRescope(db); ids.length; ids = poolsToRescope(db)) {
    write(db, (tx) => rescopeNext(tx, ids[0]!))
    await Bun.sleep(0)
  }
}

/** May an address of one be at a location where the other has one too? */
export const canMeet = (a: string, b: string): boolean => a === b || a === EVERYWHERE || b === EVERYWHERE
