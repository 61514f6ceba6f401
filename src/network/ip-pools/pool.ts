import { eq } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { nodeById } from '../../fleet/nodes/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, type Resource } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { type Address, addresses, type Pool, poolNodes, pools } from './tables.ts'

const staffOnly =
  <Row>(find: (tx: Db, id: string) => Row | undefined) =>
  (tx: Db, actor: Actor, id: string) =>
    actor.kind === 'staff' ? find(tx, id) : undefined

export const pool: Resource<Pool> = {
  name: 'address pool',
  notFound: 'pool_not_found',
  find: staffOnly((tx, id) => tx.select().from(pools).where(eq(pools.id, id)).get()),
}
export const poolAddress: Resource<Address> = {
  name: 'address',
  notFound: 'address_not_found',
  find: staffOnly((tx, id) => tx.select().from(addresses).where(eq(addresses.id, id)).get()),
}

export const poolAnswer = namedSchema('AddressPool', {
  id: t.String(),
  name: t.String(),
  version: t.Enum([4, 6]),
  network: t.String(),
  gateway: t.String(),
  first: t.String(),
  last: t.String(),
  resolvers: t.Array(t.String()),
  total: described(nullable(t.Integer()), 'null for IPv6: more than anyone counts.'),
  free: nullable(t.Integer()),
  held: t.Integer(),
  reserved: t.Integer(),
  nodes: t.Array(t.Object({ id: t.String(), name: t.String() })),
})

const counts = prepared(({ $client }) =>
  $client.prepare<{ total: number; held: number; reserved: number }, [string]>(
    'SELECT count(*) AS total, count(workload_id) AS held, count(reserved_for) AS reserved FROM addresses WHERE pool_id = ?',
  ),
)

export function showPool(tx: Db, { nextOffset: _, createdAt: __, ...it }: Pool) {
  const { total, held, reserved } = counts(tx).get(it.id)!
  const attached = tx.select().from(poolNodes).where(eq(poolNodes.poolId, it.id)).all()
  return {
    ...it,
    held,
    reserved,
    nodes: attached.map(({ nodeId }) => ({ id: nodeId, name: nodeById(tx, nodeId)?.name ?? '' })),
    ...(it.version === 4 ? { total, free: total - held - reserved } : { total: null, free: null }),
  }
}

/** Throws when one of the ids is no node; answers them once each. */
export function attachTo(tx: Tx, poolId: string, nodeIds: readonly string[]) {
  tx.delete(poolNodes).where(eq(poolNodes.poolId, poolId)).run()
  for (const nodeId of new Set(nodeIds)) tx.insert(poolNodes).values({ poolId, nodeId }).run()
}

/** For a node that is removed. */
export const detachNode = (tx: Tx, nodeId: string) =>
  void tx.delete(poolNodes).where(eq(poolNodes.nodeId, nodeId)).run()

/** Throws `validation_failed` when one of the ids is no node. */
export function mustBeNodes(tx: Db, nodeIds: readonly string[]) {
  if (!nodeIds.every((id) => nodeById(tx, id)?.removedAt === null))
    throw invalid({ field: 'nodeIds', message: 'has an id that is not a node.' })
}
