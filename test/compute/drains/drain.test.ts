import { describe, expect, test } from 'bun:test'
import { advanceDrains } from '../../../src/compute/drains/advance.ts'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { nodeNamed } from '../transfers/world.ts'
import { drainOf, homes, open, ordered, played, states, turn } from './world.ts'

const some = async (p: World, n: number) => {
  const ids: string[] = []
  for (let i = 0; i < n; i++) ids.push(await ordered(p, `web${String(i).padStart(2, '0')}`))
  return ids
}
const code = async (answer: Promise<{ status: number; body: any }>) => {
  const { status, body } = await answer
  return [status, body.error?.code]
}

test('a drain of 20 servers goes on over failures, and lists them with their reasons', async () => {
  using p = await open()
  await some(p, 20)
  p.node.agent.fault({ command: 'transfer.begin-migration', mode: 'fail', times: 3 })
  const started = await drainOf(p, { reason: 'Memory is exchanged' })
  expect(started).toMatchObject({ state: 'running', kind: 'drain', counts: { servers: 20, waiting: 20 }, atOnce: 2 })
  expect(await p.admin('GET', `/admin/nodes/${p.node.id}`)).toMatchObject({
    open: false,
    closedReason: 'Memory is exchanged',
  })
  await turn(p)
  expect(p.job(started.jobId)).toMatchObject({ state: 'queued', kind: 'drain', title: 'Drain fra-01' })
  const children = p.db.$client.query('SELECT kind FROM jobs WHERE parent_id = ?').all(started.jobId)
  expect(children).toEqual([{ kind: 'move' }, { kind: 'move' }])
  const drain = await played(p, started.id)
  expect(states(drain)).toEqual({ failed: 3, moved: 17 })
  expect(drain).toMatchObject({ state: 'done', counts: { moved: 17, failed: 3, waiting: 0 } })
  for (const one of drain.servers.filter(({ state }: any) => state === 'failed')) expect(one.reason).toBeTruthy()
  expect(await homes(p)).toMatchObject({ 'fra-01': 3 })
  expect(p.job(started.jobId)).toMatchObject({ state: 'succeeded', errorCode: null })
  expect(p.events().filter((type) => type.startsWith('node.drain'))).toEqual([
    'node.drain_started',
    'node.drain_finished',
  ])
  // The rest is tried by another drain of the node.
  const again = await played(p, (await drainOf(p)).id)
  expect(states(again)).toEqual({ moved: 3 })
  expect(await homes(p)).toMatchObject({ 'fra-01': 0 })
})

test('a failure pauses a drain that is to pause; its server is tried again, and the others go on', async () => {
  using p = await open()
  await some(p, 3)
  p.node.agent.fault({ command: 'transfer.begin-migration', mode: 'fail', times: 1 })
  const { id } = await drainOf(p, { onFailure: 'pause', atOnce: 1 })
  const paused = await played(p, id)
  expect(paused).toMatchObject({ state: 'paused', pausedBy: 'failure', counts: { failed: 1, waiting: 2 } })
  await turn(p)
  expect((await p.admin('GET', `/admin/drains/${id}`)).counts).toEqual(paused.counts)
  const failed = paused.servers.find(({ state }: any) => state === 'failed')
  const before = p.fingerprint(['audit'])
  const waiting = paused.servers.find(({ state }: any) => state === 'waiting')
  const path = `/admin/drains/${id}/actions`
  expect(await code(p.call(p.owner, 'POST', `${path}/retry`, { serverId: waiting.id }))).toEqual([
    422,
    'validation_failed',
  ])
  expect(await code(p.call(p.owner, 'POST', `${path}/pause`, {}))).toEqual([409, 'drain_state'])
  expect(p.fingerprint(['audit'])).toBe(before)
  await p.admin('POST', `${path}/retry`, { serverId: failed.id })
  p.turnClock(60_000)
  await p.admin('POST', `${path}/resume`)
  const drain = await played(p, id)
  expect(states(drain)).toEqual({ moved: 3 })
  expect(drain.pausedSeconds).toBeGreaterThanOrEqual(60)
  expect(await code(p.call(p.owner, 'POST', `${path}/cancel`, {}))).toEqual([409, 'drain_ended'])
})

