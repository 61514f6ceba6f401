// The same private range can be a pool of each location, and a public one of none twice. What finds something by an
// address then finds each that has it, and no location ever gives an address twice.
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { migrations } from '../../../migrations/index.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { migrate } from '../../../src/kernel/db/migrate.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { takeClaims } from '../../../src/network/ip-pools/claims.ts'
import { poolsToRescope, rescopeNext, rescopePool } from '../../../src/network/ip-pools/queries.ts'
import { toNetwork } from '../../../src/network/ip-pools/ranges.ts'
import { followScopes, isPrivateRange } from '../../../src/network/ip-pools/scope.ts'
import { tellNameServer } from '../../../src/network/reverse-dns/deliver.ts'
import { addressLedgerFaults } from '../../support/ledger.ts'
import { type World, world } from '../../support/world/panel.ts'

const pool = (p: World, network: string, nodeIds: readonly string[], more: object = {}) =>
  p.call(p.owner, 'POST', '/admin/ip-pools', {
    name: newId('pool'),
    network,
    gateway: network.replace(/[0-9]+\/.*$/, '1').replace(/::\/.*$/, '::1'),
    nodeIds,
    ...more,
  })
const attach = (p: World, poolId: string, nodeIds: readonly string[]) =>
  p.call(p.owner, 'PUT', `/admin/ip-pools/${poolId}/nodes`, { nodeIds })

/** Two locations with a node each and no pool but one of 10.0.0.0/29 at both. */
async function twice() {
  const p = await world()
  p.db.$client.run('DELETE FROM pool_nodes')
  const paris = (await p.admin('POST', '/admin/node-groups', { name: 'Paris' })).id as string
  const there = p.addNode(paris, 'par-01')
  const [here, far] = [await pool(p, '10.0.0.0/29', [p.node.id]), await pool(p, '10.0.0.0/29', [there.id])]
  const place = async (hostname: string, nodeGroupId: string): Promise<{ serverId: string; ipv4: string }> => {
    const body = await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeGroupId })
    await p.settle()
    return body
  }
  return Object.assign(p, { paris, there, here: here.body, far: far.body, place })
}

test('private ranges are those of RFC 1918, RFC 6598 and fc00::/7, whole', () => {
  const isPrivate = (cidr: string) => isPrivateRange(toNetwork(cidr)!)
  for (const cidr of ['10.0.0.0/16', '172.31.0.0/16', '192.168.7.0/24', '100.127.0.0/16', 'fc00::/16', 'fdff:1::/48'])
    expect([cidr, isPrivate(cidr)]).toEqual([cidr, true])
  for (const cidr of [
    '11.0.0.0/16',
    '172.32.0.0/16',
    '192.169.0.0/24',
    '100.128.0.0/16',
    '203.0.113.0/24',
    'fe80::/64',
  ])
    expect([cidr, isPrivate(cidr)]).toEqual([cidr, false])
  expect(isPrivate('2001:db8::/48')).toBe(false)
})

