import { expect, test } from 'bun:test'
import { nodeNamed } from '../transfers/world.ts'
import { copies, open, ordered } from './world.ts'

const GIB = 1024 ** 3
/** Of processor time: the promise is one second on a quiet machine. */
const MOST_CPU_MS = 5000

test('the plan of a node with 500 servers takes a second, and counts the capacity of the others down', async () => {
  using p = await open()
  const id = await ordered(p, 'web01')
  copies(p, id, 499)
  // Of 65,536 MiB each of two nodes takes 32 servers of 2 GiB.
  const before = process.cpuUsage()
  const began = performance.now()
  const plan = await p.admin('GET', `/admin/nodes/${p.node.id}/drain-plan`)
  const wallMs = performance.now() - began
  const cpuMs = (process.cpuUsage(before).user + process.cpuUsage(before).system) / 1000
  console.log(`plan of 500 servers: ${Math.round(wallMs)} ms, ${Math.round(cpuMs)} ms of processor time`)
  expect(cpuMs).toBeLessThan(MOST_CPU_MS)
  expect(plan.totals).toMatchObject({ servers: 500, moves: 64, cannotMove: 436, owners: 1 })
  expect(plan.nodes.map(({ node, memoryPercentAfter }: any) => [node.name, memoryPercentAfter])).toEqual([
    ['fra-02', 100],
    ['fra-03', 100],
  ])
  const stays = plan.servers.find(({ reason }: any) => reason !== null)
  expect(stays).toMatchObject({ to: null, mode: null })
  expect(stays.reason).toBe('No node takes it: fra-02 no memory left, fra-03 no memory left.')
  expect(stays.remedy).toContain('Free what is missing')
})

test('a plan says of each server how it moves, for how long, and what keeps it', async () => {
  using p = await open()
  const running = await ordered(p, 'web01')
  const off = await ordered(p, 'web02')
  const held = await ordered(p, 'web03')
  const { imageId: _, hostname: __, access: ___, ...empty } = p.order
  const { serverId: waiting } = await p.admin('POST', '/admin/servers', { ...empty, nodeId: p.node.id })
  await p.admin('POST', `/servers/${off}/actions/power`, { action: 'off' })
  await p.admin('POST', `/servers/${held}/snapshots`, { name: 'before' })
  await p.settle()
  const before = p.fingerprint()
  const plan = await p.admin('GET', `/admin/nodes/${p.node.id}/drain-plan`)
  expect(p.fingerprint()).toBe(before)
  expect(plan.servers.map(({ id, mode, to, bytes }: any) => [id, mode, to?.name, bytes])).toEqual([
    [waiting, 'reassigned', 'fra-02', 0],
    [off, 'cold', 'fra-03', 20 * GIB],
    [running, 'live', 'fra-02', 20 * GIB],
    [held, null, undefined, 20 * GIB],
  ])
  const [, , one, stays] = plan.servers
  expect(one.expectedDowntimeMs).toBeGreaterThan(0)
  expect(one.owner).toEqual({ id: p.customer.id, name: 'Cal' })
  expect(stays.reason).toContain('has 1 snapshot')
  expect(stays.remedy).toContain('stop it with a notice')
  expect(plan.totals).toMatchObject({ moves: 3, cannotMove: 1, off: 2, ownersToTell: 1 })
  const single = await p.admin('GET', `/admin/nodes/${p.node.id}/drain-plan?atOnce=1`)
  expect(single.totals.expectedSeconds).toBeGreaterThan(plan.totals.expectedSeconds - 1)
})

test('a closed node takes nothing of the plan, and says why it is closed', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const closed = await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-02')}`, {
    open: false,
    closedReason: 'Memory is exchanged',
  })
  expect(closed).toMatchObject({ open: false, closedReason: 'Memory is exchanged' })
  expect(closed.closedAt).not.toBeNull()
  const plan = await p.admin('GET', `/admin/nodes/${p.node.id}/drain-plan`)
  expect(plan.servers[0].to.name).toBe('fra-03')
  const opened = await p.admin('PATCH', `/admin/nodes/${closed.id}`, { open: true })
  expect(opened).toMatchObject({ open: true, closedAt: null, closedReason: null })
  const before = p.fingerprint(['audit'])
  const refused = await p.call(p.owner, 'PATCH', `/admin/nodes/${closed.id}`, { closedReason: 'No' })
  expect([refused.status, refused.body.error.code]).toEqual([422, 'validation_failed'])
  expect(p.fingerprint(['audit'])).toBe(before)
})

test('a plan needs its own permission', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const path = `/admin/nodes/${p.node.id}/drain-plan`
  const codes: unknown[] = []
  for (const who of [p.staff(['servers.see_all', 'nodes.write']), p.customer, p.staff(['nodes.maintain'])])
    codes.push((await p.call(who, 'GET', path)).status)
  expect(codes).toEqual([403, 403, 200])
})
