import { and, eq, gt, inArray, isNotNull, isNull, lte, or } from 'drizzle-orm'
import { nodeReference } from '../../fleet/node-records/queries.ts'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
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

const nodeNames = prepared(({ $client }) =>
  $client.prepare<{ name: string }, [string]>(
    `SELECT ${nodeReference.columns('n', { name: 'name' })} ${nodeReference.from('n')} WHERE n.id = ?`,
  ),
)
/** The name of the node, also after it was removed. */
export const nodeNameOf = (tx: Db, nodeId: string): string => nodeNames(tx).get(nodeId)!.name

/** Announcements that have begun and end when their node is connected again. */
export const untilConnected = (tx: Db, now: number): Announcement[] =>
  tx
    .select()
    .from(announcements)
    .where(
      and(
        eq(announcements.untilConnected, true),
        isNotNull(announcements.nodeId),
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
