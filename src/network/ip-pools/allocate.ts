// Giving addresses to a workload and taking them back, inside the transaction of the order. The unique index on the
// address is the second defence; the one writer is the first.
import { asc, desc, eq, inArray } from 'drizzle-orm'
import { ApiError } from '../../kernel/api/errors.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting, unpeeked, type Where } from '../../kernel/db/rows.ts'
import { awaitingReports, isGiven, withholdsFor } from './awaited.ts'
import { earlyFrom, passEarly, prefixIn, type Range, startOf, takenPlaces } from './prefixes.ts'
import { restingWords } from './quarantine/rest.ts'
import { type Network, toNetwork, toNumber, toText } from './ranges.ts'
import { type Address, addresses, type Pool, pools } from './tables.ts'
import { uncarriedWords } from './vlan/carried.ts'
import { type At, isCarried, isOffered, type Vlan, vlansOfNode } from './vlan/queries.ts'

const insert = inserting(addresses)
// INDEXED BY pins the plan: the planner may otherwise walk through every address that is taken, at every order. +?: 2
// to 5 µs each instead of 6 to 12.
const statements = prepared(({ $client }) => ({
  freeIpv4: $client.prepare<{ id: string; address: string }, [string, Vlan]>(
    `SELECT a.id, a.address FROM pool_nodes pn JOIN addresses a INDEXED BY addresses_free ON a.pool_id = pn.pool_id
     WHERE pn.node_id = +?1 AND ${isGiven('pn.pool_id')} AND ${isOffered('pn.pool_id', '?1', '?2')}
       AND a.version = 4 AND a.workload_id IS NULL AND a.reserved_for IS NULL AND a.rests_until IS NULL
     ORDER BY a.pool_id, a.place LIMIT 1`,
  ),
  countFree: $client.prepare<{ n: number }, [string, Vlan, number]>(
    `SELECT count(*) AS n FROM (
       SELECT 1 FROM pool_nodes pn JOIN addresses a INDEXED BY addresses_free ON a.pool_id = pn.pool_id
       WHERE pn.node_id = +?1 AND ${isGiven('pn.pool_id')} AND ${isOffered('pn.pool_id', '?1', '?2')}
         AND a.version = 4 AND a.workload_id IS NULL AND a.reserved_for IS NULL AND a.rests_until IS NULL LIMIT +?3)`,
  ),
  take: $client.prepare(
    'UPDATE addresses SET workload_id = ?, is_primary = ? WHERE id = ? AND workload_id IS NULL AND reserved_for ' +
      'IS NULL AND rests_until IS NULL',
  ),
  ipv6Pools: $client.prepare<
    Pick<Pool, 'id' | 'network' | 'gateway' | 'first' | 'last' | 'nextOffset' | 'scope'>,
    [string, Vlan]
  >(
    'SELECT p.id, p.network, p.gateway, p.first, p.last, p.next_offset AS nextOffset, p.scope FROM pools p JOIN ' +
      `pool_nodes pn ON pn.pool_id = p.id WHERE p.version = 6 AND pn.node_id = +?1 AND p.vlan IS ?2
       AND ${isCarried('p.vlan', '?1')} AND ${isGiven('p.id')} ORDER BY p.id`,
  ),
  everyIpv6Pool: $client.prepare<Cut & Pick<Pool, 'scope' | 'vlan'>, [string]>(
    `SELECT p.id, p.network, p.gateway, p.first, p.last, p.next_offset AS nextOffset, p.scope, p.vlan FROM pool_nodes pn
     JOIN pools p ON p.id = pn.pool_id WHERE pn.node_id = +? AND p.version = 6 ORDER BY p.id`,
  ),
  nextPlace: $client.prepare<{ n: number }, [string]>(
    'SELECT coalesce(max(place), -1) + 1 AS n FROM addresses WHERE pool_id = +?',
  ),
  moveOn: $client.prepare('UPDATE pools SET next_offset = ? WHERE id = ?'),
  freed: $client.prepare<{ id: string; address: string }, [string, number]>(
    'SELECT id, address FROM addresses INDEXED BY addresses_free WHERE pool_id = +? AND prefix_length = +? AND ' +
      'workload_id IS NULL AND reserved_for IS NULL AND rests_until IS NULL ORDER BY place LIMIT 1',
  ),
  attachedTo: $client.prepare<{ pools: string | null }, [string]>(
    `SELECT group_concat(pool_id) AS pools FROM (SELECT pool_id FROM pool_nodes WHERE node_id = +? ORDER BY pool_id)`,
  ),
  // One text for all nodes of a pool: as rows, those of 10,000 nodes take ten times as long.
  everyPool: $client.prepare<
    PoolRange & Pick<Pool, 'id' | 'nextOffset' | 'vlan'> & { version: number; nodeIds: string },
    []
  >(
    `SELECT p.id, p.version, p.network, p.gateway, p.first, p.last, p.next_offset AS nextOffset, p.vlan,
       json_group_array(pn.node_id) AS nodeIds
     FROM pools p JOIN pool_nodes pn ON pn.pool_id = p.id
     WHERE ${isGiven('p.id')} AND ${isCarried('p.vlan', 'pn.node_id')} GROUP BY p.id ORDER BY p.id`,
  ),
  freeIn: $client.prepare<{ n: number }, [string]>(
    `SELECT count(*) AS n FROM addresses INDEXED BY addresses_free
     WHERE pool_id = +? AND version = 4 AND workload_id IS NULL AND reserved_for IS NULL AND rests_until IS NULL`,
  ),
  freeOfLength: $client.prepare<{ n: number }, [string, number]>(
    `SELECT count(*) AS n FROM addresses INDEXED BY addresses_free
     WHERE pool_id = +? AND prefix_length = +? AND workload_id IS NULL AND reserved_for IS NULL
       AND rests_until IS NULL`,
  ),
  // +?: 4 µs; a workload's addresses with their pools take 25.
  primaryIpv4: $client.prepare<{ address: string }, [string]>(
    'SELECT address FROM addresses WHERE workload_id = +? AND version = 4 ORDER BY is_primary DESC, place LIMIT 1',
  ),
  release: $client.prepare('UPDATE addresses SET workload_id = NULL, is_primary = 0 WHERE workload_id = ?'),
  park: $client.prepare(
    'UPDATE addresses SET workload_id = NULL, is_primary = 0, reserved_for = ? WHERE id = ? AND workload_id = ? AND ' +
      'holder_id IS NULL',
  ),
  unpark: $client.prepare(
    'UPDATE addresses SET workload_id = ?, is_primary = ?, reserved_for = NULL WHERE id = ? AND reserved_for = ? AND ' +
      'workload_id IS NULL',
  ),
  hand: $client.prepare('UPDATE addresses SET workload_id = ?, is_primary = 1 WHERE id = ? AND holder_id IS NULL'),
  freeParked: $client.prepare(
    'UPDATE addresses SET reserved_for = NULL WHERE id = ? AND reserved_for = ? AND workload_id IS NULL',
  ),
  keepFor: $client.prepare(
    'UPDATE addresses SET reserved_for = ? WHERE id = ? AND reserved_for = ? AND workload_id IS NULL',
  ),
  releaseOne: $client.prepare(
    'UPDATE addresses SET workload_id = NULL, is_primary = 0 WHERE id = ? AND workload_id = ? AND holder_id IS NULL',
  ),
}))

