// Private networks of servers on two nodes: each node is told what it has to know of each network, and no more.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import { leaveOutNetworkNumbersIn } from '../../../src/network/private-network-records/queries.ts'
import { spreadAll } from '../../../src/network/private-networks/reconcile.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
let second: ReturnType<World['addNode']>
/** One server on each node. */
let ids: [string, string]
beforeEach(async () => {
  p = await world()
  second = p.addNode(p.location, 'fra-02')
  p.attach(p.pool, second.id)
  await p.settle()
  ids = [await order('web01', p.node.id), await order('web02', second.id)]
})
afterEach(() => p.close())

const order = async (hostname: string, nodeId: string) => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId })
  await p.settle()
  return serverId as string
}
const make = async (more: object = {}, who: object = p.customer) =>
  p.call(who, 'POST', `/customers/${p.customer.id}/networks`, {
    name: 'backend',
    locationId: p.location,
    ipv4: '10.20.0.0/24',
    ...more,
  })
const made = async (more: object = {}) => (await make(more)).body.id as string
const attach = (id: string, serverId: string, who: object = p.customer) =>
  p.call(who, 'POST', `/networks/${id}/servers`, { serverId })
const detach = (id: string, serverId: string) => p.call(p.customer, 'DELETE', `/networks/${id}/servers/${serverId}`)
const both = async () => {
  const id = await made()
  for (const serverId of ids) await attach(id, serverId)
  await p.settle()
  return id
}
const onNode = (node: World['node']) => node.agent.host.state.privateNetworks()
const cards = (node: World['node'], serverId: string) =>
  (node.agent.host.hypervisor as FakeHypervisor).nics(serverId).map(({ tap }) => tap)
const turn = async () => {
  spreadAll(p.db, p.controller.app.clock())
  await p.settle()
}

