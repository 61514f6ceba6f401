// The stock of nodes that share address pools. What is read of a node is never changed here, so that it counts for the
// next need too: a node is copied when an order is placed on it.
import type { AttachedPools, PoolSupply } from '../../network/ip-pools/allocate.ts'
import type { Location } from '../locations/model.ts'
import type { PoolSpace } from '../storage-pools/queries.ts'
import { byRuleOf } from './candidates.ts'
import type { NodeCapacity } from './capacity.ts'
import type { ShortageReason } from './main-cause.ts'
import { contactShortageOn, type Need, type Nodes, poolsFor, spaceShortageOn } from './placement.ts'

/** Where it matters which node takes an order, orders are placed one by one, and no more than this. */
const MOST_PLACED = 1000

/** A node, and what the controller knew of it when the counting began. */
export type Seen = {
  node: NodeCapacity
  /** It takes nothing, whatever is needed. */
  shortage: ShortageReason | undefined
  isConnected: boolean
}
export const seenAs = (node: NodeCapacity, nodes: Nodes): Seen => ({
  node,
  shortage: contactShortageOn(node, nodes),
  isConnected: nodes.connected(node.id),
})

const shortageOf = ({ node, shortage }: Seen, need: Need) => shortage ?? spaceShortageOn(node, need)
const fitsOnce = (seen: Seen, need: Need) => seen.isConnected && shortageOf(seen, need) === undefined

/** The pools of each VLAN at a node. */
type OfNode = readonly AttachedPools[]
const none: OfNode = []

/** Nodes that share pools, directly or over another node, in the order of the rule of their location. */
export type Part = {
  nodes: Seen[]
  /** The pools of each of its nodes, where these are the same. */
  pools: OfNode | undefined
}

/** Groups nodes so that an order in one part changes nothing in another. Nodes in the order of the rule stay in it. */
export function partsOf(nodes: readonly Seen[], { attached }: PoolSupply): Part[] {
  const poolsOf = ({ node }: Seen) => attached.get(node.id) ?? none
  // Nodes with the same pools have one list of them.
  const alike = [...Map.groupBy(nodes, poolsOf).values()]
  const parts: { pools: Set<string>; lists: OfNode[]; groups: Seen[][] }[] = []
  for (const group of alike) {
    const list = poolsOf(group[0]!)
    const part = { pools: new Set(list.flatMap(({ v4, v6 }) => [...v4, ...v6])), lists: [list], groups: [group] }
    for (const other of parts.filter(({ pools }) => !pools.isDisjointFrom(part.pools))) {
      parts.splice(parts.indexOf(other), 1)
      part.pools = part.pools.union(other.pools)
      part.lists.push(...other.lists)
      part.groups.push(...other.groups)
    }
    parts.push(part)
  }
  const places = new Map(parts.some(({ groups }) => groups.length > 1) ? nodes.map((node, i) => [node, i]) : [])
  return parts.map(({ groups, lists: [list, ...others] }) => ({
    nodes: others.length ? groups.flat().sort((a, b) => places.get(a)! - places.get(b)!) : groups[0]!,
    pools: others.length ? undefined : list,
  }))
}

export type PartStock = {
  available: number
  orMore: boolean
  /** How many nodes lack something other than addresses. */
  reasons: ReadonlyMap<ShortageReason, number>
  /** How many nodes lack nothing but addresses. */
  withoutAddress: number
  reconnects: boolean
}

type Placed = {
  available: number
  orMore: boolean
  /** Undefined: the node could take one more order, addresses apart. */
  shortageAfter(seen: Seen): ShortageReason | undefined
  addressesLeft(node: NodeCapacity): number
}

export function partStock(location: Location, part: Part, need: Need, supply: PoolSupply): PartStock {
  const addresses = part.pools ? addressesFor(need, part.pools, supply) : 0
  const { available, orMore, shortageAfter, addressesLeft } =
    part.pools && !isOrderDecisive(part.nodes, need, addresses)
      ? placedAtOnce(part.nodes, need, addresses)
      : placedOneByOne(location, part.nodes, need, supply)
  const reasons = new Map<ShortageReason, number>()
  let [withoutAddress, reconnects] = [0, false]
  for (const seen of part.nodes) {
    const reason = shortageAfter(seen)
    if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    else if (addressesLeft(seen.node) < 1) withoutAddress++
    else if (!seen.isConnected) reconnects = true
  }
  return { available, orMore, reasons, withoutAddress, reconnects }
}

/**
 * Nodes with the same pools: true when the addresses end while some node could be full, so that it matters which node
 * took which order for what most of them lack then. Of very many orders it is not asked.
 */
function isOrderDecisive(part: readonly Seen[], need: Need, addresses: number): boolean {
  if (part.length < 3 || addresses > MOST_PLACED) return false
  let [least, all] = [Infinity, 0]
  for (const seen of part) {
    if (!fitsOnce(seen, need)) continue
    const orders = ordersOn(seen.node, need)
    least = Math.min(least, orders)
    all += orders
  }
  return least <= addresses && all >= addresses
}

