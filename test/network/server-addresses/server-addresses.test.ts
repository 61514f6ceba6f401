// Extra addresses of a server: what the node allows, what the guest is told, and when an address is free again.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { shop } from '../../identity/resellers/shop.ts'
import { type World, world } from '../../support/world/panel.ts'

type Shown = { id: string; address: string; version: number; kind: string; inGuest: string }
const addressesOf = async (p: World, id: string): Promise<Shown[]> =>
  (await p.call(p.customer, 'GET', `/servers/${id}/ips`)).body.data
const add = (p: World, id: string, version = 4, who = p.owner) => p.call(who, 'POST', `/servers/${id}/ips`, { version })
const remove = (p: World, id: string, addressId: string, who = p.owner) =>
  p.call(who, 'DELETE', `/servers/${id}/ips/${addressId}`)
const rulesOf = (p: World, id: string) => p.node.agent.host.state.portRules().find((rules) => rules.workload === id)!
const toldGuest = (p: World, id: string) =>
  p.node.agent.host.guestAgent.programs(id).map(({ argv }) => argv.slice(2).join(' '))
const networkIn = (text: string) => ({
  addresses: (JSON.parse(text).config[0].subnets as { address: string }[]).map(({ address }) => address),
})
/** The network of the seed that the vm reads at its next start. */
function seedOf(p: World, id: string) {
  const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
  const row = db.query<{ files: string }, [string]>('select files from seeds where workload = ?').get(id)
  db.close()
  const files = row && (JSON.parse(row.files) as Record<string, string>)
  return files && { instance: files['meta-data'], network: networkIn(files['network-config']!) }
}
const lastEvent = (p: World) =>
  JSON.parse(
    p.db.$client.query<{ data: string }, []>('SELECT data FROM events ORDER BY rowid DESC LIMIT 1').get()!.data,
  )

async function ordered(more: object = {}) {
  const p = await world()
  const v6 = { name: 'v6', network: '2001:db8::/40', gateway: 'fe80::1', nodeIds: [p.node.id] }
  await p.admin('POST', '/admin/ip-pools', v6)
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ...more })
  await p.settle()
  return Object.assign(p, { id: serverId as string })
}

