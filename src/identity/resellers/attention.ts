import { mayCall } from '../../kernel/api/operation.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'
import { accountById, lockedCustomersOf } from '../account-records/queries.ts'
import { withTerms } from './model.ts'
import { getResellerAccount, listResellerCustomers } from './own.ts'
import { nearIn, usedBy, whole } from './quota.ts'

export const suspended = {
  what: 'Your reseller account is suspended.',
  effect:
    'Nothing new can be ordered and no customer can be added. Existing servers keep running, and you and your ' +
    'customers can manage them.',
}
export const suspendedReseller: Source = ({ tx, actor }) => {
  if (!mayCall(getResellerAccount, actor)) return []
  const { terms } = withTerms(tx, accountById(tx, actor.accountId)!)
  if (terms.suspendedAt === null) return []
  return [
    {
      level: 'bad',
      what: suspended.what,
      effect:
        `${suspended.effect} ` +
        `${terms.suspendReason ? `Your provider says: ${terms.suspendReason}` : 'Ask your provider about it.'}`,
      since: iso(terms.suspendedAt),
      action: null,
      href: null,
    },
  ]
}

/** Quotas that are used to 90 %. */
export const nearQuotas: Source = ({ tx, actor }) => {
  if (!mayCall(getResellerAccount, actor)) return []
  const { terms } = withTerms(tx, accountById(tx, actor.accountId)!)
  return nearIn({ quotas: whole(terms.quotas), used: usedBy(tx, actor.accountId) }).map(({ full, words }) => ({
    level: full ? 'bad' : 'warn',
    what: `${words}.`,
    effect:
      `${
        full
          ? 'Orders that need more of it are refused.'
          : 'When it is used up, orders that need more of ' + 'it are refused.'
      } ` + 'Free some, or ask your provider for more.',
    since: null,
    action: 'Show quotas',
    href: '/reseller#quotas',
  }))
}

export const lockedCustomers: Source = ({ tx, actor }) => {
  if (!mayCall(listResellerCustomers, actor)) return []
  return lockedCustomersOf(tx, actor.accountId, MOST_SHOWN).map(({ id, name, reason, at }) => ({
    level: 'warn',
    what: `${name} is locked.`,
    effect: `Orders for it are refused${reason ? `: ${reason.replace(/\.$/, '')}` : ''}.`,
    since: iso(at),
    action: 'Open customer',
    href: `/reseller/customers/${id}`,
  }))
}
