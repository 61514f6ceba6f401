import { and, asc, eq, isNotNull, isNull, lte } from 'drizzle-orm'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { rowBy, updating } from '../../kernel/db/rows.ts'
import { type GuestSwitch, guestSwitches } from './tables.ts'

/** The last change of addresses of this server that its system was to be told. */
export const switchOf = rowBy(guestSwitches, guestSwitches.serverId)
export const changeSwitch = updating(guestSwitches, guestSwitches.serverId)
export const putSwitch = (tx: Tx, row: typeof guestSwitches.$inferInsert) =>
  void tx.insert(guestSwitches).values(row).onConflictDoUpdate({ target: guestSwitches.serverId, set: row }).run()
/** Those without another way to learn of it whose guest agent is silent since then, the longest waiting first. */
export const silentSwitches = (tx: Db, since: number, most: number): GuestSwitch[] =>
  tx
    .select()
    .from(guestSwitches)
    .where(
      and(
        eq(guestSwitches.state, 'waiting'),
        isNull(guestSwitches.endsAt),
        isNotNull(guestSwitches.error),
        lte(guestSwitches.since, since),
      ),
    )
    .orderBy(asc(guestSwitches.since))
    .limit(most)
    .all()
/** Those whose next try is due, the longest waiting first. */
export const dueSwitches = (tx: Db, now: number, most: number): GuestSwitch[] =>
  tx
    .select()
    .from(guestSwitches)
    .where(and(eq(guestSwitches.state, 'waiting'), lte(guestSwitches.nextAt, now)))
    .orderBy(asc(guestSwitches.nextAt))
    .limit(most)
    .all()
