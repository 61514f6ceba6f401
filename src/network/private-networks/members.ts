// Servers join and leave a private network while they run. The record changes at once; a job on each node that has
// servers of the network makes it so there.
import { Type as t } from 'typebox'
import { type Server, server } from '../../compute/server-records/model.ts'
import { isLockedFor } from '../../identity/team/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation, type Resource, see } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { overlap, toNetwork, toText } from '../ip-pools/ranges.ts'
import type { PrivateNetworkRow } from '../private-network-records/model.ts'
import { deleteMember, insertMember, membershipsOf, networkById, takenIn } from '../private-network-records/queries.ts'
import { MOST_MEMBERS, MOST_OF_SERVER, network } from './model.ts'
import { spread } from './reconcile.ts'

const changed = namedSchema('PrivateNetworkChanged', {
  jobId: described(nullable(t.String()), "The job on the server's node. A node that is away follows when it is back."),
  serverId: t.String(),
  networkId: t.String(),
})

export const attachServer = operation({
  id: 'networks.attach',
  method: 'POST',
  path: '/networks/{id}/servers',
  summary: 'Put a server of the owner into a private network; it gets a card and an address, also while it runs',
  past: 'Attached a private network',
  access: everybody('servers:settings'),
  on: network,
  body: fields({ serverId: t.String({ minLength: 1, maxLength: 40 }) }),
  response: changed,
  status: 202,
  idempotent: true,
  refuses: ['account_locked', 'limit_reached', 'already_done', 'network_overlaps', 'network_full'],
  example: { serverId: '<server_id>' },
  run({ tx, actor, target, body, clock }) {
    const joining = see(tx, actor, serverNear(target), body.serverId, 'serverId')
    if (isLockedFor(tx, actor, joining))
      throw new ApiError('account_locked', 'The account is locked, so its networks cannot be changed.')
    const others = membershipsOf(tx, joining.id)
    if (others.some(({ networkId }) => networkId === target.id))
      throw new ApiError('already_done', `${joining.hostname} is in ${target.name} already.`)
    mustFit(tx, target, joining, others)
    const now = clock()
    insertMember(tx, { networkId: target.id, workloadId: joining.id, ...freeAddress(tx, target), createdAt: now })
    const title = `Attach ${joining.hostname} to ${target.name}`
    const jobId = spread(tx, target.id, joining, { by: actor, title, now })
    return { jobId, serverId: joining.id, networkId: target.id }
  },
})

export const detachServer = operation({
  id: 'networks.detach',
  destroys: [],
  method: 'DELETE',
  path: '/networks/{id}/servers/{serverId}',
  summary: 'Take a server out of a private network: its card goes, also while it runs',
  past: 'Detached a private network',
  access: everybody('servers:settings'),
  on: network,
  response: changed,
  status: 202,
  idempotent: true,
  refuses: ['server_not_found'],
  run({ tx, actor, target, params, clock }) {
    const leaving = server.find(tx, actor, params['serverId'] ?? '')
    if (!leaving || !membershipsOf(tx, leaving.id).some(({ networkId }) => networkId === target.id))
      throw new ApiError('server_not_found', `There is no such server in ${target.name}. Check the id.`)
    deleteMember(tx, target.id, leaving.id)
    const title = `Take ${leaving.hostname} out of ${target.name}`
    const jobId = spread(tx, target.id, leaving, { by: actor, title, now: clock() })
    return { jobId, serverId: leaving.id, networkId: target.id }
  },
})

/** Servers that can join: of the owner of the network, in its location. Others are none. */
const serverNear = (target: PrivateNetworkRow): Resource<Server> => ({
  ...server,
  find(tx, actor, id) {
    const found = server.find(tx, actor, id)
    const isNear = found?.ownerId === target.ownerId && found.locationId === target.locationId
    return isNear && found.terminatedAt === null ? found : undefined
  },
})

/** Throws `limit_reached` and `network_overlaps`. */
function mustFit(tx: Db, target: PrivateNetworkRow, joining: Server, others: readonly { networkId: string }[]) {
  if (others.length >= MOST_OF_SERVER)
    throw new ApiError('limit_reached', `A server is in at most ${MOST_OF_SERVER} private networks.`)
  if (takenIn(tx, target.id).size >= MOST_MEMBERS)
    throw new ApiError('limit_reached', `A private network has at most ${MOST_MEMBERS} servers.`)
  const range = toNetwork(target.ipv4)!
  for (const { networkId } of others) {
    const other = networkById(tx, networkId)!
    if (overlap(range, toNetwork(other.ipv4)!))
      throw new ApiError(
        'network_overlaps',
        `${joining.hostname} is in ${other.name} with ${other.ipv4} already, which overlaps with ${target.ipv4}.`,
      )
  }
}

/**
 * The lowest free address; the first of the range is left to a gateway of the owner's. The IPv6 address has the same
 * place in its prefix. Throws `network_full`.
 */
function freeAddress(tx: Db, { id, name, ipv4, ipv6 }: PrivateNetworkRow) {
  const range = toNetwork(ipv4)!
  const taken = takenIn(tx, id)
  for (let n = range.first + 2n; n < range.last; n++) {
    const address = toText(4, n)
    if (!taken.has(address))
      return { ipv4: address, ipv6: ipv6 && toText(6, toNetwork(ipv6)!.first + (n - range.first)) }
  }
  throw new ApiError('network_full', `Every address of ${name} is taken. Make a network with a larger range.`)
}