describe('a private network', () => {
  test('that is made after a restore has no number, tap or MAC address that a lost one may have', async () => {
    const join = async (name: string, ipv4: string) => {
      const id = await made({ name, ipv4 })
      await attach(id, ids[0])
      await p.settle()
      const { vni, ports } = onNode(p.node).find(({ network }) => network === id)!
      return { vni, ...ports[0]! }
    }
    // Before the first network, too: it may be the one that is lost.
    leaveOutNetworkNumbersIn(p.db.$client)
    const first = await join('first', '10.20.0.0/24')
    expect(first).toMatchObject({ vni: 4096 + 1001, tap: 'btp1001', mac: '02:62:00:00:03:e9' })
    leaveOutNetworkNumbersIn(p.db.$client)
    expect(await join('second', '10.21.0.0/24')).toMatchObject({ vni: 4096 + 2002, tap: 'btp2002' })
  })
  test('joins servers of two nodes: each has its card and address, and each node knows the other', async () => {
    const id = await made({ ipv6: 'fd12:3456:789a:1::/64' })
    const { status, body } = await attach(id, ids[0])
    expect([status, p.job(body.jobId).title, body.serverId]).toEqual([202, 'Attach web01 to backend', ids[0]])
    await p.settle()
    await attach(id, ids[1])
    await p.settle()
    const [here, there] = [onNode(p.node)[0]!, onNode(second)[0]!]
    expect(here.vni).toBe(there.vni)
    expect(here.ports).toMatchObject([{ workload: ids[0], addresses: ['10.20.0.2/24', 'fd12:3456:789a:1::2/64'] }])
    expect(here.peers).toEqual([{ address: there.local, macs: [there.ports[0]!.mac] }])
    expect(there.peers[0]!.macs).toEqual([here.ports[0]!.mac])
    expect([cards(p.node, ids[0]), cards(second, ids[1])]).toEqual([[here.ports[0]!.tap], [there.ports[0]!.tap]])
    const record = (await p.call(p.customer, 'GET', `/networks/${id}`)).body
    expect(record.members.map((m: any) => [m.server.hostname, m.ipv4, m.mac, m.atNextStart])).toEqual([
      ['web01', '10.20.0.2', here.ports[0]!.mac, false],
      ['web02', '10.20.0.3', there.ports[0]!.mac, false],
    ])
    expect(p.auditLines().map(({ operation }) => operation)).toContain('networks.attach')
  })
  test('loses a server that is detached, and its node loses the network; the address is free again', async () => {
    const id = await both()
    const { jobId } = (await detach(id, ids[0])).body
    await p.settle()
    expect([p.job(jobId).state, onNode(p.node), cards(p.node, ids[0])]).toEqual(['succeeded', [], []])
    expect(onNode(second)[0]!.peers).toEqual([])
    await attach(id, ids[0])
    await p.settle()
    expect(onNode(p.node)[0]!.ports[0]!.addresses).toEqual(['10.20.0.2/24'])
  })
  test('is known to a node that was away as soon as it is back', async () => {
    const id = await made()
    await attach(id, ids[0])
    await p.settle()
    second.agent.disconnect()
    const { jobId } = (await attach(id, ids[1])).body
    await eventually(() => onNode(p.node)[0]!.peers.length === 1)
    expect([p.job(jobId).state === 'succeeded', onNode(p.node)[0]!.peers.length]).toEqual([false, 1])
    second.agent.connect()
    for (let i = 0; i < 200 && p.job(jobId).state !== 'succeeded'; i++) await Bun.sleep(20)
    expect([p.job(jobId).state, onNode(second)[0]!.peers.length]).toEqual(['succeeded', 1])
  })
  test('follows a node with another address, a termination and another owner within a turn of the clock', async () => {
    const id = await both()
    p.db.$client.run(`UPDATE nodes SET facts = json_set(facts, '$.managementAddress', '203.0.113.77') WHERE id = ?`, [
      second.id,
    ])
    await turn()
    expect([onNode(p.node)[0]!.peers[0]!.address, onNode(second)[0]!.local]).toEqual(['203.0.113.77', '203.0.113.77'])
    const jobs = () => (p.db.$client.query('SELECT count(*) AS n FROM jobs').get() as { n: number }).n
    const before = jobs()
    await turn()
    expect(jobs()).toBe(before)
    await p.admin('DELETE', `/servers/${ids[1]}`)
    await p.settle()
    await turn()
    expect([onNode(p.node)[0]!.peers, onNode(second)]).toEqual([[], []])
    const other = p.account('customer', 'Bob')
    p.db.$client.run('UPDATE workloads SET owner_id = ? WHERE id = ?', [other.id, ids[0]])
    await turn()
    expect([onNode(p.node), (await p.call(p.customer, 'GET', `/networks/${id}`)).body.members]).toEqual([[], []])
  })
  test('keeps its place for a reinstalled server, whose new definition has the card', async () => {
    await both()
    const before = cards(p.node, ids[0])
    await p.admin('POST', `/servers/${ids[0]}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    await p.settle()
    expect(cards(p.node, ids[0])).toEqual(before)
    const { mac } = (await p.call(p.customer, 'GET', '/networks')).body.data[0].members[0]
    const rows = p.db.$client.query("SELECT output FROM job_steps WHERE output LIKE '%networkConfig%'").all()
    expect(JSON.stringify(rows)).toContain(mac)
  })
  test('with servers in it is not removed, and says so; empty it is', async () => {
    const id = await both()
    const before = p.fingerprint()
    const { status, body } = await p.call(p.customer, 'DELETE', `/networks/${id}`)
    expect([status, body.error.code, body.error.message]).toEqual([
      409,
      'in_use',
      'backend is in use by 2 servers. Detach them first; a terminated server keeps its place until its undelete ' +
        'window ends.',
    ])
    expect(p.fingerprint()).toBe(before)
    for (const serverId of ids) await detach(id, serverId)
    await p.settle()
    expect((await p.call(p.customer, 'DELETE', `/networks/${id}`)).status).toBe(200)
  })
  test('is refused for other ranges, names twice, strangers, overlapping networks and full ones', async () => {
    const id = await made()
    await attach(id, ids[0])
    await p.settle()
    const eve = p.account('customer', 'Eve')
    const overlapping = await made({ name: 'other', ipv4: '10.20.0.0/16' })
    const small = await made({ name: 'small', ipv4: '192.168.0.0/29' })
    p.db.$client.run(
      `INSERT INTO private_network_members (network_id, workload_id, ipv4, created_at)
       SELECT ?, 'srv_' || value, '192.168.0.' || value, 0 FROM json_each('[2,3,4,5,6]')`,
      [small],
    )
    const before = p.fingerprint()
    for (const ipv4 of ['203.0.113.0/24', '10.0.0.0/8', '10.0.0.1/24', '172.32.0.0/24', 'fd00::/64'])
      expect((await make({ name: 'wrong', ipv4 })).body.error.code).toBe('validation_failed')
    for (const ipv6 of ['2001:db8::/64', 'fd00::/48'])
      expect((await make({ name: 'wrong', ipv6 })).body.error.code).toBe('validation_failed')
    expect((await make()).body.error.code).toBe('name_taken')
    expect((await p.call(eve, 'GET', `/networks/${id}`)).body.error.code).toBe('network_not_found')
    expect((await attach(id, ids[1], eve)).body.error.code).toBe('network_not_found')
    expect((await p.call(eve, 'GET', '/networks')).body.data).toEqual([])
    expect((await attach(id, ids[0])).body.error.code).toBe('already_done')
    expect((await attach(overlapping, ids[0])).body.error.code).toBe('network_overlaps')
    expect((await attach(small, ids[1])).body.error.code).toBe('network_full')
    expect((await detach(small, ids[1])).body.error.code).toBe('server_not_found')
    expect(p.fingerprint()).toBe(before)
  })
  test('stands on its page and on that of its servers', async () => {
    await both()
    for (const path of ['/networks', `/servers/${ids[0]}/network`]) {
      const headers = { Cookie: `__Host-panel=${p.customer.cookie}` }
      const html = await (await p.controller.router.fetch(new Request(`http://localhost${path}`, { headers }))).text()
      for (const part of ['backend', '10.20.0.', 'Detach'])
        expect([path, part, html.includes(part)]).toEqual([path, part, true])
    }
  })
})
