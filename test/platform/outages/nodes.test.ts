import { describe, expect, test } from 'bun:test'
import { addDrain } from '../../support/nodes/drains.ts'
import { addGpuHost, addGpuOffer } from '../../support/nodes/gpus.ts'
import { htmlOf } from '../../support/pages/pages-for.ts'
import type { World } from '../../support/world/panel.ts'
import { events, known, mailsTo, noticesOf, outageWorld, pass, subjectsTo, watch } from './world.ts'

const types = (p: World) => events(p, /^node\.(away|back)$/).map(({ type }) => type)
const attention = async (p: World) =>
  (await p.admin('GET', '/admin/overview')).attention as { level: string; what: string; effect: string }[]

describe('a node that goes away', () => {
  test('is told to staff after a minute: by an event, in the panel and by one mail', async () => {
    using p = await outageWorld()
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const since = p.now()
    p.node.agent.disconnect()
    await pass(p, 55)
    expect([types(p), await noticesOf(p, p.owner), mailsTo(p, p.owner)]).toEqual([[], [], []])
    await pass(p, 10)
    const [{ data }] = events(p, /^node\.away$/) as any
    expect(data).toMatchObject({
      node: { id: p.node.id, name: 'fra-01' },
      location: { id: p.location, name: 'Frankfurt' },
      servers: 1,
      gpuInstances: 0,
    })
    expect(Math.abs(Date.parse(data.since) - since)).toBeLessThan(5000)
    expect(await noticesOf(p, p.owner)).toEqual(['● fra-01 does not answer'])
    const [mail, ...more] = mailsTo(p, p.owner)
    expect([mail!.subject, more]).toEqual(['fra-01 does not answer: 1 server of 1 customer', []])
    expect(mail!.text).toContain('fra-01 in Frankfurt has not answered since')
    expect(mail!.text).toContain(`https://panel.test/admin/nodes/${p.node.id}`)
    expect(mail!.text).toContain('Frankfurt has no other node.')
    await pass(p, 300)
    expect([types(p), mailsTo(p, p.owner).length]).toEqual([['node.away'], 1])
    const [first] = await attention(p)
    expect(first).toMatchObject({ level: 'down', what: 'fra-01 does not answer.' })
    expect(first!.effect).toMatch(
      /^1 server most likely runs on there, but cannot be seen or changed\. Ada was told on .* UTC\.$/,
    )
  })
  test('and is back tells that, with how long it was away, and its notice is over', async () => {
    using p = await outageWorld()
    p.node.agent.disconnect()
    await pass(p, 250)
    p.node.agent.connect()
    await pass(p, 15)
    const [{ data }] = events(p, /^node\.back$/) as any
    expect(data.seconds).toBeGreaterThanOrEqual(250)
    expect(data.seconds).toBeLessThan(260)
    expect(await noticesOf(p, p.owner)).toEqual(['✓ fra-01 is back'])
    expect(subjectsTo(p, p.owner)).toEqual(['fra-01 does not answer', 'fra-01 is back after 4 min'])
    expect((await attention(p)).map(({ what }) => what)).toEqual([])
    await pass(p, 900)
    expect([types(p), subjectsTo(p, p.owner).length]).toEqual([['node.away', 'node.back'], 2])
  })
  test('marks the bell in red while it is away and nobody has read of it', async () => {
    using p = await outageWorld()
    const bell = async () => /<a[^>]*id="unread"[\s\S]*?<\/a>/.exec(await htmlOf(p, p.owner, '/admin/jobs'))![0]
    const outages = async () => (await p.call(p.owner, 'GET', '/notices?unread=true')).body.outages
    expect([await bell(), await outages()]).toEqual([expect.not.stringContaining('bad'), 0])
    p.node.agent.disconnect()
    await pass(p, 70)
    expect(await outages()).toBe(1)
    expect(await bell()).toContain('<b class="st tag bad">1<span class="sr"> unread, 1 about an outage</span>')
    p.node.agent.connect()
    await pass(p, 15)
    expect([await bell(), await outages()]).toEqual([expect.not.stringContaining('bad'), 0])
    p.node.agent.disconnect()
    await pass(p, 700)
    expect(await bell()).toContain('class="st tag bad"')
    await p.call(p.owner, 'POST', '/notices/actions/read', {})
    expect([await bell(), await outages()]).toEqual([expect.not.stringContaining('bad'), 0])
  })
  test('and is back within a minute is told to nobody', async () => {
    using p = await outageWorld()
    for (let i = 0; i < 4; i++) {
      p.node.agent.disconnect()
      await pass(p, 50)
      p.node.agent.connect()
      await pass(p, 20)
    }
    expect([types(p), await noticesOf(p, p.owner), mailsTo(p, p.owner)]).toEqual([[], [], []])
  })
  test('and connects only to break off again is not back', async () => {
    using p = await outageWorld()
    p.node.agent.disconnect()
    await pass(p, 70)
    for (let i = 0; i < 4; i++) {
      p.node.agent.connect()
      await pass(p, 5)
      p.node.agent.disconnect()
      await pass(p, 20)
    }
    expect(types(p)).toEqual(['node.away'])
    expect(await noticesOf(p, p.owner)).toEqual(['● fra-01 does not answer'])
  })
  test('is told later where staff have set a longer delay', async () => {
    using p = await outageWorld()
    await p.admin('PUT', '/admin/settings/values', { name: 'outages.delay_seconds', value: 300 })
    p.node.agent.disconnect()
    await pass(p, 290)
    expect(types(p)).toEqual([])
    await pass(p, 20)
    expect(types(p)).toEqual(['node.away'])
  })
  test('again and again is one mail in ten minutes, and one notice, which says how often', async () => {
    using p = await outageWorld()
    for (let i = 0; i < 5; i++) {
      p.node.agent.disconnect()
      await pass(p, 70)
      p.node.agent.connect()
      await pass(p, 20)
    }
    expect(types(p).filter((type) => type === 'node.away')).toHaveLength(5)
    expect(subjectsTo(p, p.owner)).toEqual(['fra-01 does not answer', 'fra-01 is back after 1 min'])
    expect(await noticesOf(p, p.owner)).toEqual(['✓ fra-01 is back'])
    p.node.agent.disconnect()
    await pass(p, 70)
    expect(await noticesOf(p, p.owner)).toEqual(['● fra-01 does not answer'])
    const { words } = (await p.call(p.owner, 'GET', '/notices?limit=1')).body.data[0]
    expect(words).toContain('fra-01 went away 6 times in the last hour.')
    // It stays away: staff are not left in the belief that it is back.
    await pass(p, 180)
    expect(subjectsTo(p, p.owner).slice(2)).toEqual(['fra-01 does not answer'])
    expect(mailsTo(p, p.owner).at(-1)!.text).toContain('went away 6 times in the last hour')
  })
  test('with GPU instances counts these by their name', async () => {
    using p = await outageWorld()
    const host = addGpuHost(p, p.location, 1)
    const order = { ownerId: p.customer.id, offerId: await addGpuOffer(p), nodeGroupId: p.location, name: 'Training' }
    expect((await p.call(p.owner, 'POST', '/admin/gpu-instances', order)).status).toBe(201)
    await p.settle()
    await known(p)
    p.agents.get(host.id)!.disconnect()
    await pass(p, 65)
    expect(events(p, /^node\.away$/)[0]!.data).toMatchObject({ servers: 0, gpuInstances: 1 })
    expect(subjectsTo(p, p.owner)[0]).toContain(': 1 GPU instance of 1 customer')
    expect((await attention(p))[0]!.effect).toStartWith('1 GPU instance most likely runs on there')
  })
})

