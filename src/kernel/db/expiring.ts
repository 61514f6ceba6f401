// Rows whose time has come are deleted, however many they are: a stored response may hold a password. No read uses such
// a row before that: each compares the times itself.
import { getTableName, type SQL, sql } from 'drizzle-orm'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Clock, minute } from './clock.ts'
import { type Db, type Tx, write } from './open.ts'

/** Rows of a table that end by themselves. */
export type ExpiringRows = {
  table: SQLiteTable
  /** Deletes up to `most` rows whose end is before `now`, in ms; answers how many. */
  deleteExpired(tx: Tx, now: number, most: number): number
}

/** `expiring(links, (now) => lt(links.expiresAt, now))`: the condition that a row has ended. */
export function expiring(table: SQLiteTable, hasEnded: (now: number) => SQL | undefined): ExpiringRows {
  const key = keyOf(table)
  const name = sql.identifier(getTableName(table))
  return {
    table,
    deleteExpired: (tx, now, most) =>
      tx
        .delete(table)
        .where(sql`(${key}) IN (SELECT ${key} FROM ${name} WHERE ${hasEnded(now)} LIMIT ${most})`)
        .returning({ one: sql`1` })
        .all().length,
  }
}

/** A key of several columns may be that of a table WITHOUT ROWID. */
function keyOf(table: SQLiteTable): SQL {
  const [key] = getTableConfig(table).primaryKeys
  return key
    ? sql.join(
        key.columns.map(({ name }) => sql.identifier(name)),
        sql`, `,
      )
    : sql`rowid`
}

export const EXPIRED_DELETED_EVERY_MS = minute
/** A transaction of so many rows keeps others waiting for a few milliseconds. */
const AT_ONCE = 500

/** Deletes every row that has ended, a part at a time; others are served in between. */
export async function deleteExpired(db: Db, declared: readonly ExpiringRows[], clock: Clock) {
  let left = declared
  while (left.length) {
    left = write(db, (tx) => left.filter((rows) => rows.deleteExpired(tx, clock(), AT_ONCE) === AT_ONCE))
    if (left.length) await Bun.sleep(0)
  }
}
