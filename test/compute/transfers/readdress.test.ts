// Moves to nodes whose pools do not carry the addresses of a server, in its own location and in others.
import { expect, test } from 'bun:test'
import type { FakeSeeds } from '../../../agent/drivers/seed/fake.ts'
import { beginDue } from '../../../src/compute/transfers/job/due.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { withEverything } from './scenarios.ts'
import { openTwo } from './two-locations.ts'
import { move, nodeNamed, open, order, where } from './world.ts'

const OLD = '203.0.113.10'
const NEW = '198.51.100.10'
const held = (p: World, id: string) =>
  p.db.$client
    .query<{ address: string }, [string]>(
      'SELECT address FROM addresses WHERE workload_id = ? ORDER BY version, is_primary DESC, place',
    )
    .all(id)
    .map(({ address }) => address)
const keptFor = (p: World) =>
  p.db.$client
    .query<{ address: string }, []>("SELECT address FROM addresses WHERE reserved_for LIKE 'Move %' ORDER BY address")
    .all()
    .map(({ address }) => address)
const notices = (p: World, id: string) =>
  p.db.$client
    .query<{ subject: string; words: string }, [string]>(
      "SELECT subject, words FROM notices WHERE account_id = ? AND kind = 'server_readdressed' ORDER BY id",
    )
    .all(id)
const rulesOn = (p: World, name: string) => p.agents.get(nodeNamed(p, name))!.host.state.portRules()
const toHelsinki = (p: World, id: string, more: object = {}) =>
  move(p, id, { nodeId: nodeNamed(p, 'hel-01'), readdress: true, ...more })

test('a server moves to another location, and has new addresses there alone', async () => {
  using p = await openTwo()
  const id = await order(p)
  expect(held(p, id)).toEqual([OLD])
  const started = await toHelsinki(p, id)
  expect(started.changes.at(-1)).toMatch(/new addresses/)
  expect([held(p, id), keptFor(p)]).toEqual([[OLD], [NEW]])
  await p.settle()
  expect(p.job(started.jobId)).toMatchObject({ state: 'succeeded' })
  expect(await where(p, id)).toMatchObject({
    status: 'running',
    stays: ['home on hel-01'],
    running: 1,
    transfers: ['near_live finished'],
    openJobs: [],
  })
  expect([held(p, id), keptFor(p)]).toEqual([[NEW], []])
  expect(rulesOn(p, 'hel-01').map(({ ipv4 }: any) => ipv4)).toEqual([[NEW]])
  const shown = await p.admin('GET', `/servers/${id}`)
  expect(shown).toMatchObject({ ipv4: NEW, location: { name: 'Helsinki' } })
  const { data } = p.db.$client
    .query<{ data: string }, []>("SELECT data FROM events WHERE type = 'server.addresses_changed'")
    .get()!
  expect(JSON.parse(data)).toMatchObject({ added: [NEW], removed: [OLD] })
  const [before, after] = notices(p, p.customer.id)
  expect([before!.subject, after!.subject]).toEqual([
    'web01 moves to Helsinki and gets new addresses',
    'web01 is in Helsinki and has new addresses',
  ])
  for (const { words } of [before!, after!]) expect(words).toContain(OLD)
  for (const { words } of [before!, after!]) expect(words).toContain(NEW)
  expect(JSON.stringify(notices(p, p.customer.id))).not.toMatch(/fra-0|hel-0/)
})

test('the data for its start there has the new addresses and their gateway, and an instance of its own', async () => {
  using p = await openTwo()
  const id = await order(p)
  let seed: unknown
  p.arm({
    failpoints: (moment) => {
      if (moment === 'move/start:before')
        seed = (p.agents.get(nodeNamed(p, 'hel-01'))!.host.seeds as FakeSeeds).files(id)
    },
  })
  await toHelsinki(p, id)
  await p.settle()
  const text = Object.values(seed as Record<string, string>).join()
  expect(text).toContain(`${NEW}/24`)
  expect(text).toContain('198.51.100.1"')
  expect(text).not.toContain(OLD)
  expect(text).toMatch(/instance-id"?: "?job_/)
})

