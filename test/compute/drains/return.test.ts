import { expect, test } from 'bun:test'
import { nodeNamed } from '../transfers/world.ts'
import { drainOf, homes, open, ordered, played, states, turn } from './world.ts'

const GONE = ['audit']

test('what is left is stopped with a notice, started again at the end, and servers come back', async () => {
  using p = await open()
  const moves = await ordered(p, 'web01')
  const held = await ordered(p, 'git01')
  await p.admin('POST', `/servers/${held}/snapshots`, { name: 'before' })
  await p.settle()
  const { id } = await drainOf(p)
  expect(states(await played(p, id))).toEqual({ failed: 1, moved: 1 })
  const { what, effect } = (await p.admin('GET', '/admin/overview')).attention.find((one: any) =>
    one.what.includes('fra-01 is not empty'),
  )
  expect([what, effect]).toEqual([
    'fra-01 is not empty: 1 server did not move.',
    'Drain it again, or stop what is left with a notice.',
  ])
  const path = `/admin/drains/${id}/actions/evacuate`
  const before = p.fingerprint(GONE)
  const wrong = await p.call(p.owner, 'POST', path, { name: 'fra-02' })
  expect([wrong.status, wrong.body.error.code]).toEqual([422, 'validation_failed'])
  expect(p.fingerprint(GONE)).toBe(before)

  const stopping = await p.admin('POST', path, { name: 'fra-01' })
  expect(stopping).toEqual({ drainId: id, stopping: [{ id: held, hostname: 'git01' }], refused: [] })
  await p.settle()
  await turn(p)
  expect(states(await p.admin('GET', `/admin/drains/${id}`))).toEqual({ moved: 1, stopped: 1 })
  expect(p.server(held).status).toBe('stopped')
  const notices = (await p.call(p.customer, 'GET', '/notices')).body.data
  expect(notices[0]).toMatchObject({
    kind: 'server_stopped_for_maintenance',
    subject: 'git01 is stopped for maintenance',
  })

  const plan = await p.admin('GET', `/admin/nodes/${p.node.id}/return-plan`)
  expect(plan.stopped).toEqual([{ id: held, hostname: 'git01' }])
  expect(plan.servers.map(({ id, to }: any) => [id, to.name])).toEqual([[moves, 'fra-01']])
  const ended = await p.admin('POST', `/admin/nodes/${p.node.id}/actions/end-maintenance`, { bringBack: true })
  expect(ended.started).toEqual([{ id: held, hostname: 'git01' }])
  expect(await p.admin('GET', `/admin/nodes/${p.node.id}`)).toMatchObject({ open: true, closedReason: null })
  const back = await played(p, ended.drain.id)
  expect(back).toMatchObject({ kind: 'return', ofDrainId: id, state: 'done' })
  expect(states(back)).toEqual({ moved: 1 })
  expect(await homes(p)).toEqual({ 'fra-01': 2, 'fra-02': 0, 'fra-03': 0 })
  expect(p.server(held).status).toBe('running')
  // It is over: nothing is offered twice.
  const again = await p.call(p.owner, 'POST', path, { name: 'fra-01' })
  expect([again.status, again.body.error.code]).toEqual([409, 'drain_state'])
  expect((await p.admin('GET', `/admin/nodes/${p.node.id}/return-plan`)).servers).toEqual([])
})

test('without the wish to come back servers stay; one that its owner has started meanwhile is left alone', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const held = await ordered(p, 'git01')
  await p.admin('POST', `/servers/${held}/snapshots`, { name: 'before' })
  await p.settle()
  const { id } = await drainOf(p)
  await played(p, id)
  await p.admin('POST', `/admin/drains/${id}/actions/evacuate`, { name: 'fra-01' })
  await p.settle()
  await turn(p)
  await p.admin('POST', `/servers/${held}/actions/power`, { action: 'start' })
  await p.settle()
  const ended = await p.admin('POST', `/admin/nodes/${p.node.id}/actions/end-maintenance`, {})
  expect(ended).toMatchObject({ started: [], drain: null })
  await p.settle()
  expect((await homes(p))['fra-01']).toBe(1)
})

test('a node that is away, or is being emptied, is not opened', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const path = `/admin/nodes/${p.node.id}/actions/end-maintenance`
  const code = async () => {
    const before = p.fingerprint(GONE)
    const { status, body } = await p.call(p.owner, 'POST', path, {})
    expect(p.fingerprint(GONE)).toBe(before)
    return [status, body.error.code]
  }
  const { id } = await drainOf(p)
  expect(await code()).toEqual([409, 'drain_at_work'])
  const running = await p.call(p.owner, 'POST', `/admin/drains/${id}/actions/evacuate`, { name: 'fra-01' })
  expect([running.status, running.body.error.code]).toEqual([409, 'drain_state'])
  await played(p, id)
  p.node.agent.disconnect()
  expect(await code()).toEqual([409, 'node_is_away'])
})

test('a server that moved on elsewhere meanwhile comes back from there', async () => {
  using p = await open()
  const id = await ordered(p, 'web01')
  const drain = await drainOf(p)
  await played(p, drain.id)
  const next = p.server(id).nodeId === nodeNamed(p, 'fra-02') ? 'fra-03' : 'fra-02'
  await p.admin('POST', `/admin/servers/${id}/actions/move`, { nodeId: nodeNamed(p, next) })
  await p.settle()
  const ended = await p.admin('POST', `/admin/nodes/${p.node.id}/actions/end-maintenance`, { bringBack: true })
  expect(states(await played(p, ended.drain.id))).toEqual({ moved: 1 })
  expect(p.server(id).nodeId).toBe(p.node.id)
})
