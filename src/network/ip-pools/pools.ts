// Address pools: ranges from which workloads get their addresses, attached to the nodes that route them.
import { Type as t } from 'typebox'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page, paginate, sortParameter } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { described, done, fields, line, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { holdClaimed, overruleClaims } from './claims.ts'
import { mustBeNodes, pool, poolAddress, poolResponse, showPool } from './model.ts'
import {
  addressById,
  addressesInOrder,
  allPools,
  attachTo,
  countAddresses,
  countPools,
  deletePool,
  fillPool,
  hasAddressOf,
  hasFloating,
  insertPool,
  nodeIdsOf,
  poolById,
  poolSorts,
  poolsByName,
  rescopePool,
  rescopeRest,
  reserve,
} from './queries.ts'
import { type Network, toNetwork, toNumber, toText } from './ranges.ts'
import { canMeet, isPrivateRange, scopeFor } from './scope.ts'
import { type Address, EVERYWHERE, type Pool } from './tables.ts'
import { holderOf, holderOn, locationName, type PoolContext } from './users.ts'

/** Every IPv4 address of a pool is a row from the start; a /16 is 65,536 rows. */
const SMALLEST_IPV4_PREFIX = 16

const addressText = t.String({ minLength: 1, maxLength: 45 })

export const createPool = operation({
  id: 'pools.create',
  method: 'POST',
  path: '/admin/ip-pools',
  summary: 'Add an address pool and attach it to nodes',
  access: { staff: ['network:write'] },
  body: fields({
    name: line(60),
    network: t.String({ minLength: 1, maxLength: 49 }),
    gateway: addressText,
    first: t.Optional(addressText),
    last: t.Optional(addressText),
    resolvers: t.Optional(t.Array(addressText, { maxItems: 6 })),
    nodeIds: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 500 })),
  }),
  response: poolResponse,
  status: 201,
  refuses: ['name_taken', 'pool_overlaps'],
  example: {
    name: 'Frankfurt IPv4',
    network: '203.0.113.0/24',
    gateway: '203.0.113.1',
    first: '203.0.113.10',
    last: '203.0.113.250',
    resolvers: ['9.9.9.9'],
    nodeIds: [],
  },
  run(call) {
    const { tx, body, clock } = call
    const network = networkFrom(body.network)
    const gateway = gatewayFrom(network, body.gateway)
    const { first, last } = rangeFrom(network, body)
    const resolvers = (body.resolvers ?? []).map((r) => {
      if (!toNumber(r)) throw invalid({ field: 'resolvers', message: 'must be IP addresses.' })
      return r
    })
    const nodeIds = body.nodeIds ?? []
    mustBeNodes(call, nodeIds)
    const id = newId('pool')
    const scope = scopeFor(call, { id, network: body.network, scope: id }, nodeIds)
    mustOverlapNone(call, { id, version: network.version, first, last, gateway, scope })
    rescopeRest(tx)
    const made = named('pool', () =>
      insertPool(tx, {
        id,
        name: body.name,
        version: network.version,
        network: body.network,
        gateway: body.gateway,
        first: toText(network.version, first),
        last: toText(network.version, last),
        resolvers,
        scope,
        createdAt: clock(),
      }),
    )
    if (network.version === 4) fill(tx, made, network, first, last, gateway)
    attachTo(tx, made.id, nodeIds)
    return showPool(call, made)
  },
})

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

export const listPools = operation({
  id: 'pools.list',
  method: 'GET',
  path: '/admin/ip-pools',
  summary: 'Address pools and how full they are',
  access: { staff: ['nodes:read', 'network:write'] },
  query: { sort: sortParameter(poolSorts, 'by name') },
  response: page(poolResponse),
  run(call) {
    const { tx } = call
    return paginate({
      call,
      name: 'pools',
      sorts: poolSorts,
      rows: (slice) => poolsByName(tx, slice),
      keyOf: (p) => p.name,
      show: (p) => showPool(call, p),
      total: () => countPools(tx),
    })
  },
})

export const getPool = operation({
  id: 'pools.get',
  method: 'GET',
  path: '/admin/ip-pools/{id}',
  summary: 'One address pool',
  access: { staff: ['nodes:read', 'network:write'] },
  on: pool,
  response: poolResponse,
  run: (call) => showPool(call, call.target),
})

const addressResponse = namedSchema('PoolAddress', {
  id: t.String(),
  address: t.String(),
  prefixLength: t.Integer(),
  state: t.Enum(['free', 'held', 'reserved']),
  reservedFor: nullable(t.String()),
  workload: described(
    nullable(t.Object({ id: t.String(), kind: t.String(), hostname: t.String() })),
    'What holds it: a server, or another kind of workload.',
  ),
})

