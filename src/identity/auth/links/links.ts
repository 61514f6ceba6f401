// One-time links: what a mail or a billing system hands to a person so that they come in without a password. One place makes,
// looks at and spends them. Only the hash is kept; a link is good for one purpose, once, for a while, and only as long as the account has
// the e-mail address that it had when the link was made: one that went to a mistyped or lost mailbox opens nothing after a correction.
import { and, count, eq, gt, isNull, lt } from 'drizzle-orm'
import { type Actor, nameOf } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { digest, randomToken } from '../../../kernel/crypto/secrets.ts'
import { day, hour, second } from '../../../kernel/db/clock.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import type { Account } from '../../accounts/model.ts'
import { accountById } from '../../accounts/model.ts'
import { type MadeBy, oneTimeLinks } from '../tables.ts'

export type { MadeBy }

/**
 * Each purpose with its life, the page it leads to, and whether a newer one ends it. Lives: a week to take up an account, an hour
 * to answer a mail that was just asked for, a minute for a redirect of the billing system (specification).
 */
export const purposes = {
  welcome: { lifeMs: 7 * day, page: '/welcome/', newestOnly: true },
  reset: { lifeMs: hour, page: '/reset/', newestOnly: true },
  email: { lifeMs: day, page: '/confirm-email/', newestOnly: true },
  'sign-in': { lifeMs: 60 * second, page: '/sign-in/', newestOnly: false },
} as const
export type Purpose = keyof typeof purposes

/** `madeBy`: for a link that is handed to a program, whose it was. */
type Wanted = { purpose: Purpose; account: Account; data?: string; madeBy?: Actor; now: number }

/** Answers the path with the token in it, this once, and until when it is good (milliseconds). */
export function makeLink(
  tx: Tx,
  { purpose, account, data, madeBy, now }: Wanted,
): { path: `/${string}`; expiresAt: number } {
  const { lifeMs, page, newestOnly } = purposes[purpose]
  if (newestOnly) endLinks(tx, account.id, now, purpose)
  const token = randomToken()
  const expiresAt = now + lifeMs
  tx.insert(oneTimeLinks)
    .values({
      id: newId('lnk'),
      purpose,
      accountId: account.id,
      email: account.email,
      tokenHash: digest(token),
      data: data ?? null,
      madeBy: madeBy ? { kind: madeBy.kind, name: nameOf(madeBy) } : null,
      createdAt: now,
      expiresAt,
    })
    .run()
  return { path: `${page}${token}`, expiresAt }
}

/** Those of one purpose, or all that the account has. */
export const endLinks = (tx: Tx, accountId: string, now: number, purpose?: Purpose) =>
  void tx
    .update(oneTimeLinks)
    .set({ usedAt: now })
    .where(
      and(
        eq(oneTimeLinks.accountId, accountId),
        isNull(oneTimeLinks.usedAt),
        purpose && eq(oneTimeLinks.purpose, purpose),
      ),
    )
    .run()

type Link = { id: string; purpose: Purpose; account: Account; data: string | null; madeBy: MadeBy | null }

/** The link as it is, without spending it; undefined when it is used, too old, of another purpose, or for an address that was given up. */
export function linkFrom(tx: Db, wanted: readonly Purpose[], token: string, now: number): Link | undefined {
  const row = tx
    .select()
    .from(oneTimeLinks)
    .where(and(eq(oneTimeLinks.tokenHash, digest(token)), isNull(oneTimeLinks.usedAt), gt(oneTimeLinks.expiresAt, now)))
    .get()
  const account = row && wanted.includes(row.purpose) ? accountById(tx, row.accountId) : undefined
  if (!row || !account || account.disabledAt !== null || account.email !== row.email) return undefined
  return { id: row.id, purpose: row.purpose, account, data: row.data, madeBy: row.madeBy }
}

/** Spends it. Throws `link_not_valid`. */
export function consumeLink(tx: Tx, wanted: readonly Purpose[], token: string, now: number): Link {
  const link = linkFrom(tx, wanted, token, now)
  if (!link) throw linkNotValid()
  tx.update(oneTimeLinks).set({ usedAt: now }).where(eq(oneTimeLinks.id, link.id)).run()
  return link
}

export const linkNotValid = () =>
  new ApiError(
    'link_not_valid',
    'This link is not valid any more: it was used, a newer one took its place, or it is too old. Ask for a new one.',
  )

/** How many of a purpose an account was given since then. */
export const linksSince = (tx: Db, accountId: string, purpose: Purpose, since: number) =>
  tx
    .select({ n: count() })
    .from(oneTimeLinks)
    .where(
      and(eq(oneTimeLinks.accountId, accountId), eq(oneTimeLinks.purpose, purpose), gt(oneTimeLinks.createdAt, since)),
    )
    .get()!.n

/** Drops what has been over for a day; the clock calls it. */
export const forgetLinks = (tx: Tx, now: number) =>
  void tx
    .delete(oneTimeLinks)
    .where(lt(oneTimeLinks.expiresAt, now - day))
    .run()
