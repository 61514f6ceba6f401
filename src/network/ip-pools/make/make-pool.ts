// Making an address pool, and letting nodes route it: for the operations, and for what brings its own ranges along.
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { named } from '../../../kernel/api/named.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { mustBeNodes } from '../model.ts'
import { allPools, attachTo, fillPool, insertPool, nodeIdsOf, rescopePool, rescopeRest } from '../queries.ts'
import { type Network, toNetwork, toNumber, toText } from '../ranges.ts'
import { canMeet, isPrivateRange, scopeFor } from '../scope.ts'
import { EVERYWHERE, type Pool } from '../tables.ts'
import { locationName, type PoolContext } from '../users.ts'
import { mustCarry } from '../vlan/carried.ts'

/** Every IPv4 address of a pool is a row from the start; a /16 is 65,536 rows. */
const SMALLEST_IPV4_PREFIX = 16

type Given = {
  name: string
  network: string
  gateway: string
  first?: string | undefined
  last?: string | undefined
  resolvers?: readonly string[] | undefined
  nodeIds?: readonly string[] | undefined
  quarantineHours?: number | undefined
  vlan?: number | null | undefined
}
type Making = PoolContext & { tx: Tx }

/**
 * Adds a pool with its addresses. Throws `validation_failed`, `name_taken`, `pool_overlaps` or `vlan_not_carried`.
 * `now`: in ms.
 */
export function makePool(call: Making, given: Given, now: number): Pool {
  const { tx } = call
  const network = networkFrom(given.network)
  const gateway = gatewayFrom(network, given.gateway)
  const { first, last } = rangeFrom(network, given)
  const resolvers = (given.resolvers ?? []).map((r) => {
    if (!toNumber(r)) throw invalid({ field: 'resolvers', message: 'must be IP addresses.' })
    return r
  })
  const nodeIds = [...(given.nodeIds ?? [])]
  mustBeNodes(call, nodeIds)
  const { vlan = null } = given
  mustCarry(call, vlan, nodeIds)
  const id = newId('pool')
  const scope = scopeFor(call, { id, network: given.network, scope: id }, nodeIds)
  mustOverlapNone(call, { id, version: network.version, first, last, gateway, scope })
  rescopeRest(tx)
  const made = named('pool', () =>
    insertPool(tx, {
      id,
      name: given.name,
      version: network.version,
      network: given.network,
      gateway: given.gateway,
      first: toText(network.version, first),
      last: toText(network.version, last),
      resolvers,
      scope,
      vlan,
      ...(given.quarantineHours !== undefined && { quarantineHours: given.quarantineHours }),
      createdAt: now,
    }),
  )
  if (network.version === 4) fill(tx, made, network, first, last, gateway)
  attachTo(tx, made.id, nodeIds)
  return made
}

/**
 * These nodes route the pool from now on, and no others; one that did before may have lost its VLAN. Answers the pool
 * as it is then. Throws `pool_overlaps` or `vlan_not_carried`.
 */
export function attachPoolTo<P extends Pool>(call: Making, target: P, nodeIds: readonly string[]): P {
  const before = new Set(nodeIdsOf(call.tx, target.id))
  mustCarry(
    call,
    target.vlan,
    nodeIds.filter((id) => !before.has(id)),
  )
  const scope = scopeFor(call, target, nodeIds)
  if (scope !== target.scope) {
    mustOverlapNone(call, { ...target, ...numbersOf(target), scope })
    rescopeRest(call.tx)
    rescopePool(call.tx, target.id, scope)
  }
  attachTo(call.tx, target.id, nodeIds)
  return { ...target, scope }
}

function networkFrom(text: string): Network {
  const network = toNetwork(text)
  if (!network)
    throw invalid({
      field: 'network',
      message: 'must be a network like 203.0.113.0/24 or 2001:db8::/48, with the host part zero.',
    })
  if (network.version === 4 && network.bits < SMALLEST_IPV4_PREFIX)
    throw invalid({
      field: 'network',
      message: `must be /${SMALLEST_IPV4_PREFIX} or smaller. Split it into several pools.`,
    })
  if (network.version === 6 && (network.bits < 16 || network.bits > 120))
    throw invalid({ field: 'network', message: 'must be between /16 and /120.' })
  return network
}

