// Backup plans: what staff define, which servers are on one, and the backups that they make by themselves.
import { describe, expect, test } from 'bun:test'
import { forgetDue } from '../../../../src/compute/backups/delete.ts'
import { startDueBackups } from '../../../../src/compute/backups/plans/scheduler.ts'
import { type World, world } from '../../../support/world/panel.ts'

const hour = 3_600_000
const day = 24 * hour
const path = '/admin/backup-plans'
const plan = {
  name: 'Every night',
  every: 'day',
  startsAt: '02:00',
  timeZone: 'UTC',
  windowMinutes: 60,
  keepLast: 2,
  keepDaily: 0,
  keepWeekly: 0,
  keepMonthly: 0,
  billingProductId: 'whmcs:31',
}

const addTarget = async (p: World, address = '/srv/backups') =>
  (await p.admin('POST', '/admin/backup-targets/local', { name: address, address })).id as string
async function addPlan(p: World, more: object = {}) {
  const targetId = (more as { targetId?: string }).targetId ?? (await addTarget(p, `/srv/t${p.now()}`))
  return await p.admin('POST', path, { ...plan, targetId, ...more })
}
async function running(p: World): Promise<string> {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: `web${p.now()}` })
  await p.settle()
  return serverId
}
const put = (p: World, id: string, planId: string | null) => p.admin('PUT', `/servers/${id}/backups/plan`, { planId })
const nextAt = async (p: World, id: string) => Date.parse((await p.admin('GET', `/servers/${id}/backups/plan`)).nextAt)

/** Time goes to this moment, and the clock turns. */
async function turnAt(p: World, at: number) {
  if (at > p.now()) p.turnClock(at - p.now())
  startDueBackups(p.db, p.controller.app)
  await p.settle()
}
type Row = { id: string; state: string; started_at: number; error_code: string; error_words: string }
const backups = (p: World, serverId: string) =>
  p.db.$client.query<Row, [string]>('SELECT * FROM backups WHERE server_id = ? ORDER BY id').all(serverId)
/** A server on a plan. */
async function planned(p: World, more: object = {}) {
  const id = await running(p)
  const { id: planId } = await addPlan(p, more)
  await put(p, id, planId)
  return { id, planId, due: await nextAt(p, id) }
}

describe('a backup plan', () => {
  test('is added, listed with its servers and its next window, changed, archived', async () => {
    using p = await world()
    const made = await addPlan(p)
    expect(made).toMatchObject({ ...plan, archived: false, servers: 0 })
    expect(Date.parse(made.nextAt) % day).toBe(2 * hour)
    expect((await p.call(p.owner, 'POST', path, { ...plan, targetId: made.target.id })).body.error.code).toBe(
      'name_taken',
    )
    const id = await running(p)
    await put(p, id, made.id)
    expect((await p.admin('GET', path)).data).toMatchObject([{ id: made.id, servers: 1 }])
    await p.admin('PATCH', `${path}/${made.id}`, { archived: true })
    const other = await running(p)
    const { status, body } = await p.call(p.owner, 'PUT', `/servers/${other}/backups/plan`, { planId: made.id })
    expect([status, body.error.details.fields[0].message]).toEqual([422, expect.stringContaining('archived')])
    // A server that is on it stays.
    expect(await put(p, id, made.id)).toMatchObject({ jobId: null, serverId: id, plan: { id: made.id } })
  })
  test('is refused for what is wrong with it, by the name of the field', async () => {
    using p = await world()
    const targetId = await addTarget(p)
    for (const [field, more] of [
      ['startsAt', { startsAt: '24:00' }],
      ['timeZone', { timeZone: 'Europe/Atlantis' }],
      ['windowMinutes', { every: 'six_hours', windowMinutes: 301 }],
      ['keepLast', { keepLast: 0 }],
      ['targetId', { targetId: 'bkt_0000000000000000000000000' }],
      ['every', { every: 'second' }],
    ] as const) {
      const { status, body } = await p.call(p.owner, 'POST', path, { ...plan, targetId, ...more })
      expect([field, status, body.error?.details.fields[0].field]).toEqual([field, 422, field])
    }
  })
  test('is for a server that is set up, and is seen without its billing product by the owner', async () => {
    using p = await world()
    const { imageId: _, hostname: __, access: ___, ...bare } = p.order as Record<string, unknown>
    const { serverId } = await p.admin('POST', '/admin/servers', bare)
    const { id: planId } = await addPlan(p)
    const refused = await p.call(p.owner, 'PUT', `/servers/${serverId}/backups/plan`, { planId })
    expect(refused.body.error.code).toBe('not_set_up')
    const id = await running(p)
    await put(p, id, planId)
    const { body } = await p.call(p.customer, 'GET', `/servers/${id}/backups/plan`)
    expect(body).toMatchObject({ serverId: id, plan: { name: 'Every night', billingProductId: null } })
    expect((await p.call(p.customer, 'PUT', `/servers/${id}/backups/plan`, { planId: null })).status).toBe(403)
    expect((await p.admin('GET', `/servers/${id}/backups/plan`)).plan.billingProductId).toBe('whmcs:31')
  })
})