/** The drain has begun its moves, and the node to which they go is away. */
async function held(p: World, n = 3) {
  await some(p, n)
  const { id, jobId } = await drainOf(p)
  p.arm({
    failpoints: (moment) => {
      if (moment === 'move/receive:before')
        for (const name of ['fra-02', 'fra-03']) p.agents.get(nodeNamed(p, name))!.disconnect()
    },
  })
  advanceDrains(p.db, p.controller.app)
  await eventually(async () => !p.controller.hub.connected(nodeNamed(p, 'fra-02')))
  return { id, jobId }
}
const back = async (p: World) => {
  p.arm({})
  for (const name of ['fra-02', 'fra-03']) p.agents.get(nodeNamed(p, name))!.connect()
  for (let i = 0; i < 5; i++) await p.settle()
}

test('paused with its moves cancelled, a drain moves the same servers when it is resumed', async () => {
  using p = await open()
  p.arm({})
  const { id } = await held(p)
  const paused = await p.admin('POST', `/admin/drains/${id}/actions/pause`, { moves: 'cancel' })
  expect(paused).toMatchObject({ state: 'paused', pausedBy: 'person' })
  await back(p)
  await turn(p)
  const rests = await p.admin('GET', `/admin/drains/${id}`)
  expect(states(rests)).toEqual({ waiting: 3 })
  expect(await homes(p)).toEqual({ 'fra-01': 3, 'fra-02': 0, 'fra-03': 0 })
  await p.admin('POST', `/admin/drains/${id}/actions/resume`)
  expect(states(await played(p, id))).toEqual({ moved: 3 })
})

test('cancelled, a drain lets its moves end; what has moved stays there, and the node stays closed', async () => {
  using p = await open()
  const { id, jobId } = await held(p)
  const cancelled = await p.admin('POST', `/admin/drains/${id}/actions/cancel`, {})
  expect(cancelled).toMatchObject({ state: 'cancelling', finishedAt: null })
  await back(p)
  const drain = await played(p, id)
  expect(drain.state).toBe('cancelled')
  expect(states(drain)).toEqual({ moved: 2, waiting: 1 })
  expect(await homes(p)).toMatchObject({ 'fra-01': 1 })
  await p.settle()
  expect(p.job(jobId)).toMatchObject({ state: 'failed', errorCode: 'cancelled' })
  expect((await p.admin('GET', `/admin/nodes/${p.node.id}`)).open).toBe(false)
  // Its lock is free again.
  expect((await drainOf(p)).state).toBe('running')
})

test('a second drain of the same node is refused, and one of another node is not', async () => {
  using p = await open()
  await some(p, 1)
  await drainOf(p)
  const before = p.fingerprint(['audit'])
  const refused = p.call(p.owner, 'POST', `/admin/nodes/${p.node.id}/actions/drain`, {})
  expect(await code(refused)).toEqual([409, 'drain_at_work'])
  expect(p.fingerprint(['audit'])).toBe(before)
  expect((await drainOf(p, {}, nodeNamed(p, 'fra-02'))).state).toBe('running')
})

describe('a controller that is killed', () => {
  for (const moment of ['move/receive:before', 'move/switch:before', 'move/give:noted', 'drain/end:before'])
    test(`at ${moment} goes on with the drain`, async () => {
      using p = await open()
      await some(p, 3)
      const { id } = await drainOf(p)
      let isCut = false
      p.arm({
        failpoints: (now) => {
          if (isCut || now !== moment) return
          isCut = true
          throw new InjectedCrash(now)
        },
      })
      for (let i = 0; i < 20 && !isCut; i++) await turn(p)
      expect(isCut).toBe(true)
      await p.crash()
      await p.settle()
      expect(states(await played(p, id))).toEqual({ moved: 3 })
      expect(await homes(p)).toMatchObject({ 'fra-01': 0 })
    })
})

test('while its node is away a drain begins no move; it goes on when the node is back', async () => {
  using p = await open()
  await some(p, 2)
  const { id } = await drainOf(p, { atOnce: 1 })
  p.node.agent.disconnect()
  await turn(p)
  const waits = await p.admin('GET', `/admin/drains/${id}`)
  expect(waits).toMatchObject({ state: 'running', counts: { waiting: 2, moving: 0 } })
  expect(waits.waitsFor).toContain('fra-01 is not connected')
  p.node.agent.connect()
  expect(states(await played(p, id))).toEqual({ moved: 2 })
})

