import { Type as t } from 'typebox'
import { packageById } from '../../catalog/packages/queries.ts'
import { type Server, server } from '../../compute/server-records/model.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { mustAllowAddress, resellerOf } from '../../identity/resellers/model.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { type AddressNeed, addressesOf, chooseVlan, isOwn, takeExtraIpv4, takeIpv6 } from '../ip-pools/allocate.ts'
import { type At, vlanOfWorkload } from '../ip-pools/vlan/queries.ts'
import { startChange } from './change.ts'
import { MOST_EXTRA, serverAddress, showAddress } from './model.ts'
import { addressActions } from './states.ts'

const USUAL_IPV6_PREFIX = 64

export const addServerAddress = operation({
  id: 'servers.add-address',
  method: 'POST',
  path: '/servers/{id}/ips',
  summary: 'Add an IPv4 address or an IPv6 prefix to a server',
  past: 'Added an address',
  access: { staff: ['servers:resize'], reseller: ['reseller:servers'] },
  on: server,
  body: fields({ version: t.Enum([4, 6]) }),
  response: namedSchema('AddressAdded', {
    jobId: described(
      nullable(t.String()),
      'The job that brings it to the node and into the running guest, by its guest agent. Its log says when no agent ' +
        'answers: the guest then has it when the server is restarted in the panel. Null: nothing is installed.',
    ),
    serverId: t.String(),
    address: serverAddress,
  }),
  status: 201,
  idempotent: true,
  refuses: [
    ...addressActions.refusalsOf('addresses'),
    'server_busy',
    'no_addresses',
    'limit_reached',
    'reseller_suspended',
    'quota_exceeded',
  ],
  example: { version: 4 as const },
  run({ tx, actor, target, body: { version }, clock }) {
    addressActions.mustAllowFor(tx, actor, target, 'addresses')
    mustBeBelowLimit(tx, target)
    const reseller = resellerOf(tx, accountById(tx, target.ownerId)!)
    if (reseller) mustAllowAddress(tx, clock(), reseller, version)
    const length = ipv6Prefix(tx, target)
    const at = networkOf(tx, target, version === 4 ? { ipv4: 1, ipv6Prefix: null } : { ipv4: 0, ipv6Prefix: length })
    const text =
      version === 4 ? takeExtraIpv4(tx, target.id, at) : takeIpv6(tx, target.id, at, length, { isPrimary: false })
    const added = addressesOf(tx, target.id).find((a) => a.address === text)!
    const jobId = startChange(tx, target, added, 'add', { by: actor, now: clock() })
    return { jobId, serverId: target.id, address: showAddress(added) }
  },
})

/** Its card is in one network: that of its addresses. One without any gets its network with the first. */
function networkOf(tx: Tx, { id, nodeId, lifecycle }: Server, need: AddressNeed): At {
  const before = vlanOfWorkload(tx, id)
  const isFree = before === undefined && lifecycle === 'pending_setup'
  return { nodeId, vlan: isFree ? chooseVlan(tx, nodeId, need) : (before ?? null) }
}

/** Throws `limit_reached`. */
function mustBeBelowLimit(tx: Tx, target: Server) {
  const { ipv4 = 0, ipv6Prefix = null } = packageById(tx, target.packageId) ?? {}
  const included = ipv4 + (ipv6Prefix === null ? 0 : 1)
  if (addressesOf(tx, target.id).filter(isOwn).length >= included + MOST_EXTRA)
    throw new ApiError(
      'limit_reached',
      `${target.hostname} has ${MOST_EXTRA} extra addresses, which is the most a server can have. Remove one first.`,
    )
}

/** As long as the prefix that the server has, or that its package would give it. */
const ipv6Prefix = (tx: Tx, target: Server): number =>
  addressesOf(tx, target.id).find((a) => a.version === 6 && isOwn(a))?.prefixLength ??
  packageById(tx, target.packageId)?.ipv6Prefix ??
  USUAL_IPV6_PREFIX
