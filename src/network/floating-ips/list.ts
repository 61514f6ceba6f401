import { and } from 'drizzle-orm'
import { everybody } from '../../kernel/api/access.ts'
import { page } from '../../kernel/api/list.ts'
import { fields, line, operation } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import { floatingIp, floatingResponse, showFloating, visibleTo } from './model.ts'
import { ofOwner, pageOfFloating, updateFloating } from './queries.ts'

export const listFloatingIps = operation({
  id: 'floating-ips.list',
  method: 'GET',
  path: '/floating-ips',
  summary: 'Floating addresses, newest first, with the server that each points to',
  access: everybody('servers:read'),
  query: {
    ownerId: idOf('usr', 'Only those of this account.'),
    resellerId: idOf('usr', 'Only those of the customers of this reseller.'),
  },
  response: page(floatingResponse),
  run(call) {
    const { tx, actor, query } = call
    const where = and(visibleTo(actor), ofOwner(query['ownerId'], query['resellerId']))
    return pageOfFloating(call, where, (floatingIp) => showFloating(tx, floatingIp))
  },
})

export const getFloatingIp = operation({
  id: 'floating-ips.get',
  method: 'GET',
  path: '/floating-ips/{id}',
  summary: 'One floating address',
  access: everybody('servers:read'),
  on: floatingIp,
  response: floatingResponse,
  run: ({ tx, target }) => showFloating(tx, target),
})

export const renameFloatingIp = operation({
  id: 'floating-ips.update',
  method: 'PATCH',
  path: '/floating-ips/{id}',
  summary: 'Rename a floating address',
  access: everybody('servers:settings'),
  on: floatingIp,
  body: fields({ name: line(64) }),
  response: floatingResponse,
  example: { name: 'Shop' },
  run: ({ tx, target, body }) => showFloating(tx, updateFloating(tx, target, body)),
})