/**
 * Addresses of a workload: a number of IPv4 addresses, and the length of one IPv6 prefix or null. `moreIpv6`: the
 * lengths of further prefixes. `vlan`: the one in which all must be; left out: any one that has them all.
 */
export type AddressNeed = {
  ipv4: number
  ipv6Prefix: number | null
  moreIpv6?: readonly number[] | undefined
  vlan?: Vlan | undefined
}
/** The length of each prefix. */
const prefixesOf = ({ ipv6Prefix, moreIpv6 = [] }: AddressNeed): number[] =>
  ipv6Prefix === null ? [...moreIpv6] : [ipv6Prefix, ...moreIpv6]

/**
 * A lack, such as `no free IPv4 address`. `isAwaited`: there may be one when the nodes have reported that are awaited.
 * `isTaken`: something else has the address that is given.
 */
export type AddressLack = { words: string; isAwaited: boolean; isTaken?: boolean }

/**
 * Returns a function that answers what the pools attached to a node lack for this need; undefined: nothing. Nodes with
 * the same pools lack the same, so it looks once for all of them: for one node it takes 25 µs, for one more 3.
 */
export function lackingAddresses(tx: Db, need: AddressNeed): (nodeId: string) => AddressLack | undefined {
  const lacking = new Map<string, AddressLack | undefined>()
  return (nodeId) => {
    const pools = statements(tx).attachedTo.get(nodeId)!.pools ?? ''
    if (!lacking.has(pools)) lacking.set(pools, lackingAddress(tx, nodeId, need))
    return lacking.get(pools)
  }
}