type Range = { first: bigint; last: bigint }
const isIn = ({ first, last }: Range, n: bigint) => first <= n && n <= last

type Wanted = Range & { gateway: bigint; version: 4 | 6 } & Pick<Pool, 'id' | 'scope'>
/**
 * Pools may be pieces of one network, with one gateway: no address is in two ranges, and no gateway of one is an
 * address of another, unless both ranges are private and at different locations. Throws `pool_overlaps`.
 */
function mustOverlapNone(call: PoolContext, wanted: Wanted) {
  for (const other of allPools(call.tx)) {
    if (other.id === wanted.id || other.version !== wanted.version || !canMeet(other.scope, wanted.scope)) continue
    const { first, last, gateway } = numbersOf(other)
    const refuse = (words: string) => {
      throw new ApiError('pool_overlaps', `${words} ${scopeHint(call, other, wanted)}`.trim())
    }
    if (wanted.first <= last && first <= wanted.last)
      refuse(`The range overlaps with ${other.first} to ${other.last} of the pool ${other.name}. Choose another range.`)
    if (gateway === wanted.gateway) continue
    if (isIn(wanted, gateway))
      refuse(`The range holds ${other.gateway}, the gateway of the pool ${other.name}. Choose a range without it.`)
    if (isIn({ first, last }, wanted.gateway))
      refuse(`The gateway is an address of the pool ${other.name}. Choose the gateway that this network really has.`)
  }
}

const numbersOf = (pool: Pick<Pool, 'first' | 'last' | 'gateway'>) => ({
  first: toNumber(pool.first)!.n,
  last: toNumber(pool.last)!.n,
  gateway: toNumber(pool.gateway)!.n,
})

/** A private range of several locations stands in the way at each of them: the words say how that is mended. */
function scopeHint(call: PoolContext, other: Pool, wanted: Wanted): string {
  if (!isPrivateRange(toNetwork(other.network)!) || other.scope === wanted.scope) return ''
  return other.scope === EVERYWHERE
    ? `Another location can have the same private range only where ${other.name} is attached to nodes of one location.`
    : `${other.name} is at ${locationName(call, other.scope) ?? 'another location'}: a private range can be used ` +
        'again only by a pool that is attached to nodes of one location.'
}

function gatewayFrom(network: Network, text: string): bigint {
  const gateway = toNumber(text)
  if (gateway?.version !== network.version)
    throw invalid({ field: 'gateway', message: `must be an IPv${network.version} address.` })
  // An IPv6 gateway is often link-local, and some networks route through one outside the range.
  return gateway.n
}

function rangeFrom(network: Network, { first, last }: { first?: string | undefined; last?: string | undefined }) {
  const usual =
    network.version === 4 && network.bits <= 30 ? { first: network.first + 1n, last: network.last - 1n } : network
  const at = (field: 'first' | 'last', text: string | undefined) => {
    if (text === undefined || text === '') return usual[field]
    const found = toNumber(text)
    if (found?.version !== network.version || found.n < network.first || found.n > network.last)
      throw invalid({ field, message: 'must be an address inside the network.' })
    return found.n
  }
  const range = { first: at('first', first), last: at('last', last) }
  if (range.first > range.last) throw invalid({ field: 'last', message: 'must not be before the first address.' })
  return range
}

function fill(
  tx: Tx,
  pool: Pick<Pool, 'id' | 'scope'>,
  network: Network,
  first: bigint,
  last: bigint,
  gateway: bigint,
) {
  function* rows() {
    for (let n = first; n <= last; n++)
      yield { id: newId('ip'), address: toText(4, n), reservedFor: n === gateway ? 'Gateway' : null }
  }
  fillPool(tx, pool, network.bits, rows())
}
