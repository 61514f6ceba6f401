// The second half of every way to sign in. Password, link and single sign-on all hand the account to `completeSignIn`;
// nothing else creates a session, so no way to sign in can skip the second factor.

import { Type as t } from 'typebox'
import { ApiError } from '../../../kernel/api/errors.ts'
import { addressKey } from '../../../kernel/api/limits.ts'
import { type Call, namedSchema } from '../../../kernel/api/operation.ts'
import { homeOf } from '../../account-records/areas.ts'
import type { Account } from '../../account-records/model.ts'
import type { MadeBy } from '../links/tables.ts'
import { factorNames, factorsOf } from '../second-factors/factors.ts'
import { sessionCookie } from '../sessions/cookies.ts'
import { savePlace } from '../sessions/queries.ts'
import { insertSession, SESSION_SECONDS } from '../sessions/sessions.ts'
import { openChallenge } from './sign-in-challenge.ts'

/**
 * The response of every way to sign in. With `secondFactor` there is no session yet: one of these factors comes next.
 */
export const signedIn = namedSchema('SignedIn', {
  accountId: t.String(),
  kind: t.String(),
  home: t.String(),
  secondFactor: t.Optional(t.Array(t.Enum([...factorNames]))),
})

type SignInContext = Pick<Call, 'tx' | 'clock' | 'client' | 'config' | 'setCookie'>

/**
 * `confirmed: false`: the person has proved nothing themselves just now, and must confirm before dangerous changes.
 * `linkOf`: the maker of the link that was used.
 */
type SignInOptions = { confirmed?: boolean; linkOf?: MadeBy | null }

/** The page that asks for the second factor. */
export const SECOND_FACTOR_PAGE = '/login/2fa'

/**
 * Call it when the first factor is right, last in the transaction, and respond with its answer (`signedIn`). Creates
 * the session, or a sign-in challenge with its own cookie where the account has a second factor. Throws
 * `sign_in_failed` for a disabled account.
 */
export function completeSignIn(call: SignInContext, account: Account, how: SignInOptions = {}) {
  const secondFactor = factorsOf(call.tx, account.id)
  if (!secondFactor.length || account.disabledAt !== null) return createSession(call, account, how)
  openChallenge(call, { ...account, linkOf: how.linkOf ?? null })
  return { accountId: account.id, kind: account.kind, home: SECOND_FACTOR_PAGE, secondFactor }
}

/** Creates the session and its cookie, and remembers the address. Throws `sign_in_failed` for a disabled account. */
export function createSession(
  { tx, clock, client: { from, userAgent }, config, setCookie }: SignInContext,
  account: Account,
  { confirmed = true, linkOf = null }: SignInOptions = {},
) {
  if (account.disabledAt !== null) throw signInFailed()
  const now = clock()
  savePlace(tx, account.id, addressKey(from), now, PLACES_PER_ACCOUNT)
  const value = insertSession(tx, account, { now, from, userAgent, confirmed })
  setCookie(sessionCookie(config.origin, value, SESSION_SECONDS), { ...account, linkOf })
  return { accountId: account.id, kind: account.kind, home: homeOf(account.kind) }
}

export const signInFailed = () =>
  new ApiError('sign_in_failed', 'E-mail address or password is wrong. Check both, or ask for a new password.')

const PLACES_PER_ACCOUNT = 20
