// The queries that every table of goods has: a slice by name, the number, a new row, a changed one.
import { and, count, getTableColumns, type SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { ended, type Slice } from '../kernel/api/list.ts'
import { patched } from '../kernel/api/named.ts'
import type { Db, Tx } from '../kernel/db/open.ts'

/** `insert` and `update` throw a unique violation when the name is taken. */
export function queriesOfGoods<T extends SQLiteTable & { id: SQLiteColumn; name: SQLiteColumn }>(table: T) {
  type Row = T['$inferSelect']
  const { name } = table
  const goods: SQLiteTable = table
  return {
    /** A slice of them, of those that fit `where`, by name where nothing else is asked for. */
    byName(tx: Db, slice: Slice, where?: SQL): Row[] {
      const { behind, inOrder, sortValue } = ended(slice, name, 'ASC')
      return tx
        .select({ ...getTableColumns(goods), ...sortValue })
        .from(goods)
        .where(and(where, behind))
        .orderBy(...inOrder)
        .limit(slice.limit)
        .offset(slice.skip)
        .all()
    },
    count: (tx: Db, where?: SQL): number => tx.select({ n: count() }).from(goods).where(where).get()!.n,
    insert: (tx: Tx, row: T['$inferInsert']): Row => tx.insert(goods).values(row).returning().get(),
    update: (tx: Tx, row: Row, given: Partial<Row>): Row =>
      patched(tx, table, row, given as Partial<T['$inferInsert']>),
  }
}
