import { mayCall } from '../../../kernel/api/operation.ts'
import type { Source } from '../../../kernel/attention.ts'
import { listPools } from '../pools.ts'
import { routerName } from '../users.ts'
import { uncarriedPools } from './queries.ts'

/** Pools that a node routes and whose VLAN it does not carry, or not any more. */
export const lostVlans: Source = (call) => {
  if (!mayCall(listPools, call.actor)) return []
  return uncarriedPools(call.tx).map(({ nodeId, poolId, pool, vlan }) => ({
    level: 'bad',
    what: `${routerName(call, nodeId) ?? 'A node'} does not carry VLAN ${vlan} of ${pool}.`,
    effect:
      'Nothing new gets addresses of the pool there. Servers that are there stay in the VLAN as far as the switch ' +
      'port has it. Let the node carry it, or choose other nodes for the pool when nothing there uses it.',
    since: null,
    action: 'Open pool',
    href: `/admin/ip-pools/${poolId}`,
  }))
}
