// Tables are said twice, as SQL that is applied and as TypeScript that is typed against. This holds the one against the
// other.
import { expect, test } from 'bun:test'
import { getTableConfig } from 'drizzle-orm/sqlite-core'
import { openDb } from '../../src/kernel/db/open.ts'
import { registry } from './toy-feature/every-feature.ts'

const db = openDb(':memory:', registry.migrations)
const { tables } = registry

for (const table of tables) {
  const { name, columns } = getTableConfig(table)
  test(`${name} has in the database the columns that the code knows, STRICT`, () => {
    const found = db.$client
      .query<{ name: string; type: string; notnull: number; pk: number }, [string]>(
        'SELECT name, type, "notnull", pk FROM pragma_table_info(?)',
      )
      .all(name)
    expect(found.map((c) => `${c.name} ${c.type} ${c.notnull || c.pk ? 'required' : 'optional'}`).sort()).toEqual(
      columns
        .map((c) => `${c.name} ${c.getSQLType().toUpperCase()} ${c.notNull || c.primary ? 'required' : 'optional'}`)
        .sort(),
    )
    expect(
      db.$client.query<{ strict: number }, [string]>('SELECT strict FROM pragma_table_list WHERE name = ?').get(name)
        ?.strict,
    ).toBe(1)
  })
}

test('there is no table that the code does not know', () => {
  const named = (type: string) =>
    db.$client
      .query<{ name: string }, [string]>(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = ? AND name NOT LIKE 'sqlite_%'",
      )
      .all(type)
      .map((t) => t.name)
  // SQLite's own tables of an index of texts are of another type.
  expect(named('virtual')).toEqual(['search_index'])
  expect(named('table').sort()).toEqual([...tables.map((t) => getTableConfig(t).name), 'migrations'].sort())
})
