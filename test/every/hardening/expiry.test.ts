// Rows that end by themselves are gone a minute later, however many they are. Each table is filled as its columns say.
import { afterAll, describe, expect, test } from 'bun:test'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { blockAt, tiers } from '../../../src/platform/metrics/blocks.ts'
import { panel } from '../../support/world/panel.ts'
import { added, registry } from '../toy-feature/every-feature.ts'

/** More than the sweep takes at once, and more than the thousand an hour that were once the limit. */
const MANY = 1200

const p = await panel({ features: added })
afterAll(() => p.close())
const account = p.account('customer', 'Cal')
// The rows are made up: what they point to is not there.
p.db.$client.run('PRAGMA foreign_keys = OFF')
p.db.$client.run('PRAGMA ignore_check_constraints = ON')

/** Tables with an end that the product keeps, each with the reason. */
const kept: Readonly<Record<string, string>> = {
  tokens: 'the list shows which token has ended, until its owner deletes it',
  team_members: 'the list shows which invitation has ended, so that it can be sent again',
}

const nameOf = (table: SQLiteTable) => getTableConfig(table).name
const rowsOf = (table: SQLiteTable) =>
  p.db.$client.query<{ n: number }, []>(`SELECT count(*) AS n FROM "${nameOf(table)}"`).get()!.n

type Values = Readonly<Record<string, number | Uint8Array>>
/** Columns that do not hold a time in ms, by table; `nth` counts the declarations of the same table. */
const others: Readonly<Record<string, (at: number, nth: number) => Values>> = {
  metric_blocks: (at, nth) => ({ tier: nth, block: blockAt(tiers[nth]!, at), data: new Uint8Array(1) }),
}

/** A row whose times are all `at`. */
function add(table: SQLiteTable, i: number, at: number, nth: number) {
  const given = others[nameOf(table)]?.(at, nth)
  const columns = getTableConfig(table).columns.filter((c) => !(c.getSQLType() === 'integer' && c.primary))
  const values = columns.map((c) => {
    if (c.name === 'account_id') return account.id
    if (given && c.name in given) return given[c.name]
    if (c.getSQLType() === 'integer') return at
    return c.notNull || c.primary ? `x${at}-${i}` : null
  })
  const names = columns.map((c) => `"${c.name}"`).join(', ')
  const places = columns.map(() => '?').join(', ')
  p.db.$client.query(`INSERT INTO "${nameOf(table)}" (${names}) VALUES (${places})`).run(...(values as string[]))
}

test('every table whose rows have an end declares it', () => {
  const ending = registry.tables.filter((table) => getTableConfig(table).columns.some((c) => c.name === 'expires_at'))
  const declared = new Set(registry.expiring.map(({ table }) => nameOf(table)))
  expect(ending.length).toBeGreaterThan(5)
  expect(ending.map(nameOf).filter((name) => !declared.has(name) && !Object.hasOwn(kept, name))).toEqual([])
  expect(declared.has('idempotency') && declared.has('sessions')).toBe(true)
})

describe('what has ended is deleted until none is left, and nothing else, in', () => {
  for (const [at, { table }] of registry.expiring.entries()) {
    const nth = registry.expiring.slice(0, at).filter((one) => one.table === table).length
    test(nth ? `${nameOf(table)}, declaration ${nth + 1}` : nameOf(table), async () => {
      p.db.$client.run(`DELETE FROM "${nameOf(table)}"`)
      p.db.$client.transaction(() => {
        for (let i = 0; i < MANY; i++) add(table, i, 1000, nth)
        for (let i = 0; i < 3; i++) add(table, i, p.now() + 1000, nth)
      })()
      expect(rowsOf(table)).toBe(MANY + 3)
      await p.deleteExpired()
      expect(rowsOf(table)).toBe(3)
      p.db.$client.run(`DELETE FROM "${nameOf(table)}"`)
    })
  }
})

test('it is the clock that does it, each minute', () => {
  const work = registry.schedule.find(({ words }) => words === 'deleting what has expired')
  expect(work?.everyMs).toBe(60_000)
})
