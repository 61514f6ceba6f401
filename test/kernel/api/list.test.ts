import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Panel, panel, type Who, type World, world } from '../../support/world/panel.ts'

let p: Panel
let owner: { id: string } & Who
beforeAll(async () => {
  p = await panel()
  owner = p.staff()
})
afterAll(() => p.close())

const customer = (name: string) => p.admin('POST', '/admin/customers', { name, email: `${name}@customer.test` })
const get = async (path: string, who: Who = owner) => (await p.call(who, 'GET', path)).body

/** Every page from the first to the last, with something happening between two. */
async function walk(path: string, limit: number, between: (page: number) => unknown = () => {}) {
  const rows: any[] = []
  let cursor: string | null = null
  for (let page = 0; page < 1000; page++) {
    const answer: any = await get(
      `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
    )
    rows.push(...answer.data)
    cursor = answer.nextCursor
    if (!cursor) return { rows, pages: page + 1, total: answer.total as number }
    expect(answer.data.length).toBe(limit)
    await between(page)
  }
  throw new Error('it never ends')
}

describe('the pages of a list', () => {
  test('have every row once, in order, whatever the limit', async () => {
    for (let i = 0; i < 12; i++) await customer(`walk${i}`)
    const { data } = await get('/admin/customers?limit=200')
    for (const limit of [1, 2, 3, 4, 5, 6, 11, 12, 13, 100]) {
      const { rows, pages, total } = await walk('/admin/customers', limit)
      expect(rows).toEqual(data)
      expect(pages).toBe(Math.max(1, Math.ceil(data.length / limit)))
      expect(total).toBe(data.length)
    }
  })
  test('miss and double nothing of what was there at the start, while rows are added', async () => {
    const before = (await get('/admin/customers?limit=200')).data.map((c: any) => c.id)
    const { rows } = await walk('/admin/customers', 3, (page) => customer(`added${page}`))
    expect(rows.map((r) => r.id)).toEqual(before)
  })
  test('miss and double nothing in lists by name, while rows are added before and behind', async () => {
    for (const name of ['delta', 'Alpha', 'charlie', 'BRAVO', 'echo', 'éclair', 'Zulu', 'a b'])
      await p.admin('POST', '/admin/packages', { name, vcpus: 1, memoryMb: 64, diskGb: 1 })
    const before: string[] = (await get('/admin/packages?limit=200')).data.map((c: any) => c.name)
    const { rows } = await walk('/admin/packages', 2, (page) =>
      p.admin('POST', '/admin/packages', { name: `aaa ${page}`, vcpus: 1, memoryMb: 64, diskGb: 1 }),
    )
    const found: string[] = rows.map((r) => r.name)
    expect(found.filter((name) => before.includes(name))).toEqual(before)
    expect(new Set(found).size).toBe(found.length)
  })
  test('go on where they were when the row they ended with is gone', async () => {
    const location = await p.admin('POST', '/admin/node-groups', { name: 'Berlin' })
    const nodes = ['n1', 'n2', 'n3', 'n4'].map((name) => p.addNode(location.id, name))
    const first = await get('/admin/nodes?limit=2')
    await p.admin('DELETE', `/admin/nodes/${nodes[1]!.id}`)
    const second = await get(`/admin/nodes?limit=2&cursor=${first.nextCursor}`)
    expect([...first.data, ...second.data].map((n: any) => n.name)).toEqual(['n1', 'n2', 'n3', 'n4'])
    expect(second.nextCursor).toBeNull()
  })
  test('keep their filter', async () => {
    const { rows, total } = await walk('/admin/customers?q=walk', 5)
    expect(rows.length).toBe(12)
    expect(total).toBe(12)
  })
})

describe('a limit', () => {
  beforeAll(async () => {
    const rows = Array.from(
      { length: 210 },
      (_, i) => `('usr_${String(i).padStart(26, '0')}', 'customer', 'bulk${i}@customer.test', 'Bulk', 1)`,
    )
    p.db.$client.run(`INSERT INTO accounts (id, kind, email, name, created_at) VALUES ${rows}`)
  })
  test('above the most is the most', async () => {
    for (const limit of [200, 201, 5000, 999_999_999])
      expect((await get(`/admin/customers?limit=${limit}`)).data.length).toBe(200)
  })
  test('above the most is the most, however many digits it has', async () => {
    // Once: the pattern knows nine digits, so a larger number is refused instead of clamped.
    expect((await get('/admin/customers?limit=10000000000')).data?.length).toBe(200)
  })
  test('left out is 50', async () => expect((await get('/admin/customers')).data.length).toBe(50))
  test('that is no whole number from 1 up is refused', async () => {
    for (const limit of ['0', '-1', '1.5', '1e2', '', 'all', '0x10', '%20', '%D9%A1'])
      expect([limit, (await get(`/admin/customers?limit=${limit}`)).error?.code]).toEqual([limit, 'invalid_request'])
  })
})

describe('the lists of the specification', () => {
  let p: World
  let reseller: { id: string } & Who
  /**
   * As many rows of a table as a page has at most, and more: copies of one that is there, with these columns of their
   * own.
   */
  const copies = (table: string, own: Readonly<Record<string, string>>, where = '1') => {
    const columns = p.db.$client
      .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
      .all(table)
      .map(({ name }) => own[name] ?? name)
    const numbers = 'WITH RECURSIVE numbers(i) AS (SELECT 100001 UNION ALL SELECT i + 1 FROM numbers WHERE i < 101005)'
    p.db.$client.run(
      `INSERT INTO ${table} ${numbers} SELECT ${columns} FROM numbers, (SELECT * FROM ${table} WHERE ${where} LIMIT 1)`,
    )
  }
  beforeAll(async () => {
    p = await world()
    reseller = p.account('reseller', 'Rita')
    p.account('customer', 'Cal', reseller.id)
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const hex = "printf('02:00:00:%02x:%02x:%02x', i / 65536, i / 256 % 256, i % 256)"
    copies('workloads', { id: "'srv_' || i", number: 'i', hostname: "'h' || i", mac: hex, held_mac: hex })
    copies('servers', { id: "'srv_' || i" })
    copies('accounts', { id: "'usr_' || i", email: "i || '@bulk.test'" }, `reseller_id = '${reseller.id}'`)
    copies(
      'addresses',
      { id: "'ip_' || i", address: "'10.0.' || i", place: 'i' },
      'workload_id IS NULL AND reserved_for IS NULL',
    )
    copies('audit', { id: "'aud_' || i", seq: 'i' })
  })
  afterAll(() => p.close())
  for (const [list, path, usual, most] of [
    ['Servers (staff)', '/admin/servers', 50, 100],
    ['Customers', '/admin/customers', 50, 200],
    ['reseller customers', '/reseller/customers', 50, 200],
    ['IP pool addresses', '/admin/ip-pools/{id}/addresses', 64, 256],
    ['Audit log', '/admin/audit', 50, 1000],
  ] as const)
    test(`${list}: ${usual} when nothing is said, ${most} at most`, async () => {
      const who = path.startsWith('/reseller') ? reseller : p.owner
      const rows = async (query: string) =>
        (await p.call(who, 'GET', `${path.replace('{id}', p.pool)}${query}`)).body.data.length
      expect([await rows(''), await rows('?limit=5000'), await rows(`?limit=${most}`)]).toEqual([usual, most, most])
    })
})

describe('a cursor', () => {
  test('of another list is refused', async () => {
    const { nextCursor } = await get('/admin/customers?limit=1')
    expect((await get(`/admin/packages?cursor=${nextCursor}`)).error.code).toBe('invalid_request')
    expect((await get(`/admin/audit?cursor=${nextCursor}`)).error.code).toBe('invalid_request')
  })
  test('of the same list of another thing is refused', async () => {
    const pool = async (name: string, network: string) =>
      (await p.admin('POST', '/admin/ip-pools', { name, network: `${network}.0/28`, gateway: `${network}.1` })).id
    const [a, b] = [await pool('a', '203.0.113'), await pool('b', '198.51.100')]
    const { nextCursor } = await get(`/admin/ip-pools/${a}/addresses?limit=1`)
    expect((await get(`/admin/ip-pools/${b}/addresses?cursor=${nextCursor}`)).error.code).toBe('invalid_request')
    expect((await get(`/admin/ip-pools/${a}/addresses?cursor=${nextCursor}&limit=1`)).data.length).toBe(1)
  })
  test('of another caller is refused', async () => {
    const { nextCursor } = await get('/admin/customers?limit=1')
    expect((await get(`/admin/customers?cursor=${nextCursor}`, p.staff())).error.code).toBe('invalid_request')
  })
  test('that was changed in any of its bytes is refused', async () => {
    const { nextCursor } = await get('/admin/customers?limit=1')
    const raw = Buffer.from(nextCursor, 'base64url')
    for (let i = 0; i < raw.length; i++) {
      const changed = Buffer.from(raw)
      changed[i]! ^= 1
      expect((await get(`/admin/customers?cursor=${changed.toString('base64url')}`)).error?.code).toBe(
        'invalid_request',
      )
    }
    for (const text of [
      '',
      'x',
      nextCursor.slice(0, 20),
      raw.subarray(16).toString('base64url'),
      '%00',
      "'%20OR%201=1",
    ])
      expect((await get(`/admin/customers?cursor=${text}`)).error?.code).toBe('invalid_request')
  })
  test('survives a restart of the controller', async () => {
    const { nextCursor } = await get('/admin/customers?limit=3')
    const rest = await get(`/admin/customers?limit=3&cursor=${nextCursor}`)
    await p.crash()
    expect((await get(`/admin/customers?limit=3&cursor=${nextCursor}`)).data).toEqual(rest.data)
  })
})

describe('a text that is looked for', () => {
  test('means each of its characters, in every list that is searched', async () => {
    using p = await world()
    const email = 'ada_l@customer.test'
    const ada = await p.admin('POST', '/admin/customers', { name: '100% \\o/', email })
    await p.admin('POST', '/admin/customers', { name: '1000 xox', email: 'adaxl@customer.test' })
    for (const hostname of ['one', 'two'])
      await p.admin('POST', '/admin/servers', {
        ...p.order,
        hostname,
        name: hostname === 'one' ? 'my_box 50%' : 'myxbox 50',
      })
    await p.call(p.token(p.staff(undefined, 'per_cent %').id), 'POST', '/admin/packages', {
      name: 'x',
      vcpus: 1,
      memoryMb: 64,
      diskGb: 1,
    })
    const found = async (path: string, text: string) =>
      (await p.call(p.owner, 'GET', `${path}=${encodeURIComponent(text)}`)).body
    for (const text of [email, 'ada_l', '100%', '0% \\o'])
      expect([text, (await found('/admin/customers?q', text)).data.map((c: any) => c.id)]).toEqual([text, [ada.id]])
    for (const text of ['my_box', '50%']) {
      expect([text, (await found('/admin/servers?q', text)).data.map((s: any) => s.hostname)]).toEqual([text, ['one']])
      expect([text, (await found('/search?q', text)).data.map((s: any) => s.title)]).toEqual([text, ['one']])
    }
    expect((await found('/search?q', 'ada_l')).data.map((s: any) => s.id)).toEqual([ada.id])
    for (const text of ['per_cent', 't %'])
      expect([text, (await found('/admin/audit?who', text)).total]).toEqual([text, 1])
    for (const path of ['/admin/customers?q', '/admin/servers?q', '/admin/audit?who'])
      expect([path, (await found(path, '__')).total]).toEqual([path, 0])
  })
})
