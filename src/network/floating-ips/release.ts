import { holdFreed } from '../../fleet/node-records/gone-addresses.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { done, operation } from '../../kernel/api/operation.ts'
import { releaseFloating } from '../ip-pools/floating.ts'
import { addressOf, floatingIp, mustRest, tell } from './model.ts'
import { deleteFloating } from './queries.ts'

export const releaseFloatingIp = operation({
  id: 'floating-ips.release',
  destroys: ['addresses'],
  method: 'DELETE',
  path: '/floating-ips/{id}',
  summary: 'Release a floating address that points to no server: somebody else may get it then',
  past: 'Released a floating address',
  access: everybody('servers:settings'),
  on: floatingIp,
  response: done,
  refuses: ['floating_ip_busy', 'floating_ip_assigned'],
  run({ tx, target, clock }) {
    mustRest(tx, target)
    const { address, workloadId } = addressOf(tx, target)
    if (workloadId !== null)
      throw new ApiError('floating_ip_assigned', `${address} points to a server. Unassign it first.`)
    tell(tx, clock(), 'floating_ip.released', target)
    deleteFloating(tx, target.id)
    releaseFloating(tx, target.addressId)
    // A guest on a node that is gone may still answer for it.
    holdFreed(tx, target.addressId)
    return {}
  },
})