describe('several nodes that go away together', () => {
  async function nodes(p: World, n: number, locationId = p.location, name = 'rack') {
    const added = Array.from({ length: n }, (_, i) => p.addNode(locationId, `${name}-${i + 1}`))
    await known(p)
    return added
  }
  test('are one mail and one notice, which is over when all are back', async () => {
    using p = await outageWorld()
    const rack = await nodes(p, 6)
    for (const { agent } of rack) {
      agent.disconnect()
      p.turnClock(1500)
    }
    await pass(p, 80)
    expect(types(p)).toHaveLength(6)
    expect(await noticesOf(p, p.owner)).toEqual(['● 6 nodes in Frankfurt do not answer'])
    expect(subjectsTo(p, p.owner)).toEqual(['6 nodes in Frankfurt do not answer'])
    expect(mailsTo(p, p.owner)[0]!.text).toContain('rack-6 in Frankfurt, since')
    expect(mailsTo(p, p.owner)[0]!.text).toContain('The other node in Frankfurt answers.')
    for (const { agent } of rack.slice(1)) agent.connect()
    await pass(p, 30)
    expect(subjectsTo(p, p.owner)).toHaveLength(1)
    expect(await noticesOf(p, p.owner)).toEqual(['● 6 nodes in Frankfurt do not answer'])
    // The last one stays away: staff learn that the others are back.
    await pass(p, 60)
    expect(subjectsTo(p, p.owner)[1]).toMatch(/^5 nodes in Frankfurt are back after 1 min/)
    rack[0]!.agent.connect()
    await pass(p, 20)
    expect(await noticesOf(p, p.owner)).toEqual(['✓ 6 nodes in Frankfurt are back'])
    expect(subjectsTo(p, p.owner)[2]).toMatch(/^rack-1 is back after [23] min$/)
  })
  test('in two locations are one mail to each who wants both', async () => {
    using p = await outageWorld()
    const { id: oslo } = await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })
    const gone = [...(await nodes(p, 2)), ...(await nodes(p, 2, oslo, 'osl'))]
    const bea = p.staff(['nodes.read'], 'Bea')
    await p.call(bea, 'PUT', '/account/notice-locations', { kind: 'node_away', locationIds: [oslo] })
    for (const { agent } of gone) agent.disconnect()
    await pass(p, 80)
    expect(subjectsTo(p, p.owner)).toEqual(['4 nodes in Frankfurt and Oslo do not answer'])
    expect(subjectsTo(p, bea)).toEqual(['2 nodes in Oslo do not answer'])
    expect((await noticesOf(p, p.owner)).toSorted()).toEqual([
      '● 2 nodes in Frankfurt do not answer',
      '● 2 nodes in Oslo do not answer',
    ])
    expect(await noticesOf(p, bea)).toEqual(['● 2 nodes in Oslo do not answer'])
  })
})