describe('the clock', () => {
  test('makes a backup when it is due and not before, inside the window, and again the next day', async () => {
    using p = await world()
    const { id, due } = await planned(p)
    expect(due % day).toBeGreaterThanOrEqual(2 * hour)
    expect(due % day).toBeLessThan(3 * hour)
    await turnAt(p, due - 1000)
    expect(backups(p, id)).toEqual([])
    await turnAt(p, due + 1000)
    expect(backups(p, id)).toMatchObject([{ state: 'ready', kind: 'scheduled' }])
    await turnAt(p, due + 20_000)
    expect([backups(p, id).length, await nextAt(p, id)]).toEqual([1, due + day])
    await turnAt(p, due + day)
    expect(backups(p, id)).toHaveLength(2)
  })
  test('makes up for runs that were missed once, not many times', async () => {
    using p = await world()
    const { id, due } = await planned(p)
    await turnAt(p, due + 5 * day + hour)
    await turnAt(p, p.now() + 60_000)
    expect(backups(p, id)).toHaveLength(1)
    expect(await nextAt(p, id)).toBe(due + 6 * day)
  })
  test('starts nothing twice when the controller dies in the midst of it', async () => {
    using p = await world()
    const { id, due } = await planned(p)
    p.node.agent.fault({ command: 'backup.make', mode: 'slow', times: 1, ms: 300 })
    p.turnClock(due + 1000 - p.now())
    startDueBackups(p.db, p.controller.app)
    await p.crash()
    startDueBackups(p.db, p.controller.app)
    await p.settle()
    expect(backups(p, id)).toMatchObject([{ state: 'ready' }])
  })
  test('backs up no server that is suspended, terminated or without a plan, and says nothing of it', async () => {
    using p = await world()
    const a = await planned(p)
    await p.admin('POST', `/servers/${a.id}/actions/suspend`, { reason: 'unpaid' })
    await p.settle()
    expect((await p.admin('GET', `/servers/${a.id}/backups/plan`)).nextAt).toBeNull()
    const b = await running(p)
    await put(p, b, a.planId)
    await p.admin('DELETE', `/servers/${b}`)
    const c = await running(p)
    await put(p, c, a.planId)
    await put(p, c, null)
    await turnAt(p, a.due + day)
    expect([a.id, b, c].flatMap((id) => backups(p, id))).toEqual([])
    expect(p.events()).not.toContain('backup.failed')
    // It goes on from its next time when it is unsuspended.
    await p.admin('POST', `/servers/${a.id}/actions/unsuspend`)
    await p.settle()
    await turnAt(p, await nextAt(p, a.id))
    expect(backups(p, a.id)).toHaveLength(1)
  })
  test('tries again while the node is away, and makes the backup when it is back', async () => {
    using p = await world()
    const { id, due } = await planned(p)
    p.node.agent.disconnect()
    await turnAt(p, due + 1000)
    await turnAt(p, due + hour / 2)
    expect(backups(p, id)).toEqual([])
    p.node.agent.connect()
    await turnAt(p, p.now() + 60_000)
    expect(backups(p, id)).toMatchObject([{ state: 'ready' }])
  })
  test('gives a run up at the end of its time, with words and an event, and goes on with the next', async () => {
    using p = await world()
    const { id, due } = await planned(p)
    p.node.agent.disconnect()
    await turnAt(p, due + 1000)
    await turnAt(p, due + 2 * hour)
    expect(backups(p, id)).toMatchObject([
      { state: 'failed', error_code: 'node_unreachable', error_words: expect.stringContaining('reached') },
    ])
    expect(p.events().filter((type) => type === 'backup.failed')).toHaveLength(1)
    expect(await nextAt(p, id)).toBe(due + day)
    p.node.agent.connect()
    await turnAt(p, due + day)
    expect(backups(p, id).map(({ state }) => state)).toEqual(['failed', 'ready'])
  })
  test('tells the owner of failures once until one has worked; old failures are forgotten', async () => {
    using p = await world()
    const { id, due } = await planned(p)
    const told = async () => (await p.call(p.signIn(p.customer.id), 'GET', '/notices?limit=200')).body.data
    const before = (await told()).length
    const failing = async (at: number) => {
      p.node.agent.disconnect()
      await turnAt(p, at)
      await turnAt(p, at + 2 * hour)
      p.node.agent.connect()
      return (await told()).length - before
    }
    expect([await failing(due), await failing(due + day), await failing(due + 2 * day)]).toEqual([1, 1, 1])
    await turnAt(p, due + 3 * day)
    expect(backups(p, id).map(({ state }) => state)).toEqual(['failed', 'failed', 'failed', 'ready'])
    expect(await failing(due + 4 * day)).toBe(2)
    forgetDue(p.db, due + 31 * day)
    expect(backups(p, id).map(({ state }) => state)).toEqual(['failed', 'failed', 'ready', 'failed'])
    forgetDue(p.db, due + 35 * day)
    expect(backups(p, id).map(({ state }) => state)).toEqual(['ready'])
  })
  test('holds to the limits of a node and of a target; the others begin when there is a place', async () => {
    using p = await world()
    await p.admin('PUT', '/admin/settings/values', { name: 'backups.at_once_per_target', value: 2 })
    const { id: planId } = await addPlan(p, { windowMinutes: 0 })
    const ids = [await running(p), await running(p), await running(p)]
    for (const id of ids) await put(p, id, planId)
    const due = await nextAt(p, ids[0]!)
    p.node.agent.fault({ command: 'backup.make', mode: 'slow', times: 3, ms: 200 })
    p.turnClock(due + 1000 - p.now())
    startDueBackups(p.db, p.controller.app)
    startDueBackups(p.db, p.controller.app)
    const made = () => ids.flatMap((id) => backups(p, id))
    expect(made()).toHaveLength(2)
    await p.settle()
    await turnAt(p, p.now() + 20_000)
    expect(made().map(({ state }) => state)).toEqual(['ready', 'ready', 'ready'])
  })
})

