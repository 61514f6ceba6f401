// The words about VLANs of pools, and what refuses a node that does not carry one.
import { ApiError } from '../../../kernel/api/errors.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { Pool } from '../tables.ts'
import { type PoolContext, routerName } from '../users.ts'
import { carriesVlan, uncarriedOn, type Vlan } from './queries.ts'

/** The VLAN in which all these addresses are: that of the first. */
export const vlanOfAddresses = (held: readonly { pool: Pick<Pool, 'vlan'> }[]): Vlan => held[0]?.pool.vlan ?? null
/** `VLAN 20`, or `no VLAN`. */
export const vlanWords = (vlan: Vlan): string => (vlan === null ? 'no VLAN' : `VLAN ${vlan}`)

/** Behind the words for a lack on a node: `; it does not carry VLAN 20 of Frankfurt`. Nothing where it carries all. */
export function uncarriedWords(tx: Db, nodeId: string, version: 4 | 6): string {
  const found = uncarriedOn(tx, nodeId, version)
  return found ? `; it does not carry VLAN ${found.vlan} of the pool ${found.pool}` : ''
}

/** Throws `vlan_not_carried`. */
export function mustCarry(call: PoolContext, vlan: Vlan, nodeIds: readonly string[]) {
  const without = nodeIds.filter((id) => !carriesVlan(call.tx, id, vlan))
  if (!without.length) return
  const names = without.map((id) => routerName(call, id) ?? id)
  const shown = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
  throw new ApiError(
    'vlan_not_carried',
    `${shown} ${names.length === 1 ? 'does' : 'do'} not carry VLAN ${vlan}. Let the switch ports have it, and say so ` +
      `on each node: berth agent uplink --uplink NAME --vlans ${vlan}`,
  )
}
