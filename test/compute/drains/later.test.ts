// A drain that begins by itself at a time, and the choices that are kept in the plan of its node.
import { expect, test } from 'bun:test'
import { advanceDrains } from '../../../src/compute/drains/advance.ts'
import { beginDueDrains } from '../../../src/compute/drains/plan/later.ts'
import type { World } from '../../support/world/panel.ts'
import { nodeNamed } from '../transfers/world.ts'
import { drainOf, open, ordered, played, states } from './world.ts'

const hour = 3_600_000
const at = (p: World, hours: number) => new Date(p.now() + hours * hour).toISOString()
const staff = (p: World) => p.signIn(p.owner.id)
const schedule = (p: World, body: object, nodeId = p.node.id) =>
  p.call(staff(p), 'POST', `/admin/nodes/${nodeId}/actions/schedule-drain`, body)
const choose = (p: World, id: string, body: object) =>
  p.call(staff(p), 'PUT', `/admin/nodes/${p.node.id}/drain-plan/servers/${id}`, body)
const planOf = (p: World) => p.admin('GET', `/admin/nodes/${p.node.id}/drain-plan`)
const planned = async (p: World, id: string) => (await planOf(p)).servers.find((one: any) => one.id === id)
const drains = async (p: World) => (await p.admin('GET', `/admin/drains?nodeId=${p.node.id}`)).data
function come(p: World) {
  beginDueDrains(p.db, p.controller.app)
  advanceDrains(p.db, p.controller.app)
}
const attention = async (p: World) =>
  (await p.call(staff(p), 'GET', '/admin/overview')).body.attention.filter(({ what }: any) => what.includes('drain'))

test('begins at its time and not before, also after a restart, and leaves the node open until then', async () => {
  using p = await open()
  const id = await ordered(p, 'web01')
  const startsAt = at(p, 2)
  const { status, body } = await schedule(p, { startsAt, reason: 'Memory', onFailure: 'pause', atOnce: 1 })
  expect([status, body]).toMatchObject([
    200,
    { startsAt, reason: 'Memory', onFailure: 'pause', atOnce: 1, error: null },
  ])
  expect((await planOf(p)).scheduled).toEqual(body)
  expect((await p.admin('GET', `/admin/nodes/${p.node.id}/maintenance`)).scheduled).toEqual(body)
  p.turnClock(1.9 * hour)
  await p.crash()
  come(p)
  expect([await drains(p), (await p.admin('GET', `/admin/nodes/${p.node.id}`)).open]).toEqual([[], true])
  p.turnClock(0.2 * hour)
  come(p)
  const [drain] = await drains(p)
  expect(drain).toMatchObject({ state: 'running', atOnce: 1, onFailure: 'pause', startedBy: { id: p.owner.id } })
  expect(await p.admin('GET', `/admin/nodes/${p.node.id}`)).toMatchObject({ open: false, closedReason: 'Memory' })
  expect([states(await played(p, drain.id)), (await planOf(p)).scheduled]).toEqual([{ moved: 1 }, null])
  expect(p.server(id).nodeId).not.toBe(p.node.id)
})

test('is changed and taken back before its time', async () => {
  using p = await open()
  await ordered(p, 'web01')
  await schedule(p, { startsAt: at(p, 1) })
  const later = at(p, 3)
  expect((await schedule(p, { startsAt: later })).body.startsAt).toBe(later)
  p.turnClock(2 * hour)
  come(p)
  expect(await drains(p)).toEqual([])
  const path = `/admin/nodes/${p.node.id}/scheduled-drain`
  expect((await p.call(staff(p), 'DELETE', path)).status).toBe(200)
  expect((await p.call(staff(p), 'DELETE', path)).status).toBe(200)
  p.turnClock(2 * hour)
  come(p)
  expect([await drains(p), (await planOf(p)).scheduled]).toEqual([[], null])
})

