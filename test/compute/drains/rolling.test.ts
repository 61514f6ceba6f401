import { expect, test } from 'bun:test'
import { advanceRollings } from '../../../src/compute/drains/rolling/advance.ts'
import type { World } from '../../support/world/panel.ts'
import { nodeNamed } from '../transfers/world.ts'
import { homes, open, ordered, turn } from './world.ts'

const read = (p: World, id: string) => p.admin('GET', `/admin/rolling-maintenance/${id}`)
/** Turns until the maintenance waits for the end of some work, or has ended. */
async function played(p: World, id: string) {
  for (let i = 0; i < 60; i++) {
    await turn(p)
    advanceRollings(p.db, p.controller.app)
    const rolling = await read(p, id)
    if (rolling.state !== 'running' || rolling.phase === 'working') return rolling
  }
  throw new Error('it does not end')
}
const begin = (p: World, names: string[], body: object = {}) =>
  p.admin('POST', '/admin/rolling-maintenance', { nodeIds: names.map((name) => nodeNamed(p, name)), ...body })
const two = async (p: World) => {
  await ordered(p, 'web01')
  await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02', nodeId: nodeNamed(p, 'fra-02') })
  await p.settle()
}

test('nodes are emptied one after another, each waits for its confirmation, and servers come back', async () => {
  using p = await open()
  await two(p)
  const { id } = await begin(p, ['fra-01', 'fra-02'], { bringBack: true })
  const first = await played(p, id)
  expect(first).toMatchObject({ state: 'running', phase: 'working', node: { name: 'fra-01' }, done: 0 })
  expect((await homes(p))['fra-01']).toBe(0)
  expect((await p.admin('GET', `/admin/nodes/${nodeNamed(p, 'fra-02')}`)).open).toBe(true)
  await p.crash()
  await p.settle()
  expect(await played(p, id)).toMatchObject({ phase: 'working', node: { name: 'fra-01' } })
  await p.admin('POST', `/admin/rolling-maintenance/${id}/actions/confirm`)
  const second = await played(p, id)
  expect(second).toMatchObject({ phase: 'working', node: { name: 'fra-02' }, done: 1 })
  expect(await homes(p)).toMatchObject({ 'fra-01': expect.any(Number), 'fra-02': 0 })
  await p.admin('POST', `/admin/rolling-maintenance/${id}/actions/confirm`)
  expect(await played(p, id)).toMatchObject({ state: 'done', done: 2, node: null })
  expect(await homes(p)).toEqual({ 'fra-01': 1, 'fra-02': 1, 'fra-03': 0 })
  const again = await p.call(p.owner, 'POST', `/admin/rolling-maintenance/${id}/actions/confirm`)
  expect([again.status, again.body.error.code]).toEqual([409, 'drain_ended'])
})

test('a restart of the node is the sign to go on, where that was chosen', async () => {
  using p = await open()
  await two(p)
  const { id } = await begin(p, ['fra-01'], { waitsFor: 'reboot' })
  expect((await played(p, id)).phase).toBe('working')
  expect((await played(p, id)).phase).toBe('working')
  p.db.$client.run("UPDATE nodes SET facts = json_set(facts, '$.bootedAt', 1800000000000) WHERE id = ?", [p.node.id])
  expect(await played(p, id)).toMatchObject({ state: 'done' })
  expect((await p.admin('GET', `/admin/nodes/${p.node.id}`)).open).toBe(true)
})

/** A server on `fra-01` that cannot move. */
async function held(p: World) {
  const id = await ordered(p, 'git01')
  const { snapshotId } = await p.admin('POST', `/servers/${id}/snapshots`, { name: 'before' })
  await p.settle()
  return { path: `/servers/${id}/snapshots/${snapshotId}` }
}
const act = (p: World, id: string, action: string) =>
  p.call(p.owner, 'POST', `/admin/rolling-maintenance/${id}/actions/${action}`)

