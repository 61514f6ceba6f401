// The history of addresses by the API: through orders, terminations, owners, floating addresses and pages.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { migrations } from '../../../migrations/index.ts'
import { migrate } from '../../../src/kernel/db/migrate.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { type World, world } from '../../support/world/panel.ts'

const hour = 3_600_000
const day = 24 * hour
const order = async (p: World, hostname: string, more: object = {}): Promise<string> => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, ...more })
  await p.settle()
  return serverId
}
const end = async (p: World, id: string) => {
  await p.admin('DELETE', `/servers/${id}?immediately=true`)
  await p.settle()
}
const history = async (p: World, address: string, query = '') =>
  (await p.admin('GET', `/admin/addresses/${address}/history${query}`)).data
const addressOf = async (p: World, id: string): Promise<string> =>
  (await p.admin('GET', `/servers/${id}/ips`)).data[0].address
/** `web01 of Cal, primary`, newest first. */
const said = (lines: any[]) =>
  lines.map(
    ({ server, owner, kind, floatingIp, to }) =>
      `${server?.hostname ?? floatingIp?.name} of ${owner.name}, ${kind}${to ? '' : ', still'}`,
  )
const at = (p: World) => `?at=${new Date(p.now()).toISOString()}`

describe('the history of an address', () => {
  test('says who had it and when, by which call and job it came and went, also of terminated servers', async () => {
    using p = await world()
    const first = await order(p, 'web01')
    const address = await addressOf(p, first)
    p.turnClock(hour)
    const inFirst = at(p)
    await end(p, first)
    p.turnClock(hour)
    const between = at(p)
    await order(p, 'web02')
    p.turnClock(hour)
    const lines = await history(p, address)
    expect(said(lines)).toEqual(['web02 of Cal, primary, still', 'web01 of Cal, primary'])
    const [, old] = lines
    expect(old).toMatchObject({
      address,
      pool: { id: p.pool, name: 'v4' },
      server: { id: first, kind: 'server' },
      owner: { id: p.customer.id, kind: 'customer' },
      fromKnown: true,
      began: { action: 'servers.create', by: 'System' },
      ended: { by: 'System' },
    })
    expect(old.server.terminatedAt).not.toBeNull()
    expect([old.began.jobId, old.ended.jobId].map((id) => /^job_/.test(id))).toEqual([true, true])
    expect(Math.round((Date.parse(old.to) - Date.parse(old.from)) / hour)).toBe(1)
    expect(said(await history(p, address, inFirst))).toEqual(['web01 of Cal, primary'])
    expect(await history(p, address, between)).toEqual([])
  })

  test('goes on through the undelete window, in which nobody else gets it', async () => {
    using p = await world()
    const id = await order(p, 'web01')
    const address = await addressOf(p, id)
    p.turnClock(hour)
    await p.admin('DELETE', `/servers/${id}`)
    await p.settle()
    p.turnClock(hour)
    expect(said(await history(p, address))).toEqual(['web01 of Cal, primary, still'])
    await p.admin('POST', `/servers/${id}/actions/undelete`)
    await p.settle()
    expect((await history(p, address)).length).toBe(1)
  })

  test('begins a line with each owner, and with each server to which a floating address points', async () => {
    using p = await world()
    const [a, b] = [await order(p, 'web01'), await order(p, 'web02')]
    const floating = await p.admin('POST', `/customers/${p.customer.id}/floating-ips`, {
      locationId: p.location,
      name: 'entry',
    })
    for (const serverId of [a, b]) {
      p.turnClock(hour)
      await p.admin('POST', `/floating-ips/${floating.id}/actions/assign`, { serverId })
      await p.settle()
    }
    p.turnClock(hour)
    await p.admin('POST', `/floating-ips/${floating.id}/actions/unassign`)
    await p.settle()
    p.turnClock(hour)
    await p.admin('DELETE', `/floating-ips/${floating.id}`)
    expect(said(await history(p, floating.address))).toEqual([
      'entry of Cal, floating',
      'web02 of Cal, floating',
      'web01 of Cal, floating',
      'entry of Cal, floating',
    ])
    const own = await addressOf(p, a)
    const hera = p.account('customer', 'Hera')
    p.turnClock(hour)
    write(p.db, (tx) => void tx.$client.run('UPDATE workloads SET owner_id = ? WHERE id = ?', [hera.id, a]))
    expect(said(await history(p, own))).toEqual(['web01 of Hera, primary, still', 'web01 of Cal, primary'])
  })

  test('is found by any address inside an IPv6 prefix, and by the search with who has it', async () => {
    using p = await world()
    await p.admin('POST', '/admin/ip-pools', {
      name: 'v6',
      network: '2001:db8:7::/48',
      gateway: 'fe80::1',
      nodeIds: [p.node.id],
    })
    const { id: packageId } = await p.admin('POST', '/admin/packages', {
      name: 'Six',
      vcpus: 1,
      memoryMb: 512,
      diskGb: 10,
      ipv6Prefix: 64,
    })
    const id = await order(p, 'web01', { packageId })
    const { address } = (await p.admin('GET', `/servers/${id}/ips`)).data.find(({ version }: any) => version === 6)
    const inside = address.replace(/::$/, ':0:2:3:5')
    expect(said(await history(p, inside))).toEqual(['web01 of Cal, primary, still'])
    const search = async (q: string) =>
      (await p.admin('GET', `/search?q=${q}`)).data.filter(({ type }: any) => type === 'address')
    const found = { type: 'address', id: inside, title: inside, detail: 'web01 of Cal' }
    expect(await search(inside)).toEqual([
      { ...found, href: `/admin/addresses/${inside}`, exact: true, terminated: false, actions: [] },
    ])
    expect((await search('203.0.113.29'))[0].detail).toBe('Nobody had it')
    expect(await search('192.0.2.1')).toEqual([])
  })

  test('is kept for the days of the setting, and deleted in parts', async () => {
    using p = await world()
    const id = await order(p, 'web01')
    const address = await addressOf(p, id)
    p.turnClock(hour)
    await end(p, id)
    // More of them than one part, of an address that somebody has still.
    const stays = await addressOf(p, await order(p, 'web02'))
    p.db.$client.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
       INSERT INTO address_history (address_id, pool_id, address, prefix_length, version, kind, owner_id, since, until)
       SELECT 'ip_x' || i, 'pool_x', '198.18.0.9', 24, 4, 'extra', ?, ?, ? FROM n`,
      [p.customer.id, p.now(), p.now() + 1],
    )
    p.turnClock(399 * day)
    await p.deleteExpired()
    expect((await history(p, address)).length).toBe(2)
    p.turnClock(3 * day)
    await p.deleteExpired()
    expect(p.db.$client.query('SELECT count(*) AS n FROM address_history').get()).toEqual({ n: 1 })
    expect(said(await history(p, stays))).toEqual(['web02 of Cal, primary, still'])
  })

  test('is for those who may read customers; no other account and no unknown address has one', async () => {
    using p = await world()
    const address = await addressOf(p, await order(p, 'web01'))
    const path = `/admin/addresses/${address}/history`
    for (const who of [p.staff(['nodes.read']), p.customer])
      expect((await p.call(who, 'GET', path)).body.error.code).toBe('forbidden')
    expect((await p.call(p.staff(['customers.read']), 'GET', path)).status).toBe(200)
    for (const unknown of ['192.0.2.1', 'example.com', '203.0.113.0%2F24'])
      expect((await p.call(p.owner, 'GET', `/admin/addresses/${unknown}/history`)).body.error.code).toBe(
        'address_not_found',
      )
  })
})

test('whatever statement changes who has an address, the history says so', async () => {
  using p = await world()
  const id = await order(p, 'web01')
  const sql = (text: string, ...values: any[]) => {
    p.turnClock(1000)
    write(p.db, (tx) => void tx.$client.run(text, values))
  }
  const row = p.db.$client.query<any, []>('SELECT * FROM addresses WHERE workload_id IS NOT NULL').get()!
  const copy = { ...row, id: 'ip_copy', address: '203.0.113.200', place: 999, is_primary: 0 }
  const names = Object.keys(copy)
  const lines = () => p.db.$client.query('SELECT kind, until IS NULL AS isOpen FROM address_history ORDER BY id').all()
  sql('UPDATE addresses SET is_primary = 0')
  sql('UPDATE addresses SET workload_id = NULL WHERE id = ?', row.id)
  sql('UPDATE addresses SET workload_id = ?, is_primary = 1 WHERE id = ?', id, row.id)
  sql(`INSERT INTO addresses (${names}) VALUES (${names.map(() => '?')})`, ...Object.values(copy))
  sql("DELETE FROM addresses WHERE id = 'ip_copy'")
  expect(lines()).toEqual([
    { kind: 'primary', isOpen: 0 },
    { kind: 'extra', isOpen: 0 },
    { kind: 'primary', isOpen: 1 },
    { kind: 'extra', isOpen: 0 },
  ])
})

test('addresses that somebody had before have an open line of which the beginning is not known', async () => {
  using p = await world()
  const id = await order(p, 'web01')
  const extra = (await p.admin('POST', `/servers/${id}/ips`, { version: 4 })).address.address
  await p.settle()
  // A database as it was before: its rows are put into one that only has the migrations until then.
  const before = new Database(':memory:', { strict: true })
  const place = migrations.findIndex(({ name }) => name === '0165_address_history')
  migrate(before, migrations.slice(0, place))
  before.run('PRAGMA foreign_keys = OFF')
  for (const table of ['accounts', 'locations', 'nodes', 'pools', 'workloads', 'addresses', 'address_intervals']) {
    const there = new Set(
      before
        .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map(({ name }) => name),
    )
    for (const row of p.db.$client.query<any, []>(`SELECT * FROM ${table}`).all()) {
      const names = Object.keys(row).filter((name) => there.has(name))
      before.run(
        `INSERT OR REPLACE INTO ${table} (${names}) VALUES (${names.map(() => '?')})`,
        names.map((name) => row[name]),
      )
    }
  }
  before.run(migrations[place]!.sql)
  const lines = before
    .query<any, []>('SELECT address, kind, until, since_known AS known, since FROM address_history ORDER BY address')
    .all()
  const taken = p.db.$client.query<any, []>('SELECT since FROM address_intervals').get()!.since
  expect(lines.map(({ address, kind, until, known }) => [address, kind, until, known])).toEqual([
    [await addressOf(p, id), 'primary', null, 0],
    [extra, 'extra', null, 1],
  ])
  expect(lines[1].since).toBe(taken)
})
