// Sessions, sign-ins that wait for a second factor, and the places where accounts were signed in.
import { and, desc, eq, gt, lt, ne, notInArray, or, sql } from 'drizzle-orm'
import type { AccountKind } from '../../../kernel/api/access.ts'
import { day, hour } from '../../../kernel/db/clock.ts'
import { expiring } from '../../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { ownRow } from '../../../kernel/db/rows.ts'
import { accountIdsOfKind, accountReference } from '../../account-records/queries.ts'
import { sessions, signInChallenges, signInPlaces } from './tables.ts'

// +?: 2.5 µs instead of 9.
const lastSeen = prepared(({ $client }) =>
  $client.prepare<{ at: number | null }, [string]>(
    `SELECT max(at) AS at FROM (SELECT max(seen_at) AS at FROM sessions WHERE account_id = +?1
     UNION ALL SELECT max(seen_at) FROM sign_in_places WHERE account_id = +?1)`,
  ),
)
/**
 * When the account was last here (milliseconds; null when not lately), by an open session, or by a place where one
 * began that has ended.
 */
export const lastSeenAt = (tx: Db, accountId: string): number | null => lastSeen(tx).get(accountId)!.at

// ---------------------------------------------------------------- sessions
/** A session with its account's kind. `supportOf` and `supportUntil` are set for a support session. */
export type Session = {
  id: string
  accountId: string
  csrf: string
  createdAt: number
  seenAt: number
  confirmedAt: number
  kind: AccountKind
  supportOf: string | null
  supportUntil: number | null
}
export type SessionRow = typeof sessions.$inferSelect

const statements = prepared(({ $client }) => ({
  // Each request runs it. +?: 2.6 µs instead of 15.
  byTokenHash: $client.prepare<Session, [string]>(
    `SELECT s.id, s.account_id AS accountId, s.csrf, s.created_at AS createdAt, s.seen_at AS seenAt,
      s.confirmed_at AS confirmedAt, s.support_of AS supportOf, s.support_until AS supportUntil,
      ${accountReference.columns('a', { kind: 'kind' })}
     FROM sessions s ${accountReference.join('a', 's.account_id')}
     WHERE s.token_hash = +? AND ${accountReference.column('a', 'disabledAt')} IS NULL`,
  ),
  touch: $client.prepare<unknown, [number, string]>('UPDATE sessions SET seen_at = ? WHERE id = ?'),
}))
/** The session with this token, expired or not, of an account that is not disabled. */
export const sessionByTokenHash = (tx: Db, hash: string): Session | null => statements(tx).byTokenHash.get(hash)
/** The session of this id, if it is the account's own. */
export const ownSession = ownRow(sessions, sessions.accountId)
export const sessionsOf = (tx: Db, accountId: string): SessionRow[] =>
  tx.select().from(sessions).where(eq(sessions.accountId, accountId)).all()
export const sessionExists = (tx: Db, id: string): boolean =>
  tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, id)).get() !== undefined

export const storeSession = (tx: Tx, row: typeof sessions.$inferInsert) => void tx.insert(sessions).values(row).run()
export const touchSession = (tx: Tx, id: string, now: number) => void statements(tx).touch.run(now, id)
export const updateSession = (tx: Tx, id: string, given: Partial<SessionRow>) =>
  void tx.update(sessions).set(given).where(eq(sessions.id, id)).run()
export const deleteSession = (tx: Tx, id: string) => void tx.delete(sessions).where(eq(sessions.id, id)).run()
/** Deletes the account's sessions except `but`. */
export const deleteSessionsOf = (tx: Tx, accountId: string, but: string) =>
  void tx
    .delete(sessions)
    .where(and(eq(sessions.accountId, accountId), ne(sessions.id, but)))
    .run()
/** Idle and absolute limits: staff can do more harm, so theirs are shorter. */
export const sessionLimits = {
  staff: { idleMs: hour, wholeMs: 12 * hour },
  reseller: { idleMs: 12 * hour, wholeMs: 14 * day },
  customer: { idleMs: 12 * hour, wholeMs: 14 * day },
}
/** +: the few that are old enough are found first, then the kind of their accounts. */
export const expiredSessions = expiring(sessions, (now) =>
  or(
    ...Object.entries(sessionLimits).map(
      ([kind, { idleMs, wholeMs }]) =>
        sql`(${sessions.createdAt} < ${now - wholeMs} OR ${sessions.seenAt} < ${now - idleMs})
          AND +${sessions.accountId} IN (${accountIdsOfKind(kind)})`,
    ),
  ),
)

// ---------------------------------------------------------------- sign-ins that wait for their second factor
export type SignInChallenge = typeof signInChallenges.$inferSelect

/** Stores a challenge, and deletes expired ones. */
export function insertChallenge(tx: Tx, row: SignInChallenge) {
  tx.delete(signInChallenges).where(lt(signInChallenges.expiresAt, row.createdAt)).run()
  tx.insert(signInChallenges).values(row).run()
}
const hasAttempts = (tokenHash: string, most: number) =>
  and(eq(signInChallenges.tokenHash, tokenHash), lt(signInChallenges.attempts, most))
/** The challenge that is not expired and has fewer than `most` attempts. */
export const challengeByTokenHash = (
  tx: Db,
  tokenHash: string,
  { now, most }: { now: number; most: number },
): SignInChallenge | undefined =>
  tx
    .select()
    .from(signInChallenges)
    .where(and(hasAttempts(tokenHash, most), gt(signInChallenges.expiresAt, now)))
    .get()
/** Counts an attempt in one statement, so that parallel ones cannot exceed `most`; undefined when none is left. */
export const countAttempt = (tx: Tx, tokenHash: string, most: number): SignInChallenge | undefined =>
  tx
    .update(signInChallenges)
    .set({ attempts: sql`${signInChallenges.attempts} + 1` })
    .where(hasAttempts(tokenHash, most))
    .returning()
    .get()
/** False when it was deleted before. */
export const deleteChallenge = (tx: Tx, tokenHash: string): boolean =>
  tx.delete(signInChallenges).where(eq(signInChallenges.tokenHash, tokenHash)).returning().get() !== undefined
export const deleteChallengesOf = (tx: Tx, accountId: string) =>
  void tx.delete(signInChallenges).where(eq(signInChallenges.accountId, accountId)).run()

export const expiredChallenges = expiring(signInChallenges, (now) => lt(signInChallenges.expiresAt, now))

// ---------------------------------------------------------------- addresses where an account was signed in
/** Records the place; the account's oldest places beyond `most` are deleted. */
export function savePlace(tx: Tx, accountId: string, place: string, now: number, most: number) {
  tx.insert(signInPlaces)
    .values({ accountId, place, seenAt: now })
    .onConflictDoUpdate({ target: [signInPlaces.accountId, signInPlaces.place], set: { seenAt: now } })
    .run()
  const newest = tx
    .select({ place: signInPlaces.place })
    .from(signInPlaces)
    .where(eq(signInPlaces.accountId, accountId))
    .orderBy(desc(signInPlaces.seenAt))
    .limit(most)
  tx.delete(signInPlaces)
    .where(and(eq(signInPlaces.accountId, accountId), notInArray(signInPlaces.place, newest)))
    .run()
}
export const isKnownPlace = (tx: Db, accountId: string, place: string): boolean =>
  tx
    .select({ place: signInPlaces.place })
    .from(signInPlaces)
    .where(and(eq(signInPlaces.accountId, accountId), eq(signInPlaces.place, place)))
    .get() !== undefined
