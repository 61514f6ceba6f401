import { mayCall } from '../../kernel/api/operation.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { day, dayText } from '../../kernel/db/clock.ts'
import { endingTokensOf } from './queries.ts'
import { listTokens } from './tokens.ts'

/** A token that expires within this time is listed. */
export const TOKEN_WARNING_MS = 14 * day
/**
 * An expired token is listed for this long, if it was used within this long before its end: its programs are refused
 * now.
 */
const REFUSED_SHOWN_MS = 30 * day

/** Only for a person in a session: not in support sessions, not for tokens. */
export const endingTokens: Source = ({ tx, actor, clock }) => {
  if (actor.via.type !== 'session' || !mayCall(listTokens, actor)) return []
  const now = clock()
  return endingTokensOf(tx, actor.accountId, {
    now,
    until: now + TOKEN_WARNING_MS,
    since: now - REFUSED_SHOWN_MS,
    inUseMs: REFUSED_SHOWN_MS,
    limit: MOST_SHOWN,
  }).map(({ name, expiresAt }) => {
    const on = dayText(expiresAt)
    const at = { since: null, action: 'Open tokens', href: '/account/api' }
    return expiresAt > now
      ? {
          ...at,
          level: 'warn',
          what: `The token ${name} expires on ${on}.`,
          effect: 'Programs that use it are refused from then on. Create a new token and use it instead.',
        }
      : {
          ...at,
          level: 'bad',
          what: `The token ${name} expired on ${on}, and was still in use.`,
          effect:
            'Programs that use it are refused. Create a new token and use it instead; revoke this one if nothing ' +
            'needs it.',
        }
  })
}
