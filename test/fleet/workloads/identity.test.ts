// A workload that brings its MAC address and its addresses along, as one from another panel does.
import { describe, expect, test } from 'bun:test'
import { locationById } from '../../../src/fleet/locations/queries.ts'
import { changeWorkload, workloadById } from '../../../src/fleet/workloads/queries.ts'
import { type Identity, reserve } from '../../../src/fleet/workloads/reserve.ts'
import { closeStay, openArriving, releaseHome } from '../../../src/fleet/workloads/stays/stays.ts'
import { ApiError } from '../../../src/kernel/api/errors.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { addressesOf, releaseAddresses } from '../../../src/network/ip-pools/allocate.ts'
import { lackingGiven, takeGiven } from '../../../src/network/ip-pools/given.ts'
import { stayFaults } from '../../support/nodes/stays.ts'
import { type World, world } from '../../support/world/panel.ts'
import { boxKind } from './box/box.ts'
import { boxesFeature } from './box/feature.ts'

const open = () => world({ features: [boxesFeature] })
const import_ = (p: World, identity: Identity, { ipv4 = 1, ipv6Prefix = null as number | null, nodeId = '' } = {}) =>
  write(p.db, (tx) =>
    reserve(tx, p.controller.app, {
      kind: boxKind,
      owner: { id: p.customer.id, resellerId: null },
      location: locationById(tx, p.location)!,
      held: { vcpus: 1, memoryMb: 1024, diskGb: 10, ipv4, ipv6Prefix },
      hostname: undefined,
      name: undefined,
      lifecycle: 'provisioning',
      namesNodes: true,
      identity,
      ...(nodeId && { nodeId }),
    }),
  )
const refusal = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    if (error instanceof ApiError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'accepted'
}
const has = (p: World, id: string) =>
  addressesOf(p.db, id).map(
    ({ address, prefixLength, version, isPrimary }) =>
      `${address}${version === 6 ? `/${prefixLength}` : ''}${isPrimary ? ' primary' : ''}`,
  )
const rows = ({ db }: World) =>
  db.$client
    .query('SELECT (SELECT count(*) FROM workloads) AS w, (SELECT count(workload_id) FROM addresses) AS a')
    .get()
const changeOf = (p: World, id: string, values: Parameters<typeof changeWorkload>[2]) =>
  write(p.db, (tx) => changeWorkload(tx, id, values))
const v6 = (p: World, nodeIds = [p.node.id]) =>
  p.admin('POST', '/admin/ip-pools', {
    name: 'v6',
    network: '2001:db8::/48',
    gateway: '2001:db8::1',
    first: '2001:db8::',
    last: '2001:db8:0:ffff:ffff:ffff:ffff:ffff',
    nodeIds,
  })