describe('the same private range', () => {
  test('is a pool of each of two locations, and both give its addresses', async () => {
    using p = await twice()
    expect([p.here.uniqueAt, p.far.uniqueAt].map(({ name }) => name)).toEqual(['Frankfurt', 'Paris'])
    const [a, b] = [await p.place('web01', p.location), await p.place('web02', p.paris)]
    expect([a.ipv4, b.ipv4]).toEqual(['10.0.0.2', '10.0.0.2'])
    expect((await pool(p, 'fd00:7::/64', [p.node.id])).status).toBe(201)
    expect((await pool(p, 'fd00:7::/64', [p.there.id])).status).toBe(201)
  })
  test('is refused twice at one location, and a public one anywhere', async () => {
    using p = await twice()
    const second = p.addNode(p.paris, 'par-02')
    const before = p.fingerprint()
    for (const [network, nodeIds] of [
      ['10.0.0.0/29', [p.node.id]],
      ['10.0.0.0/24', [second.id]],
      // At both locations at once it would meet either pool.
      ['10.0.0.0/29', [p.node.id, p.there.id]],
      ['203.0.113.0/24', [p.there.id]],
    ] as const)
      expect([network, (await pool(p, network, nodeIds)).body.error?.code]).toEqual([network, 'pool_overlaps'])
    expect(p.fingerprint()).toBe(before)
    expect((await pool(p, '198.51.100.0/29', [p.node.id])).body.uniqueAt).toBeNull()
  })
  test('is checked where a pool is attached, and nothing happens', async () => {
    using p = await twice()
    const { body: third } = await pool(p, '10.0.0.0/29', [])
    expect(third.uniqueAt).toBeNull()
    const before = p.fingerprint()
    for (const nodeIds of [[p.node.id], [p.there.id], [p.node.id, p.there.id]])
      expect((await attach(p, third.id, nodeIds)).body.error.code).toBe('pool_overlaps')
    // Nor may a pool grow to a location that has one.
    expect((await attach(p, p.here.id, [p.node.id, p.there.id])).body.error.code).toBe('pool_overlaps')
    expect(p.fingerprint()).toBe(before)
    const oslo = (await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })).id as string
    const { id } = p.addNode(oslo, 'osl-01')
    expect((await attach(p, third.id, [id])).body.uniqueAt).toEqual({ id: oslo, name: 'Oslo' })
    // Without nodes it stays where it was: somebody may still have an address of it.
    expect((await attach(p, third.id, [])).body.uniqueAt).toEqual({ id: oslo, name: 'Oslo' })
    expect((await pool(p, '10.0.0.0/29', [id])).body.error.code).toBe('pool_overlaps')
  })
  test('of a pool at several locations is everywhere, until it is at one again', async () => {
    using p = await twice()
    const { body: wide } = await pool(p, '10.7.0.0/29', [p.node.id, p.there.id])
    expect(wide.uniqueAt).toBeNull()
    const refused = await pool(p, '10.7.0.0/29', [])
    expect([refused.body.error.code, refused.body.error.message]).toEqual([
      'pool_overlaps',
      expect.stringContaining('attached to nodes of one location'),
    ])
    expect((await attach(p, wide.id, [p.node.id])).body.uniqueAt.name).toBe('Frankfurt')
    expect((await pool(p, '10.7.0.0/29', [p.there.id])).status).toBe(201)
  })
  test('stays everywhere while a floating address of it is at a location that the pool leaves', async () => {
    using p = await twice()
    await p.place('web01', p.location)
    const { body: floating } = await p.call(p.customer, 'POST', `/customers/${p.customer.id}/floating-ips`, {
      locationId: p.location,
    })
    expect(floating.address).toBe('10.0.0.3')
    await p.admin('DELETE', `/admin/ip-pools/${p.far.id}`)
    const { data } = await p.admin('GET', '/servers')
    await p.admin('DELETE', `/servers/${data[0].id}?immediately=true`)
    await p.settle()
    expect((await attach(p, p.here.id, [p.there.id])).body.uniqueAt).toBeNull()
    expect((await pool(p, '10.0.0.0/29', [p.node.id])).body.error.code).toBe('pool_overlaps')
    await p.call(p.customer, 'DELETE', `/floating-ips/${floating.id}`)
    expect((await attach(p, p.here.id, [p.there.id])).body.uniqueAt.name).toBe('Paris')
    expect((await pool(p, '10.0.0.0/29', [p.node.id])).status).toBe(201)
  })
})

