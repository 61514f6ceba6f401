// Floating addresses: whose they are, where they point, and that no two servers ever have one.
import { describe, expect, test } from 'bun:test'
import type { FakeNetwork } from '../../../agent/drivers/network/fake.ts'
import { shop } from '../../identity/resellers/shop.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type Panel, type Who, type World, world } from '../../support/world/panel.ts'

type Shown = { id: string; address: string; server: { id: string } | null; jobId: string | null }
const reserve = (p: World, more: object = {}, who: Who = p.customer) =>
  p.call(who, 'POST', `/customers/${p.customer.id}/floating-ips`, { locationId: p.location, ...more })
const assign = (p: Panel, id: string, serverId: string, who: Who) =>
  p.call(who, 'POST', `/floating-ips/${id}/actions/assign`, { serverId })
const unassign = (p: Panel, id: string, who: Who) => p.call(who, 'POST', `/floating-ips/${id}/actions/unassign`)
const release = (p: Panel, id: string, who: Who) => p.call(who, 'DELETE', `/floating-ips/${id}`)
const shown = async (p: Panel, id: string, who: Who): Promise<Shown> =>
  (await p.call(who, 'GET', `/floating-ips/${id}`)).body

/** Two servers on two nodes that route one pool, and a floating address. */
async function twoNodes() {
  const p = await world()
  const other = p.addNode(p.location, 'fra-02')
  p.attach(p.pool, other.id)
  const order = (hostname: string, nodeId: string) =>
    p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId })
  const [a, b] = [(await order('web01', p.node.id)).serverId, (await order('web02', other.id)).serverId]
  await p.settle()
  const { body: ip } = await reserve(p)
  return Object.assign(p, { a: a as string, b: b as string, other, ip: ip as Shown })
}
type Two = Awaited<ReturnType<typeof twoNodes>>
/** The servers whose node lets them use the address. */
const users = (p: Two) =>
  [p.node, p.other].flatMap(({ agent: { host } }) =>
    host.state
      .portRules()
      .filter(({ workload }) => host.state.floating(workload).includes(p.ip.address))
      .map(({ workload }) => (workload === p.a ? 'a' : 'b')),
  )
const announced = ({ agent }: { agent: { host: { network: unknown } } }) =>
  (agent.host.network as FakeNetwork).announced