describe('an identity that is given', () => {
  test('is kept, and what is left out is invented', async () => {
    using p = await open()
    await v6(p)
    const identity = { mac: '52-54-00-AB-CD-EF', addresses: ['203.0.113.17', '203.0.113.12', '2001:DB8:0:77::/64'] }
    const { id, ipv4 } = import_(p, identity, { ipv4: 3, ipv6Prefix: 64 })
    expect([ipv4, workloadById(p.db, id)!.mac]).toEqual(['203.0.113.17', '52:54:00:ab:cd:ef'])
    expect(has(p, id)).toEqual(['203.0.113.17 primary', '203.0.113.10', '203.0.113.12', '2001:db8:0:77::/64 primary'])
    const other = import_(p, {}, { ipv6Prefix: 64 })
    expect(has(p, other.id)).toEqual(['203.0.113.11 primary', '2001:db8:0:1::/64 primary'])
    expect(workloadById(p.db, other.id)!.mac).toMatch(/^02:/)
    expect(stayFaults(p.db)).toEqual([])
  })
  test('is not cut for an order, and is for others when it is free again', async () => {
    using p = await open()
    await v6(p)
    const { id } = import_(p, { addresses: ['2001:db8:0:2::/64'] }, { ipv6Prefix: 64 })
    const orders = [1, 2, 3].map(() => has(p, import_(p, {}, { ipv6Prefix: 64 }).id)[1])
    expect(orders).toEqual(['2001:db8:0:1::/64 primary', '2001:db8:0:3::/64 primary', '2001:db8:0:4::/64 primary'])
    p.db.$client.run('UPDATE addresses SET workload_id = NULL, is_primary = 0 WHERE workload_id = ?', [id])
    expect(has(p, import_(p, { addresses: ['2001:db8:0:2::/64'] }).id)).toContain('2001:db8:0:2::/64 primary')
  })
  test('is placed where its pool is, though another node has more memory', async () => {
    using p = await open()
    const far = p.addNode(p.location, 'fra-02', { memoryMb: 200_000 })
    const { id: pool } = await p.admin('POST', '/admin/ip-pools', {
      name: 'second',
      network: '198.51.100.0/24',
      gateway: '198.51.100.1',
      first: '198.51.100.10',
      last: '198.51.100.29',
      nodeIds: [far.id],
    })
    expect(import_(p, { addresses: ['203.0.113.20'] }).node.name).toBe('fra-01')
    expect(import_(p, { addresses: ['198.51.100.20'] }).node.name).toBe('fra-02')
    expect(refusal(() => import_(p, { addresses: ['198.51.100.21'] }, { nodeId: p.node.id }))).toBe(
      'no_addresses: No pool with 198.51.100.21 in Frankfurt: fra-01 no pool with 198.51.100.21. Add a pool, or ' +
        'attach one to a node with room.',
    )
    expect(pool).toBeDefined()
  })
  for (const [what, identity, code] of [
    ['a MAC address that is none', { mac: '52:54:00:ab:cd' }, 'validation_failed: mac: 52:54:00:ab:cd is no MAC'],
    ['a MAC address of many', { mac: '33:33:00:ab:cd:ef' }, 'validation_failed: mac: 33:33:00:ab:cd:ef is no MAC'],
    ['a MAC address of another server', { mac: '52:54:00:00:00:01' }, 'validation_failed: mac: 52:54:00:00:00:01 is'],
    ['an address of another server', { addresses: ['203.0.113.11'] }, 'address_in_use: 203.0.113.11 in use by box_'],
    ['an address in no pool', { addresses: ['192.0.2.1'] }, 'no_addresses: No pool with 192.0.2.1'],
    ['a reserved address', { addresses: ['203.0.113.13'] }, 'address_in_use: 203.0.113.13 reserved (router)'],
    ['a claimed address', { addresses: ['203.0.113.14'] }, 'address_in_use: 203.0.113.14 reserved (On fra-01, by'],
    ['the same address twice', { addresses: ['203.0.113.20', '203.0.113.20'] }, 'address_in_use: 203.0.113.20 in use'],
    ['a prefix that is cut', { addresses: ['2001:db8:0:1::/64'] }, 'address_in_use: 2001:db8:0:1::/64 in use by box_'],
    [
      'a prefix in one that is cut',
      { addresses: ['2001:db8:0:1:1::/80'] },
      'address_in_use: 2001:db8:0:1:1::/80 beside',
    ],
    ['the prefix of the gateway', { addresses: ['2001:db8::/64'] }, 'no_addresses: No free prefix 2001:db8::/64'],
    ['a prefix with host bits', { addresses: ['2001:db8:0:5::1/64'] }, 'no_addresses: No pool with 2001:db8:0:5::1/64'],
    ['words', { addresses: ['an address'] }, 'no_addresses: No pool with an address'],
  ] as const)
    test(`is refused for ${what}, and nothing is held`, async () => {
      using p = await open()
      await v6(p)
      import_(p, { mac: '52:54:00:00:00:01', addresses: ['203.0.113.11'] }, { ipv6Prefix: 64 })
      const { data } = await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)
      const { id } = data.find(({ address }: any) => address === '203.0.113.13')
      await p.admin('PATCH', `/admin/ip-addresses/${id}`, { reservedFor: 'router' })
      p.controller.reports.take(p.node.id, {
        type: 'addresses',
        part: 1,
        parts: 1,
        held: [{ workload: 'srv_00000000000000000000000009', address: '203.0.113.14' }],
      })
      await p.reported()
      const before = rows(p)
      expect(refusal(() => import_(p, identity as Identity))).toStartWith(code)
      expect([rows(p), stayFaults(p.db)]).toEqual([before, []])
    })
  test('names the address that is in use, and can come again once its server is gone', async () => {
    using p = await open()
    const identity = { mac: '52:54:00:00:00:01', addresses: ['203.0.113.11'] }
    const { id } = import_(p, identity)
    changeOf(p, id, { lifecycle: 'active' })
    expect(refusal(() => import_(p, { addresses: ['203.0.113.11'] }))).toBe(
      `address_in_use: 203.0.113.11 in use by ${id} in Frankfurt: fra-01 203.0.113.11 in use by ${id}. Free it ` +
        'there, or choose another address.',
    )
    // A server that can still be brought back keeps its MAC address.
    changeOf(p, id, { lifecycle: 'terminated', terminatedAt: p.now(), purgeAt: p.now() + 1000 })
    expect(refusal(() => import_(p, { mac: identity.mac }))).toStartWith('validation_failed: mac')
    write(p.db, (tx) => {
      releaseAddresses(tx, id)
      releaseHome(tx, id, p.now())
    })
    const again = import_(p, identity)
    expect([again.ipv4, workloadById(p.db, again.id)!.mac]).toEqual(['203.0.113.11', '52:54:00:00:00:01'])
    expect(workloadById(p.db, id)!.mac).toBe('52:54:00:00:00:01')
    expect(refusal(() => import_(p, { mac: identity.mac }))).toStartWith('validation_failed: mac')
    expect(stayFaults(p.db)).toEqual([])
  })
  test('needs its pool on every node where the workload stays', async () => {
    using p = await open()
    const second = p.addNode(p.location, 'fra-02')
    const { id } = import_(p, {})
    const network = { network: '198.51.100.0/24', gateway: '198.51.100.1', first: '198.51.100.25' }
    const more = await p.admin('POST', '/admin/ip-pools', { name: 'more', ...network, nodeIds: [p.node.id] })
    p.attach(p.pool, second.id)
    write(p.db, (tx) => openArriving(tx, id, { nodeId: second.id, pool: 'local', spareDiskGb: 0 }, p.now()))
    const take = () => write(p.db, (tx) => takeGiven(tx, id, [p.node.id, second.id], ['198.51.100.25']))
    expect(refusal(take)).toBe(
      'no_addresses: 198.51.100.25 cannot be given: no pool with 198.51.100.25. Attach its pool to every node of the ' +
        'server.',
    )
    // A pool keeps every node where a holder of its addresses stays.
    await p.admin('PUT', `/admin/ip-pools/${more.id}/nodes`, { nodeIds: [p.node.id, second.id] })
    expect(lackingGiven(p.db, second.id, ['198.51.100.25'])).toBeUndefined()
    expect(refusal(take)).toBe('accepted')
    const only = await p.call(p.owner, 'PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id] })
    expect([only.status, only.body.error.message]).toEqual([409, expect.stringContaining('box')])
    write(p.db, (tx) => {
      closeStay(tx, id, second.id, p.now())
      changeWorkload(tx, id, { lifecycle: 'active' })
    })
    await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id] })
  })
})
