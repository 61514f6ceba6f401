// Columns of encrypted text: which keys theirs are, and encrypting all of it anew while everything goes on.
import { getTableColumns, getTableName, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { isKeyId } from '../crypto/key-ring.ts'
import { isEncrypted, keyOf, type Secrets } from '../crypto/secrets.ts'
import { type Db, type Tx, write } from './open.ts'

/** A column whose texts are encrypted, all or some; `about` is what a row's is bound to. */
export type EncryptedColumn<Row = any> = {
  table: SQLiteTable
  field: string
  column: SQLiteColumn
  about(row: Row): string
}

/**
 * `encryptedColumn(deliveries, 'encryptedPayload', ({ id }: { id: string }) => id)`. It also has to be in `encrypted`
 * of the feature.
 */
export const encryptedColumn = <T extends SQLiteTable, Row>(
  table: T,
  field: keyof T['$inferSelect'] & string,
  about: (row: Row) => string,
): EncryptedColumn<Row> => ({ table, field, column: getTableColumns(table)[field] as SQLiteColumn, about })

/**
 * How many values are encrypted with which key: id → number. Reads the columns once, a second for some millions of
 * rows.
 */
export function keysInUse(db: Db, columns: readonly EncryptedColumn[]): Map<string, number> {
  const used = new Map<string, number>()
  for (const { table, column } of columns) {
    const rows = db.$client
      .query<{ id: string; n: number }, []>(
        // A JSON column has its text in quotes.
        `SELECT ltrim(substr("${column.name}", 1, instr("${column.name}", '.') - 1), '"') AS id, count(*) AS n ` +
          `FROM "${getTableName(table)}" GROUP BY 1`,
      )
      .all()
    for (const { id, n } of rows) if (isKeyId(id)) used.set(id, (used.get(id) ?? 0) + n)
  }
  return used
}

type Value = { of: EncryptedColumn; at: number; about: string; encrypted: string }

/** A transaction of so many rows keeps others waiting for a few milliseconds. */
const AT_ONCE = 100

/**
 * Calls `work` for each value that is encrypted with another key than `key`, in transactions of a few; between them
 * others are served.
 */
export async function eachEncryptedOtherwise(
  db: Db,
  columns: readonly EncryptedColumn[],
  key: string,
  work: (tx: Tx, value: Value) => void,
) {
  for (const of of columns) {
    for (let after: number | undefined = 0; after !== undefined; ) {
      after = write(db, (tx): number | undefined => {
        const rows: Record<string, unknown>[] = tx
          .select({ ...getTableColumns(of.table), at: sql<number>`rowid` })
          .from(of.table)
          .where(sql`rowid > ${after}`)
          .orderBy(sql`rowid`)
          .limit(AT_ONCE)
          .all()
        for (const row of rows) {
          const encrypted = row[of.field]
          if (isEncrypted(encrypted) && keyOf(encrypted) !== key)
            work(tx, { of, at: row['at'] as number, about: of.about(row), encrypted })
        }
        // Rows that come after the last ones are encrypted with the newest key: running after them would have no end.
        return rows.length < AT_ONCE ? undefined : (rows.at(-1)!['at'] as number)
      })
      await Bun.sleep(0)
    }
  }
}

/** Opens the value with the key that it was encrypted with, and encrypts it with the newest. */
export function reencrypt(tx: Tx, secrets: Secrets, { of: { table, column }, at, about, encrypted }: Value) {
  const anew = column.mapToDriverValue(secrets.encrypt(about, secrets.open(about, encrypted))) as string
  tx.$client.query(`UPDATE "${getTableName(table)}" SET "${column.name}" = ? WHERE rowid = ?`).run(anew, at)
}