test('a node that dies during its own drain ends it: what had not moved is left', async () => {
  using p = await open()
  await some(p, 3)
  const { id } = await drainOf(p, { atOnce: 1 })
  let n = 0
  p.arm({ failpoints: (moment) => void (moment === 'move/mirror:before' && ++n === 2 && p.node.agent.disconnect()) })
  await turn(p)
  advanceDrains(p.db, p.controller.app)
  await eventually(async () => n === 2)
  await p.admin('POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
  p.controller.runner.sweep()
  await p.settle()
  const drain = await played(p, id)
  expect(states(drain)).toEqual({ failed: 1, left: 1, moved: 1 })
  expect(drain.servers.find(({ state }: any) => state === 'left').reason).toBe('fra-01 is lost.')
  expect(await code(p.call(p.owner, 'POST', `/admin/nodes/${p.node.id}/actions/drain`, {}))).toEqual([
    409,
    'node_is_lost',
  ])
})

test('each move is placed anew: a node that was closed meanwhile gets none', async () => {
  using p = await open()
  await some(p, 4)
  const { id } = await drainOf(p, { atOnce: 1 })
  const planned = await p.admin('GET', `/admin/drains/${id}`)
  expect(planned.servers.some(({ to }: any) => to.name === 'fra-02')).toBe(true)
  await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-02')}`, { open: false })
  const drain = await played(p, id)
  expect(new Set(drain.servers.map(({ to }: any) => to.name))).toEqual(new Set(['fra-03']))
  expect(await homes(p)).toEqual({ 'fra-01': 0, 'fra-02': 0, 'fra-03': 4 })
})

test('a termination and a suspension win over the drain', async () => {
  using p = await open()
  const [ended, suspended] = await some(p, 3)
  const { id } = await drainOf(p, { atOnce: 1 })
  await p.admin('POST', `/servers/${suspended}/actions/suspend`, { reason: 'unpaid' })
  await p.admin('DELETE', `/servers/${ended}?immediately=true`)
  await p.settle()
  const drain = await played(p, id)
  expect(states(drain)).toEqual({ gone: 1, moved: 2 })
  expect(p.server(suspended!)).toMatchObject({ status: 'suspended' })
  expect(p.server(suspended!).nodeId).not.toBe(p.node.id)
})

test('a server on which a job works waits for its end', async () => {
  using p = await open()
  const [busy] = await some(p, 2)
  p.arm({ failpoints: (moment) => void (moment === 'power/stop:before' && p.node.agent.disconnect()) })
  await p.admin('POST', `/servers/${busy}/actions/power`, { action: 'restart' })
  await eventually(async () => !p.controller.hub.connected(p.node.id))
  const { id } = await drainOf(p)
  p.arm({})
  p.node.agent.connect()
  advanceDrains(p.db, p.controller.app)
  const waits = (await p.admin('GET', `/admin/drains/${id}`)).servers.find((one: any) => one.id === busy)
  expect([waits.state, waits.reason]).toEqual(['waiting', expect.stringContaining('Another job')])
  await p.settle()
  p.turnClock(60_000)
  expect(states(await played(p, id))).toEqual({ moved: 2 })
})

test('a drain needs its own permission', async () => {
  using p = await open()
  await some(p, 1)
  const path = `/admin/nodes/${p.node.id}/actions/drain`
  const other = p.staff(['nodes.write', 'servers.move', 'servers.see_all'])
  const before = p.fingerprint(['audit'])
  expect((await p.call(other, 'POST', path, {})).status).toBe(403)
  expect((await p.call(p.customer, 'POST', path, {})).status).toBe(403)
  expect(p.fingerprint(['audit'])).toBe(before)
  const who = p.staff(['nodes.maintain'])
  const { status, body } = await p.call(who, 'POST', path, {})
  expect([status, body.startedBy.name]).toEqual([202, 'Ada'])
  const drain = await played(p, body.id)
  expect(drain.counts.moved).toBe(1)
  const [transfer] = (await p.admin('GET', '/admin/transfers')).data
  expect(transfer.startedBy).toEqual({ id: who.id, name: 'Ada' })
})