test('it stops at the first node that does not become empty, and goes on there when that is mended', async () => {
  using p = await open()
  const { path } = await held(p)
  const { id } = await begin(p, ['fra-01', 'fra-02'])
  const paused = await played(p, id)
  expect(paused).toMatchObject({ state: 'paused', reason: 'fra-01 is not empty: 1 could not move.', done: 0 })
  expect(paused.nodes.map(({ state }: any) => state)).toEqual(['at_hand', 'waiting'])
  expect((await p.admin('GET', '/admin/drains')).total).toBe(1)
  expect((await p.admin('GET', `/admin/nodes/${nodeNamed(p, 'fra-02')}`)).open).toBe(true)
  const { attention } = await p.admin('GET', '/admin/overview')
  expect(attention.map(({ what }: any) => what)).toContain('Maintenance of 2 nodes is paused at fra-01.')
  const confirmed = await act(p, id, 'confirm')
  expect([confirmed.status, confirmed.body.error.code]).toEqual([409, 'drain_state'])
  // Nothing is mended: it stops there again.
  expect((await act(p, id, 'resume')).body).toMatchObject({ state: 'running', phase: 'draining', reason: null })
  expect(await played(p, id)).toMatchObject({ state: 'paused', node: { name: 'fra-01' } })
  await p.admin('DELETE', path)
  await p.settle()
  await act(p, id, 'resume')
  expect(await played(p, id)).toMatchObject({ state: 'running', phase: 'working', node: { name: 'fra-01' } })
  const again = await act(p, id, 'resume')
  expect([again.status, again.body.error.code]).toEqual([409, 'drain_state'])
})

test('the node at which it stopped is skipped: it stays closed as it is, and the next one follows', async () => {
  using p = await open()
  await held(p)
  const { id } = await begin(p, ['fra-01', 'fra-03'])
  await played(p, id)
  const skipped = await act(p, id, 'skip')
  expect(skipped.body).toMatchObject({ state: 'running', phase: 'draining', node: { name: 'fra-03' }, done: 0 })
  expect((await p.admin('GET', `/admin/nodes/${p.node.id}`)).open).toBe(false)
  expect(await played(p, id)).toMatchObject({ phase: 'working', node: { name: 'fra-03' } })
  const before = p.fingerprint(['audit'])
  const refused = await act(p, id, 'skip')
  expect([refused.status, refused.body.error.code]).toEqual([409, 'drain_state'])
  expect(p.fingerprint(['audit'])).toBe(before)
  await act(p, id, 'confirm')
  const done = await read(p, id)
  expect(done).toMatchObject({ state: 'done', done: 1, node: null })
  expect(done.nodes.map(({ state }: any) => state)).toEqual(['skipped', 'done'])
})

test('a next node that somebody empties already pauses it, and it goes on there when that has ended', async () => {
  using p = await open()
  await two(p)
  const { id } = await begin(p, ['fra-01', 'fra-02'])
  await played(p, id)
  const other = nodeNamed(p, 'fra-02')
  const { id: theirs } = await p.admin('POST', `/admin/nodes/${other}/actions/drain`, {})
  const paused = (await act(p, id, 'confirm')).body
  expect(paused).toMatchObject({ state: 'paused', node: { name: 'fra-02' }, done: 1 })
  expect(paused.reason).toContain('is being emptied or filled already')
  const early = await act(p, id, 'resume')
  expect([early.status, early.body.error.code]).toEqual([409, 'drain_at_work'])
  expect((await read(p, id)).state).toBe('paused')
  await p.admin('POST', `/admin/drains/${theirs}/actions/cancel`, { moves: 'cancel' })
  await act(p, id, 'resume')
  expect(await played(p, id)).toMatchObject({ phase: 'working', node: { name: 'fra-02' }, done: 1 })
})

test('what cannot begin is refused, and nothing happens', async () => {
  using p = await open()
  await two(p)
  const id = p.node.id
  await p.admin('POST', `/admin/nodes/${id}/actions/drain`, {})
  const before = p.fingerprint(['audit'])
  const refused = async (body: object) => {
    const { status, body: answer } = await p.call(p.owner, 'POST', '/admin/rolling-maintenance', body)
    return [status, answer.error.code]
  }
  expect(await refused({ nodeIds: [id] })).toEqual([409, 'drain_at_work'])
  expect(await refused({ nodeIds: [nodeNamed(p, 'fra-02'), nodeNamed(p, 'fra-02')] })).toEqual([
    422,
    'validation_failed',
  ])
  expect(p.fingerprint(['audit'])).toBe(before)
  const { id: cancelled } = await begin(p, ['fra-02'])
  const ended = await p.admin('POST', `/admin/rolling-maintenance/${cancelled}/actions/cancel`)
  expect(ended).toMatchObject({ state: 'cancelled', node: null })
})
