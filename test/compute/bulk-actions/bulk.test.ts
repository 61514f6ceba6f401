import { expect, test } from 'bun:test'
import { advanceBulkActions, MOST_ON_NODE } from '../../../src/compute/bulk-actions/advance.ts'
import { serverById } from '../../../src/compute/server-records/model.ts'
import { changePower } from '../../../src/compute/servers/power-job.ts'
import { system } from '../../../src/kernel/api/actor.ts'
import { write } from '../../../src/kernel/db/open.ts'
import type { World } from '../../support/world/panel.ts'
import { copies, open, ordered } from '../drains/world.ts'
import { resultsOf } from './world.ts'

const power = (p: World, id: string) => p.admin('GET', `/servers/${id}`).then(({ status }) => status)
const turn = async (p: World) => {
  advanceBulkActions(p.db, p.controller.app)
  await p.settle()
}
/** Turns until it has ended. */
async function played(p: World, id: string) {
  for (let i = 0; i < 100; i++) {
    await turn(p)
    const action = await p.admin('GET', `/admin/bulk-actions/${id}`)
    if (action.finishedAt !== null) return action
  }
  throw new Error('the action does not end')
}
const jobsOf = (p: World, kind: string) =>
  p.db.$client.query<{ n: number }, [string]>('SELECT count(*) AS n FROM jobs WHERE kind = ?').get(kind)!.n

test('a plan says which servers cannot and why, and does nothing', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const off = await ordered(p, 'off01')
  const held = await ordered(p, 'held01')
  await p.admin('POST', `/servers/${off}/actions/power`, { action: 'off' })
  await p.settle()
  await p.admin('POST', `/servers/${held}/actions/suspend`, { reason: 'Overdue' })
  await p.settle()
  const before = p.fingerprint()

  const plan = await p.admin('POST', '/admin/servers/actions/power?dryRun=true', { filter: {}, action: 'restart' })
  expect([plan.id, plan.title, plan.counts.waiting, plan.counts.refused]).toEqual([null, 'Restart 3 servers', 1, 2])
  expect(plan.reasons.map(({ code, names }: any) => [code, names]).toSorted()).toEqual([
    ['already_stopped', ['off01']],
    ['server_suspended', ['held01']],
  ])
  const page = await p.admin('GET', '/admin/servers/bulk-plan?do=restart')
  expect(page).toEqual(plan)
  expect(p.fingerprint()).toBe(before)
})

test('every server of a node is done once, with its own job and audit line, and the rest is refused', async () => {
  using p = await open()
  const ids = [await ordered(p, 'web01'), await ordered(p, 'web02')]
  const off = await ordered(p, 'off01')
  await p.admin('POST', `/servers/${off}/actions/power`, { action: 'off' })
  await p.settle()
  const body = { filter: { nodeId: p.node.id }, expected: 3, action: 'shutdown' }
  const headers = { 'Idempotency-Key': 'once' }
  const first = await p.call(p.owner, 'POST', '/admin/servers/actions/power', body, headers)
  const again = await p.call(p.owner, 'POST', '/admin/servers/actions/power', body, headers)
  expect([first.status, again.body.id]).toEqual([202, first.body.id])

  const jobs = jobsOf(p, 'power')
  const ended = await played(p, first.body.id)
  expect([ended.state, ended.counts]).toEqual([
    'done',
    { all: 3, waiting: 0, running: 0, done: 2, failed: 0, refused: 1, cancelled: 0 },
  ])
  expect(await resultsOf(p, first.body.id)).toEqual({
    off01: 'refused: already_stopped',
    web01: 'done',
    web02: 'done',
  })
  expect(await Promise.all(ids.map((id) => power(p, id)))).toEqual(['stopped', 'stopped'])
  expect(jobsOf(p, 'power') - jobs).toBe(2)
  const { data } = await p.admin('GET', '/admin/audit?operation=servers.power')
  const lines = data.filter(({ details }: any) => details?.bulkActionId === first.body.id)
  expect(lines.map(({ target, actor }: any) => [target, actor.id]).toSorted()).toEqual(
    ids.map((id) => [id, p.owner.id]).toSorted(),
  )
  expect((await p.admin('GET', `/jobs/${first.body.jobId}`)).state).toBe('succeeded')
})