const ordersOn = (node: NodeCapacity, need: Need) =>
  Math.min(
    Math.floor((node.memoryMb - node.heldMemoryMb) / need.memoryMb),
    poolsFor(node, need).reduce((sum, pool) => sum + disksIn(pool, need), 0),
  )

/** Nodes with the same pools: it does not matter which node takes an order. */
function placedAtOnce(part: readonly Seen[], need: Need, addresses: number): Placed {
  let free = addresses
  const taken = new Map<Seen, number>()
  for (const seen of part) {
    if (free <= 0) break
    if (!fitsOnce(seen, need)) continue
    const orders = Math.min(ordersOn(seen.node, need), free)
    taken.set(seen, orders)
    free -= orders
  }
  return {
    available: addresses - free,
    orMore: false,
    shortageAfter(seen) {
      const orders = taken.get(seen)
      if (orders === undefined) return shortageOf(seen, need)
      const left = copied(seen.node)
      take(left, need, orders)
      return spaceShortageOn(left, need)
    },
    addressesLeft: () => free,
  }
}

/** Nodes that share some pools: which node takes an order decides whose addresses end first. */
function placedOneByOne(location: Location, part: readonly Seen[], need: Need, { attached, free }: PoolSupply): Placed {
  const supply = { attached, free: new Map(free) }
  const poolsAt = (node: NodeCapacity) => attached.get(node.id) ?? none
  const addressesLeft = (node: NodeCapacity) => addressesFor(need, poolsAt(node), supply)
  const order = byRuleOf(location)
  // The node that the rule takes is the last. A node that does not fit once fits never again: nothing is given back.
  const again: NodeCapacity[] = []
  const copies = new Map<string, NodeCapacity>()
  let [available, at] = [0, 0]
  /** The node for the next order: one that has taken orders, or the first that has taken none. */
  const next = (): NodeCapacity | undefined => {
    while (again.length && (spaceShortageOn(again.at(-1)!, need) !== undefined || addressesLeft(again.at(-1)!) < 1))
      again.pop()
    while (at < part.length && !(fitsOnce(part[at]!, need) && addressesLeft(part[at]!.node) > 0)) at++
    const [taken, fresh] = [again.at(-1), part[at]?.node]
    if (!fresh || (taken && order(taken, fresh) < 0)) return again.pop()
    at++
    const copy = copied(fresh)
    copies.set(copy.id, copy)
    return copy
  }
  while (available < MOST_PLACED) {
    const node = next()
    if (!node) break
    available++
    take(node, need, 1)
    again.splice(
      placeIn(again, (other) => order(node, other) < 0),
      0,
      node,
    )
    // An order gets all its addresses in one VLAN.
    const of = poolsAt(node).find((pools) => addressesFor(need, [pools], supply) > 0)
    for (let i = 0; i < need.ipv4; i++) takeOne(supply.free, of!.v4)
    if (need.ipv6Prefix !== null) takeOne(supply.free, of!.v6)
  }
  return {
    available,
    orMore: available === MOST_PLACED,
    shortageAfter: (seen) => seen.shortage ?? spaceShortageOn(copies.get(seen.node.id) ?? seen.node, need),
    addressesLeft,
  }
}

/** The index behind the nodes for which `isBehind` holds; these come first in `nodes`. */
function placeIn(nodes: readonly NodeCapacity[], isBehind: (node: NodeCapacity) => boolean): number {
  let [low, high] = [0, nodes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBehind(nodes[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}

const copied = (node: NodeCapacity): NodeCapacity => ({ ...node, pools: node.pools.map((pool) => ({ ...pool })) })
const disksIn = ({ freeDiskGb }: PoolSpace, { diskGb }: Need) => Math.floor(freeDiskGb / diskGb)
/** Which pool takes a disk changes nothing of how many there are: a disk is never divided. */
function take(node: NodeCapacity, need: Need, times: number) {
  node.heldMemoryMb += need.memoryMb * times
  let disks = times
  for (const pool of poolsFor(node, need)) {
    const taken = Math.min(disks, disksIn(pool, need))
    pool.freeDiskGb -= need.diskGb * taken
    disks -= taken
  }
}
/** From the first pool that has one, as an order does. */
function takeOne(free: Map<string, number>, pools: readonly string[]) {
  const pool = pools.find((id) => free.get(id)! > 0)!
  free.set(pool, free.get(pool)! - 1)
}

/** For how many orders the pools of a node have addresses. */
function addressesFor({ ipv4, ipv6Prefix }: Need, of: OfNode, { free }: PoolSupply): number {
  if (ipv4 === 0 && ipv6Prefix === null) return Number.MAX_SAFE_INTEGER
  const sum = (pools: readonly string[]) => pools.reduce((all, id) => all + free.get(id)!, 0)
  return of.reduce(
    (all, { v4, v6 }) =>
      all + Math.min(ipv4 === 0 ? Infinity : Math.floor(sum(v4) / ipv4), ipv6Prefix === null ? Infinity : sum(v6)),
    0,
  )
}
