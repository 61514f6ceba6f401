import { count, eq } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { inserting, ownRow } from '../../kernel/db/rows.ts'
import { type SavedFilter, savedFilters } from './tables.ts'

export const ownSavedFilter = ownRow(savedFilters, savedFilters.accountId)

/** A page of the account's saved filters, newest first. */
export const pageOfSavedFilters = <Shown>(call: ReadContext, show: (filter: SavedFilter) => Shown) =>
  newest({
    call,
    name: 'saved filters',
    table: savedFilters,
    where: eq(savedFilters.accountId, call.actor.accountId),
    show,
  })
export const countSavedFilters = (tx: Db, accountId: string): number =>
  tx.select({ n: count() }).from(savedFilters).where(eq(savedFilters.accountId, accountId)).get()!.n

/** Throws a unique violation when the account has a filter of this name for the list. */
export const insertSavedFilter = inserting(savedFilters)
export const deleteSavedFilter = (tx: Tx, id: string) =>
  void tx.delete(savedFilters).where(eq(savedFilters.id, id)).run()
