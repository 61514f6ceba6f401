// A location with a node that is nearly full, one that is half full, and an empty one.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { World } from '../../support/world/panel.ts'
import { nodeNamed, open } from '../transfers/world.ts'

let p: World
const ids: Record<string, string> = {}
beforeEach(async () => {
  p = await open()
  // Ten servers of the package fit on each.
  p.db.$client.run('UPDATE nodes SET memory_mb = reserved_memory_mb + 10 * 2048')
  for (const [hostname, node] of [
    ...Array.from({ length: 9 }, (_, i) => [`a${i}`, 'fra-01'] as const),
    ['b0', 'fra-02'] as const,
  ]) {
    const body = { ...p.order, hostname, nodeId: nodeNamed(p, node) }
    ids[hostname] = (await p.admin('POST', '/admin/servers', body)).serverId
  }
  await p.settle()
})
afterEach(() => p.close())

const balance = () => p.admin('GET', `/admin/node-groups/${p.location}/balance`)
const moves = async () =>
  (await balance()).moves.map((m: any) => `${m.server.hostname}: ${m.from.name} to ${m.to.name}`) as string[]
const apply = (moves: readonly any[]) =>
  p.call(p.owner, 'POST', `/admin/node-groups/${p.location}/actions/balance`, {
    moves: moves.map(({ server, to }) => ({ serverId: server.id, nodeId: to.id })),
  })

test('a full node is relieved by few moves, with their times, and nothing is suggested afterwards', async () => {
  const before = p.fingerprint()
  const found = await balance()
  expect(p.fingerprint()).toBe(before)
  expect(found).toMatchObject({ limitPercent: 80, location: { name: 'Frankfurt' } })
  expect(found.nodes.map((n: any) => [n.node.name, n.memoryPercent, n.memoryPercentAfter])).toEqual([
    ['fra-01', 90, 80],
    ['fra-02', 10, 10],
    ['fra-03', 0, 10],
  ])
  expect(found.moves).toMatchObject([{ server: { hostname: 'a0' }, mode: 'live', to: { name: 'fra-03' } }])
  expect(found.moves[0].expectedSeconds).toBeGreaterThan(0)
  const begun = await apply(found.moves)
  expect([begun.status, begun.body.transfers.length]).toEqual([202, 1])
  expect((await apply(found.moves)).body.error.code).toBe('balance_changed')
  await p.settle()
  expect((await p.admin('GET', `/servers/${ids['a0']}`)).node.name).toBe('fra-03')
  expect(await moves()).toEqual([])
})

test('suggestions keep groups, and leave out what cannot move, closed nodes and what fits nowhere', async () => {
  const group = { name: 'apart', policy: 'anti_affinity', hard: false }
  const { id } = await p.admin('POST', `/customers/${p.customer.id}/placement-groups`, group)
  await p.admin('POST', `/servers/${ids['a0']}/snapshots`, { name: 'kept' })
  await p.settle()
  expect(await moves()).toEqual(['a1: fra-01 to fra-03'])
  await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-03')}`, { open: false })
  expect(await moves()).toEqual(['a1: fra-01 to fra-02'])
  for (const name of ['a1', 'b0']) await p.admin('POST', `/placement-groups/${id}/servers`, { serverId: ids[name] })
  expect(await moves()).toEqual(['a2: fra-01 to fra-02'])
  await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-02')}`, { open: false })
  expect(await moves()).toEqual([])
})

test('what is not suggested any more is refused as a whole, and nothing moves', async () => {
  const { moves } = await balance()
  await p.admin('DELETE', `/servers/${ids['a8']}?immediately=true`)
  await p.settle()
  const before = p.fingerprint()
  const stale = await apply(moves)
  expect([stale.status, stale.body.error.code]).toEqual([409, 'balance_changed'])
  const invented = await apply([{ server: { id: ids['b0'] }, to: { id: p.node.id } }])
  expect(invented.body.error.code).toBe('balance_changed')
  expect(p.fingerprint()).toBe(before)
})

test('the page of the location shows them with one click', async () => {
  const headers = { Cookie: `__Host-panel=${p.owner.cookie}` }
  const request = new Request(`http://localhost/admin/node-groups/${p.location}`, { headers })
  const html = await (await p.controller.router.fetch(request)).text()
  for (const part of ['fra-01 from 90 % of its memory to 80 %', 'a0 moves from fra-01 to fra-03', 'Move it'])
    expect([part, html.includes(part)]).toEqual([part, true])
})
