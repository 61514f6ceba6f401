// A search reads texts that triggers keep. It finds what a search of the columns themselves finds, and no change of a
// column leaves a text behind.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Among, foundWorkloads } from '../../../src/fleet/workloads/search.ts'
import {
  accountContains,
  accountIdsNamed,
  accountIdsWith,
  searchAccounts,
} from '../../../src/identity/account-records/queries.ts'
import { type Db, openDb } from '../../../src/kernel/db/open.ts'
import type { Where } from '../../../src/kernel/db/rows.ts'
import { everyWord, HAS, isIn, partOf } from '../../../src/kernel/search/text.ts'
import { differencesIn } from '../../../src/kernel/search/verify.ts'
import { toNumber, toText } from '../../../src/network/ip-pools/ranges.ts'
import { type World, world } from '../../support/world/panel.ts'

// ---------------------------------------------------------------- the search of the columns themselves
const addressFits = `EXISTS (SELECT 1 FROM addresses a WHERE a.workload_id = w.id
  AND (a.address ${HAS} OR a.address || '/' || a.prefix_length IN (SELECT value FROM json_each(?))))`
function addressSearch(text: string): [part: string, prefixes: string] {
  const whole = toNumber(text.replace(/^::ffff:(?=[0-9.]+$)/i, ''))
  if (!whole) return [partOf(text), '[]']
  const bits = whole.version === 4 ? 32 : 128
  const prefixes = Array.from({ length: bits + 1 }, (_, host) => {
    const first = (whole.n >> BigInt(host)) << BigInt(host)
    return `${toText(whole.version, first)}/${bits - host}`
  })
  return [partOf(toText(whole.version, whole.n)), JSON.stringify(prefixes)]
}
const columnsFit = (text: string, own: Where): Where =>
  everyWord(text, (word) => {
    const digits = word.replace(/[:.-]/g, '')
    const mac = /^[0-9a-f]{6,12}$/i.test(digits) ? (digits.match(/../g) ?? []).join(':') : word
    const part = partOf(word)
    return {
      where: `(w.hostname ${HAS} OR w.name ${HAS} OR w.id = ? OR w.mac ${HAS} OR ${addressFits}
        OR EXISTS (SELECT 1 FROM accounts ac WHERE ac.id = w.owner_id
          AND (ac.name ${HAS} OR (ac.email ${HAS} AND ${own.where}))))`,
      values: [part, part, word, partOf(mac), ...addressSearch(word), part, part, ...own.values],
    }
  })

// ---------------------------------------------------------------- random rows and words
let state = 20261126
const random = (below: number) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}
const oneOf = <T>(list: readonly T[]): T => list[random(list.length)]!
const hex = (digits: number) => Array.from({ length: digits }, () => oneOf([...'0123456789abcdef'])).join('')
const parts = [
  ...['web', 'Web', 'db', 'a', 'Ä', 'é', 'ø', 'Ł', 'ß', 'Ω', 'ω', 'ς', 'Привет', 'привет', '東京', '😀', 'u\u0308'],
  ...['*', '?', '[', ']', '%', '_', '^', '-', '.', "'", '"', '\\', '!', ' ', '  ', '1', '22', 'ſ', 'Ħ', 'ı', 'İ', 'ÿ'],
  ...['abcdef', 'facade01', '10.0', '52:54', '2001:db8', 'srv_', 'Müller', 'O’Neil', 'é'.normalize('NFD')],
]
const words = (most: number) => Array.from({ length: 1 + random(most) }, () => oneOf(parts)).join('')
const id = (prefix: string, i: number) => `${prefix}_${i.toString(36).padStart(26, '0')}`
const mac = () => `52:54:00:${hex(2)}:${hex(2)}:${hex(2)}`
const SERVERS = 2600
const PEOPLE = 120

