import { ApiError } from '../../../kernel/api/errors.ts'
import { fields, operation } from '../../../kernel/api/operation.ts'
import { addressWithClaim } from '../claims.ts'
import { pool, poolResponse, showPool } from '../model.ts'
import { changePool, countAddresses, hasFloating, nodeIdsOf } from '../queries.ts'
import type { Pool } from '../tables.ts'
import type { PoolContext } from '../users.ts'
import { mustCarry, vlanWords } from './carried.ts'
import { vlanField } from './field.ts'
import { addressInTransit } from './queries.ts'

export const setPoolVlan = operation({
  id: 'pools.set-vlan',
  method: 'PUT',
  path: '/admin/ip-pools/{id}/vlan',
  summary: 'Set the VLAN of a pool none of whose addresses is in use',
  past: 'Changed the VLAN of an address pool',
  access: { staff: ['network:write'] },
  on: pool,
  body: fields({ vlan: vlanField }),
  response: poolResponse,
  refuses: ['in_use', 'vlan_not_carried'],
  example: { vlan: 20 },
  run(call) {
    const { tx, target, body } = call
    if (body.vlan === target.vlan) return showPool(call, target)
    mustBeUnused(call, target)
    mustCarry(call, body.vlan, nodeIdsOf(tx, target.id))
    return showPool(call, changePool(tx, target.id, { vlan: body.vlan }))
  },
})

/**
 * The cards of servers would have to change networks in the same moment as switches and routers. Throws `in_use`.
 */
function mustBeUnused({ tx }: PoolContext, target: Pool) {
  const { held } = countAddresses(tx, target.id)
  const why = held
    ? `${held} of its addresses ${held === 1 ? 'is' : 'are'} in use`
    : hasFloating(tx, target.id)
      ? 'it has a floating address of a customer'
      : onItsWay(tx, target.id)
  if (why === undefined) return
  throw new ApiError(
    'in_use',
    `${target.name} is in ${vlanWords(target.vlan)}, and ${why}. Add a pool in the other network, give its servers ` +
      'addresses of that one, and remove this pool.',
  )
}

function onItsWay(tx: PoolContext['tx'], poolId: string): string | undefined {
  const moving = addressInTransit(tx, poolId)
  if (moving !== undefined) return `a server is about to get ${moving}`
  const claimed = addressWithClaim(tx, poolId)
  return claimed === undefined ? undefined : `a node says that ${claimed} is in use on it`
}