/** The VLANs that may take the whole need; where the node routes nothing, the one without a tag. */
function vlansFor(tx: Db, nodeId: string, { vlan }: AddressNeed): Vlan[] {
  if (vlan !== undefined) return [vlan]
  const found = vlansOfNode(tx, nodeId)
  return found.length ? found : [null]
}
/** The VLAN whose pools at the node have all of the need; where none has, the first that lacks something. */
export function chooseVlan(tx: Db, nodeId: string, need: AddressNeed): Vlan {
  const all = vlansFor(tx, nodeId, need)
  if (all.length === 1) return all[0]!
  return all.find((vlan) => !lackingIn(tx, { nodeId, vlan }, need)) ?? all[0]!
}
function lackingAddress(tx: Db, nodeId: string, need: AddressNeed): AddressLack | undefined {
  let first: AddressLack | undefined
  for (const vlan of vlansFor(tx, nodeId, need)) {
    const lack = lackingIn(tx, { nodeId, vlan }, need)
    if (!lack) return undefined
    first ??= lack
  }
  return first
}
function lackingIn(tx: Db, { nodeId, vlan }: At, need: AddressNeed): AddressLack | undefined {
  const { ipv4 } = need
  const { countFree } = statements(tx)
  const where = vlan === null ? '' : ` in VLAN ${vlan}`
  const lack = (version: 4 | 6, words: string): AddressLack =>
    withholdsFor(tx, nodeId, version)
      ? { words: `no IPv${version} address before other nodes have reported`, isAwaited: true }
      : { words: words + uncarriedWords(tx, nodeId, version), isAwaited: false }
  const free4 = ipv4 > 0 ? countFree.get(nodeId, vlan, ipv4)!.n : 0
  if (free4 < ipv4) {
    const words = (ipv4 === 1 ? 'no free IPv4 address' : `fewer than ${ipv4} free IPv4 addresses`) + where
    return lack(4, words + restingWords(tx, nodeId, { version: 4, missing: ipv4 - free4 }))
  }
  const lengths = prefixesOf(need)
  const short = [...new Set(lengths)].find((length) => !hasPrefixes(tx, { nodeId, vlan }, length, lengths))
  if (short === undefined) return undefined
  const many = lengths.filter((length) => length === short).length
  const words = many === 1 ? `no free IPv6 prefix of /${short}` : `fewer than ${many} free IPv6 prefixes of /${short}`
  return lack(6, words + where + restingWords(tx, nodeId, { version: 6, prefixLength: short, missing: 1 }))
}
/** Can these pools give as many prefixes of this length as the list has? */
function hasPrefixes(tx: Db, { nodeId, vlan }: At, length: number, lengths: readonly number[]): boolean {
  const { ipv6Pools, freed, freeOfLength } = statements(tx)
  const pools = ipv6Pools.all(nodeId, vlan)
  const many = lengths.filter((other) => other === length).length
  if (many === 1) return pools.some((pool) => freed.get(pool.id, length) || cutFrom(tx, pool, length))
  return (
    pools.reduce((sum, pool) => sum + freeOfLength.get(pool.id, length)!.n + prefixesLeft(tx, pool, length), 0) >= many
  )
}

