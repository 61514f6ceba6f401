// The second half of every way in. Whatever showed who somebody is (password, link, single sign-on) hands the account to
// `finishSignIn`; nothing else opens a session, so no way in can forget the second factor.

import { and, desc, eq, notInArray } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { homeOf } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { addressKey } from '../../kernel/api/limits.ts'
import type { Call } from '../../kernel/api/operation.ts'
import { namedSchema } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { Account } from '../accounts/model.ts'
import { sessionCookie } from './cookies.ts'
import { factorNames, factorsOf } from './second-factors/factors.ts'
import { openSession, SESSION_SECONDS } from './sessions.ts'
import { openPending } from './sign-in-challenge.ts'
import { type MadeBy, signInPlaces } from './tables.ts'

/** What every way of signing in answers. With `secondFactor` there is no session yet: one of these is asked for next. */
export const signedIn = namedSchema('SignedIn', {
  accountId: t.String(),
  kind: t.String(),
  home: t.String(),
  secondFactor: t.Optional(t.Array(t.Enum([...factorNames]))),
})

type SigningIn = Pick<Call, 'tx' | 'clock' | 'from' | 'userAgent' | 'config' | 'setCookie'>

/** `confirmed: false`: somebody else vouched for the person, who is asked again before what is dangerous. `linkOf`: whose link it was. */
type Standing = { confirmed?: boolean; linkOf?: MadeBy | null }

/** Where the second factor is asked for. */
export const SECOND_FACTOR_PAGE = '/login/2fa'

/**
 * The first factor was right: opens the session, or where the account has a second factor only a pending sign-in, known by a cookie
 * of its own. Call it inside the transaction, last, and answer what it answers (`signedIn`). Throws `sign_in_failed` for who has left.
 */
export function completeSignIn(call: SigningIn, account: Account, how: Standing = {}) {
  const secondFactor = factorsOf(call.tx, account.id)
  if (!secondFactor.length || account.disabledAt !== null) return createSession(call, account, how)
  openPending(call, { ...account, linkOf: how.linkOf ?? null })
  return { accountId: account.id, kind: account.kind, home: SECOND_FACTOR_PAGE, secondFactor }
}

/** Everything was shown that had to be: the session, its cookie, and the place remembered. Throws `sign_in_failed` for who has left. */
export function createSession(
  { tx, clock, from, userAgent, config, setCookie }: SigningIn,
  account: Account,
  { confirmed = true, linkOf = null }: Standing = {},
) {
  if (account.disabledAt !== null) throw signInFailed()
  const now = clock()
  rememberPlace(tx, account.id, from, now)
  const value = openSession(tx, account, { now, from, userAgent, confirmed })
  setCookie(sessionCookie(config.origin, value, SESSION_SECONDS), { ...account, linkOf })
  return { accountId: account.id, kind: account.kind, home: homeOf(account.kind) }
}

export const signInFailed = () =>
  new ApiError('sign_in_failed', 'E-mail address or password is wrong. Check both, or ask for a new password.')

const PLACES_PER_ACCOUNT = 20

function rememberPlace(tx: Tx, accountId: string, from: string, now: number) {
  tx.insert(signInPlaces)
    .values({ accountId, place: addressKey(from), seenAt: now })
    .onConflictDoUpdate({ target: [signInPlaces.accountId, signInPlaces.place], set: { seenAt: now } })
    .run()
  const newest = tx
    .select({ place: signInPlaces.place })
    .from(signInPlaces)
    .where(eq(signInPlaces.accountId, accountId))
    .orderBy(desc(signInPlaces.seenAt))
    .limit(PLACES_PER_ACCOUNT)
  tx.delete(signInPlaces)
    .where(and(eq(signInPlaces.accountId, accountId), notInArray(signInPlaces.place, newest)))
    .run()
}
