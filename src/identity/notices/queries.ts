import { and, count, eq, inArray, isNotNull, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting } from '../../kernel/db/rows.ts'
import { noticeChoices, notices } from './tables.ts'

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

/** How many unread notices of these kinds are about a state that goes on. */
export const unreadAndGoingOn = (tx: Db, accountId: string, kinds: readonly string[]): number =>
  kinds.length === 0
    ? 0
    : tx
        .select({ n: count() })
        .from(notices)
        .where(
          ofAccount(
            accountId,
            and(
              isNull(notices.readAt),
              isNotNull(notices.about),
              isNull(notices.overAt),
              inArray(notices.kind, [...kinds]),
            ),
          ),
        )
        .get()!.n

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

/** A notice to the account about this state gives way to a newer one. */
export const dropNoticesAbout = (tx: Tx, accountId: string, about: string): void =>
  void tx
    .delete(notices)
    .where(ofAccount(accountId, eq(notices.about, about)))
    .run()

/** The state that these notices are about has ended: they say so from now on, and nobody has to read them. */
export const endNotices = (
  tx: Tx,
  about: string,
  now: number,
  { subject, words }: { subject: string; words: string },
) =>
  void tx
    .update(notices)
    .set({ subject, words, overAt: now, readAt: sql`coalesce(${notices.readAt}, ${now})` })
    .where(and(eq(notices.about, about), isNull(notices.overAt)))
    .run()

// ---------------------------------------------------------------- what people chose
/** `locationIds`: the locations of which it comes; empty: all of them, also later ones. */
export type NoticeChoice = Pick<typeof noticeChoices.$inferSelect, 'inPanel' | 'byMail' | 'locationIds'>

const everything: NoticeChoice = { inPanel: true, byMail: true, locationIds: [] }
const columns = 'kind, in_panel AS inPanel, by_mail AS byMail, location_ids AS locationIds FROM notice_choices'
type Row = { kind: string; inPanel: number; byMail: number; locationIds: string }
const statements = prepared(({ $client }) => ({
  choice: $client.prepare<Row, [string, string]>(`SELECT ${columns} WHERE account_id = ? AND kind = ?`),
  choices: $client.prepare<Row, [string]>(`SELECT ${columns} WHERE account_id = ?`),
}))
const choiceFrom = (row: Row | null): NoticeChoice =>
  row ? { inPanel: !!row.inPanel, byMail: !!row.byMail, locationIds: JSON.parse(row.locationIds) } : everything
/** How the account gets notices of this kind. */
export const choiceOf = (tx: Db, accountId: string, kind: string): NoticeChoice =>
  choiceFrom(statements(tx).choice.get(accountId, kind))
/** The same for each kind about which the account has chosen something. */
export const choicesOf = (tx: Db, accountId: string): ReadonlyMap<string, NoticeChoice> =>
  new Map(
    statements(tx)
      .choices.all(accountId)
      .map((row) => [row.kind, choiceFrom(row)]),
  )

/** Changes the choice about a kind; what is not given stays. */
export const choose = (tx: Tx, accountId: string, kind: string, given: Partial<NoticeChoice>): void =>
  void tx
    .insert(noticeChoices)
    .values({ accountId, kind, ...given })
    .onConflictDoUpdate({ target: [noticeChoices.accountId, noticeChoices.kind], set: given })
    .run()
