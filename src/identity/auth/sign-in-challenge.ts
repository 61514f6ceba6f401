// A sign-in that waits for its second factor. It is a row here and a random value in a cookie of one browser, nothing else: what a
// client says about how far it has come counts for nothing.
import { and, eq, gt, lt, sql } from 'drizzle-orm'
import { ApiError } from '../../kernel/api/errors.ts'
import type { Became, Call } from '../../kernel/api/operation.ts'
import { digest, randomToken } from '../../kernel/crypto/secrets.ts'
import { minute } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { cookieIn, cookieName, sessionCookie } from './cookies.ts'
import { pendingSignIns } from './tables.ts'

const COOKIE = 'panel-second'
const LIFE_MS = 10 * minute
/** After so many the whole sign-in begins again. */
export const MOST_TRIES = 5

export type Pending = typeof pendingSignIns.$inferSelect

/** `accountId` null: a passkey is asked for, and whose it is will be known when it answers. Answers the row's key. */
export function openPending(
  { tx, clock, config, setCookie }: Pick<Call, 'tx' | 'clock' | 'config' | 'setCookie'>,
  account: Became | null,
): string {
  const [now, token] = [clock(), randomToken()]
  const tokenHash = digest(token)
  tx.delete(pendingSignIns).where(lt(pendingSignIns.expiresAt, now)).run()
  tx.insert(pendingSignIns)
    .values({ tokenHash, accountId: account?.id ?? null, tries: 0, createdAt: now, expiresAt: now + LIFE_MS })
    .run()
  const cookie = sessionCookie(config.origin, token, LIFE_MS / 1000, COOKIE)
  if (account) setCookie(cookie, account, 'second_factor_required')
  else setCookie(cookie)
  return tokenHash
}

type RequestContext = Pick<Call, 'clock' | 'config' | 'cookies'>
const hashFrom = ({ config, cookies }: RequestContext) => {
  const token = cookieIn(cookies, cookieName(config.origin, COOKIE))
  return token ? digest(token) : ''
}

/** The one of the browser that asks, while it is good. */
export const pendingFrom = (tx: Db, call: RequestContext): Pending | undefined =>
  tx
    .select()
    .from(pendingSignIns)
    .where(
      and(
        eq(pendingSignIns.tokenHash, hashFrom(call)),
        gt(pendingSignIns.expiresAt, call.clock()),
        lt(pendingSignIns.tries, MOST_TRIES),
      ),
    )
    .get()

/** Counts one before it is looked at, so that parallel ones cannot be more than there are. Undefined when there are none left. */
export const takeTry = (tx: Tx, { tokenHash }: Pending): Pending | undefined =>
  tx
    .update(pendingSignIns)
    .set({ tries: sql`${pendingSignIns.tries} + 1` })
    .where(and(eq(pendingSignIns.tokenHash, tokenHash), lt(pendingSignIns.tries, MOST_TRIES)))
    .returning()
    .get()

/** It has led to a session, once. Throws `sign_in_failed` when it has already. */
export function closePending(
  tx: Tx,
  { tokenHash }: Pending,
  { config, setCookie }: Pick<Call, 'config' | 'setCookie'>,
) {
  if (!tx.delete(pendingSignIns).where(eq(pendingSignIns.tokenHash, tokenHash)).returning().get()) throw startAgain()
  setCookie(sessionCookie(config.origin, '', 0, COOKIE))
}

export const startAgain = () =>
  new ApiError(
    'sign_in_failed',
    'This sign-in is not valid any more: it took too long, or failed too often. Start again on the sign-in page.',
  )

export const secondFactorFailed = ({ tries }: Pending) =>
  tries < MOST_TRIES
    ? new ApiError(
        'sign_in_failed',
        'That code or passkey was not accepted. A code works once: wait for the next one, or sign in another way.',
      )
    : startAgain()