test('five hundred starts come to a node a few at a time, and others are served meanwhile', async () => {
  using p = await open()
  const one = await ordered(p, 'web01')
  await p.admin('POST', `/servers/${one}/actions/power`, { action: 'off' })
  await p.settle()
  copies(p, one, 499)
  const { id, counts } = await p.admin('POST', '/admin/servers/actions/power', {
    filter: { status: 'stopped' },
    action: 'start',
  })
  expect(counts.waiting).toBe(500)
  let longest = 0
  for (let i = 0; i < 20; i++) {
    const from = performance.now()
    advanceBulkActions(p.db, p.controller.app)
    longest = Math.max(longest, performance.now() - from)
    const { running } = (await p.admin('GET', `/admin/bulk-actions/${id}`)).counts
    expect(running).toBeLessThanOrEqual(MOST_ON_NODE)
  }
  expect(longest).toBeLessThan(500)
  // Jobs at work come to their end; nothing else begins.
  const cancelled = await p.admin('POST', `/admin/bulk-actions/${id}/actions/cancel`)
  expect(cancelled.counts.waiting).toBe(0)
  const begun = 500 - cancelled.counts.cancelled
  const ended = await played(p, id)
  expect([ended.state, ended.counts.cancelled, jobsOf(p, 'power') - 1]).toEqual(['cancelled', 500 - begun, begun])
  const after = p.fingerprint()
  expect((await p.call(p.owner, 'POST', `/admin/bulk-actions/${id}/actions/cancel`)).body.error.code).toBe(
    'bulk_action_ended',
  )
  expect(p.fingerprint()).toBe(after)
})

test('suspending, unsuspending, labels and a new owner work on a choice of servers', async () => {
  using p = await open()
  const ids = [await ordered(p, 'web01'), await ordered(p, 'web02')]
  const other = p.account('customer', 'Dana')
  const all = async (action: string, body: object) =>
    (await played(p, (await p.admin('POST', `/admin/servers/actions/${action}`, { ids, ...body })).id)).counts.done
  expect(await all('suspend', { reason: 'Overdue' })).toBe(2)
  expect(await Promise.all(ids.map((id) => power(p, id)))).toEqual(['suspended', 'suspended'])
  expect(await all('unsuspend', {})).toBe(2)
  expect(await Promise.all(ids.map((id) => power(p, id)))).toEqual(['running', 'running'])
  expect(await all('label', { add: ['batch'] })).toBe(2)
  expect((await p.admin('GET', '/admin/servers?label=batch')).total).toBe(2)
  expect(await all('change-owner', { ownerId: other.id })).toBe(2)
  expect((await p.admin('GET', `/admin/servers?ownerId=${other.id}`)).total).toBe(2)
})

test('a choice that is not as it was shown, or not clear, begins nothing', async () => {
  using p = await open()
  const id = await ordered(p, 'web01')
  const before = p.fingerprint()
  const refused = async (body: object) =>
    (await p.call(p.owner, 'POST', '/admin/servers/actions/power', { action: 'off', ...body })).body.error.code
  expect(await refused({ filter: {}, expected: 7 })).toBe('selection_changed')
  expect(await refused({})).toBe('validation_failed')
  expect(await refused({ ids: [id], filter: {} })).toBe('validation_failed')
  expect(await refused({ ids: [`srv_${'0'.repeat(26)}`] })).toBe('validation_failed')
  expect(await refused({ filter: { colour: 'red' } })).toBe('validation_failed')
  expect(p.fingerprint()).toBe(before)
})

test('a server at work waits for its job, and one whose node stays away is refused at last', async () => {
  using p = await open()
  const id = await ordered(p, 'web01')
  const { id: restarting } = await p.admin('POST', '/admin/servers/actions/power', { ids: [id], action: 'restart' })
  write(p.db, (tx) => changePower(tx, serverById(tx, id)!, 'restart', { by: system, now: p.now() }))
  advanceBulkActions(p.db, p.controller.app)
  expect(await resultsOf(p, restarting)).toEqual({ web01: 'waiting: server_busy' })
  await p.settle()
  p.turnClock(31_000)
  expect((await played(p, restarting)).counts.done).toBe(1)

  p.agents.get(p.node.id)!.disconnect()
  const { id: away } = await p.admin('POST', '/admin/servers/actions/power', { ids: [id], action: 'restart' })
  const jobs = jobsOf(p, 'power')
  await turn(p)
  expect(await resultsOf(p, away)).toEqual({ web01: 'waiting: node_is_away' })
  p.turnClock(16 * 60_000)
  await played(p, away)
  expect([await resultsOf(p, away), jobsOf(p, 'power')]).toEqual([{ web01: 'refused: node_is_away' }, jobs])
})
