import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ApiError } from '../../../src/kernel/api/errors.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { cutFrom, releaseAddresses, takeIpv4, takeIpv6 } from '../../../src/network/ip-pools/allocate.ts'
import { toNetwork, toNumber } from '../../../src/network/ip-pools/ranges.ts'
import { type World, world } from '../../support/world/panel.ts'

const pool = (p: World, body: object) =>
  p.call(p.owner, 'POST', '/admin/ip-pools', { name: `pool ${newId('pool')}`, ...body })
const waiting = ({ order: { imageId: _, hostname: __, access: ___, ...order } }: World) => order
const placeServer = (p: World, more: object = {}) =>
  p.call(p.owner, 'POST', '/admin/servers', { ...waiting(p), ...more })
/** Waiting for its setup it holds addresses without any work on a node. */
const order = async (p: World) => (await placeServer(p)).body as { serverId: string; ipv4: string }
const terminate = (p: World, id: string) => p.admin('DELETE', `/servers/${id}?immediately=true`)
const addressesOf = async (p: World, id: string) =>
  (await p.admin('GET', `/servers/${id}`)).addresses as { address: string; prefixLength: number; version: number }[]

describe('adding a pool', () => {
  test('makes every address of its range a row, the gateway kept from servers', async () => {
    using p = await world()
    const { status, body } = await pool(p, {
      network: '198.51.100.0/29',
      gateway: '198.51.100.1',
      nodeIds: [p.node.id],
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      version: 4,
      first: '198.51.100.1',
      last: '198.51.100.6',
      total: 6,
      free: 5,
      held: 0,
      reserved: 1,
      nodes: [{ id: p.node.id, name: 'fra-01' }],
    })
    const { data } = await p.admin('GET', `/admin/ip-pools/${body.id}/addresses`)
    expect(data.map((a: any) => `${a.address}/${a.prefixLength} ${a.state} ${a.reservedFor ?? ''}`.trim())).toEqual(
      ['1 reserved Gateway', '2 free', '3 free', '4 free', '5 free', '6 free'].map(
        (text) => `198.51.100.${text.replace(' ', '/29 ')}`,
      ),
    )
  })
  test('of another piece of a network is a pool of its own with the same gateway', async () => {
    using p = await world()
    const piece = (name: string, first: number, last: number, gateway = 1) =>
      pool(p, {
        name,
        network: '198.51.100.0/24',
        gateway: `198.51.100.${gateway}`,
        first: `198.51.100.${first}`,
        last: `198.51.100.${last}`,
        nodeIds: [p.node.id],
      })
    expect((await piece('A', 2, 100)).body).toMatchObject({ free: 99, reserved: 0 })
    expect((await piece('B', 101, 200)).body).toMatchObject({ free: 100, reserved: 0 })
    const before = p.fingerprint()
    for (const [first, last, gateway] of [
      [200, 210, 1],
      [90, 101, 1],
      [2, 254, 1],
      [150, 160, 1],
      // Its gateway is an address that pool A gives to servers, and the other way round.
      [201, 210, 50],
      [1, 1, 254],
    ] as const)
      expect([first, last, gateway, (await piece('C', first, last, gateway)).body.error?.code]).toEqual([
        first,
        last,
        gateway,
        'pool_overlaps',
      ])
    expect(p.fingerprint()).toBe(before)
    expect((await piece('C', 1, 1)).body).toMatchObject({ free: 0, reserved: 1 })
    const all = p.db.$client.query('SELECT count(*) AS n, count(DISTINCT address) AS d FROM addresses').get() as any
    expect(all.n).toBe(all.d)
  })
  test('of two pieces of an IPv6 network cuts prefixes from each piece alone', async () => {
    using p = await world()
    const piece = (name: string, first: string, last: string) =>
      pool(p, { name, network: '2001:db8:77::/48', gateway: 'fe80::1', first, last })
    const half = '2001:db8:77:7fff:ffff:ffff:ffff:ffff'
    expect((await piece('A', '2001:db8:77::', half)).status).toBe(201)
    const meets = await piece('B', half, '2001:db8:77:ffff:ffff:ffff:ffff:ffff')
    expect(meets.body.error?.code).toBe('pool_overlaps')
    expect((await piece('B', '2001:db8:77:8000::', '2001:db8:77:ffff:ffff:ffff:ffff:ffff')).status).toBe(201)
    const [a, b] = p.db.$client.query("SELECT * FROM pools WHERE name IN ('A', 'B') ORDER BY name").all() as any[]
    for (const [row, least] of [
      [a, '2001:db8:77:1::'],
      [b, '2001:db8:77:8000::'],
    ] as const)
      expect(cutFrom(p.db, { ...row, nextOffset: row.next_offset }, 64)!.address).toBe(least)
  })
  test('of /31 and /32 uses every address there is', async () => {
    using p = await world()
    expect((await pool(p, { network: '198.51.100.0/31', gateway: '198.51.100.255' })).body).toMatchObject({
      first: '198.51.100.0',
      last: '198.51.100.1',
      free: 2,
    })
    expect((await pool(p, { network: '198.51.100.9/32', gateway: '198.51.100.255' })).body).toMatchObject({
      total: 1,
      free: 1,
    })
  })
  for (const [what, body, expected] of [
    ['a network with host bits', { network: '198.51.100.1/24', gateway: '198.51.100.1' }, 'validation_failed network'],
    ['a network in an odd form', { network: '10.1/24', gateway: '10.0.0.1' }, 'validation_failed network'],
    ['a network larger than /16', { network: '10.0.0.0/15', gateway: '10.0.0.1' }, 'validation_failed network'],
    [
      'an IPv6 network too small to cut',
      { network: '2001:db8::/121', gateway: 'fe80::1' },
      'validation_failed network',
    ],
    ['a gateway of the other version', { network: '198.51.100.0/24', gateway: 'fe80::1' }, 'validation_failed gateway'],
    ['a gateway with a zone', { network: '2001:db8::/48', gateway: 'fe80::1%eth0' }, 'validation_failed gateway'],
    [
      'a range that begins outside',
      { network: '198.51.100.0/24', gateway: '198.51.100.1', first: '198.51.99.255' },
      'validation_failed first',
    ],
    [
      'a range that ends outside',
      { network: '198.51.100.0/24', gateway: '198.51.100.1', last: '198.51.101.0' },
      'validation_failed last',
    ],
    [
      'a range backwards',
      { network: '198.51.100.0/24', gateway: '198.51.100.1', first: '198.51.100.9', last: '198.51.100.8' },
      'validation_failed last',
    ],
    [
      'resolvers by name',
      { network: '198.51.100.0/24', gateway: '198.51.100.1', resolvers: ['dns.example.com'] },
      'validation_failed resolvers',
    ],
    [
      'a node that is none',
      { network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [`nod_${'0'.repeat(26)}`] },
      'validation_failed nodeIds',
    ],
    ['the network of another pool', { network: '203.0.113.0/24', gateway: '203.0.113.1' }, 'pool_overlaps'],
    ['a network around another pool\u2019s', { network: '203.0.112.0/23', gateway: '203.0.112.1' }, 'pool_overlaps'],
    ['the name of another pool', { name: 'V4', network: '198.51.100.0/24', gateway: '198.51.100.1' }, 'name_taken'],
  ] as const)
    test(`with ${what} is refused, and nothing happens`, async () => {
      using p = await world()
      const before = p.fingerprint()
      const { body: answer } = await pool(p, body)
      expect([answer.error?.code, answer.error?.details?.fields?.[0].field].filter(Boolean).join(' ')).toBe(expected)
      expect(p.fingerprint()).toBe(before)
    })
})