const shownHolder = (call: PoolContext, { workloadId }: Address) =>
  workloadId === null ? null : (holderOf(call, workloadId) ?? null)

export const listPoolAddresses = operation({
  id: 'pools.addresses',
  method: 'GET',
  path: '/admin/ip-pools/{id}/addresses',
  summary: 'The addresses of a pool, in order: the map',
  access: { staff: ['nodes:read', 'network:write'] },
  on: pool,
  pages: { usual: 64, most: 256 },
  response: page(addressResponse),
  run(call) {
    const { tx, target } = call
    return paginate({
      call,
      name: `pool ${target.id}`,
      rows: (slice) => addressesInOrder(tx, target.id, slice),
      keyOf: (a) => String(a.place),
      show: (a) => ({
        id: a.id,
        address: a.address,
        prefixLength: a.prefixLength,
        state: a.workloadId ? ('held' as const) : a.reservedFor ? ('reserved' as const) : ('free' as const),
        reservedFor: a.reservedFor,
        workload: shownHolder(call, a),
      }),
      total: () => countAddresses(tx, target.id).total,
    })
  },
})

export const attachPool = operation({
  id: 'pools.attach',
  method: 'PUT',
  path: '/admin/ip-pools/{id}/nodes',
  summary: 'Set which nodes route this pool',
  access: { staff: ['network:write'] },
  on: pool,
  body: fields({ nodeIds: t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 500 }) }),
  response: poolResponse,
  refuses: ['in_use', 'pool_overlaps'],
  example: { nodeIds: ['<node_id>'] },
  auditSnapshot: (call) => ({
    ...call.target,
    nodes: showPool(call, call.target)
      .nodes.map(({ name }) => name)
      .sort(),
  }),
  run(call) {
    const { tx, target, body } = call
    mustBeNodes(call, body.nodeIds)
    const given = new Set(body.nodeIds)
    const leaving = nodeIdsOf(tx, target.id).filter((id) => !given.has(id))
    const left = leaving.length ? holderOn(call, leaving, hasAddressOf(target.id)) : undefined
    if (left)
      throw new ApiError(
        'in_use',
        `${left.hostname} has an address of this pool on a node that would no longer route it. Move or terminate it ` +
          'first.',
      )
    const scope = scopeFor(call, target, body.nodeIds)
    if (scope !== target.scope) {
      mustOverlapNone(call, { ...target, ...numbersOf(target), scope })
      rescopeRest(tx)
      rescopePool(tx, target.id, scope)
    }
    attachTo(tx, target.id, body.nodeIds)
    return showPool(call, { ...target, scope })
  },
})

export const reserveAddress = operation({
  id: 'pools.reserve',
  method: 'PATCH',
  path: '/admin/ip-addresses/{id}',
  summary: 'Reserve an address so that no server gets it, or free it again',
  access: { staff: ['network:write'] },
  on: poolAddress,
  body: fields({ reservedFor: nullable(line(100)) }),
  response: t.Object({ id: t.String(), address: t.String(), reservedFor: nullable(t.String()) }),
  refuses: ['address_in_use'],
  example: { reservedFor: 'Router of rack 4' },
  run({ tx, target, body }) {
    if (target.workloadId)
      throw new ApiError(
        'address_in_use',
        `${target.address} belongs to a server. It can be reserved when the server has let go of it.`,
      )
    if (target.holderId)
      throw new ApiError(
        'address_in_use',
        `${target.address} is a floating address of a customer. It is free again when it is released.`,
      )
    const { gateway } = poolById(tx, target.poolId)!
    if (target.address === gateway)
      throw new ApiError(
        'address_in_use',
        `${target.address} is the gateway of its pool. It is never given to a server.`,
      )
    if (body.reservedFor === null) overruleClaims(tx, target)
    reserve(tx, target.id, body.reservedFor)
    // A reservation of staff ends, and that for a server that the database does not know begins.
    holdClaimed(tx, target.id)
    const { id, address, reservedFor } = addressById(tx, target.id)!
    return { id, address, reservedFor }
  },
})

export const removePool = operation({
  id: 'pools.remove',
  destroys: [],
  method: 'DELETE',
  path: '/admin/ip-pools/{id}',
  summary: 'Remove a pool when no server has an address from it',
  access: { staff: ['network:write'] },
  on: pool,
  response: done,
  refuses: ['in_use'],
  run({ tx, target }) {
    const { held } = countAddresses(tx, target.id)
    if (held) throw new ApiError('in_use', `${held} of its addresses belong to servers. Terminate or move them first.`)
    if (hasFloating(tx, target.id))
      throw new ApiError('in_use', 'Some of its addresses are floating addresses of customers. Release them first.')
    deletePool(tx, target.id)
    return {}
  },
})