describe('an extra address', () => {
  test('is held at once, allowed by the node, told to the running guest, and there at its next start', async () => {
    using p = await ordered()
    const { status, body } = await add(p, p.id)
    expect([status, body.address.address, body.address.kind]).toEqual([201, '203.0.113.11', 'extra'])
    await p.settle()
    expect(p.job(body.jobId)).toMatchObject({ state: 'succeeded', title: 'Add 203.0.113.11 to web01' })
    expect(rulesOf(p, p.id).ipv4).toEqual(['203.0.113.10', '203.0.113.11'])
    expect(toldGuest(p, p.id)).toEqual(['add 203.0.113.11/24 dev eth0'])
    expect(seedOf(p, p.id)!.network.addresses).toEqual(['203.0.113.10/24', '203.0.113.11/24'])
    expect((await addressesOf(p, p.id)).map(({ kind }) => kind)).toEqual(['primary', 'extra'])
    expect(lastEvent(p)).toMatchObject({ added: ['203.0.113.11'], removed: [], server: { id: p.id } })
  })
  test('of version 6 is a prefix of its own, whose first address the guest gets', async () => {
    using p = await ordered()
    const { body } = await add(p, p.id, 6)
    await p.settle()
    expect(body.address).toMatchObject({
      prefixLength: 64,
      version: 6,
      kind: 'extra',
      nextHop: expect.stringMatching(/^2001:db8:.*::1$/),
    })
    expect(rulesOf(p, p.id).ipv6).toEqual([`${body.address.address}/64`])
    expect(toldGuest(p, p.id)).toEqual([`add ${body.address.address}1/64 dev eth0 nodad`])
  })
  test('leaves guest, node and pool in this order when it is removed', async () => {
    using p = await ordered()
    const { address } = (await add(p, p.id)).body
    await p.settle()
    p.node.agent.fault({ command: 'firewall.allow', mode: 'fail', times: 1 })
    const failed = (await remove(p, p.id, address.id)).body.jobId
    await p.settle()
    expect([p.job(failed).state, (await addressesOf(p, p.id)).length]).toEqual(['failed', 2])
    expect(toldGuest(p, p.id).slice(1)).toEqual(['del 203.0.113.11/24 dev eth0', 'add 203.0.113.11/24 dev eth0'])
    expect(rulesOf(p, p.id).ipv4).toHaveLength(2)
    const { status, body } = await remove(p, p.id, address.id)
    expect(status).toBe(202)
    expect(await addressesOf(p, p.id)).toHaveLength(2)
    await p.settle()
    expect(p.job(body.jobId).state).toBe('succeeded')
    expect([rulesOf(p, p.id).ipv4, (await addressesOf(p, p.id)).length]).toEqual([['203.0.113.10'], 1])
    expect(seedOf(p, p.id)!.network.addresses).toEqual(['203.0.113.10/24'])
    expect(lastEvent(p)).toMatchObject({ added: [], removed: ['203.0.113.11'] })
  })
  test('waits for the next start of a guest that does not answer, and the job says so', async () => {
    using p = await ordered()
    p.node.agent.host.guestAgent.behave(p.id, 'broken')
    const { jobId } = (await add(p, p.id)).body
    await p.settle()
    const { lines } = await p.admin('GET', `/jobs/${jobId}/log`)
    expect(p.job(jobId).state).toBe('succeeded')
    expect(lines.map(({ text }: { text: string }) => text).join('\n')).toContain('when the server is restarted')
    const first = seedOf(p, p.id)!
    expect(first.network.addresses).toHaveLength(2)
    await add(p, p.id)
    await p.settle()
    // Guests read the network of an instance once.
    expect(seedOf(p, p.id)!.instance).not.toBe(first.instance)
  })
  test('is given without a job to a server that waits for its setup, whose installation brings it', async () => {
    using p = await world()
    const { imageId, hostname, access, ...waiting } = p.order
    const { serverId } = await p.admin('POST', '/admin/servers', waiting)
    expect((await add(p, serverId)).body).toMatchObject({ jobId: null, serverId })
    await p.admin('POST', `/servers/${serverId}/actions/setup`, { imageId, hostname, access })
    await p.settle()
    expect(rulesOf(p, serverId).ipv4).toEqual(['203.0.113.10', '203.0.113.11'])
  })
  test('is free again when it could not be brought to the node', async () => {
    using p = await ordered()
    p.node.agent.fault({ command: 'firewall.allow', mode: 'fail', times: 1 })
    const { jobId } = (await add(p, p.id)).body
    await p.settle()
    expect([p.job(jobId).state, (await addressesOf(p, p.id)).length]).toEqual(['failed', 1])
    expect((await add(p, p.id)).body.address.address).toBe('203.0.113.11')
  })
})

describe('refused', () => {
  const refused = async (p: World, call: () => ReturnType<typeof add>, status: number, code: string) => {
    const before = p.fingerprint()
    const answer = await call()
    expect([answer.status, answer.body.error?.code]).toEqual([status, code])
    expect(p.fingerprint()).toBe(before)
  }
  test('is the removal of the primary address, and of an address that the server does not have', async () => {
    using p = await ordered()
    const [primary] = await addressesOf(p, p.id)
    await refused(p, () => remove(p, p.id, primary!.id), 409, 'address_stays')
    await refused(p, () => remove(p, p.id, 'ip_00000000000000000000000000'), 404, 'address_not_found')
  })
  test('is the twenty-first extra address, and one of a pool that is used up', async () => {
    using p = await ordered()
    for (let n = 0; n < 19; n++) {
      expect((await add(p, p.id)).status).toBe(201)
      await p.settle()
    }
    await refused(p, () => add(p, p.id), 409, 'no_addresses')
    await add(p, p.id, 6)
    await p.settle()
    await refused(p, () => add(p, p.id, 6), 422, 'limit_reached')
  })
  test('are customers, who would order at the cost of the provider', async () => {
    using p = await ordered()
    await refused(p, () => add(p, p.id, 4, p.customer), 403, 'forbidden')
  })
  test('is an IPv4 address beyond the quota of a reseller, and one of a suspended reseller', async () => {
    using p = await shop()
    const { serverId } = (await p.buy()).body
    await p.change({ quotas: { ipv4: 2 } })
    expect((await add(p, serverId, 4, p.rita)).status).toBe(201)
    await refused(p, () => add(p, serverId, 4, p.rita), 409, 'quota_exceeded')
    expect((await p.terms()).used.ipv4).toBe(2)
    await p.admin('POST', `/resellers/${p.rita.id}/actions/suspend`, { reason: 'overdue' })
    await refused(p, () => add(p, serverId, 6, p.rita), 409, 'reseller_suspended')
  })
})