/** The pools of one VLAN at a node, by version, in the order in which addresses are taken from them. */
export type AttachedPools = { vlan: Vlan; v4: readonly string[]; v6: readonly string[] }
/**
 * The pools of each VLAN at each node, in the order in which VLANs are chosen; and how many addresses, or prefixes of
 * one length, each pool can still give.
 */
export type PoolSupply = { attached: ReadonlyMap<string, readonly AttachedPools[]>; free: Map<string, number> }

/**
 * The supply of every pool that gives addresses, for this need. Nodes with the same pools have one list of them. With
 * 20 pools it takes 0.1 ms; for 10,000 nodes with the same two, 5 ms.
 */
export function supplyOf(tx: Db, { ipv4, ipv6Prefix, vlan }: AddressNeed): PoolSupply {
  const { everyPool, freeIn, freeOfLength } = statements(tx)
  const attached = new Map<string, readonly AttachedPools[]>()
  const free = new Map<string, number>()
  const known = new Map<string, readonly AttachedPools[]>()
  const sameAs = (list: readonly AttachedPools[]) => {
    const key = JSON.stringify(list)
    const found = known.get(key) ?? list
    known.set(key, found)
    return found
  }
  for (const { nodeIds, ...pool } of everyPool.all()) {
    if (vlan !== undefined && pool.vlan !== vlan) continue
    const isNeeded = pool.version === 4 ? ipv4 > 0 : ipv6Prefix !== null
    const lists = new Map<readonly AttachedPools[] | undefined, readonly AttachedPools[]>()
    for (const nodeId of JSON.parse(nodeIds) as string[]) {
      const before = attached.get(nodeId)
      let list = lists.get(before)
      if (!list) lists.set(before, (list = sameAs(withPool(before ?? [], pool, isNeeded))))
      attached.set(nodeId, list)
    }
    if (!isNeeded) continue
    const n =
      pool.version === 4
        ? freeIn.get(pool.id)!.n
        : freeOfLength.get(pool.id, ipv6Prefix!)!.n + prefixesLeft(tx, pool, ipv6Prefix!)
    free.set(pool.id, n)
  }
  return { attached, free }
}
/** The same list where the pool changes nothing: its VLAN is known, and its addresses are not needed. */
function withPool(
  list: readonly AttachedPools[],
  { id, version, vlan }: Pick<Pool, 'id' | 'vlan'> & { version: number },
  isNeeded: boolean,
): readonly AttachedPools[] {
  const known = list.find((one) => one.vlan === vlan)
  if (known && !isNeeded) return list
  const of = known ?? { vlan, v4: [], v6: [] }
  const [v4, v6] = [
    isNeeded && version === 4 ? [...of.v4, id] : of.v4,
    isNeeded && version === 6 ? [...of.v6, id] : of.v6,
  ]
  return known ? list.map((one) => (one === known ? { vlan, v4, v6 } : one)) : [...list, { vlan, v4, v6 }]
}

/** How many prefixes of this length `cutFrom` still cuts from the pool, one after another. */
function prefixesLeft(tx: Db, pool: Cut, prefixLength: number): number {
  const { gateway, first, last } = parsedRange(tx, pool)
  const next = cutFrom(tx, pool, prefixLength)
  if (!next) return 0
  const size = 1n << BigInt(128 - prefixLength)
  const start = first + BigInt(next.nextOffset) - size
  const many = (last - start + 1n) / size
  const end = start + many * size
  return Number(many - takenPlaces(tx, pool.id, { start, end, bits: prefixLength, gateway }))
}

/** Takes one IPv4 address beside the primary one. Throws `no_addresses`. */
export const takeExtraIpv4 = (tx: Tx, workloadId: string, at: At): string => takeIpv4(tx, workloadId, at, 1, false)[0]!

/**
 * Takes `count` IPv4 addresses from the pools of one VLAN at the node; the first is the primary one, unless the
 * workload has one. Throws `no_addresses`.
 */
