// After a restore or a takeover that lost an order: the node has a server, and its address, of which the database knows
// nothing. No other server gets that address.
import { describe, expect, test } from 'bun:test'
import { freeDue } from '../../../src/fleet/node-records/gone-addresses.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { takeIpv6 } from '../../../src/network/ip-pools/allocate.ts'
import { MOST_CLAIMS } from '../../../src/network/ip-pools/claims.ts'
import { type World, world } from '../../support/world/panel.ts'

const say = (p: World, nodeId: string, frame: unknown) => {
  const hub = p.controller.hub as unknown as { sockets: Map<string, any>; message(socket: any, text: string): void }
  hub.message(hub.sockets.get(nodeId), JSON.stringify(frame))
}
async function settled(p: World) {
  const { waiting } = p.controller.reports as unknown as { waiting: Map<string, unknown> }
  do await Bun.sleep(2)
  while (waiting.size)
}
type Held = { workload: string; address: string }[]
/** The node names these addresses, and nothing else. */
async function names(p: World, nodeId: string, held: Held) {
  say(p, nodeId, { type: 'addresses', part: 1, parts: 1, held })
  await settled(p)
}
const of = (workload: string, ...addresses: string[]): Held => addresses.map((address) => ({ workload, address }))

/** A small pool of each version, and no other; as many nodes as wanted route both. */
async function small(nodes = 1) {
  const p = await world()
  p.db.$client.run('DELETE FROM pool_nodes')
  const others = Array.from({ length: nodes - 1 }, (_, i) => p.addNode(p.location, `fra-0${i + 2}`))
  const nodeIds = [p.node.id, ...others.map(({ id }) => id)]
  const pool = (name: string, network: string, gateway: string) =>
    p.admin('POST', '/admin/ip-pools', { name, network, gateway, nodeIds, quarantineHours: 0 })
  const v4 = await pool('small 4', '198.51.100.0/29', '198.51.100.1')
  const v6 = await pool('small 6', '2001:db8:7::/48', 'fe80::1')
  await settled(p)
  return Object.assign(p, { v4: v4.id as string, v6: v6.id as string, others })
}
type Small = Awaited<ReturnType<typeof small>>
const order = (p: World, hostname: string, more: object = {}) =>
  p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname, ...more })
const ordered = async (p: World, hostname: string) =>
  (await order(p, hostname)).body as { serverId: string; ipv4: string }
const shown = async (p: World, poolId: string) =>
  Object.fromEntries(
    (await p.admin('GET', `/admin/ip-pools/${poolId}/addresses`)).data.map((a: any) => [
      a.address,
      a.state === 'reserved' ? a.reservedFor : a.state,
    ]),
  )
const idOf = (p: World, address: string) =>
  p.db.$client.query<{ id: string }, [string]>('SELECT id FROM addresses WHERE address = ?').get(address)!.id
const lines = (p: World) =>
  p
    .auditLines()
    .filter(({ operation }) => operation.startsWith('nodes.addresses-'))
    .map(({ operation, details }) => [operation, (details as any).addresses])
const attention = async (p: World): Promise<{ what: string; effect: string; level: string }[]> =>
  (await p.call(p.owner, 'GET', '/admin/overview')).body.attention
const rows = (p: World) => JSON.stringify(p.db.$client.query('SELECT * FROM addresses ORDER BY id').all())
const awaited = (p: World, ...nodeIds: string[]) => {
  for (const id of nodeIds) p.db.$client.run('INSERT OR IGNORE INTO awaited_nodes VALUES (?)', [id])
}

