// Orders while nodes connect again: after a restart of the controller, and when a node broke off for a moment.
import { describe, expect, test } from 'bun:test'
import { registry } from '../../src/app/features.ts'
import type { ScheduleContext } from '../../src/kernel/feature.ts'
import { type Reply, type World, world } from '../support/world/panel.ts'

const notBack = registry.schedule.find(({ words }) => words === 'noting nodes that did not come back after a restart')!
const code = ({ status, body, headers }: Reply) =>
  `${status} ${body.error?.code ?? 'done'} ${headers.get('Retry-After') ?? ''}`.trim()
const order = (p: World, more: object = {}, headers: Record<string, string> = {}) =>
  p.call(p.owner, 'POST', '/admin/servers', { ...p.order, ...more }, headers)
const orderPage = async (p: World) => {
  const request = new Request('http://localhost/admin/servers/new', {
    headers: { Cookie: `__Host-panel=${p.owner.cookie}` },
  })
  return await (await p.controller.router.fetch(request)).text()
}

describe('after a restart of the controller', () => {
  test('an order is told to come back while nodes reconnect, and never that there is no capacity', async () => {
    using p = await world()
    for (let restart = 1; restart <= 3; restart++) {
      await p.crash({ nodesComeBack: false })
      const before = p.fingerprint()
      const refused = await order(p, { hostname: `web${restart}` }, { 'Idempotency-Key': `k${restart}` })
      expect(code(refused)).toBe('503 restarting 60')
      expect(refused.body.error.message).toBe(
        'Frankfurt is reconnecting to the panel. Nothing was ordered; try again in a minute.',
      )
      p.turnClock(50_000)
      expect(code(await order(p, { nodeId: p.node.id }))).toBe('503 restarting 60')
      expect(await orderPage(p)).toContain('It is reconnecting to the panel. Reload this page in a minute.')
      expect(p.fingerprint()).toBe(before)
      p.node.agent.connect()
      expect(code(await order(p, { hostname: `web${restart}` }, { 'Idempotency-Key': `k${restart}` }))).toBe('201 done')
      await p.settle()
    }
  })
  test('an order is told after a minute that there is no capacity, when the node stays away', async () => {
    using p = await world()
    await p.crash({ nodesComeBack: false })
    p.turnClock(61_000)
    expect(code(await order(p))).toBe('409 no_capacity')
    expect(await orderPage(p)).toContain('None of its nodes is connected.')
  })
  test('a node that stays away is waited for once: after the next restart an order is told so at once', async () => {
    using p = await world()
    const { seenAt } = (await p.call(p.owner, 'GET', `/admin/nodes/${p.node.id}`)).body
    const noteNotBack = () => notBack.work({ db: p.db, hub: p.controller.hub } as ScheduleContext)
    await p.crash({ nodesComeBack: false })
    noteNotBack()
    expect(code(await order(p))).toBe('503 restarting 60')
    p.turnClock(61_000)
    noteNotBack()
    await p.crash({ nodesComeBack: false })
    expect(code(await order(p))).toBe('409 no_capacity')
    const { connected, reconnecting, ...node } = (await p.call(p.owner, 'GET', `/admin/nodes/${p.node.id}`)).body
    expect([connected, reconnecting, node.seenAt]).toEqual([false, false, seenAt])
    p.node.agent.connect()
    noteNotBack()
    await p.crash({ nodesComeBack: false })
    expect(code(await order(p))).toBe('503 restarting 60')
  })
  test('a node that was away before it is not waited for', async () => {
    using p = await world()
    p.node.agent.disconnect()
    await p.reported()
    p.turnClock(600_000)
    await p.crash({ nodesComeBack: false })
    expect(code(await order(p))).toBe('409 no_capacity')
  })
})

describe('while a node is reconnecting', () => {
  test('another node of the location that has room takes the order', async () => {
    using p = await world()
    const other = p.addNode(p.location, 'fra-02')
    p.attach(p.pool, other.id)
    p.node.agent.disconnect()
    const { status, body } = await order(p)
    expect([status, p.server(body.serverId).nodeId]).toEqual([201, other.id])
    expect(code(await order(p, { hostname: 'web02', nodeId: p.node.id }))).toBe('503 restarting 60')
  })
  test('an order that no node could take anyway is told so at once', async () => {
    using p = await world()
    p.node.agent.disconnect()
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { memoryMb: 100_000 })
    expect(code(await order(p))).toBe('409 no_capacity')
  })
  test('a closed node is not waited for', async () => {
    using p = await world()
    await p.admin('PATCH', `/admin/nodes/${p.node.id}`, { open: false })
    p.node.agent.disconnect()
    expect(code(await order(p))).toBe('409 no_capacity')
  })
})