export function takeIpv4(tx: Tx, workloadId: string, at: At, count: number, hasPrimary = true): string[] {
  const { freeIpv4, take } = statements(tx)
  const { nodeId, vlan } = at
  return Array.from({ length: count }, (_, i) => {
    const free = freeIpv4.get(nodeId, vlan)
    if (!free)
      throw withholdsFor(tx, nodeId, 4)
        ? awaitingReports('The node of this server')
        : new ApiError(
            'no_addresses',
            `There is no free IPv4 address in ${poolsAt(at)}` +
              `${restingWords(tx, nodeId, { version: 4, missing: 1 })}. Add a pool, or attach one to it.`,
          )
    take.run(workloadId, hasPrimary && i === 0 ? 1 : 0, free.id)
    return free.address
  })
}

const poolsAt = ({ vlan }: At) =>
  vlan === null ? 'the pools attached to this node' : `the pools of VLAN ${vlan} attached to this node`

/** Takes one IPv6 prefix of this length. Throws `no_addresses` when no such pool has one. */
export function takeIpv6(tx: Tx, workloadId: string, at: At, prefixLength: number, { isPrimary = true } = {}): string {
  const { ipv6Pools, freed, take, nextPlace } = statements(tx)
  const { nodeId, vlan } = at
  for (const pool of ipv6Pools.all(nodeId, vlan)) {
    const again = freed.get(pool.id, prefixLength)
    if (again) {
      take.run(workloadId, isPrimary ? 1 : 0, again.id)
      return again.address
    }
    const cut = cutFrom(tx, pool, prefixLength)
    if (!cut) continue
    insert(tx, {
      id: newId('ip'),
      poolId: pool.id,
      version: 6,
      address: cut.address,
      rangeStart: cut.rangeStart,
      prefixLength,
      place: nextPlace.get(pool.id)!.n,
      workloadId,
      isPrimary,
      scope: pool.scope,
    })
    noteCut(tx, pool, cut.nextOffset)
    return cut.address
  }
  if (withholdsFor(tx, nodeId, 6)) throw awaitingReports('The node of this server')
  throw new ApiError(
    'no_addresses',
    `There is no free IPv6 prefix of /${prefixLength} in ${poolsAt(at)}` +
      `${restingWords(tx, nodeId, { version: 6, prefixLength, missing: 1 })}. Add a pool, or attach one.`,
  )
}

/**
 * The next aligned prefix behind what was cut before. `nextOffset` counts single addresses from the start of the range.
 */
export function cutFrom(tx: Db, pool: Cut, prefixLength: number) {
  const { network, gateway, first, last } = parsedRange(tx, pool)
  if (prefixLength < network.bits) return undefined
  const size = 1n << BigInt(128 - prefixLength)
  const from = first + BigInt(pool.nextOffset)
  // The network's own first prefix usually holds the gateway: it is left out.
  const start = from <= network.first ? network.first + size : from
  let aligned = ((start + size - 1n) / size) * size
  const skip = (out: Range) => {
    if (out.first < aligned + size && aligned <= out.last) aligned = (out.last / size + 1n) * size
  }
  // A prefix with the gateway in it is skipped, and what is cut already.
  const atGateway = { first: gateway, last: gateway }
  skip(atGateway)
  for (const out of earlyFrom(tx, pool.id, aligned)) {
    if (out.first >= aligned + size) break
    skip(out)
    skip(atGateway)
  }
  if (aligned + size - 1n > last) return undefined
  return { address: toText(6, aligned), rangeStart: startOf(aligned), nextOffset: String(aligned + size - first) }
}

/**
 * Is the prefix one that the pool still cuts: behind what was cut before, and neither with the gateway in it nor with
 * another prefix that is cut already? `except`: the id of an address that does not count.
 */
