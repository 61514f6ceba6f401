// SQL text by which one feature reads columns of another's table without naming the table. The owner decides which
// columns.
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

type Columns<T extends SQLiteTable> = Extract<keyof T['_']['columns'], string>

/** `as` is the alias of the table in the query, `id` the expression that its key equals, such as `j.node_id`. */
export type Reference<Column extends string> = {
  /** `FROM nodes n`. */
  from(as: string): string
  /** `JOIN nodes n ON n.id = j.node_id`; a row without its counterpart is left out. */
  join(as: string, id: string): string
  /** `LEFT JOIN nodes n ON n.id = j.node_id`; a row without its counterpart has NULLs. */
  leftJoin(as: string, id: string): string
  /** As `join`, and pins the order: SQLite reads what stands before it first. */
  crossJoin(as: string, id: string): string
  /** `n.name AS nodeName` for `{ nodeName: 'name' }`. */
  columns(as: string, names: Readonly<Record<string, Column>>): string
  /** `n.removed_at` for `removedAt`. */
  column(as: string, column: Column): string
  /** `(SELECT name FROM nodes WHERE id = j.node_id)`; NULL where there is no such row. */
  value(column: Column, id: string): string
}

/**
 * `const nodeReference = reference(nodes, ['id', 'name'])`: other features read these columns of `nodes`, and no more.
 * `key`: the column by which it is joined.
 */
export function reference<T extends SQLiteTable & { id: SQLiteColumn }, C extends Columns<T>>(
  table: T,
  readable: readonly C[],
): Reference<C | 'id'>
export function reference<T extends SQLiteTable, C extends Columns<T>, K extends Columns<T>>(
  table: T,
  readable: readonly C[],
  key: K,
): Reference<C | K>
export function reference(table: SQLiteTable, _readable: readonly string[], key = 'id'): Reference<string> {
  const name = getTableName(table)
  const byKey = getTableColumns(table)
  const sqlName = (column: string) => byKey[column]!.name
  const column = (as: string, read: string) => `${as}.${sqlName(read)}`
  const on = (as: string, id: string) => `JOIN ${name} ${as} ON ${column(as, key)} = ${id}`
  return {
    from: (as) => `FROM ${name} ${as}`,
    join: on,
    leftJoin: (as, id) => `LEFT ${on(as, id)}`,
    crossJoin: (as, id) => `CROSS ${on(as, id)}`,
    columns: (as, names) =>
      Object.entries(names)
        .map(([shown, read]) => `${column(as, read)} AS ${shown}`)
        .join(', '),
    column,
    value: (read, id) => `(SELECT ${sqlName(read)} FROM ${name} WHERE ${sqlName(key)} = ${id})`,
  }
}
