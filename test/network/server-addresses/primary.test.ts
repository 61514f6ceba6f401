// Another primary address for a server, and two servers that swap theirs: nodes, guests, names, owners, and the rest of
// the address that nobody has any more.
import { describe, expect, test } from 'bun:test'
import type { FakeNetwork } from '../../../agent/drivers/network/fake.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { wantName } from '../../../src/network/reverse-dns/queries.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type World, world } from '../../support/world/panel.ts'

const order = async (p: World, hostname: string, more: object = {}): Promise<string> => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, ...more })
  await p.settle()
  return serverId
}
const ipsOf = async (p: World, id: string) =>
  (await p.admin('GET', `/servers/${id}/ips`)).data.map(({ address, kind }: any) => `${address} ${kind}`)
const rulesOf = (p: World, id: string) =>
  p.node.agent.host.state.portRules().find(({ workload }) => workload === id)!.ipv4
const announced = (p: World) => (p.node.agent.host.network as FakeNetwork).announced
const act = (p: World, id: string, name: string, body: object, query = '') =>
  p.call(p.owner, 'POST', `/servers/${id}/actions/${name}${query}`, body)
const change = (p: World, id: string, query = '') => act(p, id, 'change-primary-address', { version: 4 }, query)
const swap = (p: World, id: string, serverId: string, query = '') =>
  act(p, id, 'swap-primary-addresses', { serverId, version: 4 }, query)
const notices = (p: World) =>
  p.db.$client
    .query<{ subject: string; words: string }, []>(
      "SELECT subject, words FROM notices WHERE kind = 'server_address_changed' ORDER BY id",
    )
    .all()
const named = (p: World, address: string, name: string) =>
  write(p.db, (tx) => {
    const { id } = tx.$client
      .query<{ id: string }, [string]>('SELECT id FROM addresses WHERE address = ?')
      .get(address)!
    wantName(tx, address, id, name, p.now())
  })
const names = (p: World) =>
  p.db.$client
    .query<{ address: string; name: string | null }, []>('SELECT address, name FROM reverse_names ORDER BY address')
    .all()
    .map(({ address, name }) => `${address} ${name}`)
const everything = (p: World) =>
  JSON.stringify([
    p.db.$client.query('SELECT id, workload_id, reserved_for, rests_until FROM addresses').all(),
    p.db.$client.query('SELECT count(*) FROM jobs').get(),
    p.db.$client.query('SELECT count(*) FROM events').get(),
  ])

