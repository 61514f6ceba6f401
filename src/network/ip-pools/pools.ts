// Address pools: ranges from which workloads get their addresses, attached to the nodes that route them.
import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { page, paginate, sortParameter } from '../../kernel/api/list.ts'
import { described, done, fields, line, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { holdClaimed, overruleClaims } from './claims.ts'
import { attachPoolTo, makePool } from './make/make-pool.ts'
import {
  addressStates,
  mustBeNodes,
  pool,
  poolAddress,
  poolResponse,
  quarantineHours,
  showPool,
  stateOf,
} from './model.ts'
import {
  addressById,
  addressesInOrder,
  countAddresses,
  countNodesOf,
  countPools,
  deletePool,
  hasAddressOf,
  hasFloating,
  nodeIdsOf,
  poolById,
  poolSorts,
  poolsByName,
  reserve,
  routersOf,
} from './queries.ts'
import type { Address } from './tables.ts'
import { holderOf, holderOn, type PoolContext, routerName, routersByName } from './users.ts'
import { vlanField } from './vlan/field.ts'

const addressText = t.String({ minLength: 1, maxLength: 45 })

export const createPool = operation({
  id: 'pools.create',
  method: 'POST',
  path: '/admin/ip-pools',
  summary: 'Add an address pool and attach it to nodes',
  past: 'Added an address pool',
  access: { staff: ['network:write'] },
  body: fields({
    name: line(60),
    network: t.String({ minLength: 1, maxLength: 49 }),
    gateway: addressText,
    first: t.Optional(addressText),
    last: t.Optional(addressText),
    resolvers: t.Optional(t.Array(addressText, { maxItems: 6 })),
    nodeIds: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 500 })),
    quarantineHours: t.Optional(quarantineHours),
    vlan: t.Optional(vlanField),
  }),
  response: poolResponse,
  status: 201,
  refuses: ['name_taken', 'pool_overlaps', 'vlan_not_carried'],
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
    const made = makePool(call, call.body, call.clock())
    return showPool(call, made)
  },
})

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
  state: described(t.Enum([...addressStates]), 'resting: it was freed, and nobody gets it before `restsUntil`.'),
  restsUntil: nullable(time),
  reservedFor: nullable(t.String()),
  retiredFor: described(nullable(t.String()), 'Why it is never given out again, also of one that a server has still.'),
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
        state: stateOf(a),
        restsUntil: isoOrNull(a.restsUntil),
        reservedFor: a.reservedFor,
        retiredFor: a.retiredFor,
        workload: shownHolder(call, a),
      }),
      total: () => countAddresses(tx, target.id).total,
    })
  },
})

export const listPoolNodes = operation({
  id: 'pools.nodes',
  method: 'GET',
  path: '/admin/ip-pools/{id}/nodes',
  summary: 'The nodes that route a pool, by name',
  access: { staff: ['nodes:read', 'network:write'] },
  on: pool,
  pages: { usual: 100, most: 500 },
  response: page(t.Object({ id: t.String(), name: t.String() })),
  run: (call) =>
    paginate({
      call,
      name: `nodes of ${call.target.id}`,
      rows: (slice) => routersByName(call, routersOf(call.target.id), slice),
      keyOf: ({ name }) => name,
      show: (node) => node,
      total: () => countNodesOf(call.tx, call.target.id),
    }),
})

export const attachPool = operation({
  id: 'pools.attach',
  method: 'PUT',
  path: '/admin/ip-pools/{id}/nodes',
  summary: 'Set which nodes route this pool',
  past: 'Changed the nodes of an address pool',
  access: { staff: ['network:write'] },
  on: pool,
  body: fields({ nodeIds: t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 500 }) }),
  response: poolResponse,
  refuses: ['in_use', 'pool_overlaps', 'vlan_not_carried'],
  example: { nodeIds: ['<node_id>'] },
  auditSnapshot: (call) => ({
    ...call.target,
    nodes: nodeIdsOf(call.tx, call.target.id)
      .map((id) => routerName(call, id) ?? '')
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
    return showPool(call, attachPoolTo(call, target, body.nodeIds))
  },
})

export const reserveAddress = operation({
  id: 'pools.reserve',
  method: 'PATCH',
  path: '/admin/ip-addresses/{id}',
  summary: 'Reserve an address so that no server gets it, or free it again',
  past: 'Changed the reservation of an address',
  access: { staff: ['network:write'] },
  on: poolAddress,
  body: fields({ reservedFor: nullable(line(100)) }),
  response: t.Object({ id: t.String(), address: t.String(), reservedFor: nullable(t.String()) }),
  refuses: ['address_in_use', 'address_retired'],
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
    if (target.retiredFor !== null)
      throw new ApiError(
        'address_retired',
        `${target.address} is never given out again (${target.retiredFor}). Its reservation ends with that.`,
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
  past: 'Removed an address pool',
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
