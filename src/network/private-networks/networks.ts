import { and } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { locationById } from '../../fleet/locations/queries.ts'
import { hasServerIn } from '../../fleet/workloads/reports.ts'
import { customer, mustNotBeLocked } from '../../identity/account-records/model.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { described, done, fields, line, operation } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import { newId } from '../../kernel/db/ids.ts'
import { count } from '../../kernel/words.ts'
import { visibleTo } from '../private-network-records/model.ts'
import {
  countNetworks,
  deleteNetwork,
  insertNetwork,
  ofOwner,
  pageOfNetworks,
  takenIn,
  updateNetwork,
} from '../private-network-records/queries.ts'
import { ipv4Range, ipv6Range, MOST_NETWORKS, network, networkResponse, showNetwork } from './model.ts'

export const createNetwork = operation({
  id: 'networks.create',
  method: 'POST',
  path: '/customers/{id}/networks',
  summary: 'Add a private network in a location where the account has a server',
  past: 'Added a private network',
  access: { ...everybody('servers:settings'), reseller: ['reseller:servers', 'account:write'] },
  on: customer,
  body: fields({
    name: line(64),
    locationId: t.String({ minLength: 1, maxLength: 40 }),
    ipv4: described(t.String({ minLength: 9, maxLength: 18 }), 'A private range from /16 to /29.'),
    ipv6: t.Optional(described(t.String({ minLength: 6, maxLength: 43 }), 'A unique local prefix of 64 bits.')),
  }),
  response: networkResponse,
  status: 201,
  idempotent: true,
  refuses: ['account_locked', 'limit_reached', 'name_taken'],
  example: { name: 'backend', locationId: '<location_id>', ipv4: '10.20.0.0/24' },
  run({ tx, target, body, clock }) {
    const [ipv4, ipv6] = [ipv4Range(body.ipv4), body.ipv6 ? ipv6Range(body.ipv6) : null]
    if (!locationById(tx, body.locationId) || !hasServerIn(tx, target.id, body.locationId))
      throw invalid({ field: 'locationId', message: `must be a location in which ${target.name} has a server.` })
    mustNotBeLocked(target)
    if (countNetworks(tx, target.id) >= MOST_NETWORKS)
      throw new ApiError(
        'limit_reached',
        `An account has at most ${MOST_NETWORKS} private networks. Remove one that is not used.`,
      )
    const made = named('private network', () =>
      insertNetwork(tx, {
        id: newId('net'),
        ownerId: target.id,
        resellerId: target.resellerId,
        locationId: body.locationId,
        name: body.name,
        ipv4,
        ipv6,
        createdAt: clock(),
      }),
    )
    return showNetwork(tx, made)
  },
})

export const listNetworks = operation({
  id: 'networks.list',
  method: 'GET',
  path: '/networks',
  summary: 'Private networks, newest first, with the servers in each',
  access: everybody('servers:read'),
  query: { ownerId: idOf('usr', 'Only those of this account.') },
  response: page(networkResponse),
  run(call) {
    const { tx, actor, query } = call
    return pageOfNetworks(call, and(visibleTo(actor), ofOwner(query['ownerId'])), (network) => showNetwork(tx, network))
  },
})

export const getNetwork = operation({
  id: 'networks.get',
  method: 'GET',
  path: '/networks/{id}',
  summary: 'One private network',
  access: everybody('servers:read'),
  on: network,
  response: networkResponse,
  run: ({ tx, target }) => showNetwork(tx, target),
})

export const renameNetwork = operation({
  id: 'networks.update',
  method: 'PATCH',
  path: '/networks/{id}',
  summary: 'Rename a private network',
  access: everybody('servers:settings'),
  on: network,
  body: fields({ name: line(64) }),
  response: networkResponse,
  refuses: ['name_taken'],
  example: { name: 'backend' },
  run: ({ tx, target, body }) =>
    showNetwork(
      tx,
      named('private network', () => updateNetwork(tx, target, body)),
    ),
})

export const removeNetwork = operation({
  id: 'networks.remove',
  destroys: [],
  method: 'DELETE',
  path: '/networks/{id}',
  summary: 'Remove a private network that has no servers',
  past: 'Removed a private network',
  access: everybody('servers:settings'),
  on: network,
  response: done,
  refuses: ['in_use'],
  run({ tx, target }) {
    const { size } = takenIn(tx, target.id)
    if (size)
      throw new ApiError(
        'in_use',
        `${target.name} is in use by ${count(size, 'server', 'servers')}. Detach them first; a terminated server ` +
          'keeps its place until its undelete window ends.',
      )
    deleteNetwork(tx, target.id)
    return {}
  },
})
