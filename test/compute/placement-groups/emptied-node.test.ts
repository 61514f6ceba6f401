// Placement groups of servers on a node that is emptied: those that are to be together move together, and those that
// are to be apart keep apart from servers elsewhere too.
import { expect, test } from 'bun:test'
import type { World } from '../../support/world/panel.ts'
import { drainOf, open, ordered, played, states } from '../drains/world.ts'
import { nodeNamed } from '../transfers/world.ts'

const homeOf = (p: World, id: string): string =>
  (p.db.$client.query('SELECT n.name FROM workloads w JOIN nodes n ON n.id = w.node_id WHERE w.id = ?').get(id) as any)
    .name
/** A group with these servers; answers its id. */
async function grouped(p: World, members: readonly string[], more: object) {
  const body = { name: 'shop', policy: 'affinity', hard: true, ...more }
  const { id } = await p.admin('POST', `/customers/${p.customer.id}/placement-groups`, body)
  for (const serverId of members) await p.admin('POST', `/placement-groups/${id}/servers`, { serverId })
  return id as string
}
const plan = (p: World) => p.admin('GET', `/admin/nodes/${p.node.id}/drain-plan`)
const violation = async (p: World, id: string) => (await p.admin('GET', `/placement-groups/${id}`)).violation
/** Leaves memory for so many servers on a node. */
function roomFor(p: World, name: string, servers: number) {
  const used = 'SELECT coalesce(sum(s.memory_mb), 0) FROM workload_stays s WHERE s.node_id = nodes.id'
  p.db.$client.run(`UPDATE nodes SET memory_mb = reserved_memory_mb + (${used}) + ?1 WHERE name = ?2`, [
    servers * 2048,
    name,
  ])
}

test('a hard group that is to be together leaves a node together, and comes back together', async () => {
  using p = await open()
  const ids = []
  for (const hostname of ['app', 'cache', 'db']) ids.push(await ordered(p, hostname))
  await ordered(p, 'other')
  const group = await grouped(p, ids, {})
  // It takes two of them alone.
  roomFor(p, 'fra-02', 2)
  const { servers } = await plan(p)
  const planned = servers.filter(({ hostname }: any) => hostname !== 'other')
  expect(planned.map(({ to, reason }: any) => [to?.name, reason])).toEqual(Array(3).fill(['fra-03', null]))
  const { id } = await drainOf(p, { atOnce: 1 })
  expect(states(await played(p, id))).toEqual({ moved: 4 })
  expect(ids.map((one) => homeOf(p, one))).toEqual(['fra-03', 'fra-03', 'fra-03'])
  expect(await violation(p, group)).toBe(null)
  const { drain } = await p.admin('POST', `/admin/nodes/${p.node.id}/actions/end-maintenance`, { bringBack: true })
  expect(states(await played(p, drain.id))).toEqual({ moved: 4 })
  expect(ids.map((one) => homeOf(p, one))).toEqual(['fra-01', 'fra-01', 'fra-01'])
  expect(await violation(p, group)).toBe(null)
})

test('where no node takes all of a hard group, none of it moves, and the plan says what to do', async () => {
  using p = await open()
  const ids = []
  for (const hostname of ['app', 'cache', 'db']) ids.push(await ordered(p, hostname))
  const group = await grouped(p, ids, {})
  roomFor(p, 'fra-02', 2)
  roomFor(p, 'fra-03', 2)
  const words = 'The group shop stays together, and no node takes all 3 servers of it.'
  const { servers } = await plan(p)
  expect(servers.map(({ to, reason }: any) => [to, reason])).toEqual(Array(3).fill([null, words]))
  expect(servers[0].remedy).toBe('Free room on one node, or make the rule of the group soft.')
  const drain = await played(p, (await drainOf(p)).id)
  expect(states(drain)).toEqual({ failed: 3 })
  expect(ids.map((one) => homeOf(p, one))).toEqual(['fra-01', 'fra-01', 'fra-01'])
  // Soft, they are parted where that must be.
  await p.admin('PATCH', `/placement-groups/${group}`, { hard: false })
  expect(states(await played(p, (await drainOf(p)).id))).toEqual({ moved: 3 })
})

test('a hard group of which one cannot move stays with it', async () => {
  using p = await open()
  const ids = []
  for (const hostname of ['app', 'db']) ids.push(await ordered(p, hostname))
  await p.admin('POST', `/servers/${ids[1]}/snapshots`, { name: 'before' })
  await p.settle()
  await grouped(p, ids, {})
  const { servers } = await plan(p)
  expect(servers.map(({ to }: any) => to)).toEqual([null, null])
  expect(states(await played(p, (await drainOf(p)).id))).toEqual({ failed: 2 })
  expect(ids.map((one) => homeOf(p, one))).toEqual(['fra-01', 'fra-01'])
})

test('a server that is to be apart does not go where another one of its group stays', async () => {
  using p = await open()
  const first = await ordered(p, 'db1')
  const elsewhere = await p.admin('POST', '/admin/servers', {
    ...{ ...p.order, hostname: 'db2', nodeId: nodeNamed(p, 'fra-02') },
  })
  await p.settle()
  const group = await grouped(p, [first, elsewhere.serverId], { policy: 'anti_affinity' })
  // Placement would take the other node.
  roomFor(p, 'fra-03', 1)
  expect((await plan(p)).servers.map(({ to }: any) => to.name)).toEqual(['fra-03'])
  expect(states(await played(p, (await drainOf(p)).id))).toEqual({ moved: 1 })
  expect([homeOf(p, first), await violation(p, group)]).toEqual(['fra-03', null])
})
