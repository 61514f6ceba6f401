// Slowing down who guesses, in a way that locks nobody out.
import { and, eq } from 'drizzle-orm'
import { ApiError } from '../../kernel/api/errors.ts'
import { addressKey } from '../../kernel/api/limits.ts'
import type { Call } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Account } from '../accounts/model.ts'
import { signInPlaces } from './tables.ts'

/** In whose name a failure is counted. `known`: a place where this account was signed in to before, or a session that is open. */
export type Guess = { key: string; known: boolean; ofSession?: true }

function isKnown(tx: Db, account: Account | undefined, place: string): boolean {
  const { accountId, place: at } = signInPlaces
  return (
    !!account &&
    !!tx
      .select({ at })
      .from(signInPlaces)
      .where(and(eq(accountId, account.id), eq(at, place)))
      .get()
  )
}

/**
 * Failures from a place where this account was signed in to before are that place's own, those from everywhere else are counted
 * together. So guesses from a thousand addresses are as slow as from one, and a stranger who guesses slows down strangers, not the owner
 * where the owner usually is. From a new place the owner still has what cannot be guessed and is never slowed: open sessions, a passkey,
 * and the link by mail, whose second step is counted apart. An address without an account has no places and is slowed like any other.
 */
export function guessAtPassword(tx: Db, email: string, account: Account | undefined, from: string): Guess {
  const place = addressKey(from)
  const known = isKnown(tx, account, place)
  return { key: `${known ? place : 'elsewhere'} ${email.trim().toLowerCase()}`, known }
}

/** Nobody comes to the second step by guessing at the first: what fails here is not mixed with what strangers do there. */
export function guessAtCode(tx: Db, account: Account, from: string): Guess {
  const place = addressKey(from)
  const known = isKnown(tx, account, place)
  return { key: `second ${known ? place : 'elsewhere'} ${account.id}`, known }
}

/** Counted for this session alone: strangers who guess elsewhere do not slow down who is signed in already. */
export const guessIn = (sessionId: string): Guess => ({ key: sessionId, known: true, ofSession: true })

/**
 * Checks what was guessed, one failure more unless it is right; what was not looked at at all is none. Throws `rate_limited` for who has
 * to wait after failures.
 */
export async function guessed<T>(
  { signInThrottle }: Pick<Call, 'signInThrottle'>,
  { key, ofSession }: Guess,
  account: Account | undefined,
  check: () => Promise<T>,
): Promise<T> {
  try {
    signInThrottle.take(key, 'Too many tries for this account failed.')
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