for (const moment of ['receive:before', 'stop:noted', 'read-there:before'])
  test(`cancelled at ${moment}, it keeps its addresses, and the new ones are free`, async () => {
    using p = await openTwo()
    const id = await order(p)
    const to = p.agents.get(nodeNamed(p, 'hel-01'))!
    let isThere = false
    p.arm({
      failpoints: (now) => {
        if (now !== `move/${moment}` || isThere) return
        isThere = true
        to.disconnect()
      },
    })
    const { transferId } = await toHelsinki(p, id, { mode: 'cold' })
    await eventually(async () => isThere)
    await p.admin('POST', `/admin/transfers/${transferId}/actions/cancel`, {})
    to.connect()
    for (let i = 0; i < 5; i++) await p.settle()
    p.controller.runner.sweep()
    await p.settle()
    expect([held(p, id), keptFor(p)]).toEqual([[OLD], []])
    expect(await where(p, id)).toMatchObject({ status: 'running', stays: ['home on fra-01'], running: 1, openJobs: [] })
    expect(rulesOn(p, 'fra-01').map(({ ipv4 }: any) => ipv4)).toEqual([[OLD]])
    expect(notices(p, p.customer.id).at(-1)!.subject).toBe('web01 was not moved and keeps its addresses')
  })

test('where its new node is lost before the end, it is back with its old addresses', async () => {
  using p = await openTwo()
  const id = await order(p)
  const to = p.agents.get(nodeNamed(p, 'hel-01'))!
  let isThere = false
  p.arm({
    failpoints: (now) => {
      if (now !== 'move/give:before' || isThere) return
      isThere = true
      to.disconnect()
    },
  })
  await toHelsinki(p, id)
  await eventually(async () => isThere)
  expect([held(p, id), keptFor(p)]).toEqual([[NEW], [OLD]])
  await p.admin('POST', `/admin/nodes/${nodeNamed(p, 'hel-01')}/actions/declare-lost`, { name: 'hel-01' })
  for (let i = 0; i < 5; i++) await p.settle()
  expect([held(p, id), keptFor(p)]).toEqual([[OLD], []])
  expect((await p.admin('GET', `/servers/${id}`)).location.name).toBe('Frankfurt')
  expect((await where(p, id)).stays).toEqual(['home on fra-01'])
})

test('the old addresses are for nobody else before the old node is cleared', async () => {
  using p = await openTwo()
  const id = await order(p)
  const from = p.agents.get(p.node.id)!
  p.arm({ failpoints: (moment) => void (moment === 'clear_move/end:before' && from.disconnect()) })
  await toHelsinki(p, id)
  await eventually(async () => !p.controller.hub.connected(p.node.id))
  expect([held(p, id), keptFor(p)]).toEqual([[NEW], [OLD]])
  p.arm({})
  from.connect()
  for (let i = 0; i < 5; i++) await p.settle()
  expect(keptFor(p)).toEqual([])
})

test('a server that waits for its setup has other addresses at once', async () => {
  using p = await openTwo()
  const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
  const { serverId } = await p.admin('POST', '/admin/servers', { ...waiting, nodeId: p.node.id })
  expect(await toHelsinki(p, serverId)).toMatchObject({ jobId: null, mode: 'reassigned' })
  expect([held(p, serverId), keptFor(p)]).toEqual([[NEW], []])
  expect(notices(p, p.customer.id)).toHaveLength(2)
})

test('at a time its owner is told twice before', async () => {
  using p = await openTwo()
  const id = await order(p)
  await toHelsinki(p, id, { startsAt: new Date(p.now() + 3_600_000).toISOString() })
  expect(notices(p, p.customer.id).map(({ words }) => /on 15 Jan 2027, 09:00 UTC/.test(words))).toEqual([true])
  expect(keptFor(p)).toEqual([])
  p.turnClock(3_600_000)
  beginDue(p.controller)
  await p.settle()
  expect(held(p, id)).toEqual([NEW])
  expect(notices(p, p.customer.id)).toHaveLength(3)
})

test('what it must not do is refused in words, and nothing happens', async () => {
  using p = await openTwo()
  const id = await order(p)
  const refusal = async (body: object) => {
    const before = p.fingerprint(['audit', 'brake_counts'])
    const { status, body: answer } = await p.call(p.owner, 'POST', `/admin/servers/${id}/actions/move`, body)
    expect(p.fingerprint(['audit', 'brake_counts'])).toBe(before)
    return `${status} ${answer.error.code}: ${answer.error.message}`
  }
  const hel = nodeNamed(p, 'hel-01')
  expect(await refusal({ nodeId: hel })).toMatch(/hel-01 in another location/)
  await p.admin('PUT', `/admin/node-groups/${p.location}/moves`, { locationIds: [] })
  expect(await refusal({ nodeId: hel, readdress: true })).toMatch(/hel-01 in another location/)
  await p.admin('PUT', `/admin/node-groups/${p.location}/moves`, { locationIds: [p.helsinki] })
  const network = { name: 'backend', locationId: p.location, ipv4: '10.20.0.0/24' }
  const { id: networkId } = await p.admin('POST', `/customers/${p.customer.id}/networks`, network)
  await p.admin('POST', `/networks/${networkId}/servers`, { serverId: id })
  await p.settle()
  expect(await refusal({ nodeId: hel, readdress: true })).toMatch(/its private networks stay in its location/)
  const { nodes } = await p.admin('GET', `/admin/servers/${id}/move-options`)
  expect(nodes.find(({ node }: any) => node.name === 'hel-01')).toMatchObject({ possible: false, newAddresses: false })
  await p.admin('DELETE', `/networks/${networkId}/servers/${id}`)
  await p.settle()
  p.db.$client.run("UPDATE addresses SET reserved_for = 'tests' WHERE address LIKE '198.51.100.%'")
  expect(await refusal({ nodeId: hel, readdress: true })).toBe(
    '409 no_capacity: web01 fits on no other node: hel-01 no free IPv4 address.',
  )
  const self = await p.call(p.owner, 'PUT', `/admin/node-groups/${p.location}/moves`, { locationIds: [p.location] })
  expect([self.status, self.body.error.details.fields[0].field]).toEqual([422, 'locationIds'])
})

