import { mayCall } from '../../../kernel/api/operation.ts'
import type { Source } from '../../../kernel/attention.ts'
import { day, dayText } from '../../../kernel/db/clock.ts'
import { count } from '../../../kernel/words.ts'
import { ownAccount } from '../../account-records/model.ts'
import { roleOf } from '../../account-records/roles/role.ts'
import { factorsOf } from './factors.ts'
import { getSecondFactor, secondFactorDueAt } from './second-factors.ts'

/** Counts down the days in which an owner can still work without a second factor. Only for the owner in person. */
export const secondFactorDue: Source = ({ tx, actor, clock }) => {
  if (actor.via.type !== 'session' || !mayCall(getSecondFactor, actor)) return []
  const account = ownAccount(tx, actor)
  const dueAt = secondFactorDueAt(account, roleOf(tx, account))
  if (!dueAt || factorsOf(tx, account.id).length) return []
  const days = Math.max(1, Math.ceil((dueAt - clock()) / day))
  return [
    {
      level: 'warn',
      what: `Add a second factor by ${dayText(dueAt)}.`,
      effect: `From then on you can do nothing else without one (${count(days, 'day')} left). API tokens keep working.`,
      since: null,
      action: 'Set up',
      href: '/account/security',
    },
  ]
}