describe('an address that a server has which the database does not know', () => {
  test('is held: no order gets it, and the pool, the node and the audit log say so', async () => {
    using p = await small()
    const lost = newId('srv')
    await names(p, p.node.id, of(lost, '198.51.100.2', '2001:db8:7:1::/64'))
    const words = `On fra-01, by the unknown server ${lost}`
    expect(await shown(p, p.v4)).toMatchObject({ '198.51.100.2': words, '198.51.100.3': 'free' })
    expect(await shown(p, p.v6)).toEqual({ '2001:db8:7:1::': words })
    expect((await ordered(p, 'web02')).ipv4).toBe('198.51.100.3')
    const { found, differences } = await p.admin('GET', `/admin/nodes/${p.node.id}`)
    expect(found).toMatchObject([{ kind: 'unknown_address', workloadId: lost }])
    expect([differences, found[0].words]).toEqual([1, expect.stringContaining('198.51.100.2, 2001:db8:7:1::')])
    expect(lines(p)).toEqual([['nodes.addresses-held', ['198.51.100.2', '2001:db8:7:1::']]])
    // The same again changes nothing.
    const before = rows(p)
    await names(p, p.node.id, of(lost, '198.51.100.2', '2001:db8:7:1::/64'))
    expect([rows(p), lines(p).length]).toEqual([before, 1])
  })
  test('is free again when the node does not name it any more', async () => {
    using p = await small()
    const before = rows(p)
    await names(p, p.node.id, of(newId('srv'), '198.51.100.2', '2001:db8:7:1::/64'))
    await names(p, p.node.id, [])
    expect(rows(p)).toBe(before)
    expect(lines(p).at(-1)).toEqual(['nodes.addresses-freed', ['198.51.100.2', '2001:db8:7:1::']])
    expect((await ordered(p, 'web02')).ipv4).toBe('198.51.100.2')
  })
  test('is held also where the server is known and only its address was lost', async () => {
    using p = await small()
    const { serverId, ipv4 } = await ordered(p, 'web01')
    await p.settle()
    p.turnClock(60_000)
    await names(p, p.node.id, of(serverId, ipv4, '198.51.100.5'))
    expect(await shown(p, p.v4)).toMatchObject({
      '198.51.100.5': `On fra-01, by web01 (${serverId}), whose record lacks it`,
    })
    expect((await p.admin('GET', `/servers/${serverId}`)).addresses.map((a: any) => a.address)).not.toContain(
      '198.51.100.5',
    )
  })
  test('is not free when the server that has it is terminated, while a second node has it too', async () => {
    using p = await small(2)
    const { serverId, ipv4 } = await ordered(p, 'web01')
    await p.settle()
    p.turnClock(60_000)
    const home = (await p.admin('GET', `/servers/${serverId}`)).node.id
    const other = [p.node.id, ...p.others.map(({ id }) => id)].find((id) => id !== home)!
    await names(p, other, of(serverId, ipv4))
    // Its record stays as it is, and nothing is said of two servers.
    expect((await p.admin('GET', `/servers/${serverId}`)).ipv4).toBe(ipv4)
    expect((await p.admin('GET', `/admin/nodes/${other}`)).found).toEqual([])
    await p.admin('DELETE', `/servers/${serverId}?immediately=true`)
    await p.settle()
    expect(await shown(p, p.v4)).toMatchObject({ [ipv4]: expect.stringContaining(`the unknown server ${serverId}`) })
    expect((await ordered(p, 'web02')).ipv4).not.toBe(ipv4)
    await names(p, other, [])
    expect(await shown(p, p.v4)).toMatchObject({ [ipv4]: 'free' })
  })
  test('stays held while another node names it too', async () => {
    using p = await small(2)
    const [a, b] = [newId('srv'), newId('srv')]
    await names(p, p.node.id, of(a, '198.51.100.2'))
    await names(p, p.others[0]!.id, of(b, '198.51.100.2'))
    await names(p, p.node.id, [])
    expect(await shown(p, p.v4)).toMatchObject({ '198.51.100.2': `On fra-02, by the unknown server ${b}` })
    await p.call(p.owner, 'POST', `/admin/nodes/${p.others[0]!.id}/actions/remove-with-workloads`, { name: 'fra-02' })
    // Its unknown server may run on for a while.
    const held = expect.stringContaining('it may still be in use on fra-02, which was removed')
    expect(await shown(p, p.v4)).toMatchObject({ '198.51.100.2': held })
    freeDue(p.db, p.controller.app.clock() + 25 * 3_600_000)
    expect(await shown(p, p.v4)).toMatchObject({ '198.51.100.2': 'free' })
  })
  test('can be freed by staff, for good, and reserved by staff, who then free it themselves', async () => {
    using p = await small()
    const lost = newId('srv')
    const report = () => names(p, p.node.id, of(lost, '198.51.100.2', '198.51.100.3'))
    await report()
    const reserve = (address: string, reservedFor: string | null) =>
      p.admin('PATCH', `/admin/ip-addresses/${idOf(p, address)}`, { reservedFor })
    expect(await reserve('198.51.100.2', null)).toMatchObject({ reservedFor: null })
    await reserve('198.51.100.3', 'Customer 7')
    await report()
    expect(await shown(p, p.v4)).toMatchObject({ '198.51.100.2': 'free', '198.51.100.3': 'Customer 7' })
    // It is in use as before when the reservation of staff ends.
    expect(await reserve('198.51.100.3', null)).toMatchObject({
      reservedFor: `On fra-01, by the unknown server ${lost}`,
    })
    await reserve('198.51.100.3', 'Customer 7')
    await names(p, p.node.id, [])
    expect(await shown(p, p.v4)).toMatchObject({ '198.51.100.3': 'Customer 7' })
  })
  test('that the database has given to another server meanwhile stands under Needs attention', async () => {
    using p = await small(2)
    const { serverId, ipv4 } = await ordered(p, 'web01')
    await p.settle()
    p.turnClock(60_000)
    const lost = newId('srv')
    const other = p.server(serverId).nodeId === p.node.id ? p.others[0]!.id : p.node.id
    const before = rows(p)
    await names(p, other, of(lost, ipv4))
    expect(rows(p)).toBe(before)
    const [here, there] = other === p.node.id ? ['fra-01', 'fra-02'] : ['fra-02', 'fra-01']
    const what =
      `${ipv4} is in use by two servers: by ${lost} on ${here}, which the records do not have, and by web01 ` +
      `(${serverId}) on ${there}, to which the records give it.`
    expect((await attention(p)).find((row) => row.what.startsWith(ipv4))).toMatchObject({ level: 'bad', what })
    const shownNode = await p.admin('GET', `/admin/nodes/${other}`)
    expect(shownNode.found).toMatchObject([{ kind: 'address_conflict', words: what }])
    expect(shownNode.differences).toBe(shownNode.found.length)
    // It is not free when that one goes.
    await p.admin('DELETE', `/servers/${serverId}?immediately=true`)
    await p.settle()
    expect(await shown(p, p.v4)).toMatchObject({ [ipv4]: `On ${here}, by the unknown server ${lost}` })
    expect((await attention(p)).some((row) => row.what.startsWith(ipv4))).toBe(false)
  })
  test('is no order’s IPv6 prefix either: the pool is cut around it', async () => {
    using p = await small()
    await names(p, p.node.id, of(newId('srv'), '2001:db8:7:1::/64', '2001:db8:7:3::/64'))
    const take = (length: number) => {
      const { serverId } = p.db.$client.query('SELECT id AS serverId FROM workloads LIMIT 1').get() as any
      return write(p.db, (tx) =>
        takeIpv6(tx, serverId, { nodeId: p.node.id, vlan: null }, length, { isPrimary: false }),
      )
    }
    await ordered(p, 'web01')
    expect([take(64), take(64), take(63)]).toEqual(['2001:db8:7:2::', '2001:db8:7:4::', '2001:db8:7:6::'])
    // A prefix that was passed over is a freed one afterwards.
    await names(p, p.node.id, [])
    expect(take(64)).toBe('2001:db8:7:1::')
  })
})

