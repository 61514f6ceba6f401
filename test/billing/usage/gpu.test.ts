// The usage of GPU instances through everything that happens to them: written with each change, to the millisecond.
import { describe, expect, test } from 'bun:test'
import { noteStarted, noteStopped } from '../../../src/compute/gpu-instances/run/state-changes.ts'
import { type Tx, write } from '../../../src/kernel/db/open.ts'
import { ledgerFaults } from '../../support/ledger.ts'
import { ends, type GpuWorld, gpuWorld, orderInstance, power } from '../../support/nodes/instances.ts'
import { seeded } from '../../support/random/seeded.ts'

const hour = 3_600_000
const day = 24 * hour
type Spell = { state: string; from: string; to: string }
const usage = async (p: GpuWorld, id: string, query = '', who: object = p.customer) =>
  (await p.call(who, 'GET', `/gpu-instances/${id}/usage${query}`)).body
const states = (of: { intervals: Spell[] }) => of.intervals.map(({ state }) => state)
const lengthOf = ({ from, to }: Spell) => Date.parse(to) - Date.parse(from)
const workload = (p: GpuWorld, id: string) =>
  p.db.$client.query<Record<string, number>, [string]>('SELECT * FROM workloads WHERE id = ?').get(id)!
/** The sums of an answer, and whether they are those of its spells. */
function mustAddUp(of: any) {
  const sums: Record<string, number> = { running: 0, stopped: 0, suspended: 0 }
  for (const [i, spell] of (of.intervals as Spell[]).entries()) {
    expect(lengthOf(spell)).toBeGreaterThan(0)
    if (i) expect(spell.from).toBe(of.intervals[i - 1].to)
    sums[spell.state]! += lengthOf(spell)
  }
  expect(of).toMatchObject({
    runningSeconds: sums['running']! / 1000,
    stoppedSeconds: sums['stopped']! / 1000,
    suspendedSeconds: sums['suspended']! / 1000,
    allocatedSeconds: (sums['running']! + sums['stopped']! + sums['suspended']!) / 1000,
  })
}