test('placement prefers nodes where it keeps its addresses, and says where it would not', async () => {
  using p = await openTwo()
  const id = await order(p)
  p.addNode(p.location, 'fra-05')
  const { nodes, chosen } = await p.admin('GET', `/admin/servers/${id}/move-options`)
  expect(chosen.name).toBe('fra-02')
  const said = nodes.map(({ node, possible, newAddresses, location }: any) =>
    [node.name, possible, newAddresses, location.name].join(' '),
  )
  expect(said).toEqual([
    'fra-02 true false Frankfurt',
    'fra-03 true false Frankfurt',
    'hel-01 true true Helsinki',
    'fra-05 false false Frankfurt',
  ])
  expect(await move(p, id, { nodeId: null, readdress: true })).toMatchObject({ to: { name: 'fra-02' } })
  await p.settle()
  expect(held(p, id)).toEqual([OLD])
})

/** A node of the same location that carries none of the server's addresses, and a pool of its own. */
async function openNear() {
  const p = await open()
  const { id: fifth } = p.addNode(p.location, 'fra-05')
  await p.admin('POST', '/admin/ip-pools', {
    ...{ name: 'fra 2', network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [fifth] },
    ...{ first: '198.51.100.10', last: '198.51.100.12' },
  })
  const id = await withEverything(p)
  return Object.assign(p, { id, fifth })
}

test('within its location its floating address and private network stay valid, and come along', async () => {
  using p = await openNear()
  const floating = p.db.$client
    .query<{ id: string; pool: string }, []>('SELECT id, pool_id AS pool FROM addresses WHERE holder_id IS NOT NULL')
    .get()!
  // Its own addresses are of a pool that the node does not have; the floating one is of one that it has.
  const { id: floats } = await p.admin('POST', '/admin/ip-pools', {
    ...{ name: 'floats', network: '192.0.2.0/24', gateway: '192.0.2.1', first: '192.0.2.10', last: '192.0.2.20' },
    nodeIds: [p.fifth, ...['fra-01', 'fra-02', 'fra-03'].map((name) => nodeNamed(p, name))],
  })
  p.db.$client.run('UPDATE addresses SET pool_id = ?, place = 1000 WHERE id = ?', [floats, floating.id])
  await move(p, p.id, { nodeId: p.fifth, readdress: true })
  await p.settle()
  expect(p.server(p.id)).toMatchObject({ status: 'running', nodeId: p.fifth })
  expect((await where(p, p.id)).onNodes).toMatchObject({
    'fra-01': 'nothing',
    'fra-05': 'running, 2 disks, 1 rules, 1 floating, 0 transfers',
  })
  const own = held(p, p.id)
  expect(own).toContain(NEW)
  expect(own).toHaveLength(2)
  const { data } = await p.admin('GET', '/floating-ips')
  expect(data[0].server.id).toBe(p.id)
  const members = p.db.$client.query<{ id: string }, []>('SELECT workload_id AS id FROM private_network_members').all()
  expect(members).toEqual([{ id: p.id }])
})

test('409: a node of its location that does not route its floating address, and nothing happens', async () => {
  using p = await openNear()
  const before = p.fingerprint(['audit', 'brake_counts'])
  const { status, body } = await p.call(p.owner, 'POST', `/admin/servers/${p.id}/actions/move`, {
    ...{ nodeId: p.fifth, readdress: true },
  })
  expect([status, body.error.message]).toEqual([
    409,
    expect.stringMatching(/fra-05 does not route its floating address .*: unassign that first/),
  ])
  expect(p.fingerprint(['audit', 'brake_counts'])).toBe(before)
})