describe('a node that lies about addresses', () => {
  test('holds none of a pool that it does not route, none that is not one, and none that somebody has', async () => {
    using p = await small()
    const elsewhere = p.addNode(p.location, 'fra-02')
    const { ipv4 } = await ordered(p, 'web01')
    await p.settle()
    p.turnClock(60_000)
    const before = rows(p)
    const lost = newId('srv')
    await names(p, elsewhere.id, of(lost, '198.51.100.3', '2001:db8:7:1::/64'))
    expect((await p.admin('GET', `/admin/nodes/${elsewhere.id}`)).found).toEqual([])
    await names(
      p,
      p.node.id,
      of(lost, ipv4, '198.51.100.1', '198.51.100.99', '1.2.3', '::', 'ffff', '2001:db8:7::/48', '2001:db8:7:8000::/49'),
    )
    await names(p, p.node.id, of(lost, '2001:db8:7:1::1/64', '2001:db8:9::/64', '198.51.100.3/32', '2001:db8:7:1::'))
    expect(rows(p)).toBe(before)
    expect(lines(p)).toEqual([])
  })
  test('holds so many and no more, which is shown', async () => {
    using p = await small()
    const big = await p.admin('POST', '/admin/ip-pools', {
      ...{ name: 'big', network: '10.99.0.0/20', gateway: '10.99.0.1', nodeIds: [p.node.id] },
    })
    const all = Array.from({ length: MOST_CLAIMS + 200 }, (_, i) => `10.99.${(i >> 8) + 1}.${i & 255}`)
    awaited(p, p.node.id)
    await names(p, p.node.id, of(newId('srv'), ...all))
    // As an agent does behind each report.
    say(p, p.node.id, { type: 'inventory', vms: [], volumes: [], foreign: [] })
    await settled(p)
    expect(await p.admin('GET', `/admin/nodes/${p.node.id}`)).toMatchObject({ awaited: true })
    expect(await p.admin('GET', `/admin/ip-pools/${big.id}`)).toMatchObject({ reserved: MOST_CLAIMS + 1 })
    expect((await p.admin('GET', `/admin/nodes/${p.node.id}`)).misconduct).toMatchObject([
      { what: expect.stringContaining('more addresses') },
    ])
  })
  test('claims prefixes and always others: each report takes a moment, and pools are cut around them', async () => {
    using p = await small()
    const claimed = (from: number) =>
      Array.from({ length: MOST_CLAIMS }, (_, i) => `2001:db8:7:${(from + i).toString(16)}::/64`)
    await ordered(p, 'web01')
    const began = performance.now()
    for (const from of [0x100, 0x1000, 0x100]) await names(p, p.node.id, of(newId('srv'), ...claimed(from)))
    // It took a minute and a half when each prefix was compared with each other one.
    expect(performance.now() - began).toBeLessThan(15_000)
    expect(await p.admin('GET', `/admin/ip-pools/${p.v6}`)).toMatchObject({ reserved: MOST_CLAIMS })
    const { serverId } = p.db.$client.query('SELECT id AS serverId FROM workloads LIMIT 1').get() as any
    const take = (length: number) =>
      write(p.db, (tx) => takeIpv6(tx, serverId, { nodeId: p.node.id, vlan: null }, length, { isPrimary: false }))
    expect([take(57), take(56), take(64)]).toEqual(['2001:db8:7:80::', '2001:db8:7:500::', '2001:db8:7:600::'])
    // Those that were passed over stay for smaller ones.
    await names(p, p.node.id, [])
    expect(take(64)).toBe('2001:db8:7:100::')
  })
  test('and repeats it without end is heard a few times', async () => {
    using p = await small()
    for (let i = 0; i < 100; i++)
      say(p, p.node.id, {
        ...{ type: 'addresses', part: 1, parts: 1 },
        held: i % 2 ? [] : of(newId('srv'), '198.51.100.2'),
      })
    await settled(p)
    expect(lines(p).length).toBeLessThanOrEqual(10)
  })
  test('sends parts out of their order, which are dropped', async () => {
    using p = await small()
    const part = (n: number, parts: number, address: string) =>
      say(p, p.node.id, { type: 'addresses', part: n, parts, held: of(newId('srv'), address) })
    const before = rows(p)
    part(2, 2, '198.51.100.2')
    part(1, 3, '198.51.100.2')
    part(3, 3, '198.51.100.3')
    await settled(p)
    expect(rows(p)).toBe(before)
    part(1, 2, '198.51.100.2')
    part(2, 2, '198.51.100.3')
    await settled(p)
    expect(Object.keys(await shown(p, p.v4)).length).toBe(6)
    expect(lines(p)).toEqual([['nodes.addresses-held', ['198.51.100.2', '198.51.100.3']]])
  })
})