describe('the primary address of a server', () => {
  test('is changed on its node and inside; names come along, its owner is told, and the old one rests', async () => {
    using p = await world()
    p.db.$client.run('UPDATE pools SET quarantine_hours = 24')
    const id = await order(p, 'web01')
    await p.admin('POST', `/servers/${id}/ips`, { version: 4 })
    await p.settle()
    named(p, '203.0.113.10', 'web.example.com')
    p.turnClock(60_000)
    const { status, body } = await change(p, id)
    expect([status, body.servers]).toEqual([
      202,
      [{ id, hostname: 'web01', removed: '203.0.113.10', added: '203.0.113.12' }],
    ])
    await p.settle()
    expect(p.job(body.jobId).state).toBe('succeeded')
    expect(await ipsOf(p, id)).toEqual(['203.0.113.12 primary', '203.0.113.11 extra'])
    expect(rulesOf(p, id)).toEqual(['203.0.113.12', '203.0.113.11'])
    // Neighbours of the node are told, who may have sent to the card of another server.
    const { mac } = p.server(id)
    expect(new Set(announced(p))).toEqual(new Set([`203.0.113.11 is at ${mac}`, `203.0.113.12 is at ${mac}`]))
    expect(names(p)).toEqual(['203.0.113.10 null', '203.0.113.12 web.example.com'])
    expect(notices(p)).toEqual([
      { subject: 'web01 has another address', words: expect.stringContaining('new address: 203.0.113.12') },
    ])
    const [line] = (await p.admin('GET', '/admin/addresses/203.0.113.10/history')).data
    expect([line.ended.jobId, line.restedUntil !== null]).toEqual([body.jobId, true])
    const pool = await p.admin('GET', `/admin/ip-pools/${p.pool}`)
    expect([pool.held, pool.reserved, pool.resting]).toEqual([2, 0, 1])
  })

  test('is only said where the call is a rehearsal, and nothing happens', async () => {
    using p = await world()
    const [id, other] = [await order(p, 'web01'), await order(p, 'web02')]
    const before = everything(p)
    const changed = (await change(p, id, '?dryRun=true')).body
    expect(changed).toMatchObject({ jobId: null, servers: [{ added: '203.0.113.12' }] })
    expect(changed.effects[0]).toMatch(/web01/)
    expect((await swap(p, id, other, '?dryRun=true')).body).toMatchObject({
      jobId: null,
      servers: [{ added: '203.0.113.11' }, { added: '203.0.113.10' }],
    })
    expect(everything(p)).toBe(before)
  })

  test('of a system that cannot be told waits for its next start, and the job says so', async () => {
    using p = await world()
    const id = await order(p, 'web01')
    p.node.agent.host.guestAgent.behave(id, 'broken')
    const { body } = await change(p, id)
    await p.settle()
    expect(p.job(body.jobId).state).toBe('succeeded')
    expect(await ipsOf(p, id)).toEqual(['203.0.113.11 primary'])
    expect((await p.admin('GET', `/servers/${id}/address-change`)).state).toBe('waiting')
    const log = p.db.$client.query('SELECT * FROM job_log WHERE job_id = ?').all(body.jobId)
    expect(JSON.stringify(log)).toContain('web01 has no guest agent that answers')
  })

  test('stays where no other is free, and for who may not change it', async () => {
    using p = await world()
    const id = await order(p, 'web01')
    p.db.$client.run("UPDATE addresses SET reserved_for = 'test' WHERE workload_id IS NULL")
    const before = everything(p)
    expect((await change(p, id)).body.error.code).toBe('no_addresses')
    const refused = await p.call(p.customer, 'POST', `/servers/${id}/actions/change-primary-address`, { version: 4 })
    expect(refused.body.error.code).toBe('forbidden')
    expect((await act(p, id, 'change-primary-address', { version: 6 })).body.error.code).toBe('address_not_found')
    expect(everything(p)).toBe(before)
    expect(rulesOf(p, id)).toEqual(['203.0.113.10'])
  })
})

