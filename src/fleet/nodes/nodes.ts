import { and, asc, count as counting, eq, gt, isNull } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { Facts } from '../../../agent/protocol/wire.ts'
import { serversOn } from '../../compute/servers/server.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page, paginate } from '../../kernel/api/list.ts'
import { named, patched } from '../../kernel/api/named.ts'
import { done, fields, line, nullable, operation, time } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { count } from '../../kernel/words.ts'
import { detachNode } from '../../network/ip-pools/pool.ts'
import { node, nodeResponse, showNode } from './model.ts'
import { nodes } from './tables.ts'

const there = isNull(nodes.removedAt)

export const listNodes = operation({
  id: 'nodes.list',
  method: 'GET',
  path: '/admin/nodes',
  summary: 'Nodes, with their health and what they hold',
  access: { staff: ['nodes:read'] },
  query: { locationId: idOf('location', 'Only nodes of this location.') },
  pages: { usual: 100, most: 200 },
  response: page(nodeResponse),
  run(call) {
    const { tx, query } = call
    const filter = and(there, query['locationId'] ? eq(nodes.locationId, query['locationId']) : undefined)
    return paginate({
      call,
      name: 'nodes',
      rows: (after, limit) =>
        tx
          .select()
          .from(nodes)
          .where(and(filter, after ? gt(nodes.name, after) : undefined))
          .orderBy(asc(nodes.name))
          .limit(limit)
          .all(),
      keyOf: (n) => n.name,
      show: (n) => showNode(call, n),
      total: () => tx.select({ n: counting() }).from(nodes).where(filter).get()!.n,
    })
  },
})

export const getNode = operation({
  id: 'nodes.get',
  method: 'GET',
  path: '/admin/nodes/{id}',
  summary: 'One node: its facts, its load, and what differs from what should be on it',
  access: { staff: ['nodes:read'] },
  on: node,
  response: t.Object({
    ...nodeResponse.properties,
    facts: Facts,
    inventoryAt: nullable(time),
    found: t.Array(t.Object({ kind: t.String(), serverId: nullable(t.String()), words: t.String() })),
    pools: t.Array(t.Object({ id: t.String(), name: t.String(), network: t.String() })),
  }),
  run(call) {
    const { tx, target } = call
    const pools = tx.$client
      .query<{ id: string; name: string; network: string }, [string]>(
        'SELECT p.id, p.name, p.network FROM pools p JOIN pool_nodes pn ON pn.pool_id = p.id WHERE pn.node_id = ? ORDER BY p.name',
      )
      .all(target.id)
    return {
      ...showNode(call, target),
      facts: target.facts,
      inventoryAt: isoOrNull(target.inventoryAt),
      found: target.differences,
      pools,
    }
  },
})

export const changeNode = operation({
  id: 'nodes.update',
  method: 'PATCH',
  path: '/admin/nodes/{id}',
  summary: 'Rename a node, close it for new servers, change its bridge or what is kept for the host',
  access: { staff: ['nodes:write'] },
  on: node,
  body: fields({
    name: t.Optional(line(60)),
    open: t.Optional(t.Boolean()),
    bridge: t.Optional(t.String({ pattern: '^[a-zA-Z0-9_.-]{1,15}$', title: 'the name of a bridge' })),
    reservedMemoryMb: t.Optional(t.Integer({ minimum: 0, maximum: 1_048_576 })),
  }),
  response: nodeResponse,
  refuses: ['name_taken'],
  example: { reservedMemoryMb: 4096 },
  run(call) {
    const { tx, target, body } = call
    return showNode(
      call,
      named('node', () => patched(tx, nodes, target, body)),
    )
  },
})

export const removeNode = operation({
  id: 'nodes.remove',
  method: 'DELETE',
  path: '/admin/nodes/{id}',
  summary: 'Remove a node that holds no server; its credential ends at once',
  access: { staff: ['nodes:write'] },
  requiresRecentAuth: true,
  on: node,
  response: done,
  refuses: ['in_use'],
  run({ tx, target, clock, nodes: live }) {
    const held = serversOn(tx, target.id).filter((s) => s.terminatedAt === null).length
    if (held)
      throw new ApiError('in_use', `${target.name} holds ${count(held, 'server')}. Move or terminate them first.`)
    tx.update(nodes).set({ removedAt: clock(), open: false }).where(eq(nodes.id, target.id)).run()
    detachNode(tx, target.id)
    live.disconnect(target.id)
    return {}
  },
})