describe('after a restore, before a node has told which addresses are in use on it', () => {
  const refused = async (p: Small, work: () => Promise<{ status: number; body: any }>) => {
    const before = p.fingerprint()
    const { status, body } = await work()
    expect([status, body.error?.code]).toEqual([409, 'no_addresses'])
    expect(body.error.message).toContain('not every node has told')
    expect(p.fingerprint()).toBe(before)
  }
  test('the pools that it routes give nothing, on other nodes too, and the page says which is awaited', async () => {
    using p = await small(2)
    const { serverId } = await ordered(p, 'web00')
    await p.settle()
    const other = p.others[0]!
    other.agent.disconnect()
    awaited(p, other.id)
    // A minute later it is no node that comes back in a moment.
    p.turnClock(61_000)
    await refused(p, () => order(p, 'web01'))
    await refused(p, () => order(p, 'web01', { nodeId: p.node.id }))
    for (const version of [4, 6])
      await refused(p, () => p.call(p.owner, 'POST', `/servers/${serverId}/ips`, { version }))
    await refused(p, () =>
      p.call(p.owner, 'POST', `/customers/${p.order.ownerId}/floating-ips`, { locationId: p.location }),
    )
    const row = (await attention(p)).find(({ what }) => what.startsWith('Orders wait'))
    expect(row).toMatchObject({ level: 'bad', what: 'Orders wait for fra-02.' })
    expect(await p.admin('GET', `/admin/ip-pools/${p.v4}`)).toMatchObject({ awaited: [{ name: 'fra-02' }] })
    expect(await p.admin('GET', `/admin/nodes/${other.id}`)).toMatchObject({ awaited: true })
    // It comes, and tells of a server that was lost.
    other.agent.connect()
    await names(p, other.id, of(newId('srv'), '198.51.100.3'))
    expect((await attention(p)).some(({ what }) => what.startsWith('Orders wait'))).toBe(false)
    expect((await ordered(p, 'web01')).ipv4).toBe('198.51.100.4')
  })
  test('orders and the stock say to try again, not that all is sold, while such a node comes back', async () => {
    using p = await small(2)
    const other = p.others[0]!
    const stock = async () => (await p.admin('GET', `/stock?packageId=${p.order.packageId}`)).stock[0]
    other.agent.disconnect()
    awaited(p, other.id)
    const { status, body } = await order(p, 'web01')
    expect([status, body.error.code]).toEqual([503, 'restarting'])
    expect(body.error.message).toContain('nodes are reconnecting that tell which addresses are in use')
    expect(await stock()).toMatchObject({ available: 0, limit: 'reconnecting', code: 'restarting' })
    p.turnClock(61_000)
    await refused(p, () => order(p, 'web01'))
    expect(await stock()).toMatchObject({ available: 0, limit: 'addresses', code: 'no_addresses' })
  })
  test('an inventory of an older agent is enough, where it names nothing unknown', async () => {
    using p = await small()
    awaited(p, p.node.id)
    const inventory = (...vms: string[]) => ({
      ...{ type: 'inventory', volumes: [], foreign: [] },
      vms: vms.map((workload) => ({ workload, power: 'running' })),
    })
    // It is connected, and its first report on the way.
    p.db.$client.run('UPDATE nodes SET inventory_at = NULL')
    expect((await order(p, 'web01')).body.error.code).toBe('restarting')
    say(p, p.node.id, inventory(newId('srv')))
    await settled(p)
    await refused(p, () => order(p, 'web01'))
    expect((await attention(p)).find(({ what }) => what.startsWith('Orders wait'))?.effect).toContain(
      'update its agent',
    )
    say(p, p.node.id, inventory())
    await settled(p)
    expect((await order(p, 'web01')).status).toBe(201)
  })
  test('a node that is declared lost or removed is not awaited, and staff can go on without one', async () => {
    using p = await small(3)
    const [lost, repaired] = p.others as [any, any]
    for (const { agent } of [lost, repaired]) agent.disconnect()
    awaited(p, lost.id, repaired.id)
    p.turnClock(61_000)
    const path = (id: string, action: string) => `/admin/nodes/${id}/actions/${action}`
    await refused(p, () => order(p, 'web01'))
    await p.admin('POST', path(lost.id, 'declare-lost'), { name: 'fra-02' })
    await refused(p, () => order(p, 'web01'))
    const wrong = await p.call(p.owner, 'POST', path(repaired.id, 'stop-awaiting'), { name: 'fra-02' })
    expect([wrong.status, wrong.body.error.code]).toEqual([422, 'validation_failed'])
    await refused(p, () => order(p, 'web01'))
    expect(await p.admin('POST', path(repaired.id, 'stop-awaiting'), { name: 'fra-03' })).toMatchObject({
      awaited: false,
    })
    expect((await order(p, 'web01')).status).toBe(201)
    const again = await p.call(p.owner, 'POST', path(repaired.id, 'stop-awaiting'), { name: 'fra-03' })
    expect([again.status, again.body.error.code]).toEqual([409, 'already_done'])
    awaited(p, repaired.id)
    await p.admin('DELETE', `/admin/nodes/${repaired.id}`)
    expect((await order(p, 'web02')).status).toBe(201)
  })
})

