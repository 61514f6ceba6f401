// Slows down guessing without locking anybody out.
import { ApiError } from '../../../kernel/api/errors.ts'
import { addressKey } from '../../../kernel/api/limits.ts'
import type { Call } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { Account } from '../../account-records/model.ts'
import { isKnownPlace } from '../sessions/queries.ts'

/**
 * Failures are counted under this key. `known`: it comes from an address where the account was signed in, or from a
 * session.
 */
export type ThrottleKey = { key: string; known: boolean; ofSession?: true }

/**
 * Failures from an address where this account was signed in before count for that address; all others count together.
 * So guesses from a thousand addresses are as slow as from one, and strangers who guess do not slow down the owner at a
 * usual address. From a new address the owner still has what cannot be guessed and is never slowed: open sessions,
 * passkeys and mailed links.
 */
export function passwordThrottleKey(tx: Db, email: string, account: Account | undefined, from: string): ThrottleKey {
  const place = addressKey(from)
  const known = account !== undefined && isKnownPlace(tx, account.id, place)
  return { key: `${known ? place : 'elsewhere'} ${email.trim().toLowerCase()}`, known }
}

/** Counted apart from passwords: strangers who guess those cannot slow down the second step. */
export function codeThrottleKey(tx: Db, account: Account, from: string): ThrottleKey {
  const place = addressKey(from)
  const known = isKnownPlace(tx, account.id, place)
  return { key: `second ${known ? place : 'elsewhere'} ${account.id}`, known }
}

/** Counted for this session alone: strangers do not slow down a person who is signed in. */
export const sessionThrottleKey = (sessionId: string): ThrottleKey => ({ key: sessionId, known: true, ofSession: true })

/**
 * Runs `check`, and counts a failure unless it answers something true. A check that throws counts nothing. Throws
 * `rate_limited` for a key that has to wait after failures.
 */
export async function throttled<T>(
  { signInThrottle }: Pick<Call, 'signInThrottle'>,
  { key, ofSession }: ThrottleKey,
  account: Account | undefined,
  check: () => Promise<T>,
): Promise<T> {
  try {
    signInThrottle.take(key, 'Too many failed attempts for this account.')
  } catch (error) {
    throw error instanceof ApiError ? error.of(account) : error
  }
  try {
    const right = await check()
    if (right && ofSession) signInThrottle.forget(key)
    else if (right) signInThrottle.forgive(key)
    return right
  } catch (error) {
    signInThrottle.forgive(key)
    throw error
  }
}