let db: Db
/** How many servers `db` has. */
let servers: number
const sql = (text: string, ...values: (string | number | null)[]) => db.$client.run(text, values)
function insert(table: string, row: Record<string, string | number | null>) {
  const names = Object.keys(row)
  sql(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`, ...Object.values(row))
}
function addAddress(i: number, workloadId: string | null) {
  const isFour = random(2) === 0
  const address = isFour ? `10.${i >> 8}.${i & 255}.${random(256)}` : `2001:db8:${i.toString(16)}${isFour ? '' : '::'}`
  const given = {
    id: id('adr', i),
    pool_id: 'pool',
    version: isFour ? 4 : 6,
    address,
    place: i,
    workload_id: workloadId,
  }
  insert('addresses', { ...given, prefix_length: isFour ? 32 : oneOf([48, 64, 128]) })
}
function fill(many: number) {
  db = openDb(':memory:')
  servers = many
  db.$client.run('PRAGMA foreign_keys = OFF')
  db.$client.run('PRAGMA ignore_check_constraints = ON')
  for (let i = 0; i < PEOPLE; i++)
    insert('accounts', {
      ...{ id: id('usr', i), kind: oneOf(['staff', 'reseller', 'customer']), email: `${words(2)}${i}@example.test` },
      ...{ name: words(4), organization: oneOf([null, words(3)]), external_id: oneOf([null, `${words(2)}${i}`]) },
      ...{ reseller_id: i > 10 ? oneOf([null, id('usr', random(5))]) : null, created_at: 1 },
    })
  for (let i = 0; i < servers; i++) {
    insert('workloads', {
      ...{ id: id('srv', i), kind: i % 50 ? 'server' : 'gpu_instance', number: i, owner_id: id('usr', random(PEOPLE)) },
      ...{ reseller_id: oneOf([null, id('usr', random(5))]), node_id: 'nod', location_id: 'grp', pool: '' },
      ...{ hostname: `web${words(2)}${i}`, name: words(5), vcpus: 1, memory_mb: 1, disk_gb: 1, mac: `${mac()}-${i}` },
      ...{ placement: '', lifecycle: 'active', created_at: 1, terminated_at: i % 9 ? null : 1, held_mac: `${i}` },
    })
    for (let n = random(3); n > 0; n--) addAddress(i * 4 + n, id('srv', i))
  }
}

/** A text that somebody may look for: of random parts, or a part of what there is. */
function wanted(): string {
  if (random(3) === 0) return words(2) + oneOf(['', ' ', ` ${words(1)}`, ' a b c d e f g'])
  const values = db.$client
    .query<Record<string, string | null>, [string]>(
      `SELECT w.hostname, w.name, w.mac, w.id, a.name AS owner, a.email,
        (SELECT address FROM addresses WHERE workload_id = w.id LIMIT 1) AS address
       FROM workloads w JOIN accounts a ON a.id = w.owner_id WHERE w.id = ?`,
    )
    .get(id('srv', random(servers)))!
  const part = () => {
    const whole = oneOf(Object.values(values).filter((value) => value !== null))
    const at = random(whole.length)
    const text = random(3) ? whole.slice(at, at + 1 + random(8)) : whole
    return oneOf([text, text.toUpperCase(), text.normalize('NFD'), text.replaceAll(':', ''), text.replaceAll(':', '-')])
  }
  return Array.from({ length: 1 + random(3) }, part).join(' ')
}
const everything: Where = { where: '1', values: [] }
const readers: Record<string, [visible: Where, own: Where]> = {
  'for staff': [everything, everything],
  'for a reseller': [
    { where: 'coalesce(w.reseller_id, w.owner_id) = +?', values: [id('usr', 1)] },
    { where: 'coalesce(w.reseller_id, w.owner_id) = +?', values: [id('usr', 1)] },
  ],
  'for a customer with whom others share': [
    { where: "w.id < 'srv_000000000000000000000000z' AND w.terminated_at IS NULL", values: [] },
    { where: 'w.owner_id = +?', values: [id('usr', 3)] },
  ],
}
const idsOf = (where: string, values: string[], from = 'FROM workloads w', id = 'w.id') =>
  db.$client
    .query<{ id: string }, string[]>(`SELECT w.id ${from} WHERE w.kind = 'server' AND ${where} ORDER BY ${id}`)
    .all(...values)
    .map((row) => row.id)

describe('a search finds what the columns say', () => {
  beforeAll(() => fill(SERVERS))
  afterAll(() => db.$client.close())
  for (const [name, [visible, own]] of Object.entries(readers))
    test(name, () => {
      let [found, many] = [0, 0]
      for (let n = 0; n < 150; n++) {
        const text = wanted()
        const owner = {
          name: 'w.owner_id',
          ids: (word: string, most: number) => accountIdsWith(db, word, most),
          fits: (word: string, among: Among) => accountContains('w.owner_id', own, word, among),
        }
        const fits = foundWorkloads(db, { kind: 'server', visible, own, text, owner })
        const old = columnsFit(text, own)
        const expected = idsOf(`${visible.where} AND ${old.where}`, [...visible.values, ...old.values])
        const values = [...visible.values, ...fits.values]
        const fitting = idsOf(`${visible.where} AND ${fits.where}`, values, fits.from, fits.id)
        expect([text, fitting]).toEqual([text, expected])
        if (expected.length) found++
        if (fits.ids === undefined) many++
        const listed = idsOf(`w.terminated_at IS NULL AND ${visible.where} AND ${old.where}`, [
          ...visible.values,
          ...old.values,
        ])
        expect([text, fits.countListed?.()]).toEqual([text, listed.length])
      }
      expect(found).toBeGreaterThan(40)
      if (name === 'for staff') expect(many).toBeGreaterThan(3)
    })
  test('of accounts', () => {
    for (let n = 0; n < 200; n++) {
      const text = wanted()
      const ids = (where: Where, more = '1') =>
        db.$client
          .query<{ id: string }, string[]>(`SELECT id FROM accounts WHERE ${where.where} AND ${more} ORDER BY id`)
          .all(...where.values)
          .map((row) => row.id)
      const named = ids(everyWord(text, (word) => isIn(['name', 'email'], word)))
      expect([text, accountIdsNamed(db, text, PEOPLE)]).toEqual([text, named])
      const found = ids(
        everyWord(text, (word) => isIn(['name', 'email', 'organization', 'external_id'], word)),
        "kind <> 'staff'",
      )
      expect([
        text,
        searchAccounts(db, text, PEOPLE)
          .map((row) => row.id)
          .sort(),
      ]).toEqual([text, found])
    }
  })
  test('of letters with accents, every one', () => {
    const letters = db.$client.query<{ letter: string; plain: string }, []>('SELECT * FROM search_letters').all()
    for (const plain of 'abcdefghijklmnopqrstuvwxyz') {
      const all = [...partOf(plain).slice(2, -2)].filter((letter) => letter > '\x7f')
      expect(letters.filter((row) => row.plain === plain).map(({ letter }) => letter)).toEqual(all.toSorted())
    }
  })
})

const stale = (db: Db) => differencesIn(db.$client)

describe('the texts are never stale', () => {
  // Each check compares all of them.
  beforeAll(() => fill(400))
  afterAll(() => db.$client.close())
  test('after many changes of rows', () => {
    const changes = [
      (i: number) => sql('UPDATE workloads SET name = ? WHERE number = ?', words(5), i),
      (i: number) => sql('UPDATE workloads SET hostname = ? WHERE number = ?', `${words(2)}${i}-${random(1e9)}`, i),
      (i: number) => sql('UPDATE workloads SET owner_id = ? WHERE number = ?', id('usr', random(PEOPLE)), i),
      (i: number) => sql('UPDATE workloads SET terminated_at = ? WHERE number = ?', oneOf([null, 1, 2]), i),
      (i: number) =>
        sql('UPDATE addresses SET workload_id = ? WHERE place = ?', oneOf([null, id('srv', random(servers))]), i),
      (i: number) => addAddress(100_000 + i * 7 + random(7), oneOf([null, id('srv', i)])),
      (i: number) => sql('DELETE FROM addresses WHERE place = ?', i),
      (i: number) => sql('DELETE FROM workloads WHERE number = ?', i),
      (i: number) => sql('UPDATE accounts SET name = ? WHERE id = ?', words(4), id('usr', i % PEOPLE)),
      (i: number) => sql('DELETE FROM accounts WHERE id = ?', id('usr', i % PEOPLE)),
    ]
    for (let n = 0; n < 600; n++)
      try {
        oneOf(changes)(random(servers))
      } catch (error) {
        // A random address or name may be taken; then nothing is changed.
        expect((error as Error).message).toContain('UNIQUE')
      }
    expect(stale(db)).toEqual([])
    sql('DELETE FROM addresses')
    expect(stale(db)).toEqual([])
  })

  test('after a change of any column of these tables', () => {
    for (const table of ['workloads', 'accounts', 'addresses']) {
      const key = table === 'workloads' ? 'number' : 'id'
      if (table === 'addresses') for (let i = 0; i < 5; i++) addAddress(200_000 + i, id('srv', 7 + i))
      const columns = db.$client.query<{ name: string; type: string }, []>(`PRAGMA table_info(${table})`).all()
      expect(columns.length).toBeGreaterThan(8)
      for (const { name, type } of columns) {
        const row = db.$client.query<Record<string, string>, []>(`SELECT ${key} AS key FROM ${table} LIMIT 1`).get()!
        const value = type === 'INTEGER' ? 987_654 : `Ä${name}`
        sql(`UPDATE ${table} SET "${name}" = ? WHERE ${key} = ?`, value, row['key']!)
        expect([table, name, stale(db)]).toEqual([table, name, []])
      }
    }
  })
})

describe('what is searched is found by its new value at once, and by its old one no more', () => {
  let p: World
  let serverId: string
  beforeAll(async () => {
    p = await world()
    serverId = (await p.admin('POST', '/admin/servers', p.order)).serverId
    await p.settle()
    p.db.$client.run('PRAGMA foreign_keys = OFF')
    p.db.$client.run("UPDATE workloads SET name = 'Sancho'")
  })
  afterAll(() => p.close())
  const row = (table: string, where: string) =>
    p.db.$client.query<Record<string, string>, []>(`SELECT * FROM ${table} WHERE ${where}`).get()!
  const owner = () => row('accounts', `id = '${row('workloads', `id = '${serverId}'`)['owner_id']}'`)
  const searched: Record<string, { table: string; column: string; where: () => string; value: string }> = {
    hostname: { table: 'workloads', column: 'hostname', where: () => `id = '${serverId}'`, value: 'zebra01' },
    name: { table: 'workloads', column: 'name', where: () => `id = '${serverId}'`, value: 'Žluť' },
    'MAC address': { table: 'workloads', column: 'mac', where: () => `id = '${serverId}'`, value: '52:54:00:fe:dc:ba' },
    address: {
      table: 'addresses',
      column: 'address',
      where: () => `workload_id = '${serverId}'`,
      value: '203.0.113.77',
    },
    "the owner's name": { table: 'accounts', column: 'name', where: () => `id = '${owner()['id']}'`, value: 'Quixote' },
    "the owner's address": {
      table: 'accounts',
      column: 'email',
      where: () => `id = '${owner()['id']}'`,
      value: 'q@q.test',
    },
    'the identifier of a billing system': {
      ...{ table: 'workloads', column: 'billing_service_id', where: () => `id = '${serverId}'`, value: 'shop:4711' },
    },
  }
  for (const [name, { table, column, where, value }] of Object.entries(searched))
    test(name, async () => {
      const find = async (text: string) =>
        (await p.call(p.owner, 'GET', `/admin/servers?q=${encodeURIComponent(text)}`)).body.data.map((s: any) => s.id)
      const before = row(table, where())[column]
      p.db.$client.run(`UPDATE ${table} SET ${column} = ? WHERE ${where()}`, [value])
      expect(await find(value)).toEqual([serverId])
      expect(await find(value.toUpperCase().replace('SHOP', 'shop'))).toEqual([serverId])
      if (before) expect(await find(before)).toEqual([])
    })
  test('another owner', async () => {
    const other = p.account('customer', 'Dulcinea')
    p.db.$client.run('UPDATE workloads SET owner_id = ? WHERE id = ?', [other.id, serverId])
    const { body } = await p.call(p.owner, 'GET', '/admin/servers?q=dulcin')
    expect(body.data.map((s: any) => s.id)).toEqual([serverId])
    expect((await p.call(p.owner, 'GET', '/admin/servers?q=quixote')).body.total).toBe(0)
  })
  test('an address that is given back and taken', async () => {
    const total = async () => (await p.call(p.owner, 'GET', '/admin/servers?q=203.0.113.77')).body.total
    p.db.$client.run('UPDATE addresses SET workload_id = NULL WHERE workload_id = ?', [serverId])
    expect(await total()).toBe(0)
    p.db.$client.run("UPDATE addresses SET workload_id = ? WHERE address = '203.0.113.77'", [serverId])
    expect(await total()).toBe(1)
  })
})
