// A sign-in that waits for its second factor: a row here and a random value in a cookie of one browser. Nothing else
// that a client says about its progress counts.
import { ApiError } from '../../../kernel/api/errors.ts'
import type { Became, Call } from '../../../kernel/api/operation.ts'
import { digest, randomToken } from '../../../kernel/crypto/secrets.ts'
import { minute } from '../../../kernel/db/clock.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { cookieIn, cookieName, sessionCookie } from '../sessions/cookies.ts'
import {
  challengeByTokenHash,
  countAttempt,
  deleteChallenge,
  insertChallenge,
  type SignInChallenge,
} from '../sessions/queries.ts'

const COOKIE = 'panel-second'
const LIFE_MS = 10 * minute
/** After that many failures the whole sign-in begins again. */
export const MOST_ATTEMPTS = 5

export type { SignInChallenge }

/** Without an account, a passkey will tell which one it is. Answers the row's key. */
export function openChallenge(
  { tx, clock, config, setCookie }: Pick<Call, 'tx' | 'clock' | 'config' | 'setCookie'>,
  account: Became | null,
): string {
  const [now, token] = [clock(), randomToken()]
  const tokenHash = digest(token)
  const accountId = account?.id ?? null
  insertChallenge(tx, { tokenHash, accountId, attempts: 0, createdAt: now, expiresAt: now + LIFE_MS })
  const cookie = sessionCookie(config.origin, token, LIFE_MS / 1000, COOKIE)
  if (account) setCookie(cookie, account, 'second_factor_required')
  else setCookie(cookie)
  return tokenHash
}

type ChallengeContext = Pick<Call, 'clock' | 'config' | 'client'>
const hashFrom = ({ config, client }: ChallengeContext) => {
  const token = cookieIn(client.cookies, cookieName(config.origin, COOKIE))
  return token ? digest(token) : ''
}

/** The challenge of this browser, while it is valid. */
export const challengeFrom = (tx: Db, call: ChallengeContext): SignInChallenge | undefined =>
  challengeByTokenHash(tx, hashFrom(call), { now: call.clock(), most: MOST_ATTEMPTS })

/**
 * Counts an attempt before it is checked, so that parallel ones cannot exceed the limit. Undefined when none is left.
 */
export const takeAttempt = (tx: Tx, { tokenHash }: SignInChallenge): SignInChallenge | undefined =>
  countAttempt(tx, tokenHash, MOST_ATTEMPTS)

/** Ends the challenge with a session, once. Throws `sign_in_failed` when it has ended. */
export function closeChallenge(
  tx: Tx,
  { tokenHash }: SignInChallenge,
  { config, setCookie }: Pick<Call, 'config' | 'setCookie'>,
) {
  if (!deleteChallenge(tx, tokenHash)) throw startAgain()
  setCookie(sessionCookie(config.origin, '', 0, COOKIE))
}

export const startAgain = () =>
  new ApiError(
    'sign_in_failed',
    'This sign-in is no longer valid: it took too long, or failed too often. Start again on the sign-in page.',
  )

export const mfaProofRefused = ({ attempts }: SignInChallenge) =>
  attempts < MOST_ATTEMPTS
    ? new ApiError(
        'sign_in_failed',
        'That code or passkey was not accepted. A code works once: wait for the next one, or sign in another way.',
      )
    : startAgain()
