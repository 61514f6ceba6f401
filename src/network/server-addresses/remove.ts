import { jobResponse, server } from '../../compute/server-records/model.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { operation } from '../../kernel/api/operation.ts'
import { addressesOf } from '../ip-pools/allocate.ts'
import { startChange } from './change.ts'
import { showAddress } from './model.ts'
import { addressActions } from './states.ts'

export const removeServerAddress = operation({
  id: 'servers.remove-address',
  destroys: ['addresses'],
  method: 'DELETE',
  path: '/servers/{id}/ips/{addressId}',
  summary: 'Take an extra address from a server; it is free again when neither guest nor node has it',
  past: 'Removed an address',
  access: { staff: ['servers:resize'], reseller: ['reseller:servers'] },
  on: server,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...addressActions.refusalsOf('addresses'), 'server_busy', 'address_not_found', 'address_stays'],
  run({ tx, actor, target, params, clock }) {
    const held = addressesOf(tx, target.id).find((a) => a.id === params['addressId'])
    if (!held) throw new ApiError('address_not_found', `${target.hostname} has no such address. Check the id.`)
    const { kind } = showAddress(held)
    if (kind !== 'extra')
      throw new ApiError(
        'address_stays',
        kind === 'primary'
          ? `${held.address} is the primary address of ${target.hostname}, which it keeps. Staff can change it.`
          : `${held.address} is a floating address. Unassign it instead.`,
      )
    addressActions.mustAllowFor(tx, actor, target, 'addresses')
    return {
      jobId: startChange(tx, target, held, 'remove', { by: actor, now: clock() }),
      serverId: target.id,
    }
  },
})