describe('IPv4 addresses', () => {
  test('are given lowest first, and one that comes back is given again', async () => {
    using p = await world()
    const [a, b, c] = [await order(p), await order(p), await order(p)]
    expect([a, b, c].map((s) => s.ipv4)).toEqual(['203.0.113.10', '203.0.113.11', '203.0.113.12'])
    await terminate(p, b.serverId)
    expect((await order(p)).ipv4).toBe('203.0.113.11')
    expect((await order(p)).ipv4).toBe('203.0.113.13')
  })
  test('come only from pools of the node, the older pool first', async () => {
    using p = await world()
    await pool(p, { network: '192.0.2.0/30', gateway: '192.0.2.1' }) // attached to no node
    await pool(p, { network: '198.51.100.0/30', gateway: '198.51.100.1', nodeIds: [p.node.id] })
    for (let i = 10; i < 30; i++) expect((await order(p)).ipv4).toBe(`203.0.113.${i}`)
    expect((await order(p)).ipv4).toBe('198.51.100.2')
    expect((await placeServer(p)).body.error.code).toBe('no_addresses')
  })
  test('are given as many as the package says, or none at all', async () => {
    using p = await world()
    const four = (
      await p.admin('POST', '/admin/packages', { name: 'four', vcpus: 1, memoryMb: 64, diskGb: 1, ipv4: 4 })
    ).id
    const made = await placeServer(p, { packageId: four })
    expect((await addressesOf(p, made.body.serverId)).map((a) => a.address)).toEqual([
      '203.0.113.10',
      '203.0.113.11',
      '203.0.113.12',
      '203.0.113.13',
    ])
    expect(made.body.ipv4).toBe('203.0.113.10')
    for (let i = 14; i < 27; i++) await order(p)
    const before = p.fingerprint()
    expect((await placeServer(p, { packageId: four })).body.error.code).toBe('no_addresses') // three are left
    expect(p.fingerprint()).toBe(before)
  })
  test('that are reserved are given to nobody, until they are not', async () => {
    using p = await world()
    const { data } = await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)
    const reserve = (id: string, reservedFor: string | null) =>
      p.call(p.owner, 'PATCH', `/admin/ip-addresses/${id}`, { reservedFor })
    expect((await reserve(data[0].id, 'The printer')).body).toEqual({
      id: data[0].id,
      address: '203.0.113.10',
      reservedFor: 'The printer',
    })
    const { serverId, ipv4 } = await order(p)
    expect(ipv4).toBe('203.0.113.11')
    const before = p.fingerprint()
    expect((await reserve(data[1].id, 'Mine')).body.error.code).toBe('address_in_use')
    expect(p.fingerprint()).toBe(before)
    await reserve(data[0].id, null)
    expect((await order(p)).ipv4).toBe('203.0.113.10')
    await terminate(p, serverId)
    expect((await reserve(data[1].id, 'Mine')).status).toBe(200)
    expect(await p.admin('GET', `/admin/ip-pools/${p.pool}`)).toMatchObject({
      total: 20,
      held: 1,
      reserved: 1,
      free: 18,
    })
  })
  test('that are the gateway cannot be set free for servers', async () => {
    // Once: reserve with null frees it like any other, and the next server takes the gateway's address.
    using p = await world()
    const { body } = await pool(p, { network: '198.51.100.0/30', gateway: '198.51.100.1' })
    const { data } = await p.admin('GET', `/admin/ip-pools/${body.id}/addresses`)
    expect(
      (await p.call(p.owner, 'PATCH', `/admin/ip-addresses/${data[0].id}`, { reservedFor: null })).body.error?.code,
    ).toBe('address_in_use')
  })
})