describe('the scope of a private pool', () => {
  test('counts servers on a node that was removed while it was lost', async () => {
    using p = await twice()
    await p.place('web01', p.location)
    await p.admin('DELETE', `/admin/ip-pools/${p.far.id}`)
    p.node.agent.disconnect()
    await p.admin('POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
    await p.admin('DELETE', `/admin/nodes/${p.node.id}`)
    // The server has its address still, and can come back in its location.
    expect((await attach(p, p.here.id, [p.there.id])).body.uniqueAt).toBeNull()
    const next = p.addNode(p.location, 'fra-02')
    expect((await pool(p, '10.0.0.0/29', [next.id])).body.error.code).toBe('pool_overlaps')
  })
  test('is that of a large pool at once, and its rows take it over in parts', async () => {
    using p = await twice()
    const { body: large } = await pool(p, '10.9.0.0/17', [p.node.id, p.there.id])
    const scopes = () =>
      p.db.$client
        .query<{ scope: string; n: number }, [string]>(
          'SELECT scope, count(*) AS n FROM addresses WHERE pool_id = ? GROUP BY scope ORDER BY n',
        )
        .all(large.id)
        .map(({ scope, n }) => [scope, n])
    const all = large.total as number
    expect(scopes()).toEqual([['', all]])
    expect((await attach(p, large.id, [p.node.id])).body.uniqueAt.name).toBe('Frankfurt')
    const { body: small } = await pool(p, '10.9.127.0/29', [p.there.id])
    expect(small.uniqueAt.name).toBe('Paris')
    await followScopes(p.db)
    expect([scopes(), poolsToRescope(p.db)]).toEqual([[[p.location, all]], []])
    // Back and forth before the rows have followed.
    await p.admin('DELETE', `/admin/ip-pools/${small.id}`)
    write(p.db, (tx) => rescopePool(tx, large.id, ''))
    write(p.db, (tx) => rescopeNext(tx, large.id))
    write(p.db, (tx) => rescopePool(tx, large.id, p.paris))
    const turns: number[] = []
    while (poolsToRescope(p.db).length) {
      const began = performance.now()
      write(p.db, (tx) => rescopeNext(tx, large.id))
      turns.push(performance.now() - began)
    }
    expect([scopes(), turns.length]).toEqual([[[p.paris, all]], Math.ceil(all / 1000) - 1])
    expect(turns.toSorted((a, b) => a - b)[16]!).toBeLessThan(50)
  })
})

describe('an address that two servers have', () => {
  test('is found with both', async () => {
    using p = await twice()
    await p.place('web01', p.location)
    await p.place('web02', p.paris)
    const found = (await p.call(p.owner, 'GET', '/search?q=10.0.0.2')).body
    expect(found.data.map(({ title }: { title: string }) => title).toSorted()).toEqual(['10.0.0.2', 'web01', 'web02'])
    const { data } = await p.admin('GET', '/admin/ip-pools')
    expect(data.filter(({ network }: any) => network === '10.0.0.0/29').map(({ held }: any) => held)).toEqual([1, 1])
  })
  test('is billed to each', async () => {
    using p = await twice()
    const [a, b] = [await p.place('web01', p.location), await p.place('web02', p.paris)]
    for (const { serverId } of [a, b]) {
      await p.admin('POST', `/servers/${serverId}/ips`, { version: 4 })
      await p.settle()
    }
    p.turnClock(3_600_000)
    const { data } = (
      await p.call({ ...p.owner, ...p.token(p.owner.id) }, 'GET', '/reports/usage/addresses?month=2027-01')
    ).body
    expect(data.map(({ address, serverId }: any) => [address, serverId]).toSorted()).toEqual(
      [a, b].map(({ serverId }) => ['10.0.0.3', serverId]).toSorted(),
    )
    expect(addressLedgerFaults(p.db)).toEqual([])
  })
  test('is held after a restore at the location of the node that names it, and at no other', async () => {
    using p = await twice()
    const lost = newId('srv')
    const rules = { wordsFor: () => 'in use', isNews: () => true, isElsewhere: () => false, conflicts: () => true }
    const change = write(p.db, (tx) =>
      takeClaims(tx, p.there.id, [{ workload: lost, address: '10.0.0.2' }], rules, p.controller.app.clock()),
    )
    expect(change.held).toEqual(['10.0.0.2'])
    expect([(await p.place('web01', p.location)).ipv4, (await p.place('web02', p.paris)).ipv4]).toEqual([
      '10.0.0.2',
      '10.0.0.3',
    ])
    // A server that the other location knows by this address is no conflict.
    const { attention } = await p.admin('GET', '/admin/overview')
    expect(JSON.stringify(attention)).not.toContain('10.0.0.2')
  })
  test('of a claimed prefix keeps the scope of its pool', async () => {
    using p = await twice()
    for (const id of [p.node.id, p.there.id]) await pool(p, 'fd00:7::/48', [id], { gateway: 'fe80::1' })
    const rules = { wordsFor: () => 'in use', isNews: () => true, isElsewhere: () => false, conflicts: () => true }
    for (const id of [p.node.id, p.there.id])
      write(p.db, (tx) =>
        takeClaims(tx, id, [{ workload: newId('srv'), address: 'fd00:7:0:5::/64' }], rules, p.controller.app.clock()),
      )
    expect(
      p.db.$client.query("SELECT scope FROM addresses WHERE address = 'fd00:7:0:5::' ORDER BY scope").values().flat(),
    ).toEqual([p.location, p.paris].toSorted())
  })
})

const records = new Map<string, string | null>()
const powerDns = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method === 'GET') return Response.json([{ name: '10.in-addr.arpa.' }])
    for (const { name, records: wanted } of ((await request.json()) as any).rrsets)
      records.set(name, wanted?.[0].content ?? null)
    return new Response(null, { status: 204 })
  },
})
afterAll(() => powerDns.stop(true))

