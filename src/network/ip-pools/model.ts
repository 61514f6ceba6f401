import { Type as t } from 'typebox'
import type { Actor } from '../../kernel/api/actor.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, type Resource } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { awaitedOf } from './awaited.ts'
import { DEFAULT_QUARANTINE_HOURS } from './quarantine/hours.ts'
import { addressById, countAddresses, countNodesOf, poolById, routersOf } from './queries.ts'
import type { Address, Pool } from './tables.ts'
import { locationName, type PoolContext, routerName, routersByName } from './users.ts'
import { nodesWithoutVlan } from './vlan/queries.ts'

const staffOnly =
  <Row>(find: (tx: Db, id: string) => Row | undefined) =>
  (tx: Db, actor: Actor, id: string) =>
    actor.kind === 'staff' ? find(tx, id) : undefined

export const pool: Resource<Pool> = {
  name: 'address pool',
  notFound: 'pool_not_found',
  find: staffOnly(poolById),
}
export const poolAddress: Resource<Address> = {
  name: 'address',
  notFound: 'address_not_found',
  find: staffOnly(addressById),
}

export const addressStates = ['free', 'held', 'reserved', 'resting'] as const
export const stateOf = ({ workloadId, reservedFor, restsUntil }: Address): (typeof addressStates)[number] =>
  workloadId !== null ? 'held' : reservedFor !== null ? 'reserved' : restsUntil !== null ? 'resting' : 'free'

const MOST_QUARANTINE_DAYS = 90
export const quarantineHours = described(
  t.Integer({ minimum: 0, maximum: 24 * MOST_QUARANTINE_DAYS }),
  `So long a freed address rests before another server gets it. Without it: ${DEFAULT_QUARANTINE_HOURS}. 0: it does ` +
    'not rest.',
)

/** A pool names so many of its nodes. */
export const NODES_SHOWN = 100

export const poolResponse = namedSchema('AddressPool', {
  id: t.String(),
  name: t.String(),
  version: t.Enum([4, 6]),
  network: t.String(),
  gateway: t.String(),
  first: t.String(),
  last: t.String(),
  resolvers: t.Array(t.String()),
  vlan: described(nullable(t.Integer()), 'In which its servers are, on the uplinks of its nodes. Null: none.'),
  total: described(nullable(t.Integer()), 'null for IPv6: too many to count.'),
  free: nullable(t.Integer()),
  held: t.Integer(),
  reserved: t.Integer(),
  resting: described(t.Integer(), 'Freed ones that nobody gets yet.'),
  quarantineHours: described(t.Integer(), 'So long a freed address rests before another server gets it.'),
  nodes: described(t.Array(t.Object({ id: t.String(), name: t.String() })), `The first ${NODES_SHOWN} by name.`),
  nodeCount: described(t.Integer(), 'How many nodes route it; `pools.nodes` lists them.'),
  uncarried: described(
    t.Array(t.Object({ id: t.String(), name: t.String() })),
    `Those of its nodes that do not carry its VLAN, ${NODES_SHOWN} at most: they give none of its addresses.`,
  ),
  uniqueAt: described(
    nullable(t.Object({ id: t.String(), name: t.String() })),
    'Of a private range (RFC 1918, RFC 6598, fc00::/7): the only location where no other pool has its addresses. ' +
      'Null: no pool has them at any location, or the pool was never attached to a node.',
  ),
  awaited: described(
    t.Array(t.Object({ id: t.String(), name: t.String() })),
    'Nodes that have not told since the database was restored which addresses are in use on them; it gives none ' +
      'before.',
  ),
})

export function showPool(call: PoolContext, { nextOffset: _, createdAt: __, rescoped: ___, scope, ...shown }: Pool) {
  const { total, held, reserved, resting } = countAddresses(call.tx, shown.id)
  const location = locationName(call, scope)
  const named = (ids: readonly string[]) => ids.map((id) => ({ id, name: routerName(call, id) ?? '' }))
  return {
    ...shown,
    held,
    reserved,
    resting,
    nodes: routersByName(call, routersOf(shown.id), {
      after: undefined,
      skip: 0,
      limit: NODES_SHOWN,
      order: undefined,
    }),
    nodeCount: countNodesOf(call.tx, shown.id),
    uncarried: named(nodesWithoutVlan(call.tx, shown.id, NODES_SHOWN)),
    uniqueAt: location === undefined ? null : { id: scope, name: location },
    awaited: named(awaitedOf(call.tx, shown.id)),
    ...(shown.version === 4 ? { total, free: total - held - reserved - resting } : { total: null, free: null }),
  }
}

/** Throws `validation_failed` when one of the ids is no node. */
export function mustBeNodes(call: PoolContext, nodeIds: readonly string[]) {
  if (nodeIds.some((id) => routerName(call, id) === undefined))
    throw invalid({ field: 'nodeIds', message: 'has an id that is not a node.' })
}
