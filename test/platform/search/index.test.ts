// The index of searches: what its command tells and mends, and that each statement reads by an index.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Db, openDb } from '../../../src/kernel/db/open.ts'
import { idsBeginningWith, idsWithParts } from '../../../src/kernel/search/index.ts'
import { oneGroup, trigramsOf } from '../../../src/kernel/search/text.ts'
import { differencesIn, rebuildIn } from '../../../src/kernel/search/verify.ts'
import { berth } from '../../support/world/program.ts'

const account = (db: Db, n: number, name: string) =>
  db.$client.run("INSERT INTO accounts (id, kind, email, name, created_at) VALUES (?, 'customer', ?, ?, 1)", [
    `usr_${n}`,
    `c${n}@customer.test`,
    name,
  ])
const found = (db: Db, word: string) =>
  idsWithParts(db, 'account', [{ word, groups: { first: 0, last: 0, groups: 3 } }], 100).sort()

describe('berth search', () => {
  let dataDir: string
  let db: Db
  beforeAll(() => {
    dataDir = mkdtempSync(`${tmpdir()}/berth-search-`)
    db = openDb(`${dataDir}/berth.db`)
    account(db, 1, 'Jürgen Müller')
    account(db, 2, 'Привет')
    account(db, 3, 'Anna')
  })
  afterAll(() => {
    db.$client.close()
    rmSync(dataDir, { recursive: true })
  })
  const run = (command: string) => berth(['search', command], { PANEL_DATA_DIR: dataDir })

  test('verify tells nothing of what is right, in whatever letters', async () => {
    expect([found(db, 'MULLER'), found(db, 'привет')]).toEqual([['usr_1'], ['usr_2']])
    expect(differencesIn(db.$client)).toEqual([])
    const { code, out } = await run('verify')
    expect([code, out]).toEqual([0, expect.stringContaining('no text and no part of the index differs')])
  })
  test('verify names each text that differs, and rebuild mends it', async () => {
    const sql = (text: string) => db.$client.run(text)
    sql("UPDATE search_texts SET text = 'somebody else' WHERE id = 'usr_1'")
    sql("DELETE FROM search_texts WHERE id = 'usr_2'")
    sql(
      `INSERT INTO search_texts
       VALUES ((1 << 40) + 99, 'account', 'usr_gone', NULL, 1, 'gone' || char(13) || char(13))`,
    )
    expect([found(db, 'muller'), found(db, 'gone')]).toEqual([[], ['usr_gone']])
    const { code, out, error } = await run('verify')
    expect([code, error]).toEqual([1, expect.stringContaining('berth search rebuild')])
    for (const words of ['usr_1 is another one', 'usr_2 is missing', 'usr_gone is left over'])
      expect(out).toContain(words)
    const rebuilt = await run('rebuild')
    expect([rebuilt.code, rebuilt.out]).toEqual([0, expect.stringContaining('3 texts differed')])
    expect([found(db, 'muller'), found(db, 'gone'), found(db, 'привет')]).toEqual([['usr_1'], [], ['usr_2']])
    expect(differencesIn(db.$client)).toEqual([])
  })
  test('an index that is not that of the texts is told, and made anew', () => {
    db.$client.run("INSERT INTO search_index (search_index) VALUES ('delete-all')")
    expect([found(db, 'anna'), differencesIn(db.$client).map(({ what }) => what)]).toEqual([[], ['index']])
    expect(rebuildIn(db.$client)).toBe(0)
    expect([found(db, 'anna'), differencesIn(db.$client)]).toEqual([['usr_3'], []])
  })
  test('does nothing else', async () => {
    for (const args of [['search'], ['search', 'mend'], ['search', 'verify', 'now']])
      expect([args, (await berth(args, { PANEL_DATA_DIR: dataDir })).code]).toEqual([args, 2])
  })
})

describe('a search', () => {
  const plans: string[] = []
  let db: Db
  beforeAll(() => {
    db = openDb(':memory:')
    const query = db.$client.query.bind(db.$client)
    db.$client.query = ((text: string) => {
      const statement = query(text)
      const all = statement.all.bind(statement)
      statement.all = (...values: any[]) => {
        const lines = query<{ detail: string }, any[]>(`EXPLAIN QUERY PLAN ${text}`).all(...values)
        plans.push(lines.map(({ detail }) => detail).join('; '))
        return all(...values)
      }
      return statement
    }) as typeof db.$client.query
  })
  afterAll(() => db.$client.close())
  const planOf = (work: () => void) => {
    plans.length = 0
    work()
    return plans.join('\n')
  }
  test('of three letters and more reads the index, of fewer the texts of its kind alone', () => {
    const part = (word: string) => [{ word, groups: oneGroup }]
    const long = planOf(() => idsWithParts(db, 'volume', part('disk'), 10))
    expect(long).toContain('SCAN f VIRTUAL TABLE INDEX')
    expect(long).toContain('SEARCH x USING INTEGER PRIMARY KEY (rowid=?)')
    const short = planOf(() => idsWithParts(db, 'volume', part('di'), 10))
    expect(short).toContain('SEARCH x USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)')
  })
  test('of a whole name reads the index of beginnings', () => {
    expect(planOf(() => idsBeginningWith(db, 'server', 'web01', 10))).toContain('search_texts_start')
  })
  test('asks for letters that every text with the word has in the index', () => {
    expect(trigramsOf('ab')).toEqual([])
    expect(trigramsOf('MÜLL')).toEqual(['mul', 'ull'])
    // SQLite has another small letter for this one.
    expect(trigramsOf('abς')).toEqual([])
    expect(trigramsOf('a'.repeat(100)).length).toBeLessThanOrEqual(17)
  })
})