test('the name of a private address is that of the server that named it first, until it lets go', async () => {
  using p = await twice()
  await p.admin('PUT', '/admin/settings/reverse-dns/powerdns', {
    url: `http://127.0.0.1:${powerDns.port}`,
    key: 'sesame',
  })
  const [a, b] = [await p.place('web01', p.location), await p.place('web02', p.paris)]
  const set = (id: string, name: string | null) =>
    p.call(p.owner, 'PUT', `/admin/servers/${id}/reverse-dns`, { address: '10.0.0.2', name })
  const turn = async () => {
    await tellNameServer(p.db, p.controller.app)
    return records.get('2.0.0.10.in-addr.arpa.')
  }
  expect((await set(a.serverId, 'a.example.com')).body.names.length).toBe(1)
  expect(await turn()).toBe('a.example.com.')
  const before = p.fingerprint()
  expect((await set(b.serverId, 'b.example.com')).body.error.code).toBe('name_of_another')
  expect(p.fingerprint()).toBe(before)
  // It has no name that it could take away.
  expect((await set(b.serverId, null)).body.names).toEqual([])
  expect(await turn()).toBe('a.example.com.')
  await p.admin('DELETE', `/servers/${a.serverId}?immediately=true`)
  await p.settle()
  // Also before the name server has deleted the first.
  expect((await set(b.serverId, 'b.example.com')).body.names.length).toBe(1)
  expect(await turn()).toBe('b.example.com.')
})

test('no location gives an address twice, whatever pools come, move and go', async () => {
  using p = await world()
  p.db.$client.run('DELETE FROM pool_nodes')
  p.db.$client.run('DELETE FROM pools')
  const paris = (await p.admin('POST', '/admin/node-groups', { name: 'Paris' })).id as string
  const locations = [p.location, paris]
  const nodes = [p.node, p.addNode(p.location, 'fra-02'), p.addNode(paris, 'par-01'), p.addNode(paris, 'par-02')]
  const networks = ['10.0.0.0/30', '10.0.0.0/29', '10.0.0.4/30', '198.51.100.0/30', '198.51.100.0/29', 'fd00:1::/62']
  const packageId = (
    await p.admin('POST', '/admin/packages', { name: 'small', vcpus: 1, memoryMb: 64, diskGb: 1, ipv6Prefix: null })
  ).id
  const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
  /** The addresses that each location gives or has given: those of the nodes' pools, and what is held there. */
  const mustBeDistinct = () => {
    const rows = p.db.$client
      .query<{ location: string; id: string; address: string }, []>(
        `SELECT DISTINCT location, a.id, a.address FROM addresses a JOIN (
           SELECT n.location_id AS location, pn.pool_id AS pool, NULL AS workload, NULL AS holder
             FROM pool_nodes pn JOIN nodes n ON n.id = pn.node_id
           UNION ALL SELECT location_id, NULL, id, NULL FROM workloads
           UNION ALL SELECT location_id, NULL, NULL, id FROM floating_ips) at
         ON at.pool = a.pool_id OR at.workload = a.workload_id OR at.holder = a.holder_id`,
      )
      .all()
    const keys = rows.map(({ location, address }) => `${location} ${address}`)
    expect(new Set(keys).size).toBe(keys.length)
    const everywhere = p.db.$client
      .query("SELECT address FROM addresses WHERE address NOT LIKE '10.%' AND version = 4")
      .values()
      .flat()
    expect(new Set(everywhere).size).toBe(everywhere.length)
    return rows.length
  }
  const seen: Record<string, number> = {}
  const count = (step: string, status: number) => (seen[`${step} ${status}`] = (seen[`${step} ${status}`] ?? 0) + 1)
  const poolIds = () => p.db.$client.query<{ id: string }, []>('SELECT id FROM pools ORDER BY id').all()
  const servers = () =>
    p.db.$client.query<{ id: string }, []>('SELECT id FROM workloads WHERE terminated_at IS NULL ORDER BY id').all()
  const some = fc.subarray([0, 1, 2, 3])
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), network: fc.nat(networks.length - 1), nodes: some }),
    fc.record({ do: fc.constant('attach' as const), at: fc.nat(20), nodes: some }),
    fc.record({ do: fc.constant('remove' as const), at: fc.nat(20) }),
    fc.record({ do: fc.constant('order' as const), at: fc.nat(1) }),
    fc.record({ do: fc.constant('float' as const), at: fc.nat(1) }),
    fc.record({ do: fc.constant('release' as const), at: fc.nat(20) }),
    fc.record({ do: fc.constant('terminate' as const), at: fc.nat(20) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
      for (const s of steps) {
        const ids = 'nodes' in s ? s.nodes.map((i) => nodes[i]!.id) : []
        const pools = poolIds()
        const chosen = 'at' in s && pools.length ? pools[s.at % pools.length]!.id : undefined
        if (s.do === 'add')
          count('add', (await pool(p, networks[s.network]!, ids, s.network === 5 ? { gateway: 'fe80::1' } : {})).status)
        else if (s.do === 'attach' && chosen) count('attach', (await attach(p, chosen, ids)).status)
        else if (s.do === 'remove' && chosen)
          count('remove', (await p.call(p.owner, 'DELETE', `/admin/ip-pools/${chosen}`)).status)
        else if (s.do === 'order')
          count(
            'order',
            (await p.call(p.owner, 'POST', '/admin/servers', { ...waiting, packageId, nodeGroupId: locations[s.at] }))
              .status,
          )
        else if (s.do === 'float')
          count(
            'float',
            (
              await p.call(p.customer, 'POST', `/customers/${p.customer.id}/floating-ips`, {
                locationId: locations[s.at],
              })
            ).status,
          )
        else if (s.do === 'release') {
          const { data } = (await p.call(p.customer, 'GET', '/floating-ips')).body
          if (data.length)
            count(
              'release',
              (await p.call(p.customer, 'DELETE', `/floating-ips/${data[s.at % data.length].id}`)).status,
            )
        } else if (s.do === 'terminate') {
          const all = servers()
          if (all.length)
            count(
              'terminate',
              (await p.call(p.owner, 'DELETE', `/servers/${all[s.at % all.length]!.id}?immediately=true`)).status,
            )
        }
        mustBeDistinct()
      }
    }),
    { numRuns: 25, endOnFailure: true },
  )
  // It is no proof where nothing happened.
  for (const outcome of ['add 201', 'add 409', 'attach 200', 'attach 409', 'remove 200', 'order 201', 'float 201'])
    expect([outcome, seen[outcome] ?? 0]).not.toEqual([outcome, 0])
})

