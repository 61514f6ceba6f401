// Browser sessions: rows keyed by the hash of a random token. The cookie holds only the token.

import { type Actor, sessionOf } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { digest, randomToken } from '../../../kernel/crypto/secrets.ts'
import { day, minute, second } from '../../../kernel/db/clock.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import type { Account } from '../../account-records/model.ts'
import {
  deleteChallengesOf,
  deleteSession,
  deleteSessionsOf,
  type Session,
  type SessionRow,
  sessionByTokenHash,
  sessionExists,
  sessionLimits,
  storeSession,
  touchSession,
  updateSession,
} from './queries.ts'

export type { Session }
export { sessionLimits }

/** As long as the longest absolute limit; the limits themselves are checked here, not by the browser. */
export const SESSION_SECONDS = (14 * day) / second

/** Answers the token for the cookie; only its hash is stored. */
export function insertSession(
  tx: Tx,
  account: Account,
  { now, from, userAgent, confirmed = true }: { now: number; from: string; userAgent: string; confirmed?: boolean },
): string {
  const token = randomToken()
  storeSession(tx, {
    id: newId('ses'),
    tokenHash: digest(token),
    accountId: account.id,
    csrf: randomToken(),
    createdAt: now,
    seenAt: now,
    confirmedAt: confirmed ? now : 0,
    from,
    userAgent: userAgent.slice(0, 300),
  })
  return token
}

export function sessionFrom(db: Db, token: string, now: number): Session | undefined {
  const session = sessionByTokenHash(db, digest(token))
  if (!session) return undefined
  return isExpired(session, now) ? undefined : session
}

/** Unused for too long, or open for too long. */
export function isExpired(
  { kind, seenAt, createdAt }: Pick<Session, 'kind' | 'seenAt' | 'createdAt'>,
  now: number,
): boolean {
  const { idleMs, wholeMs } = sessionLimits[kind]
  return now - seenAt > idleMs || now - createdAt > wholeMs
}

/** How stale `seen_at` may get. Writing it for every page would make each read a write. */
export const SEEN_EVERY_MS = minute

export const markSeen = (tx: Tx, session: Session, now: number) => touchSession(tx, session.id, now)
/** Gives the session a new token, after its rights have changed. Open pages stay usable. */
export function rotateToken(tx: Tx, id: string, changed: Partial<SessionRow> = {}): string {
  const token = randomToken()
  updateSession(tx, id, { ...changed, tokenHash: digest(token) })
  return token
}
/** Gives it a new CSRF token too: pages from before belong to another account and stop working. */
export const rotateSession = (tx: Tx, id: string, changed: Partial<SessionRow>): string =>
  rotateToken(tx, id, { ...changed, csrf: randomToken() })

/** Ends all sessions of the account except `but`, and its sign-in challenges. */
export function endSessionsOf(tx: Tx, accountId: string, but = '') {
  deleteSessionsOf(tx, accountId, but)
  deleteChallengesOf(tx, accountId)
}

export const endSession = deleteSession

/** The id of the actor's session. Throws `forbidden` for System, which has none. */
export function ownSessionId(actor: Actor): string {
  const session = sessionOf(actor)
  if (!session) throw new ApiError('forbidden', 'System has no session: this is for people in a browser.')
  return session.sessionId
}

/** After slow work: throws `not_authenticated` when the actor's session was ended meanwhile. */
export function mustStillBeOpen(tx: Db, actor: Actor) {
  const { sessionId } = sessionOf(actor) ?? {}
  if (sessionId && !sessionExists(tx, sessionId))
    throw new ApiError('not_authenticated', 'Your session was ended meanwhile, and nothing was changed. Sign in again.')
}
