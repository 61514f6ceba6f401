// A change of the own password or address needs the password that the account has now.
import { Type as t } from 'typebox'
import type { Actor } from '../../kernel/api/actor.ts'
import { type ApiError, invalid } from '../../kernel/api/errors.ts'
import { type PrepareContext, secret } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { type Account, ownAccount } from '../account-records/model.ts'
import { accountIfPasswordUnchanged, passwordFits } from '../auth/passwords/hash.ts'
import { mustStillBeOpen, ownSessionId } from '../auth/sessions/sessions.ts'
import { sessionThrottleKey, throttled } from '../auth/sign-in/sign-in-throttle.ts'

/**
 * Slow, so it runs before the transaction, in which `mustStillKnowPassword` checks again. Throws `validation_failed`
 * for a wrong password, and `rate_limited` after too many wrong ones in this session.
 */
export async function mustKnowPassword(
  call: Pick<PrepareContext, 'db' | 'actor' | 'signInThrottle'>,
  password: string,
  field: string,
): Promise<Account> {
  const account = ownAccount(call.db, call.actor)
  const fits = await throttled(call, sessionThrottleKey(ownSessionId(call.actor)), account, () =>
    passwordFits(password, account.passwordHash, true),
  )
  if (!fits) throw isNotTheirs(field).of(account)
  return account
}
/**
 * Throws `validation_failed` when the password was changed since `mustKnowPassword`, and `not_authenticated` when the
 * session was ended.
 */
export function mustStillKnowPassword(tx: Tx, actor: Actor, looked: Account, field: string): Account {
  mustStillBeOpen(tx, actor)
  return accountIfPasswordUnchanged(tx, looked) ?? refuse(isNotTheirs(field).of(looked))
}
const isNotTheirs = (field: string) => invalid({ field, message: 'is not your password.' })
function refuse(refusal: ApiError): never {
  throw refusal
}

export const typedPassword = secret(t.String({ minLength: 1, maxLength: 1000 }))