describe('two servers', () => {
  test('swap their primary addresses; names stay with these, and the other server is busy meanwhile', async () => {
    using p = await world()
    const [a, b] = [await order(p, 'web01'), await order(p, 'web02')]
    named(p, '203.0.113.10', 'web.example.com')
    p.turnClock(60_000)
    p.node.agent.fault({ command: 'firewall.allow', mode: 'slow', times: 1, ms: 300 })
    const { body } = await swap(p, a, b)
    const busy = await act(p, b, 'change-primary-address', { version: 4 })
    expect(busy.body.error.code).toBe('server_busy')
    await p.settle()
    expect(p.job(body.jobId).state).toBe('succeeded')
    expect([await ipsOf(p, a), await ipsOf(p, b)]).toEqual([['203.0.113.11 primary'], ['203.0.113.10 primary']])
    expect([rulesOf(p, a), rulesOf(p, b)]).toEqual([['203.0.113.11'], ['203.0.113.10']])
    expect(names(p)).toEqual(['203.0.113.10 web.example.com'])
    expect(notices(p).map(({ subject }) => subject)).toEqual(['web01 has another address', 'web02 has another address'])
    const { data } = await p.admin('GET', '/admin/addresses/203.0.113.10/history')
    expect(data.map(({ server, to }: any) => [server.hostname, to === null])).toEqual([
      ['web02', true],
      ['web01', false],
    ])
    expect((await p.admin('GET', `/servers/${b}`)).job).toBeNull()
  })

  test('of different owners, or the same one twice, do not', async () => {
    using p = await world()
    const [a, b] = [await order(p, 'web01'), await order(p, 'web02', { ownerId: p.account('customer', 'Hera').id })]
    const before = everything(p)
    for (const other of [a, b, 'srv_none']) expect((await swap(p, a, other)).body.error.code).toBe('validation_failed')
    expect(everything(p)).toBe(before)
    expect([rulesOf(p, a), rulesOf(p, b)]).toEqual([['203.0.113.10'], ['203.0.113.11']])
  })

  test('on two nodes do as well, and past the record a node that is away holds up its own server alone', async () => {
    using p = await world()
    const far = p.addNode(p.location, 'fra-02')
    const { data: pools } = await p.admin('GET', '/admin/ip-pools')
    for (const { id } of pools) await p.admin('PUT', `/admin/ip-pools/${id}/nodes`, { nodeIds: [p.node.id, far.id] })
    const [a, b] = [await order(p, 'web01', { nodeId: p.node.id }), await order(p, 'web02', { nodeId: far.id })]
    expect((await p.admin('GET', `/servers/${a}/primary-address-options`)).options[0].swapWith).toMatchObject([
      { id: b, hostname: 'web02' },
    ])
    const agent = p.agents.get(far.id)!
    p.arm({ failpoints: (at) => void (at === 'primary_address/record:noted' && agent.disconnect()) })
    const { body } = await swap(p, a, b)
    await eventually(() => p.job(body.jobId).state === 'succeeded')
    expect([await ipsOf(p, a), await ipsOf(p, b)].map(([first]) => first)).toEqual([
      '203.0.113.11 primary',
      '203.0.113.10 primary',
    ])
    expect(rulesOf(p, a)).toEqual(['203.0.113.11'])
    // The server whose node is there is suspended at once; the other one when its node is back and has done its part.
    const suspended = async (id: string) => (await p.admin('GET', `/servers/${id}`)).status
    const [own, its] = await Promise.all([a, b].map((id) => act(p, id, 'suspend', { reason: 'Overdue' })))
    expect([own!.status, its!.status]).toEqual([202, 202])
    await eventually(() => p.job(own!.body.jobId).state === 'succeeded')
    const powerOf = async (node: { agent: typeof agent }, id: string) =>
      (await node.agent.host.hypervisor.look()).ours.find((vm) => vm.id === id)?.power
    expect([await suspended(a), await powerOf(p.node, a)]).toEqual(['suspended', 'stopped'])
    expect(await powerOf({ agent }, b)).toBe('running')
    agent.connect()
    await eventually(() => p.job(its!.body.jobId).state === 'succeeded')
    const rules = agent.host.state.portRules().find(({ workload }) => workload === b)!.ipv4
    expect([await suspended(b), await powerOf({ agent }, b), rules]).toEqual(['suspended', 'stopped', ['203.0.113.10']])
    expect(p.db.$client.query("SELECT kind FROM jobs WHERE state NOT IN ('succeeded', 'failed')").all()).toEqual([])
  })

  test('keep their addresses when the other one is suspended before the record says otherwise', async () => {
    using p = await world()
    const [a, b] = [await order(p, 'web01'), await order(p, 'web02')]
    p.node.agent.fault({ command: 'firewall.allow', mode: 'slow', times: 1, ms: 300 })
    const { body } = await swap(p, a, b)
    await act(p, b, 'suspend', { reason: 'Invoice 8 is overdue' })
    await p.settle()
    expect(p.job(body.jobId)).toMatchObject({ state: 'failed', errorCode: 'server_busy' })
    expect([await ipsOf(p, a), await ipsOf(p, b)]).toEqual([['203.0.113.10 primary'], ['203.0.113.11 primary']])
    expect([rulesOf(p, a), rulesOf(p, b)]).toEqual([['203.0.113.10'], ['203.0.113.11']])
    expect((await p.admin('GET', `/servers/${b}`)).status).toBe('suspended')
  })
})