describe('a pool', () => {
  test('is not taken from a node whose servers have its addresses, and nothing happens', async () => {
    using p = await world()
    const second = p.addNode(p.location, 'fra-02')
    const put = (nodeIds: string[]) => p.call(p.owner, 'PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds })
    expect((await put([p.node.id, second.id, second.id])).body.nodes.length).toBe(2)
    const { body } = await placeServer(p, { nodeId: second.id })
    const before = p.fingerprint()
    for (const nodeIds of [[], [p.node.id]]) expect((await put(nodeIds)).body.error.code).toBe('in_use')
    expect(p.fingerprint()).toBe(before)
    expect((await put([second.id])).status).toBe(200)
    await terminate(p, body.serverId)
    expect((await put([])).body.nodes).toEqual([])
  })
  test('is removed with its addresses when no server has one, and not before', async () => {
    using p = await world()
    const { serverId } = await order(p)
    const before = p.fingerprint()
    expect((await p.call(p.owner, 'DELETE', `/admin/ip-pools/${p.pool}`)).body.error.code).toBe('in_use')
    expect(p.fingerprint()).toBe(before)
    await terminate(p, serverId)
    expect((await p.call(p.owner, 'DELETE', `/admin/ip-pools/${p.pool}`)).status).toBe(200)
    expect(
      p.db.$client.query('SELECT (SELECT count(*) FROM addresses) AS a, (SELECT count(*) FROM pool_nodes) AS n').get(),
    ).toEqual({
      a: 0,
      n: 0,
    })
    expect((await pool(p, { network: '203.0.113.0/24', gateway: '203.0.113.1' })).status).toBe(201)
  })
})

// ---------------------------------------------------------------- IPv6
/** A server row that can hold addresses; nothing of it matters here but its id. */
const holder = async (p: World) => (await order(p)).serverId
const block = (address: string, bits: number) => toNetwork(`${address}/${bits}`)!

test('a node that lacks one of the addresses is passed over for a node that has them all', async () => {
  using p = await world()
  const other = p.addNode(p.location, 'fra-02', { memoryMb: 4096 })
  await pool(p, { network: '198.51.100.0/28', gateway: '198.51.100.1', nodeIds: [other.id] })
  await p.controller.runner.idle()
  const free = async () => (await p.admin('GET', '/admin/nodes')).data.map((n: any) => [n.name, n.heldMemoryMb])
  const packageId = async (more: object) =>
    (await p.admin('POST', '/admin/packages', { name: newId('pkg'), vcpus: 1, memoryMb: 64, diskGb: 1, ...more })).id
  const nodeOf = async ({ body }: { body: any }) => (await p.admin('GET', `/servers/${body.serverId}`)).node.name
  // The node with the most memory has the fewest addresses left: one.
  for (const address of p.db.$client
    .query<{ id: string }, [string]>('SELECT id FROM addresses WHERE pool_id = ? AND reserved_for IS NULL')
    .all(p.pool)
    .slice(1))
    p.db.$client.run("UPDATE addresses SET reserved_for = 'test' WHERE id = ?", [address.id])
  expect(await nodeOf(await placeServer(p, { packageId: await packageId({ ipv4: 2 }) }))).toBe('fra-02')
  expect(await nodeOf(await placeServer(p, { packageId: await packageId({ ipv4: 1 }) }))).not.toBe('fra-02')
  // And an IPv6 prefix is only there on the small one.
  await pool(p, { network: '2001:db8:7::/48', gateway: 'fe80::1', nodeIds: [other.id] })
  expect(await nodeOf(await placeServer(p, { packageId: await packageId({ ipv4: 0, ipv6Prefix: 64 }) }))).toBe('fra-02')
  const before = JSON.stringify(await free())
  const none = await placeServer(p, { packageId: await packageId({ ipv4: 14 }) })
  expect([none.status, none.body.error.code]).toEqual([409, 'no_addresses'])
  expect(none.body.error.message).toContain('fewer than 14 free IPv4 addresses')
  expect(JSON.stringify(await free())).toBe(before)
})

describe('IPv6 prefixes', () => {
  test('are aligned, inside the pool, distinct, and never the first one, which is the network\u2019s own', async () => {
    using p = await world()
    await pool(p, { network: '2001:db8:7::/48', gateway: 'fe80::1', nodeIds: [p.node.id] })
    const server = await holder(p)
    const whole = block('2001:db8:7::', 48)
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(56, 60, 64, 80, 96, 112, 127, 128), { minLength: 1, maxLength: 40 }),
        (lengths) => {
          const taken: { first: bigint; last: bigint }[] = []
          write(p.db, (tx) => {
            for (const length of lengths) {
              const address = takeIpv6(tx, server, { nodeId: p.node.id, vlan: null }, length)!
              const range = block(address, length) // undefined when it is not aligned
              expect(range.first).toBeGreaterThan(whole.first)
              expect(range.last).toBeLessThanOrEqual(whole.last)
              for (const other of taken) expect(range.last < other.first || range.first > other.last).toBe(true)
              taken.push(range)
            }
            releaseAddresses(tx, server)
            tx.$client.run('DELETE FROM addresses WHERE version = 6')
            tx.$client.run("UPDATE pools SET next_offset = '0' WHERE version = 6")
          })
        },
      ),
      { numRuns: 40 },
    )
  })
  test('that come back are given again, to who asks for that length', async () => {
    using p = await world()
    const network = { network: '2001:db8:7::/48', gateway: 'fe80::1' }
    await pool(p, { ...network, nodeIds: [p.node.id], quarantineHours: 0 })
    const [a, b] = [await holder(p), await holder(p)]
    const take = (server: string, length: number) =>
      write(p.db, (tx) => takeIpv6(tx, server, { nodeId: p.node.id, vlan: null }, length))
    expect([take(a, 64), take(b, 64)]).toEqual(['2001:db8:7:1::', '2001:db8:7:2::'])
    expect(write(p.db, (tx) => releaseAddresses(tx, a))).toEqual(['203.0.113.10', '2001:db8:7:1::'])
    expect(take(a, 128)).toBe('2001:db8:7:3::')
    expect(take(a, 64)).toBe('2001:db8:7:1::')
    expect(take(a, 64)).toBe('2001:db8:7:4::')
  })
  test('run out, then nothing is ordered that was sold one, and none is cut that the pool cannot hold', async () => {
    using p = await world()
    await pool(p, { network: '2001:db8:7::/62', gateway: 'fe80::1', nodeIds: [p.node.id] })
    const server = await holder(p)
    const take = (length: number) => {
      try {
        return write(p.db, (tx) => takeIpv6(tx, server, { nodeId: p.node.id, vlan: null }, length))
      } catch (error) {
        return (error as ApiError).code
      }
    }
    expect([take(61), take(62), take(64), take(64), take(64), take(64)]).toEqual([
      'no_addresses',
      'no_addresses',
      '2001:db8:7:1::',
      '2001:db8:7:2::',
      '2001:db8:7:3::',
      'no_addresses',
    ])
    const six = (
      await p.admin('POST', '/admin/packages', { name: 'six', vcpus: 1, memoryMb: 64, diskGb: 1, ipv6Prefix: 64 })
    ).id
    const before = p.fingerprint()
    const refused = await placeServer(p, { packageId: six })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'no_addresses'])
    expect(refused.body.error.message).toContain('no free IPv6 prefix of /64')
    expect(p.fingerprint()).toBe(before)
    await pool(p, { network: '2001:db8:9::/56', gateway: 'fe80::1', nodeIds: [p.node.id] })
    expect((await placeServer(p, { packageId: six })).status).toBe(201)
  })
  test('come with the order, from pools of its node', async () => {
    using p = await world()
    await pool(p, { network: '2001:db8:8::/48', gateway: 'fe80::1' })
    await pool(p, { network: '2001:db8:7::/48', gateway: 'fe80::1', nodeIds: [p.node.id] })
    const six = (
      await p.admin('POST', '/admin/packages', {
        name: 'six',
        vcpus: 1,
        memoryMb: 64,
        diskGb: 1,
        ipv4: 0,
        ipv6Prefix: 56,
      })
    ).id
    const { body } = await placeServer(p, { packageId: six })
    expect(body.ipv4).toBeNull()
    expect(await addressesOf(p, body.serverId)).toMatchObject([
      { address: '2001:db8:7:100::', prefixLength: 56, version: 6 },
    ])
  })
  test('never hold the gateway, wherever in the network it stands', async () => {
    // Once: only the first prefix is left out. With /128 the first server gets ::1, the usual gateway; with /64 a
    // gateway in another prefix of the range goes to a customer.
    using p = await world()
    const made = await pool(p, { network: '2001:db8:7::/64', gateway: '2001:db8:7::1', nodeIds: [p.node.id] })
    const server = await holder(p)
    const first = write(p.db, (tx) => takeIpv6(tx, server, { nodeId: p.node.id, vlan: null }, 128))
    await p.admin('PUT', `/admin/ip-pools/${made.body.id}/nodes`, { nodeIds: [p.node.id] })
    await pool(p, { network: '2001:db8:8::/48', gateway: '2001:db8:8:1::1', nodeIds: [p.node.id] })
    const second = write(p.db, (tx) => takeIpv6(tx, server, { nodeId: p.node.id, vlan: null }, 64))!
    const gateway = toNumber('2001:db8:8:1::1')!.n
    expect(first).not.toBe('2001:db8:7::1')
    expect(block(second, 64).first <= gateway && gateway <= block(second, 64).last).toBe(false)
  })
})

test('an address is never held twice, in whatever order servers take and give back', async () => {
  using p = await world()
  const servers: string[] = []
  for (let i = 0; i < 20; i++) servers.push(await holder(p))
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(19), fc.nat(3)), { maxLength: 60 }), (steps) => {
      write(p.db, (tx) => {
        for (const server of servers) releaseAddresses(tx, server)
        const held = new Map<string, string>()
        for (const [i, count] of steps) {
          const server = servers[i]!
          if (count === 0) {
            const theirs = [...held].filter(([, owner]) => owner === server).map(([address]) => address)
            expect(releaseAddresses(tx, server).toSorted()).toEqual(theirs.toSorted())
            for (const address of theirs) held.delete(address)
          } else if (held.size + count <= 20)
            for (const address of takeIpv4(tx, server, { nodeId: p.node.id, vlan: null }, count)) {
              expect(held.has(address)).toBe(false)
              held.set(address, server)
            }
        }
      })
    }),
    { numRuns: 50 },
  )
})
