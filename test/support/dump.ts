// A database as SQL text: how the tests keep what a release left behind.
import { Database } from 'bun:sqlite'

const literal = (value: unknown): string =>
  value === null
    ? 'NULL'
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : value instanceof Uint8Array
        ? `x'${Buffer.from(value).toString('hex')}'`
        : `'${String(value).replaceAll("'", "''")}'`

type Made = { type: string; name: string; sql: string }
/** Without the tables in which SQLite itself keeps an index of texts. */
const madeIn = (file: Database) =>
  file
    .query<Made, []>(
      `SELECT m.type, m.name, m.sql FROM sqlite_master m LEFT JOIN pragma_table_list t ON t.name = m.name
       WHERE m.sql IS NOT NULL AND m.name NOT LIKE 'sqlite_%' AND t.type IS NOT 'shadow' ORDER BY m.rowid`,
    )
    .all()
const isIndexOfTexts = ({ sql }: Made) => sql.startsWith('CREATE VIRTUAL TABLE')

/** Rows before indices and triggers: what is restored is what was there, and sets nothing off. */
export function dump(file: Database): string {
  const made = madeIn(file)
  const tables = made.filter(({ type }) => type === 'table')
  const rows = tables.flatMap((table) => {
    const { name } = table
    if (isIndexOfTexts(table)) return [`INSERT INTO "${name}" ("${name}") VALUES ('rebuild');`]
    return file
      .query<unknown[], []>(`SELECT * FROM "${name}"`)
      .values()
      .map((row) => `INSERT INTO "${name}" VALUES (${row.map(literal).join(', ')});`)
  })
  const rest = made.filter(({ type }) => type !== 'table')
  return [...tables.map(({ sql }) => `${sql};`), ...rows, ...rest.map(({ sql }) => `${sql};`)].join('\n') + '\n'
}

export function restore(path: string, text: string) {
  const file = new Database(path)
  file.run('PRAGMA foreign_keys=OFF')
  file.transaction(() => file.run(text))()
  file.close()
}

/** The statements that create each table, index and trigger, whatever their layout. */
export const schemaOf = (file: Database) =>
  madeIn(file)
    .map(({ name, sql }) => [name, sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim()])
    .sort(([a], [b]) => (a! < b! ? -1 : 1))

/** How many rows each table has. */
export const countsIn = (file: Database): Record<string, number> =>
  Object.fromEntries(
    madeIn(file)
      .filter((made) => made.type === 'table' && !isIndexOfTexts(made))
      .map(({ name }) => [name, file.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${name}"`).get()!.n]),
  )
