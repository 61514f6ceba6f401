// Names are unique among things of a kind, and a PATCH changes only the fields that it names.
import { eq } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { isUniqueViolation, type Tx } from '../db/open.ts'
import { ApiError } from './errors.ts'

/** Runs `change`. Throws `name_taken` when the unique index has the name already. */
export function named<T>(what: string, change: () => T): T {
  try {
    return change()
  } catch (error) {
    if (isUniqueViolation(error))
      throw new ApiError('name_taken', `Another ${what} already has this name. Choose another name.`)
    throw error
  }
}

/** Updates the given columns and returns the row; without any it returns the row as it is. */
export function patched<T extends SQLiteTable & { id: SQLiteColumn }>(
  tx: Tx,
  table: T,
  row: T['$inferSelect'],
  given: Partial<T['$inferInsert']>,
): T['$inferSelect'] {
  if (!Object.keys(given).length) return row
  return tx
    .update(table as SQLiteTable)
    .set(given)
    .where(eq(table.id, (row as { id: string }).id))
    .returning()
    .get() as T['$inferSelect']
}
