// A feature's tables are named in its own folder only, also in SQL text: others call its functions or join its text.
import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'

const sources = new Map<string, string>()
for (const path of new Bun.Glob('{src,agent,backup-server,host,views}/**/*.{ts,tsx}').scanSync('.'))
  sources.set(path, (await Bun.file(path).text()).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''))

/** `src/<group>/<feature>`, `src/kernel/<part>`, or the first folder of what is neither. */
const folderOf = (path: string) =>
  /^src\/[^/]+\/[^/]+\//.test(path) && !path.startsWith('src/app/')
    ? path.split('/').slice(0, 3).join('/')
    : path
        .split('/')
        .slice(0, path.startsWith('src/') ? 2 : 1)
        .join('/')

const owners = new Map<string, string>()
for (const [path, text] of sources)
  for (const [, table] of text.matchAll(/sqliteTable\(\s*'(\w+)'/g)) owners.set(table!, folderOf(path))

/** The tables that SQL in capitals names: `FROM a, b`, `JOIN a`, `INSERT INTO a`, `UPDATE a`. */
function tablesNamedIn(text: string): string[] {
  const words =
    /\b(?:FROM|JOIN|INTO|UPDATE(?: OR [A-Z]+)?|TABLE)\s+((?:"?\w+"?(?:\s+(?:AS\s+)?[a-z]\w*)?\s*,\s*)*"?\w+"?)/g
  return [...text.matchAll(words)]
    .flatMap(([, list]) => list!.split(',').map((item) => item.trim().split(/\s/)[0]!.replaceAll('"', '')))
    .filter((name) => owners.has(name))
}
const violations = [...sources].flatMap(([path, text]) =>
  tablesNamedIn(text)
    .filter((table) => owners.get(table) !== folderOf(path))
    .map((table) => `${path} names ${table} of ${owners.get(table)}`),
)

/** Files of features with SQL beside `queries.ts`. */
const otherSql = [
  'src/fleet/workloads/reports.ts', // the queries of overviews and quotas
  'src/fleet/workloads/search.ts', // the queries of the search
  'src/network/ip-pools/allocate.ts', // every statement is a step of the allocation
  'src/network/ip-pools/floating.ts', // likewise
  'src/network/ip-pools/prefixes.ts', // likewise
  'src/network/ip-pools/given.ts', // likewise
  'src/network/ip-pools/claims.ts', // every statement is a step of a claim
  'src/network/ip-pools/awaited.ts', // its condition is a part of the statements of the allocation
]
const isSql = new RegExp(
  [
    String.raw`\b(?:tx|db)\s*\.(?:select|insert|update|delete)\(|\$client\b(?!\.inTransaction)`,
    String.raw`\b(?:FROM|JOIN|INTO) [a-z_]+\b|\b(?:rowBy|ownRow|inserting|patched)\(`,
  ].join('|'),
)

describe("a feature's tables", () => {
  test('are all found', () => {
    expect(owners.size).toBeGreaterThan(30)
    expect(tablesNamedIn('SELECT * FROM jobs j, "nodes" n LEFT JOIN servers ON 1')).toEqual([
      'jobs',
      'nodes',
      'servers',
    ])
    expect(tablesNamedIn('INSERT OR IGNORE INTO audit SELECT 1; UPDATE OR IGNORE roles SET x')).toEqual([
      'audit',
      'roles',
    ])
    expect(tablesNamedIn('DELETE FROM\n  settings WHERE 1')).toEqual(['settings'])
  })

  test('are named in SQL by nobody else', () => {
    expect(violations.sort()).toEqual([])
  })

  test('are imported by nobody else', () => {
    const taken = [...sources].flatMap(([path, text]) =>
      [...text.matchAll(/from '(\.[^']*\/tables\.ts)'/g)]
        .map(([, to]) => join(dirname(path), to!))
        .filter((to) => folderOf(to) !== folderOf(path))
        .map((to) => `${path} imports ${to}`),
    )
    expect(taken.sort()).toEqual([])
  })

  test('are read and written in its queries.ts', () => {
    const found = [...sources].filter(
      ([path, text]) =>
        /^src\/(?!app\/|kernel\/)[^/]+\/[^/]+\//.test(path) &&
        !/\/(queries|tables)\.ts$/.test(path) &&
        !otherSql.some((start) => path.startsWith(start)) &&
        isSql.test(text),
    )
    expect(found.map(([path]) => path)).toEqual([])
    expect(otherSql.filter((start) => ![...sources.keys()].some((path) => path.startsWith(start)))).toEqual([])
  })

  test('are named in capitals, where this test reads', () => {
    const names = [...owners.keys()].join('|')
    const lower = new RegExp(
      [
        `\\b(?:select [^'"\`]{1,200}? from|delete from|insert into|left join|inner join|cross join) (?:${names})\\b`,
        `\\bupdate (?:${names}) set\\b`,
      ].join('|'),
    )
    expect(lower.test('select count(*) as n from jobs where 1') && lower.test('update jobs set n = 1')).toBe(true)
    // An agent's database is its own.
    const found = [...sources].filter(([path, text]) => !path.startsWith('agent/') && lower.test(text))
    expect(found.map(([path]) => path)).toEqual([])
  })
})
