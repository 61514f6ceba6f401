// One-time links, which sign a person in without a password; a mail or a billing system hands them over. Only their
// hash is stored. A link is valid for one purpose, once, for a limited time, and while the account has the e-mail
// address it had when the link was made: a link in a mistyped or lost mailbox opens nothing after the address was
// corrected.
import { type Actor, nameOf } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { digest, randomToken } from '../../../kernel/crypto/secrets.ts'
import { day, hour, second } from '../../../kernel/db/clock.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import type { Account } from '../../account-records/model.ts'
import { accountById } from '../../account-records/queries.ts'
import { endLinks, insertLink, markLinkUsed, validLink } from './queries.ts'
import type { MadeBy } from './tables.ts'

export type { MadeBy }

/**
 * Each purpose with its lifetime, the page it leads to, and whether a newer link ends it. Lifetimes: a week to take up
 * an account, an hour for a mail that was just requested, a minute for a redirect of the billing system
 * (specification).
 */
export const purposes = {
  welcome: { lifeMs: 7 * day, page: '/welcome/', newestOnly: true },
  reset: { lifeMs: hour, page: '/reset/', newestOnly: true },
  email: { lifeMs: day, page: '/confirm-email/', newestOnly: true },
  'sign-in': { lifeMs: 60 * second, page: '/sign-in/', newestOnly: false },
} as const
export type Purpose = keyof typeof purposes

/** `madeBy`: the owner of the token, for a link that a program made. */
type NewLink = { purpose: Purpose; account: Account; data?: string; madeBy?: Actor; now: number }

/** Answers the path with the token, which is not stored, and the end of its life in milliseconds. */
export function makeLink(
  tx: Tx,
  { purpose, account, data, madeBy, now }: NewLink,
): { path: `/${string}`; expiresAt: number } {
  const { lifeMs, page, newestOnly } = purposes[purpose]
  if (newestOnly) endLinks(tx, account.id, now, purpose)
  const token = randomToken()
  const expiresAt = now + lifeMs
  insertLink(tx, {
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
  return { path: `${page}${token}`, expiresAt }
}

type Link = { id: string; purpose: Purpose; account: Account; data: string | null; madeBy: MadeBy | null }

/**
 * Reads a link without consuming it. Undefined when it is used, expired, of another purpose, or for a former address.
 */
export const linkFrom = (tx: Db, wanted: readonly Purpose[], token: string, now: number): Link | undefined =>
  linkByHash(tx, wanted, digest(token), now)

export function linkByHash(tx: Db, wanted: readonly Purpose[], hash: string, now: number): Link | undefined {
  const row = validLink(tx, hash, now)
  const account = row && wanted.includes(row.purpose) ? accountById(tx, row.accountId) : undefined
  if (!row || !account || account.disabledAt !== null || account.email !== row.email) return undefined
  return { id: row.id, purpose: row.purpose, account, data: row.data, madeBy: row.madeBy }
}

/** Reads a link and consumes it. Throws `link_not_valid`. */
export function consumeLink(tx: Tx, wanted: readonly Purpose[], token: string, now: number): Link {
  return consumeLinkByHash(tx, wanted, digest(token), now)
}

export function consumeLinkByHash(tx: Tx, wanted: readonly Purpose[], hash: string, now: number): Link {
  const link = linkByHash(tx, wanted, hash, now)
  if (!link) throw linkNotValid()
  markLinkUsed(tx, link.id, now)
  return link
}

export const linkNotValid = () =>
  new ApiError(
    'link_not_valid',
    'This link is no longer valid: it was used, a newer one took its place, or it has expired. Ask for a new one.',
  )
