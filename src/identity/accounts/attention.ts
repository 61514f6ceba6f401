import type { Source } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'
import { accountById } from './queries.ts'

export const lockedAccount: Source = ({ tx, actor }) => {
  const it = accountById(tx, actor.accountId)
  if (!it || it.lockedAt === null) return []
  return [
    {
      level: 'bad',
      what: 'Your account is locked.',
      effect:
        'Your servers keep running, but you can neither control them nor order anything new. ' +
        `${it.lockReason ? `Your provider says: ${it.lockReason}` : 'Ask your provider about it.'}`,
      since: iso(it.lockedAt),
      action: 'Open account',
      href: '/account',
    },
  ]
}