export function isFreePrefix(tx: Db, pool: Cut, prefix: Network, except = ''): boolean {
  const { network, gateway, first, last } = parsedRange(tx, pool)
  if (network.version !== 6 || prefix.version !== 6 || prefix.bits <= network.bits) return false
  if (prefix.first < first + BigInt(pool.nextOffset) || prefix.last > last) return false
  const hasGateway = prefix.first <= gateway && gateway <= prefix.last
  return !hasGateway && prefixIn(tx, pool.id, prefix, except) === undefined
}

type PoolRange = Pick<Pool, 'network' | 'gateway' | 'first' | 'last'>
/** A pool as far as prefixes are cut from it. */
export type Cut = PoolRange & Pick<Pool, 'id' | 'nextOffset'>
/** Is the whole prefix in the range of the pool? */
export function hasPrefix(tx: Db, pool: Cut, prefix: Network): boolean {
  const { network, first, last } = parsedRange(tx, pool)
  return prefix.version === network.version && first <= prefix.first && prefix.last <= last
}
const parsed = prepared(() => new Map<string, { text: string; range: ReturnType<typeof parse> }>())
/**
 * The numbers of a pool's range, kept with the database: to parse the four texts takes longer than to take a prefix.
 */
function parsedRange(tx: Db, pool: PoolRange & Pick<Pool, 'id'>) {
  const text = `${pool.network} ${pool.gateway} ${pool.first} ${pool.last}`
  let known = parsed(tx).get(pool.id)
  if (known?.text !== text) parsed(tx).set(pool.id, (known = { text, range: parse(pool) }))
  return known!.range
}
const parse = ({ network, gateway, first, last }: PoolRange) => ({
  network: toNetwork(network)!,
  gateway: toNumber(gateway)!.n,
  first: toNumber(first)!.n,
  last: toNumber(last)!.n,
})

/** The IPv6 pools that the node routes; some of them may give no addresses yet. */
export const pools6Of = (tx: Db, nodeId: string): (Cut & Pick<Pool, 'scope' | 'vlan'>)[] =>
  statements(tx).everyIpv6Pool.all(nodeId)

/** The place of the next prefix in its pool. */
export const nextPlaceIn = (tx: Db, poolId: string): number => statements(tx).nextPlace.get(poolId)!.n
/** The next prefix is cut behind this offset. */
export function noteCut(tx: Tx, pool: PoolRange & Pick<Pool, 'id'>, nextOffset: string) {
  statements(tx).moveOn.run(nextOffset, pool.id)
  passEarly(tx, pool.id, parsedRange(tx, pool).first + BigInt(nextOffset))
}

/** Releases every address of the workload; a floating address stays its owner's. Answers those that are free now. */
export function releaseAddresses(tx: Tx, workloadId: string): string[] {
  const held = addressesOf(tx, workloadId)
  statements(tx).release.run(workloadId)
  return held.filter(isOwn).map((a) => a.address)
}
/** Releases one address of the workload; one that it does not hold stays as it is. */
export const releaseAddress = (tx: Tx, workloadId: string, addressId: string) =>
  void statements(tx).releaseOne.run(addressId, workloadId)

/** Takes one of its own addresses from the workload, and keeps it from orders. */
export const parkAddress = (tx: Tx, workloadId: string, addressId: string, reason: string) =>
  void statements(tx).park.run(reason, addressId, workloadId)

/** True for an address that belongs to the workload itself, and is no floating one that points to it. */
export const isOwn = ({ holderId }: Pick<Address, 'holderId'>): boolean => holderId === null

/**
 * Takes addresses from the pools of a node, and keeps them for a workload that has others until it is there. `reason`:
 * names one move alone. Answers their ids. Throws `no_addresses`.
 */
export function reserveAddresses(
  tx: Tx,
  { workloadId, nodeId, reason }: { workloadId: string; nodeId: string; reason: string },
  need: AddressNeed,
): string[] {
  const before = new Set(addressesOf(tx, workloadId).map(({ id }) => id))
  const at = { nodeId, vlan: chooseVlan(tx, nodeId, need) }
  takeIpv4(tx, workloadId, at, need.ipv4, false)
  for (const length of prefixesOf(need)) takeIpv6(tx, workloadId, at, length, { isPrimary: false })
  const taken = addressesOf(tx, workloadId).flatMap(({ id }) => (before.has(id) ? [] : [id]))
  for (const id of taken) statements(tx).park.run(reason, id, workloadId)
  return taken
}
/**
 * The workload has the addresses that were kept for it, and those that it had are kept instead. The first of each
 * version in `take` becomes its primary one. False: one of them was given to somebody else, and nothing is changed.
 */
