import { and, asc, count, eq, gt, isNull, lt } from 'drizzle-orm'
import { day, hour } from '../../../kernel/db/clock.ts'
import { expiring } from '../../../kernel/db/expiring.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { oneTimeLinks, resetRequests } from './tables.ts'

export type LinkRow = typeof oneTimeLinks.$inferSelect

export const insertLink = (tx: Tx, row: typeof oneTimeLinks.$inferInsert) =>
  void tx.insert(oneTimeLinks).values(row).run()
/** The link with this token, while it is unused and not expired. */
export const validLink = (tx: Db, tokenHash: string, now: number): LinkRow | undefined =>
  tx
    .select()
    .from(oneTimeLinks)
    .where(and(eq(oneTimeLinks.tokenHash, tokenHash), isNull(oneTimeLinks.usedAt), gt(oneTimeLinks.expiresAt, now)))
    .get()
export const markLinkUsed = (tx: Tx, id: string, now: number) =>
  void tx.update(oneTimeLinks).set({ usedAt: now }).where(eq(oneTimeLinks.id, id)).run()
/** Ends the account's unused links of one purpose, or all of them. */
export const endLinks = (tx: Tx, accountId: string, now: number, purpose?: LinkRow['purpose']) =>
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
/** Links stay for a day after their end: `linksSince` counts them. */
export const expiredLinks = expiring(oneTimeLinks, (now) => lt(oneTimeLinks.expiresAt, now - day))
/** How many links of this purpose were made for the account since then. */
export const linksSince = (tx: Db, accountId: string, purpose: LinkRow['purpose'], since: number): number =>
  tx
    .select({ n: count() })
    .from(oneTimeLinks)
    .where(
      and(eq(oneTimeLinks.accountId, accountId), eq(oneTimeLinks.purpose, purpose), gt(oneTimeLinks.createdAt, since)),
    )
    .get()!.n

export const insertResetRequest = (tx: Tx, email: string, now: number) =>
  void tx.insert(resetRequests).values({ email, createdAt: now }).run()
/** A link that could not be mailed for an hour is no use to anybody. */
export const expiredResetRequests = expiring(resetRequests, (now) => lt(resetRequests.createdAt, now - hour))
export const isAnyResetRequest = (tx: Db): boolean =>
  tx.select({ id: resetRequests.id }).from(resetRequests).limit(1).get() !== undefined
/** The oldest requests. */
export const resetRequestsInOrder = (tx: Db, limit: number) =>
  tx.select().from(resetRequests).orderBy(asc(resetRequests.id)).limit(limit).all()
export const deleteResetRequest = (tx: Tx, id: number) =>
  void tx.delete(resetRequests).where(eq(resetRequests.id, id)).run()
