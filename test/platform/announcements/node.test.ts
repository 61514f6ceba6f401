// Announcements about one node: told to those who see a server on it, ended when it is connected again.
import { describe, expect, test } from 'bun:test'
import { endWithOutage } from '../../../src/platform/announcements/announcements.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const told = async (p: World, who: Who) =>
  (await p.call(who, 'GET', '/announcements')).body.data.map((a: any) => a.text)
const announce = (p: World, body: object = {}, who: Who = p.owner) =>
  p.call(who, 'POST', '/admin/announcements', { text: 'Fault', audience: 'everybody', nodeId: p.node.id, ...body })
const page = async (p: World, path: string, who: Who) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
  ).text()
const endOutages = (p: World) => endWithOutage({ db: p.controller.db, hub: p.controller.hub, now: p.now() })

/** A reseller with a customer who has a server on the node, and others who have none there. */
async function houses() {
  const p = await world()
  const reseller = p.account('reseller', 'Reed')
  const customer = p.account('customer', 'Rita', reseller.id)
  const others = [
    p.account('reseller', 'Ron'),
    p.account('customer', 'Olga'),
    p.account('customer', 'Ray', reseller.id),
  ]
  await p.admin('PATCH', `/resellers/${reseller.id}`, { packageIds: [p.pack], locationIds: [p.location] })
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ownerId: customer.id })
  await p.settle()
  return Object.assign(p, { reseller, resold: customer, others, serverId: serverId as string })
}

describe('an announcement about a node', () => {
  test('is read by customers with a server on it and by their resellers, and by nobody else', async () => {
    using p = await houses()
    const elsewhere = p.addNode(p.location)
    expect((await announce(p)).body).toMatchObject({ node: { id: p.node.id, name: 'fra-01' }, untilConnected: false })
    await announce(p, { nodeId: elsewhere.id, text: 'Elsewhere' })
    for (const who of [p.resold, p.reseller]) expect(await told(p, who)).toEqual(['Fault'])
    for (const who of [...p.others, p.customer, p.owner]) expect(await told(p, who)).toEqual([])
    expect((await page(p, '/', p.resold)).includes('Fault')).toBe(true)
    expect((await page(p, '/', p.others[2]!)).includes('Fault')).toBe(false)
    await p.call(p.owner, 'DELETE', `/servers/${p.serverId}?immediately=true`)
    await p.settle()
    expect(await told(p, p.resold)).toEqual([])
  })
  test('may leave out resellers, or customers', async () => {
    using p = await houses()
    await announce(p, { audience: 'customers', text: 'c' })
    await announce(p, { audience: 'resellers', text: 'r' })
    expect(await told(p, p.resold)).toEqual(['c'])
    expect(await told(p, p.reseller)).toEqual(['r'])
  })
  test('ends when the node is connected again, or when staff end it', async () => {
    using p = await houses()
    p.node.agent.disconnect()
    await announce(p, { untilConnected: true })
    await announce(p, { text: 'Stays' })
    endOutages(p)
    expect(await told(p, p.resold)).toEqual(['Stays', 'Fault'])
    p.node.agent.connect()
    p.turnClock(1000)
    endOutages(p)
    expect(await told(p, p.resold)).toEqual(['Stays'])
    const [stays] = (await p.call(p.owner, 'GET', '/admin/announcements')).body.data
    const endsAt = new Date(p.now()).toISOString()
    expect((await p.call(p.owner, 'PATCH', `/admin/announcements/${stays.id}`, { endsAt })).status).toBe(200)
    p.turnClock(1)
    expect(await told(p, p.resold)).toEqual([])
  })
  test('is refused for staff, for a node that is not seen, and until a connected node is connected', async () => {
    using p = await houses()
    const { id } = (await announce(p)).body
    const before = p.fingerprint()
    for (const [body, who, code] of [
      [{ audience: 'staff' }, p.owner, 'validation_failed'],
      [{ untilConnected: true }, p.owner, 'validation_failed'],
      [{ nodeId: null, untilConnected: true }, p.owner, 'validation_failed'],
      [{ nodeId: `nod_${'0'.repeat(26)}` }, p.owner, 'validation_failed'],
      [{}, p.staff(['settings.write']), 'validation_failed'],
    ] as const)
      expect((await announce(p, body, who)).body.error.code).toBe(code)
    const changed = await p.call(p.owner, 'PATCH', `/admin/announcements/${id}`, { audience: 'staff' })
    expect(changed.body.error.code).toBe('validation_failed')
    // The staff who asked are new.
    const read = ['accounts', 'search_texts', 'sessions', 'roles']
    const others = before.split('\n').filter((line) => !read.includes(line.split(' ')[0]!))
    expect(p.fingerprint(read)).toBe(others.join('\n'))
  })
  test('is offered on the page of a node that is away, with its text prepared', async () => {
    using p = await houses()
    expect(await page(p, `/admin/nodes/${p.node.id}`, p.owner)).toContain('We will carry out maintenance on one of our')
    p.node.agent.disconnect()
    p.turnClock(120_000)
    const html = await page(p, `/admin/nodes/${p.node.id}`, p.owner)
    expect(html).toContain('Announce to them')
    expect(html).toContain('One of our hosts in Frankfurt cannot be reached at the moment.')
    expect(html).toContain('name="untilConnected"')
    expect(html).toContain('>Customers and resellers</option>')
    expect(await page(p, `/admin/nodes/${p.node.id}`, p.staff(['nodes.read']))).not.toContain('Announce to them')
  })
})