test('of a node that is lost by then does not begin, and staff are told why', async () => {
  using p = await open()
  await schedule(p, { startsAt: at(p, 1) })
  p.node.agent.disconnect()
  await p.reported()
  await p.call(staff(p), 'POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
  p.turnClock(2 * hour)
  come(p)
  const [entry] = await attention(p)
  expect(entry.what).toBe('The drain of fra-01 did not begin at its time.')
  expect(entry.effect).toContain('fra-01 is lost')
  expect((await planOf(p)).scheduled).toMatchObject({ startsAt: null, error: expect.stringContaining('is lost') })
  await p.admin('DELETE', `/admin/nodes/${p.node.id}`)
  expect(await attention(p)).toEqual([])
  expect(p.db.$client.query('SELECT * FROM drain_plans').all()).toEqual([])
})

test('409 drain_at_work: while the node is emptied; one that is started replaces one that waits', async () => {
  using p = await open()
  await ordered(p, 'web01')
  await schedule(p, { startsAt: at(p, 1) })
  const { id } = await drainOf(p)
  expect((await planOf(p)).scheduled).toBe(null)
  expect((await schedule(p, { startsAt: at(p, 1) })).body.error.code).toBe('drain_at_work')
  await played(p, id)
  expect((await schedule(p, { startsAt: at(p, 1) })).status).toBe(200)
})

test('begins with the announcement, where that says so', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const startsAt = at(p, 24)
  const path = `/admin/nodes/${p.node.id}/actions/announce-maintenance`
  const told = (body: object, query = '') => p.call(staff(p), 'POST', path + query, { startsAt, ...body })
  expect((await told({ drain: true }, '?dryRun=true')).status).toBe(200)
  expect((await planOf(p)).scheduled).toBe(null)
  await told({})
  expect((await planOf(p)).scheduled).toBe(null)
  expect((await told({ drain: true })).status).toBe(202)
  expect((await planOf(p)).scheduled).toMatchObject({ startsAt })
})

test('422: in the past, or further ahead than 30 days; nothing is kept', async () => {
  using p = await open()
  for (const hours of [-1, 24 * 31]) {
    const { status, body } = await schedule(p, { startsAt: at(p, hours) })
    expect([status, body.error.details.fields[0].field]).toEqual([422, 'startsAt'])
  }
  expect((await planOf(p)).scheduled).toBe(null)
})

test('choices are kept in the plan and hold for the drain: way, node, place, and that it stays', async () => {
  using p = await open()
  const [first, second, third] = [await ordered(p, 'web01'), await ordered(p, 'web02'), await ordered(p, 'web03')]
  const nodeId = nodeNamed(p, 'fra-03')
  expect((await choose(p, third!, { mode: 'near_live', nodeId, place: 1 })).body).toEqual({
    serverId: third,
    choice: { mode: 'near_live', node: { id: nodeId, name: 'fra-03' }, leave: false, place: 1, by: 'Ada' },
  })
  await choose(p, second!, { leave: true })
  const { servers, totals } = await planOf(p)
  expect(servers.map(({ id, mode, to }: any) => [id, mode, to?.name])).toEqual([
    [third, 'near_live', 'fra-03'],
    [first, 'live', expect.any(String)],
    [second, null, undefined],
  ])
  expect(servers[2].reason).toBe('Ada leaves it here.')
  expect(totals).toMatchObject({ moves: 2, cannotMove: 1 })
  await schedule(p, { startsAt: at(p, 1) })
  p.turnClock(2 * hour)
  await p.crash()
  come(p)
  const [{ id }] = await drains(p)
  const drain = await played(p, id)
  expect(drain.servers.map(({ id, state, mode, to }: any) => [id, state, mode, to?.name])).toEqual([
    [third, 'moved', 'near_live', 'fra-03'],
    [first, 'moved', 'live', expect.any(String)],
    [second, 'left', null, undefined],
  ])
  // They were those of this drain.
  expect((await planned(p, second!)).choice).toBe(null)
})

test('a choice that is no longer possible says so, and is taken back by an empty one', async () => {
  using p = await open()
  const id = await ordered(p, 'web01')
  const nodeId = nodeNamed(p, 'fra-03')
  await choose(p, id, { nodeId, mode: 'live' })
  await p.admin('PATCH', `/admin/nodes/${nodeId}`, { open: false })
  expect(await planned(p, id)).toMatchObject({
    to: null,
    reason: 'fra-03, which was chosen for it, does not take it: closed.',
    remedy: 'Choose another node for it, or let placement choose.',
  })
  await choose(p, id, { mode: 'live' })
  await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
  await p.settle()
  expect((await planned(p, id)).reason).toStartWith('It was to move with its memory, and cannot: it is off')
  expect((await choose(p, id, {})).body).toEqual({ serverId: id, choice: null })
  expect(await planned(p, id)).toMatchObject({ reason: null, mode: 'cold' })
  await choose(p, id, { leave: true })
  await p.call(staff(p), 'DELETE', `/admin/nodes/${p.node.id}/drain-plan/servers`)
  expect((await planned(p, id)).choice).toBe(null)
})

test('404 and 422: a server of another node, or its own node; nothing is kept', async () => {
  using p = await open()
  const id = await ordered(p, 'web01')
  expect((await choose(p, id, { nodeId: p.node.id })).body.error.details.fields[0].field).toBe('nodeId')
  const other = (
    await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02', nodeId: nodeNamed(p, 'fra-02') })
  ).serverId
  expect((await choose(p, other, { leave: true })).body.error.code).toBe('server_not_found')
  expect(p.db.$client.query('SELECT * FROM drain_choices').all()).toEqual([])
})
