import { and, eq, gt, inArray, isNull, lte, or } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type Announcement, announcements } from './tables.ts'

export const announcementById = rowBy(announcements, announcements.id)

/** A page of all announcements, past and to come, newest first. */
export const pageOfAnnouncements = <Shown>(call: ReadContext, show: (announcement: Announcement) => Shown) =>
  newest({ call, name: 'announcements', table: announcements, where: undefined, show })

/** The announcements to these audiences that are shown at `now` (milliseconds). */
export const announcementsAt = (tx: Db, now: number, audiences: Announcement['audience'][]): Announcement[] =>
  tx
    .select()
    .from(announcements)
    .where(
      and(
        inArray(announcements.audience, audiences),
        lte(announcements.startsAt, now),
        or(isNull(announcements.endsAt), gt(announcements.endsAt, now)),
      ),
    )
    .all()

export const insertAnnouncement = (tx: Tx, row: typeof announcements.$inferInsert): Announcement =>
  tx.insert(announcements).values(row).returning().get()
export const updateAnnouncement = (tx: Tx, row: Announcement, given: Partial<Announcement>): Announcement =>
  patched(tx, announcements, row, given)
export const deleteAnnouncement = (tx: Tx, id: string) =>
  void tx.delete(announcements).where(eq(announcements.id, id)).run()