describe('a floating address', () => {
  test('is reserved in a location, counted, kept from orders, and billed by events', async () => {
    using p = await twoNodes()
    expect(p.ip).toMatchObject({
      address: '203.0.113.12',
      version: 4,
      location: { id: p.location, name: 'Frankfurt' },
      server: null,
    })
    expect(p.events().filter((type) => type.startsWith('floating'))).toEqual(['floating_ip.created'])
    const pool = await p.admin('GET', `/admin/ip-pools/${p.pool}`)
    expect([pool.held, pool.reserved, pool.free]).toEqual([2, 1, 17])
    const { data } = p.db.$client
      .query<{ data: string }, []>("SELECT data FROM events WHERE type = 'floating_ip.created'")
      .get()!
    expect(JSON.parse(data)).toEqual({
      floatingIp: { id: p.ip.id, address: '203.0.113.12', location: { id: p.location, name: 'Frankfurt' } },
      customer: { id: p.customer.id, email: expect.any(String), name: expect.any(String), externalId: null },
    })
    const next = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web03' })
    expect(next.ipv4).toBe('203.0.113.13')
  })
  test('points to a server: in the table, on its node, in its guest and at its next start', async () => {
    using p = await twoNodes()
    const { status, body } = await assign(p, p.ip.id, p.a, p.customer)
    expect(status).toBe(202)
    await p.settle()
    expect(p.job(body.jobId)).toMatchObject({ state: 'succeeded', title: 'Assign 203.0.113.12 to web01' })
    expect([users(p), (await shown(p, p.ip.id, p.customer)).server?.id]).toEqual([['a'], p.a])
    expect(announced(p.node)).toEqual([`203.0.113.12 is at ${p.server(p.a).mac}`])
    expect(p.node.agent.host.guestAgent.programs(p.a).map(({ argv }) => argv.join(' '))).toEqual([
      'ip address add 203.0.113.12/32 dev eth0',
    ])
    // An event of the server tells only of the addresses that are its own.
    expect(p.events()).not.toContain('server.addresses_changed')
    const { data } = (await p.call(p.customer, 'GET', `/servers/${p.a}/ips`)).body
    expect(data.map(({ kind }: { kind: string }) => kind)).toEqual(['primary', 'floating'])
  })
  test('moves to a server on another node, and never has two', async () => {
    using p = await twoNodes()
    await assign(p, p.ip.id, p.a, p.customer)
    await p.settle()
    const seen = new Set<string>()
    const { jobId } = (await assign(p, p.ip.id, p.b, p.customer)).body
    p.arm({ failpoints: () => void seen.add(users(p).join('+')) })
    await p.settle()
    expect(p.job(jobId).state).toBe('succeeded')
    expect([...seen].sort()).toEqual(['', 'a', 'b'])
    expect([users(p), announced(p.other).length]).toEqual([['b'], 1])
    expect(p.node.agent.host.guestAgent.programs(p.a).at(-1)!.argv.slice(2)).toEqual([
      'del',
      '203.0.113.12/32',
      'dev',
      'eth0',
    ])
  })
  test('stays where it is while the node that has it is away, and moves when staff declare that one lost', async () => {
    using p = await twoNodes()
    await assign(p, p.ip.id, p.a, p.customer)
    await p.settle()
    p.node.agent.disconnect()
    const { jobId } = (await assign(p, p.ip.id, p.b, p.customer)).body
    await eventually(() => p.job(jobId).state === 'running')
    expect([p.job(jobId).state, users(p)]).toEqual(['running', ['a']])
    p.turnClock(16 * 60_000)
    p.controller.runner.sweep()
    await p.settle()
    expect([p.job(jobId).errorCode, (await shown(p, p.ip.id, p.customer)).server?.id]).toEqual([
      'node_unreachable',
      p.a,
    ])
    expect((await assign(p, p.ip.id, p.b, p.customer)).body.error?.code).toBe('floating_ip_busy')
    // The server that was to have it is held by nothing.
    const suspended = await p.call(p.owner, 'POST', `/servers/${p.b}/actions/suspend`, { reason: 'unpaid' })
    await p.settle()
    expect(p.job(suspended.body.jobId).state).toBe('succeeded')
    await p.admin('POST', `/servers/${p.b}/actions/unsuspend`)
    await p.settle()
    await p.admin('POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
    await eventually(async () => (await shown(p, p.ip.id, p.customer)).jobId === null)
    const again = (await assign(p, p.ip.id, p.b, p.customer)).body.jobId
    await eventually(() => p.job(again).state === 'succeeded')
    expect([p.job(again).state, (await shown(p, p.ip.id, p.customer)).server?.id]).toEqual(['succeeded', p.b])
  })
  test('is taken away and released, and somebody else gets it', async () => {
    using p = await twoNodes()
    await assign(p, p.ip.id, p.a, p.customer)
    await p.settle()
    expect((await release(p, p.ip.id, p.customer)).body.error.code).toBe('floating_ip_assigned')
    await unassign(p, p.ip.id, p.customer)
    await p.settle()
    expect([users(p), (await shown(p, p.ip.id, p.customer)).server]).toEqual([[], null])
    expect((await release(p, p.ip.id, p.customer)).status).toBe(200)
    expect(p.events()).toContain('floating_ip.released')
    expect((await reserve(p)).body.address).toBe(p.ip.address)
  })
  test('outlives its server, which does not tell that it released it', async () => {
    using p = await twoNodes()
    await assign(p, p.ip.id, p.a, p.customer)
    await p.settle()
    await p.admin('DELETE', `/servers/${p.a}?immediately=true`).catch(() => p.admin('DELETE', `/servers/${p.a}`))
    await p.settle()
    const { data } = p.db.$client
      .query<{ data: string }, []>("SELECT data FROM events WHERE type = 'server.terminated'")
      .get()!
    expect(JSON.parse(data).releasedAddresses).toEqual(['203.0.113.10'])
    await assign(p, p.ip.id, p.b, p.customer)
    await p.settle()
    expect((await shown(p, p.ip.id, p.customer)).server?.id).toBe(p.b)
  })
  test('of version 6 is one address', async () => {
    using p = await twoNodes()
    await p.admin('POST', '/admin/ip-pools', {
      name: 'v6',
      network: '2001:db8::/48',
      gateway: 'fe80::1',
      nodeIds: [p.node.id, p.other.id],
    })
    const { body } = await reserve(p, { version: 6 })
    await assign(p, body.id, p.a, p.customer)
    await p.settle()
    expect(p.node.agent.host.state.floating(p.a)).toEqual([body.address])
  })
  test('stays with its server when that is installed again', async () => {
    using p = await twoNodes()
    await assign(p, p.ip.id, p.a, p.customer)
    await p.settle()
    await p.admin('POST', `/servers/${p.a}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    await p.settle()
    expect(users(p)).toEqual(['a'])
  })
})

describe('refused', () => {
  const refused = async (p: Panel, call: () => ReturnType<typeof reserve>, status: number, code: string) => {
    const before = p.fingerprint()
    const answer = await call()
    expect([answer.status, answer.body.error?.code]).toEqual([status, code])
    expect(p.fingerprint()).toBe(before)
  }
  test('is whatever somebody else has: the address, and the server', async () => {
    using p = await twoNodes()
    const eve = p.account('customer', 'Eve')
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ownerId: eve.id })
    await p.settle()
    await refused(p, () => assign(p, p.ip.id, serverId, eve), 404, 'floating_ip_not_found')
    await refused(p, () => release(p, p.ip.id, eve), 404, 'floating_ip_not_found')
    await refused(p, () => assign(p, p.ip.id, serverId, p.customer), 422, 'validation_failed')
    // Staff see both servers, and yet an address does not leave its owner.
    await refused(p, () => assign(p, p.ip.id, serverId, p.owner), 422, 'validation_failed')
    expect((await p.call(eve, 'GET', '/floating-ips')).body.total).toBe(0)
  })
  test('is a location without a server, the eleventh address, and any for a locked account', async () => {
    using p = await twoNodes()
    const elsewhere = (await p.admin('POST', '/admin/node-groups', { name: 'Paris' })).id
    await refused(p, () => reserve(p, { locationId: elsewhere }), 422, 'validation_failed')
    for (let n = 1; n < 10; n++) expect((await reserve(p)).status).toBe(201)
    await refused(p, () => reserve(p), 422, 'limit_reached')
    p.db.$client.run('UPDATE accounts SET locked_at = 1 WHERE id = ?', [p.customer.id])
    await refused(p, () => reserve(p), 409, 'account_locked')
    await refused(p, () => assign(p, p.ip.id, p.a, p.customer), 409, 'account_locked')
  })
  test('is a server that waits for its setup, is suspended, or whose node does not route the pool', async () => {
    using p = await twoNodes()
    const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
    const { serverId } = await p.admin('POST', '/admin/servers', waiting)
    await refused(p, () => assign(p, p.ip.id, serverId, p.customer), 409, 'not_set_up')
    await p.admin('POST', `/servers/${p.b}/actions/suspend`, { reason: 'overdue' })
    await p.settle()
    await refused(p, () => assign(p, p.ip.id, p.b, p.customer), 409, 'server_suspended')
    p.db.$client.run('DELETE FROM pool_nodes WHERE node_id = ?', [p.node.id])
    await refused(p, () => assign(p, p.ip.id, p.a, p.customer), 409, 'address_not_routed')
  })
  test('is a second move while the first is at work, and the release', async () => {
    using p = await twoNodes()
    p.node.agent.disconnect()
    await assign(p, p.ip.id, p.a, p.customer)
    const second = await assign(p, p.ip.id, p.b, p.customer)
    expect([second.status, second.body.error.code]).toEqual([409, 'floating_ip_busy'])
    expect((await release(p, p.ip.id, p.customer)).body.error.code).toBe('floating_ip_busy')
    p.node.agent.connect()
    for (let i = 0; i < 5; i++) await Promise.all([p.settle(), Bun.sleep(5)])
    expect(users(p)).toEqual(['a'])
  })
  test('is what staff would take from a customer by the pool: its removal, and a reservation', async () => {
    using p = await twoNodes()
    const { data } = await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)
    const { id } = data.find(({ address }: Shown) => address === p.ip.address)
    await refused(
      p,
      () => p.call(p.owner, 'PATCH', `/admin/ip-addresses/${id}`, { reservedFor: null }),
      409,
      'address_in_use',
    )
    for (const serverId of [p.a, p.b]) await p.admin('DELETE', `/servers/${serverId}`)
    await p.settle()
    await refused(p, () => p.call(p.owner, 'DELETE', `/admin/ip-pools/${p.pool}`), 409, 'in_use')
  })
  test('is another owner for the server that it points to', async () => {
    using p = await twoNodes()
    const eve = p.account('customer', 'Eve')
    const give = () => p.call(p.owner, 'POST', `/servers/${p.a}/actions/change-owner`, { ownerId: eve.id })
    await assign(p, p.ip.id, p.a, p.customer)
    await p.settle()
    const { body } = await give()
    expect([body.error.code, body.error.message]).toEqual(['in_use', expect.stringContaining(p.ip.address)])
    await unassign(p, p.ip.id, p.customer)
    await p.settle()
    expect((await give()).status).toBe(200)
  })
  test('is an address beyond the quota of a reseller, in which it counts from its reservation on', async () => {
    using p = await shop()
    await p.buy()
    const call = () => p.call(p.rita, 'POST', `/customers/${p.client.id}/floating-ips`, { locationId: p.location })
    await p.change({ quotas: { ipv4: 2 } })
    expect((await call()).status).toBe(201)
    expect((await p.terms()).used.ipv4).toBe(2)
    await refused(p, call, 409, 'quota_exceeded')
    expect((await p.call(p.rita, 'GET', '/floating-ips')).body.total).toBe(1)
  })
})
