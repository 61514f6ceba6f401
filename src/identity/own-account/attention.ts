import type { Source } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'
import { accountById } from '../account-records/queries.ts'

export const lockedAccount: Source = ({ tx, actor }) => {
  const account = accountById(tx, actor.accountId)
  if (!account || account.lockedAt === null) return []
  return [
    {
      level: 'bad',
      what: 'Your account is locked.',
      effect:
        'Your servers keep running, but you can neither control them nor order anything new. ' +
        `${account.lockReason ? `Your provider says: ${account.lockReason}` : 'Ask your provider about it.'}`,
      since: iso(account.lockedAt),
      action: 'Open account',
      href: '/account',
    },
  ]
}