test('an agent names the addresses of its vms, the floating ones too, and none of what is gone', async () => {
  using p = await small()
  const { serverId, ipv4 } = await ordered(p, 'web01')
  await p.settle()
  const sent: any[] = []
  const { message } = p.controller.hub
  p.controller.hub.message = (socket: any, text: any) => {
    sent.push(JSON.parse(text))
    return message.call(p.controller.hub, socket, text)
  }
  const { state } = p.node.agent.host
  state.keepFloating(serverId, ['198.51.100.6', '2001:db8:7:9::1'])
  state.keepPortRules({ ...state.portRulesOf(serverId)!, workload: newId('srv') })
  await p.node.agent.look()
  const [addresses, inventory] = sent.filter(({ type }) => type === 'addresses' || type === 'inventory')
  expect(inventory.type).toBe('inventory')
  const prefix = (await p.admin('GET', `/servers/${serverId}`)).addresses.find((a: any) => a.version === 6)
  expect(addresses).toEqual({
    ...{ type: 'addresses', part: 1, parts: 1 },
    held: of(
      serverId,
      ...[ipv4, ...(prefix ? [`${prefix.address}/${prefix.prefixLength}`] : [])],
      ...['198.51.100.6', '2001:db8:7:9::1/128'],
    ),
  })
})