describe('the usage of one instance', () => {
  test('has each spell from the moment of its event, however long the transaction takes that says so', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.turnClock(hour)
    const late = (note: (tx: Tx, now: number) => void) =>
      write(p.db, (tx) => {
        note(tx, p.now())
        p.turnClock(4000) // others wait for the same commit
      })
    late((tx, now) => noteStopped(tx, id, { now, reason: 'requested' }))
    p.turnClock(hour)
    late((tx, now) => noteStarted(tx, id, now, 'requested'))
    p.turnClock(hour)
    const found = await usage(p, id)
    mustAddUp(found)
    const events = p.db.$client
      .query<{ type: string; at: number }, [string]>(
        `SELECT type, created_at AS at FROM events
         WHERE subject_id = ? AND type IN ('gpu_instance.stopped', 'gpu_instance.started') ORDER BY seq`,
      )
      .all(id)
    expect(found.intervals.slice(-2).map(({ from }: Spell) => Date.parse(from))).toEqual(events.map(({ at }) => at))
    expect(events.map(({ type }) => type)).toEqual(['gpu_instance.stopped', 'gpu_instance.started'])
  })
  test('begins with the order, and has a spell for each time that it ran, was stopped or suspended', async () => {
    using p = await gpuWorld({ offer: { billingProductId: 'shop:77' } })
    const id = await orderInstance(p, { billingServiceId: 'svc-1' })
    p.turnClock(2 * hour)
    await power(p, id, 'stop')
    p.turnClock(hour)
    await power(p, id, 'start')
    p.turnClock(hour)
    await p.admin('POST', `/admin/gpu-instances/${id}/suspend`, { reason: 'overdue' })
    const { suspended_at: suspendedAt } = workload(p, id)
    await p.settle()
    p.turnClock(3 * hour)
    await p.admin('POST', `/admin/gpu-instances/${id}/unsuspend`)
    await p.settle()
    p.turnClock(hour)
    const found = await usage(p, id)
    mustAddUp(found)
    // It is suspended until the unsuspension was asked for, and stopped until it runs again.
    expect(states(found).filter((state, i, all) => state !== 'stopped' || (i > 0 && all[i - 1] === 'running'))).toEqual(
      ['running', 'stopped', 'running', 'suspended', 'running'],
    )
    expect(found.intervals[0].from).toBe(new Date(workload(p, id)['created_at']!).toISOString())
    expect(found.intervals.find(({ state }: Spell) => state === 'suspended').from).toBe(
      new Date(suspendedAt!).toISOString(),
    )
    expect(found.suspendedSeconds).toBeGreaterThanOrEqual(3 * 3600)
    expect(found).toMatchObject({
      instanceId: id,
      billingProductId: 'shop:77',
      billingServiceId: 'svc-1',
      owner: { id: p.customer.id },
      offer: { id: p.offerId },
      endedAt: null,
    })
    expect(ledgerFaults(p.db)).toEqual([])
  })
  test('ends a spell at the moment at which the container ended, however late its host tells it', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.turnClock(hour)
    await ends(p, id, 'left_off')
    const { ended_at: endedAt } = p.db.$client
      .query<{ ended_at: number }, [string]>('SELECT ended_at FROM gpu_instances WHERE id = ?')
      .get(id)!
    p.turnClock(hour)
    const found = await usage(p, id)
    mustAddUp(found)
    expect(found.intervals.at(-1)).toMatchObject({ state: 'stopped', from: new Date(endedAt).toISOString() })
  })
  test('an end in a month that has passed changes no report of it', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.turnClock(20 * day)
    const month = '2027-01'
    const token = p.token(p.owner.id)
    const before = (await p.call(token, 'GET', `/reports/gpu-usage?month=${month}`)).body
    expect(before.data).toHaveLength(1)
    write(
      p.db,
      ({ $client }) =>
        void $client.run(
          "UPDATE gpu_instances SET spell = 'stopped', end_reason = 'crashed', ended_at = ? WHERE id = ?",
          [p.now() - 15 * day, id],
        ),
    )
    expect((await p.call(token, 'GET', `/reports/gpu-usage?month=${month}`)).body).toEqual(before)
    const now = (await p.call(token, 'GET', `/gpu-instances/${id}/usage`)).body
    expect(now).toMatchObject({ runningSeconds: 0 })
  })
  test('is that of any period, which may be cut anywhere; none lies outside of its life', async () => {
    using p = await gpuWorld()
    const before = p.now() - hour
    const id = await orderInstance(p)
    p.turnClock(5 * hour)
    await power(p, id, 'stop')
    p.turnClock(5 * hour)
    const at = (ms: number) => new Date(ms).toISOString()
    const [from, middle, to] = [before, before + 5 * hour + 1234, p.now()].map(at) as [string, string, string]
    const [left, right, whole] = await Promise.all(
      [
        [from, middle],
        [middle, to],
        [from, to],
      ].map(([a, b]) => usage(p, id, `?from=${a}&to=${b}`)),
    )
    for (const part of [left, right, whole]) mustAddUp(part)
    for (const sum of ['allocatedSeconds', 'runningSeconds', 'stoppedSeconds', 'suspendedSeconds'])
      expect(Math.round((left[sum] + right[sum]) * 1000)).toBe(Math.round(whole[sum] * 1000))
    const none = await usage(p, id, `?from=${at(before - day)}&to=${from}`)
    expect(none).toMatchObject({ allocatedSeconds: 0, intervals: [], instanceId: id })
    for (const query of [`?from=${to}&to=${from}`, '?from=2027-02-31'])
      expect((await usage(p, id, query)).error.code).toBe('invalid_request')
  })
  test('is hidden from strangers, and of a deleted one it is for staff, for 400 days', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const stranger = p.account('customer', 'Otto')
    expect((await usage(p, id, '', stranger)).error.code).toBe('gpu_instance_not_found')
    p.turnClock(hour)
    await p.admin('DELETE', `/admin/gpu-instances/${id}`)
    await p.settle()
    const staff = p.token(p.owner.id)
    const period = `from=2027-01-01&to=2028-12-31`
    const listed = async (query = '') => (await p.call(staff, 'GET', `/admin/gpu-usage?${period}${query}`)).body.data
    expect((await usage(p, id)).error.code).toBe('gpu_instance_not_found')
    const found = await usage(p, id, `?${period}`, staff)
    mustAddUp(found)
    expect(found).toMatchObject({ endedAt: new Date(workload(p, id)['terminated_at']!).toISOString() })
    expect(await listed()).toMatchObject([{ ...found, to: expect.any(String) }])
    expect(await listed(`&owner_id=${stranger.id}`)).toEqual([])
    expect(await listed(`&owner_id=${p.customer.id}`)).toHaveLength(1)
    p.turnClock(399 * day)
    expect(await listed()).toHaveLength(1)
    p.turnClock(2 * day)
    expect(await listed()).toEqual([])
    expect((await usage(p, id, '', staff)).error.code).toBe('gpu_instance_not_found')
  })
  test('200 random changes: the ledger follows the record, and adds up at every moment', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const next = seeded(7)
    const since = workload(p, id)['created_at']!
    const changes: (() => [string, ...(string | number)[]])[] = [
      () => ["UPDATE gpu_instances SET spell = 'running' WHERE id = ?"],
      () => [
        "UPDATE gpu_instances SET spell = 'stopped', end_reason = 'requested', ended_at = ? WHERE id = ?",
        p.now(),
      ],
      () => ["UPDATE workloads SET suspended_at = ?, suspend_reason = 'overdue' WHERE id = ?", p.now()],
      () => ['UPDATE workloads SET suspended_at = NULL, suspend_reason = NULL WHERE id = ?'],
      () => ["UPDATE workloads SET lifecycle = 'failed' WHERE id = ?"],
      () => ["UPDATE workloads SET lifecycle = 'active' WHERE id = ?"],
      () => ['UPDATE workloads SET hostname = ? WHERE id = ?', `h${Math.floor(next() * 1e6)}`],
      () => ['UPDATE workloads SET billing_service_id = ? WHERE id = ?', `s${Math.floor(next() * 3)}`],
    ]
    for (let i = 0; i < 200; i++) {
      p.turnClock(Math.floor(next() * (next() < 0.2 ? 3 : 60_000)))
      const [sql, ...values] = changes[Math.floor(next() * changes.length)]!()
      write(p.db, ({ $client }) => void $client.run(sql, [...values, id]))
    }
    p.turnClock(1000)
    const found = await usage(p, id)
    mustAddUp(found)
    expect(ledgerFaults(p.db)).toEqual([])
    expect(Math.round(found.allocatedSeconds * 1000)).toBe(Date.parse(found.to) - since)
  })
})

describe('the reports of a month', () => {
  test('have servers and GPU instances apart, and the totals of both for an account', async () => {
    using p = await gpuWorld({ cards: 2 })
    await orderInstance(p)
    await orderInstance(p)
    const server = (await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web' })).serverId
    await p.settle()
    p.turnClock(hour)
    const get = async (path: string, who: object = p.customer) => (await p.call(who, 'GET', path)).body
    expect((await get('/reports/usage')).data.map((line: any) => line.serverId)).toEqual([server])
    expect((await get('/reports/gpu-usage')).data).toHaveLength(2)
    const account = (await get('/reports/usage/accounts')).data[0]
    expect(account).toMatchObject({ servers: 1, gpuInstances: 2, gpuOffers: [{ id: p.offerId, instances: 2 }] })
    expect(account.gpuSeconds).toBeGreaterThanOrEqual(2 * 3600)
    expect(account.packages).toHaveLength(1)
    const csv = await p.call(p.customer, 'GET', '/reports/gpu-usage.csv')
    expect(String(csv.body).trim().split('\n')).toHaveLength(3)
    const other = p.account('customer', 'Otto')
    expect((await get('/reports/gpu-usage', other)).data).toEqual([])
  })
})
