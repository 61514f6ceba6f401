// What every thing with a name has in common: two of a kind cannot share one, and a change changes only what it names.
import { eq } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { isUniqueViolation, type Tx } from '../db/open.ts'
import { ApiError } from './errors.ts'

/** Does `change`; when the unique index knows the name already, throws `name_taken`, saying of what. */
export function named<T>(what: string, change: () => T): T {
  try {
    return change()
  } catch (error) {
    if (isUniqueViolation(error))
      throw new ApiError('name_taken', `Another ${what} already has this name. Choose another name.`)
    throw error
  }
}

/** The row with what was given changed in it; as it is when nothing was given. */
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
