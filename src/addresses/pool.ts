import { and, eq, inArray } from 'drizzle-orm'
import { Type as t } from 'typebox'
import type { Actor } from '../kernel/api/actor.ts'
import { nullable, type Resource, shape, told } from '../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../kernel/db/open.ts'
import { nodes, poolNodes } from '../nodes/tables.ts'
import { type Address, addresses, type Pool, pools } from './tables.ts'

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

export const poolAnswer = shape('AddressPool', {
  id: t.String(),
  name: t.String(),
  version: t.Enum([4, 6]),
  network: t.String(),
  gateway: t.String(),
  first: t.String(),
  last: t.String(),
  resolvers: t.Array(t.String()),
  total: told(nullable(t.Integer()), 'null for IPv6: more than anyone counts.'),
  free: nullable(t.Integer()),
  held: t.Integer(),
  reserved: t.Integer(),
  nodes: t.Array(t.Object({ id: t.String(), name: t.String() })),
})

const counts = prepared(({ $client }) =>
  $client.prepare<{ total: number; held: number; reserved: number }, [string]>(
    'SELECT count(*) AS total, count(server_id) AS held, count(reserved_for) AS reserved FROM addresses WHERE pool_id = ?',
  ),
)

export function showPool(tx: Db, { nextOffset: _, createdAt: __, ...it }: Pool) {
  const { total, held, reserved } = counts(tx).get(it.id)!
  const attached = tx
    .select({ id: nodes.id, name: nodes.name })
    .from(poolNodes)
    .innerJoin(nodes, eq(nodes.id, poolNodes.nodeId))
    .where(eq(poolNodes.poolId, it.id))
    .all()
  return {
    ...it,
    held,
    reserved,
    nodes: attached,
    ...(it.version === 4 ? { total, free: total - held - reserved } : { total: null, free: null }),
  }
}

/** Throws when one of the ids is no node; answers them once each. */
export function attachTo(tx: Tx, poolId: string, nodeIds: readonly string[]) {
  tx.delete(poolNodes).where(eq(poolNodes.poolId, poolId)).run()
  for (const nodeId of new Set(nodeIds)) tx.insert(poolNodes).values({ poolId, nodeId }).run()
}

export const nodesNamed = (tx: Db, ids: readonly string[]) =>
  ids.length
    ? tx
        .select()
        .from(nodes)
        .where(and(inArray(nodes.id, [...ids])))
        .all()
        .filter((n) => n.removedAt === null)
    : []
