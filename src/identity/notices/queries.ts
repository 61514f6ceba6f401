import { and, eq, isNull, lte, type SQL } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting } from '../../kernel/db/rows.ts'
import { notices, noticesWithoutMail } from './tables.ts'

export type StoredNotice = typeof notices.$inferSelect

export const insertNotice = inserting(notices)

/** A page of the account's notices, newest first. */
export const pageOfNotices = <Shown>(call: ReadContext, isUnread: boolean, show: (notice: StoredNotice) => Shown) =>
  newest({
    call,
    name: isUnread ? 'unread notices' : 'notices',
    table: notices,
    where: ofAccount(call.actor.accountId, isUnread ? isNull(notices.readAt) : undefined),
    show,
  })

/** Ids sort by time: every unread notice up to the one with this id is read; without an id, all of them. */
export const markRead = (tx: Tx, accountId: string, upTo: string | undefined, now: number): number =>
  tx
    .update(notices)
    .set({ readAt: now })
    .where(ofAccount(accountId, and(isNull(notices.readAt), upTo === undefined ? undefined : lte(notices.id, upTo))))
    .returning({ id: notices.id })
    .all().length

/** Takes back the unread notices of a kind: one that is written now has their place. Answers whether there were any. */
export const withdrawUnread = (tx: Tx, accountId: string, kind: string): boolean =>
  tx
    .delete(notices)
    .where(ofAccount(accountId, and(isNull(notices.readAt), eq(notices.kind, kind))))
    .returning({ id: notices.id })
    .all().length > 0

/** Notices of the account that lead to the page `from` lead to `to` from now on: what they are about is gone. */
export const leadElsewhere = (tx: Tx, accountId: string, from: string, to: string): void =>
  void tx
    .update(notices)
    .set({ href: to })
    .where(ofAccount(accountId, eq(notices.href, from)))
    .run()

const ofAccount = (accountId: string, where: SQL | undefined) => and(eq(notices.accountId, accountId), where)

const statements = prepared(({ $client }) => ({
  withoutMail: $client.prepare<unknown, [string, string]>(
    'SELECT 1 FROM notices_without_mail WHERE account_id = ? AND kind = ?',
  ),
  kindsWithoutMail: $client.prepare<{ kind: string }, [string]>(
    'SELECT kind FROM notices_without_mail WHERE account_id = ?',
  ),
}))
export const isWithoutMail = (tx: Db, accountId: string, kind: string): boolean =>
  statements(tx).withoutMail.get(accountId, kind) !== null
export const kindsWithoutMail = (tx: Db, accountId: string): string[] =>
  statements(tx)
    .kindsWithoutMail.all(accountId)
    .map(({ kind }) => kind)

/** These kinds replace those that were turned off before. */
export function setWithoutMail(tx: Tx, accountId: string, kinds: readonly string[]) {
  tx.delete(noticesWithoutMail).where(eq(noticesWithoutMail.accountId, accountId)).run()
  if (kinds.length)
    tx.insert(noticesWithoutMail)
      .values(kinds.map((kind) => ({ accountId, kind })))
      .run()
}

/** No more mails of this kind, as if the person had turned them off. */
export const turnOffMail = (tx: Tx, accountId: string, kind: string): void =>
  void tx.insert(noticesWithoutMail).values({ accountId, kind }).onConflictDoNothing().run()