describe('a plan that changes', () => {
  test('moves the next backup of its servers, and that of a server to another plan', async () => {
    using p = await world()
    const { id, planId, due } = await planned(p, { windowMinutes: 0 })
    await p.admin('PATCH', `${path}/${planId}`, { startsAt: '05:00' })
    await turnAt(p, p.now())
    expect(await nextAt(p, id)).toBe(due + 3 * hour)
    const other = await addPlan(p, { name: 'Late', startsAt: '23:00', windowMinutes: 0 })
    await put(p, id, other.id)
    expect((await nextAt(p, id)) % day).toBe(23 * hour)
  })
  test('keeps so many backups as it says; older ones go after each success', async () => {
    using p = await world()
    const { id, due } = await planned(p)
    for (let n = 0; n < 4; n++) {
      await turnAt(p, due + n * day)
      await turnAt(p, p.now() + 20_000)
    }
    const left = backups(p, id)
    expect(left.map(({ started_at }) => Math.round((started_at - due) / day))).toEqual([2, 3])
  })
  test('keeps the backups of a server that is taken off it for a while, and for good when it is put back', async () => {
    using p = await world()
    const { id, planId, due } = await planned(p)
    await turnAt(p, due)
    const keepUntil = () =>
      p.db.$client.query<{ keep_until: number | null }, []>('SELECT keep_until FROM backups').get()!.keep_until
    expect(keepUntil()).toBeNull()
    await put(p, id, null)
    expect(keepUntil()! - p.now()).toBeWithin(7 * day - hour, 7 * day + 1)
    await put(p, id, planId)
    expect(keepUntil()).toBeNull()
  })
})

test('the calendar has the days of a month with backups, in the zone of the plan, and the next one', async () => {
  using p = await world()
  const { id, due } = await planned(p, { startsAt: '23:30', timeZone: 'America/New_York', windowMinutes: 0 })
  p.node.agent.disconnect()
  await turnAt(p, due)
  await turnAt(p, due + 2 * hour)
  p.node.agent.connect()
  await turnAt(p, due + day)
  const local = (at: number) => new Date(at - 5 * hour).toISOString().slice(0, 10)
  expect(await p.admin('GET', `/servers/${id}/backups/calendar?month=${local(due).slice(0, 7)}`)).toMatchObject({
    timeZone: 'America/New_York',
    today: local(due + day),
    nextDate: local(due + 2 * day),
    days: [
      // The first was given up two hours later, which is the next day there.
      { date: local(due + day), ready: 1, failed: 1, running: 0 },
    ],
  })
  expect((await p.admin('GET', `/servers/${id}/backups/calendar?month=2020-02`)).days).toEqual([])
})

test('a target stays while a plan stores its backups there', async () => {
  using p = await world()
  const { id, target } = await addPlan(p)
  const remove = () => p.call(p.owner, 'DELETE', `/admin/backup-targets/${target.id}`)
  expect((await remove()).body.error).toMatchObject({ code: 'in_use', message: expect.stringContaining('Every night') })
  await p.admin('PATCH', `${path}/${id}`, { archived: true })
  expect((await remove()).status).toBe(200)
  expect((await p.admin('GET', path)).data).toMatchObject([{ target: { id: target.id, name: '' } }])
  const restored = await p.call(p.owner, 'PATCH', `${path}/${id}`, { archived: false })
  expect(restored.body.error.details.fields[0].field).toBe('targetId')
})