export function swapAddresses(
  tx: Tx,
  { workloadId, reason }: { workloadId: string; reason: string },
  { take, leave }: { take: readonly string[]; leave: readonly string[] },
): boolean {
  const kept = addressesById(tx, take)
  if (kept.length < take.length || kept.some((a) => a.reservedFor !== reason || a.workloadId !== null)) return false
  for (const id of leave) statements(tx).park.run(reason, id, workloadId)
  const seen = new Set<number>()
  for (const { id, version } of kept.toSorted((a, b) => take.indexOf(a.id) - take.indexOf(b.id))) {
    statements(tx).unpark.run(workloadId, seen.has(version) ? 0 : 1, id, reason)
    seen.add(version)
  }
  return true
}
/**
 * Two workloads give each other an address of their own, which becomes the primary one. No row is nobody's in between,
 * so that names in reverse DNS stay. False: one of them does not have its address any more, and nothing is changed.
 */
export function exchangeAddresses(tx: Tx, [a, b]: readonly [Exchanged, Exchanged]): boolean {
  const hasIt = ({ workloadId, addressId }: Exchanged) =>
    addressesOf(tx, workloadId).some((held) => held.id === addressId && isOwn(held))
  if (!hasIt(a) || !hasIt(b)) return false
  statements(tx).hand.run(b.workloadId, a.addressId)
  statements(tx).hand.run(a.workloadId, b.addressId)
  return true
}
type Exchanged = { workloadId: string; addressId: string }
/** Those that are kept for the one reason are kept for the other. */
export function keepFor(tx: Tx, ids: readonly string[], { from, to }: { from: string; to: string }) {
  for (const id of ids) statements(tx).keepFor.run(to, id, from)
}
/** Frees those that are still kept for this reason. */
export function freeReserved(tx: Tx, ids: readonly string[], reason: string) {
  for (const id of ids) statements(tx).freeParked.run(id, reason)
}

export type HeldAddress = Address & { pool: Pool }
const ofWorkload = prepared((db) =>
  db
    .select()
    .from(addresses)
    .innerJoin(pools, eq(pools.id, addresses.poolId))
    .where(eq(addresses.workloadId, unpeeked('workloadId'))) // 6 µs instead of 21
    .orderBy(asc(addresses.version), desc(addresses.isPrimary), asc(addresses.place))
    .prepare(),
)
/** In the order of `addressesOf`. */
export const addressesById = (tx: Db, ids: readonly string[]): HeldAddress[] =>
  tx
    .select()
    .from(addresses)
    .innerJoin(pools, eq(pools.id, addresses.poolId))
    .where(inArray(addresses.id, [...ids]))
    .orderBy(asc(addresses.version), desc(addresses.isPrimary), asc(addresses.place))
    .all()
    .map((row) => ({ ...row.addresses, pool: row.pools }))
/** The first IPv4 address of the workload; null when it has none. */
export const primaryIpv4 = (tx: Db, workloadId: string): string | null =>
  statements(tx).primaryIpv4.get(workloadId)?.address ?? null
/** Primary first, IPv4 before IPv6. */
export const addressesOf = (tx: Db, workloadId: string): HeldAddress[] =>
  ofWorkload(tx)
    .all({ workloadId })
    .map((row) => ({ ...row.addresses, pool: row.pools }))

/** Over `workloads w`: those with an address of this pool. */
export const hasAddressOf = (poolId: string): Where => ({
  where: 'w.id IN (SELECT workload_id FROM addresses WHERE pool_id = ? AND workload_id IS NOT NULL)',
  values: [poolId],
})