test('a database from before keeps its addresses, claims, names and floating addresses', async () => {
  using p = await twice()
  await p.place('web01', p.location)
  await p.call(p.customer, 'POST', `/customers/${p.customer.id}/floating-ips`, { locationId: p.location })
  // Pools of that time let addresses rest as a new one does.
  p.db.$client.run('UPDATE pools SET quarantine_hours = 24')
  const before = migrations.filter(({ name }) => name < '0075')
  const file = new Database(':memory:', { strict: true })
  file.run('PRAGMA foreign_keys = OFF')
  migrate(file, before)
  await p.admin('DELETE', `/admin/ip-pools/${p.far.id}`)
  write(p.db, (tx) => {
    const { id } = tx.$client.query<{ id: string }, []>("SELECT id FROM addresses WHERE address = '10.0.0.5'").get()!
    tx.$client.run("INSERT INTO address_claims VALUES (?, ?, 'srv_lost', 'in use', 0, 1)", [id, p.node.id])
    tx.$client.run("INSERT INTO reverse_names VALUES ('10.0.0.5', ?, 'a.example.com', 'set', NULL, 0, 0, 0, 0)", [id])
  })
  const tables = [
    'accounts',
    'locations',
    'nodes',
    'pools',
    'pool_nodes',
    'workloads',
    'addresses',
    'floating_ips',
    'address_claims',
    'reverse_names',
  ]
  for (const table of tables) {
    const columnsOf = (of: Database) =>
      of
        .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map(({ name }) => name)
    // Later migrations take some columns away.
    const columns = columnsOf(p.db.$client).filter((name) => columnsOf(file).includes(name))
    for (const row of p.db.$client.query(`SELECT ${columns} FROM ${table}`).values())
      file
        .query(`INSERT OR REPLACE INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`)
        .run(...(row as any[]))
  }
  file.run('PRAGMA foreign_keys = ON')
  migrate(file)
  for (const table of ['addresses', 'address_claims', 'reverse_names', 'floating_ips', 'pools'])
    expect([table, file.query(`SELECT * FROM ${table} ORDER BY rowid`).all()]).toEqual([
      table,
      p.db.$client.query(`SELECT * FROM ${table} ORDER BY rowid`).all(),
    ])
  expect(file.query('PRAGMA foreign_key_check(addresses)').all()).toEqual([])
  const triggers = (of: Database) =>
    of.query("SELECT name, sql FROM sqlite_master WHERE tbl_name = 'addresses' ORDER BY name").all()
  expect(triggers(file)).toEqual(triggers(p.db.$client))
  file.close()
})
