import { Type as t } from 'typebox'
import { server, serverJob } from '../../../compute/server-records/model.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { described, fields, operation, see } from '../../../kernel/api/operation.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { isRoutedBy } from '../../ip-pools/floating.ts'
import { vlanWords } from '../../ip-pools/vlan/carried.ts'
import { addressActions } from '../states.ts'
import { awaitingSwap, exchanging, finish, record } from './exchanging.ts'
import { exchangeResponse, shownPart, version } from './model.ts'
import { guestWords, mustLearn, primaryOf } from './parts.ts'

export const swapPrimaryAddresses = operation({
  id: 'servers.swap-primary-addresses',
  method: 'POST',
  path: '/servers/{id}/actions/swap-primary-addresses',
  summary: 'Swap the primary addresses of two servers of one owner',
  past: 'Swapped primary addresses',
  access: { staff: ['servers:resize'], reseller: ['reseller:servers'] },
  on: server,
  body: fields({
    serverId: described(
      t.String({ minLength: 1, maxLength: 40 }),
      'The other server, whose node routes the address of this one as its own node routes that of the other.',
    ),
    version,
  }),
  response: exchangeResponse,
  status: 202,
  idempotent: true,
  dryRun: true,
  refuses: [
    ...addressActions.refusalsOf('addresses'),
    'server_busy',
    'address_not_found',
    'address_not_routed',
    'address_stays',
  ],
  example: { serverId: '<server_id>', version: 4 as const },
  run({ tx, actor, target, body, query, clock }) {
    const other = see(tx, actor, server, body.serverId, 'serverId')
    // An address does not leave its owner, also by staff who see all servers.
    if (other.ownerId !== target.ownerId || other.lifecycle === 'terminated' || other.id === target.id)
      throw invalid({ field: 'serverId', message: 'must be another server of the same owner.' })
    const both = [target, other] as const
    for (const one of both) {
      addressActions.mustAllowFor(tx, actor, one, 'addresses')
      mustLearn(tx, one)
    }
    const [own, its] = both.map((one) => primaryOf(tx, one, body.version)) as [
      ReturnType<typeof primaryOf>,
      ReturnType<typeof primaryOf>,
    ]
    for (const [address, to] of [
      [own, other],
      [its, target],
    ] as const)
      if (!isRoutedBy(tx, address.id, to.nodeId))
        throw new ApiError('address_not_routed', `The node of ${to.hostname} does not route ${address.address}.`)
    if (own.pool.vlan !== its.pool.vlan)
      throw new ApiError(
        'address_not_routed',
        `${own.address} is in ${vlanWords(own.pool.vlan)} and ${its.address} in ${vlanWords(its.pool.vlan)}. Servers ` +
          'swap addresses of one network.',
      )
    const parts = [
      { serverId: target.id, give: own.id, take: its.id },
      { serverId: other.id, give: its.id, take: own.id },
    ] as const
    const shown = {
      serverId: target.id,
      servers: [shownPart(target, own, its), shownPart(other, its, own)],
      effects: [...both.map((one) => guestWords(tx, one)), 'Names in reverse DNS stay with their addresses.'],
    }
    const now = clock()
    if (both.every(({ lifecycle }) => lifecycle === 'pending_setup')) {
      record(tx, parts, now)
      for (const part of parts) finish(tx, part, now)
      return { jobId: null, ...shown }
    }
    const title = `Swap ${own.address} of ${target.hostname} and ${its.address} of ${other.hostname}`
    const partnerJob = startJob(
      tx,
      awaitingSwap,
      { serverId: other.id },
      { ...serverJob(other, { by: actor, title, now }), held: `Swapping addresses with ${target.hostname}` },
    )
    const jobId = startJob(
      tx,
      exchanging,
      { parts, partnerJob },
      { ...serverJob(target, { by: actor, title, now }), otherNodeId: other.nodeId },
    )
    return { jobId: query['dryRun'] === 'true' ? null : jobId, ...shown }
  },
})
