import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { count } from '../../kernel/words.ts'
import { listPools } from './pools.ts'
import { poolsNearlyUsedUp } from './queries.ts'

/** Pools with less than a twentieth of their addresses free. */
export const emptyingPools: Source = ({ tx, actor }) => {
  if (!mayCall(listPools, actor)) return []
  return poolsNearlyUsedUp(tx).map(({ id, name, free }) => ({
    level: free === 0 ? 'bad' : 'warn',
    what: `${name} has ${count(free, 'free IPv4 address', 'free IPv4 addresses')} left.`,
    effect: free === 0 ? 'Orders on its nodes are refused.' : 'Orders will be refused when they are used up.',
    since: null,
    action: 'Open pool',
    href: `/admin/ip-pools/${id}`,
  }))
}
