// The second half of every way in. Whatever showed who somebody is (password, link, single sign-on) hands the account to
// `finishSignIn`; nothing else opens a session, so no way in can forget the second factor.

import { and, desc, eq, notInArray } from 'drizzle-orm'
import { Type as t } from 'typebox'
import type { Account } from '../accounts/tables.ts'
import { homeOf } from '../kernel/api/access.ts'
import { Refusal } from '../kernel/api/errors.ts'
import { addressKey } from '../kernel/api/limits.ts'
import type { Call } from '../kernel/api/operation.ts'
import { shape } from '../kernel/api/operation.ts'
import type { Db, Tx } from '../kernel/db/open.ts'
import { factorNames, factorsOf } from './factors.ts'
import { openPending } from './pending.ts'
import { openSession, SESSION_SECONDS, sessionCookie } from './sessions.ts'
import { signInPlaces } from './tables.ts'

/** What every way of signing in answers. With `secondFactor` there is no session yet: one of these is asked for next. */
export const signedIn = shape('SignedIn', {
  accountId: t.String(),
  kind: t.String(),
  home: t.String(),
  secondFactor: t.Optional(t.Array(t.Enum([...factorNames]))),
})

type SigningIn = Pick<Call, 'tx' | 'clock' | 'from' | 'userAgent' | 'config' | 'setCookie'>

/** `confirmed: false`: somebody else vouched for the person, who is asked again before what is dangerous. */
type Standing = { confirmed?: boolean }

/** Where the second factor is asked for. */
export const SECOND_FACTOR_PAGE = '/login/2fa'

/**
 * The first factor was right: opens the session, or where the account has a second factor only a pending sign-in, known by a cookie
 * of its own. Call it inside the transaction, last, and answer what it answers (`signedIn`). Throws `sign_in_failed` for who has left.
 */
export function finishSignIn(call: SigningIn, account: Account, how: Standing = {}) {
  const secondFactor = factorsOf(call.tx, account.id)
  if (!secondFactor.length || account.disabledAt !== null) return enter(call, account, how)
  openPending(call, account)
  return { accountId: account.id, kind: account.kind, home: SECOND_FACTOR_PAGE, secondFactor }
}

/** Everything was shown that had to be: the session, its cookie, and the place remembered. Throws `sign_in_failed` for who has left. */
export function enter({ tx, clock, from, userAgent, config, setCookie }: SigningIn, account: Account, how: Standing = {}) {
  if (account.disabledAt !== null) throw signInFailed()
  const now = clock()
  rememberPlace(tx, account.id, from, now)
  setCookie(sessionCookie(config.origin, openSession(tx, account, { now, from, userAgent, ...how }), SESSION_SECONDS), account)
  return { accountId: account.id, kind: account.kind, home: homeOf(account.kind) }
}

export const signInFailed = () =>
  new Refusal('sign_in_failed', 'E-mail address and password do not fit together. Check both, or ask for a new password.')

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

/**
 * In whose name failures are counted (security S17): those from a place where this account was signed in to before are that place's
 * own, those from everywhere else are counted together. So guesses from a thousand addresses are as slow as from one, and a stranger
 * who guesses slows down strangers, not the owner where the owner usually is. From a new place the owner still has what cannot be
 * guessed and is never slowed: open sessions, a passkey, and the link by mail, which makes the place known. An address without an
 * account has no places and is slowed like any other.
 */
export function guessingKey(tx: Db, email: string, account: Account | undefined, from: string): string {
  const place = addressKey(from)
  const known =
    account &&
    tx
      .select({ place: signInPlaces.place })
      .from(signInPlaces)
      .where(and(eq(signInPlaces.accountId, account.id), eq(signInPlaces.place, place)))
      .get()
  return `${known ? place : 'elsewhere'} ${email.trim().toLowerCase()}`
}
export const tooManyGuesses = 'Too many tries for this account failed.'