describe('a restart of the controller', () => {
  test('tells of no node that comes back in its time, and of one that does not', async () => {
    using p = await outageWorld()
    const other = p.addNode(p.location, 'fra-02')
    await known(p)
    await p.crash({ nodesComeBack: false })
    p.turnClock(600_000)
    p.controller.hub.expect([p.node.id, other.id])
    await pass(p, 90)
    p.agents.get(other.id)!.connect()
    expect(types(p)).toEqual([])
    const { noteNotBack } = await import('../../../src/fleet/nodes/report.ts')
    noteNotBack(p.db, p.controller.hub)
    await pass(p, 60)
    expect(events(p, /^node\.away$/).map(({ data }) => data.node.name)).toEqual(['fra-01'])
    expect(await noticesOf(p, p.owner)).toEqual(['● fra-01 does not answer'])
  })
  test('tells of no outage twice, and ends one whose node came back meanwhile', async () => {
    using p = await outageWorld()
    p.node.agent.disconnect()
    await pass(p, 70)
    await p.crash({ nodesComeBack: false })
    await pass(p, 300)
    expect([types(p), subjectsTo(p, p.owner).length]).toEqual([['node.away'], 1])
    await p.crash()
    await pass(p, 30)
    expect(types(p)).toEqual(['node.away', 'node.back'])
    expect(await noticesOf(p, p.owner)).toEqual(['✓ fra-01 is back'])
  })
})

describe('nobody is told of a node', () => {
  const untold = async (p: World) => {
    await pass(p, 400)
    expect([types(p), await noticesOf(p, p.owner), mailsTo(p, p.owner)]).toEqual([[], [], []])
  }
  test('that was emptied for maintenance and is switched off, until that is over', async () => {
    using p = await outageWorld()
    addDrain(p, p.node.id, p.owner.id)
    p.node.agent.disconnect()
    await untold(p)
    p.db.$client.run('UPDATE drains SET returned_at = 1')
    await watch(p)
    expect(types(p)).toEqual(['node.away'])
  })
  test('in maintenance on which a server still runs: of that one they are', async () => {
    using p = await outageWorld()
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    addDrain(p, p.node.id, p.owner.id)
    p.node.agent.disconnect()
    await pass(p, 70)
    expect(types(p)).toEqual(['node.away'])
  })
  test('whose agent a roll-out updates', async () => {
    using p = await outageWorld()
    p.db.$client.run(`INSERT INTO roll_outs VALUES ('rlo_1', '1.1.0', 'running', 0, NULL, 900, 60, '[]', NULL, NULL,
      NULL, '{"id":"x","name":"Ada","via":"session"}', 1, NULL)`)
    p.db.$client.run(
      `INSERT INTO roll_out_nodes (roll_out_id, node_id, wave, place, state, from_version)
       VALUES ('rlo_1', ?, 0, 0, 'updating', '1.0.0')`,
      [p.node.id],
    )
    p.node.agent.disconnect()
    await untold(p)
    p.db.$client.run("UPDATE roll_out_nodes SET state = 'not_back'")
    await watch(p)
    expect(types(p)).toEqual(['node.away'])
  })
  test('that was declared lost, or whose credential was revoked', async () => {
    using p = await outageWorld()
    p.node.agent.disconnect()
    await p.reported()
    p.db.$client.run('UPDATE nodes SET credential_revoked_at = 1')
    await untold(p)
    p.db.$client.run('UPDATE nodes SET credential_revoked_at = NULL')
    p.turnClock(31_000)
    await p.admin('POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
    await untold(p)
  })
  test('that has never said what is on it', async () => {
    using p = await outageWorld()
    p.node.agent.disconnect()
    await p.reported()
    p.db.$client.run('UPDATE nodes SET inventory_at = NULL')
    await untold(p)
  })
  test('that is lost after they were told: its notice is over, and no mail says that it is back', async () => {
    using p = await outageWorld()
    p.node.agent.disconnect()
    await pass(p, 70)
    await p.admin('POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
    await pass(p, 70)
    expect(types(p)).toEqual(['node.away'])
    expect(subjectsTo(p, p.owner)).toEqual(['fra-01 does not answer'])
    expect((await noticesOf(p, p.owner))[0]).toBe('✓ fra-01 was declared lost')
  })
})

test('outages that are over are forgotten after 90 days, and one that goes on is not', async () => {
  using p = await outageWorld()
  const other = p.addNode(p.location, 'fra-02')
  await known(p)
  for (const agent of [p.node.agent, other.agent]) agent.disconnect()
  await pass(p, 80)
  other.agent.connect()
  await pass(p, 20)
  p.turnClock(91 * 86_400_000)
  await p.deleteExpired()
  const left = p.db.$client.query<{ id: string }, []>('SELECT node_id AS id FROM node_outages').all()
  expect(left).toEqual([{ id: p.node.id }])
})
