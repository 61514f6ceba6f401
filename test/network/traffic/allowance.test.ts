// The traffic that a server may use in a month, and the consequences when it is used up.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { FakeNetwork } from '../../../agent/drivers/network/fake.ts'
import { settleTraffic } from '../../../src/network/traffic/limits.ts'
import { type World, world } from '../../support/world/panel.ts'

const GB = 1e9
let p: World
let id = ''
let number = 0
beforeEach(async () => {
  p = await world()
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { trafficGb: 100, overTraffic: 'suspend' })
  id = (await p.admin('POST', '/admin/servers', p.order)).serverId
  await p.settle()
  number = p.server(id).number
  await p.node.agent.meter()
})
afterEach(() => p.close())

/** So much is sent, reported and acted on. */
const send = async (gb: number) => {
  p.node.agent.flow(number, gb * GB, 0)
  p.turnClock(30_000)
  await p.node.agent.meter()
  await p.reported()
  settleTraffic(p.db, p.controller.app)
  await p.settle()
}
const bandwidth = async () => (await p.call(p.token(p.customer.id), 'GET', `/servers/${id}/bandwidth`)).body
const add = (gb: number, who: object = p.owner) =>
  p.call(who, 'POST', `/servers/${id}/bandwidth`, { action: 'add', gb })
const mails = () =>
  p
    .mailed()
    .map(({ subject }) => subject)
    .filter((subject) => subject.includes('traffic'))
const status = () => p.server(id).status
const nextMonth = () => {
  p.turnClock(20 * 86_400_000)
  settleTraffic(p.db, p.controller.app)
}

describe('the traffic of a month', () => {
  test('is told to the owner at 80 and at 100 percent, once each', async () => {
    await send(79)
    expect(mails()).toEqual([])
    await send(2)
    await send(1)
    expect(mails()).toEqual(['web01 has used 80 % of its traffic'])
    await send(20)
    await send(1)
    expect(mails().toSorted()).toEqual(['web01 has used 100 % of its traffic', 'web01 has used 80 % of its traffic'])
  })
  test('suspends the server when the package says so, with the reason, and not a moment before', async () => {
    await send(99)
    expect(status()).toBe('running')
    await send(1)
    expect([status(), p.server(id).suspendReason]).toEqual(['suspended', 'Its traffic of 2027-01 is used up'])
    expect(await bandwidth()).toMatchObject({ usedBytes: 100 * GB, percent: 100, suspendedForTraffic: true })
    expect(p.events().filter((type) => type === 'server.suspended')).toHaveLength(1)
  })
  test('does nothing else where the package says so, or has no limit', async () => {
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { overTraffic: 'nothing' })
    await send(500)
    expect([status(), mails()]).toEqual(['running', ['web01 has used 100 % of its traffic']])
    p.db.$client.run('UPDATE servers SET traffic_gb = NULL')
    expect(await bandwidth()).toMatchObject({ allowanceGb: null, percent: null })
  })
  test('begins anew with the month: a server that was suspended for it starts by itself', async () => {
    await send(100)
    expect(status()).toBe('suspended')
    nextMonth()
    await p.settle()
    expect(status()).toBe('running')
    expect(await bandwidth()).toMatchObject({ month: '2027-02', usedBytes: 0, suspendedForTraffic: false })
  })
})

describe('a top-up', () => {
  test('counts for this month, and starts a server that was suspended for its traffic', async () => {
    await send(100)
    const { status: code, body } = await add(50)
    expect([code, body.serverId, body.bandwidth.addedGb, body.bandwidth.percent]).toEqual([202, id, 50, 66])
    await p.settle()
    expect(status()).toBe('running')
    await send(49)
    expect(status()).toBe('running')
    await send(1)
    expect(status()).toBe('suspended')
  })
  test('that is too small leaves it suspended', async () => {
    await send(200)
    expect((await add(50)).body).toMatchObject({ jobId: null, bandwidth: { suspendedForTraffic: true } })
    expect(status()).toBe('suspended')
  })
  test('is refused where the package has no limit: nobody pays for nothing', async () => {
    p.db.$client.run('UPDATE servers SET traffic_gb = NULL')
    const before = p.fingerprint(['audit'])
    const { status: code, body } = await add(50)
    expect([code, body.error.code]).toEqual([409, 'traffic_not_limited'])
    expect(p.fingerprint(['audit'])).toBe(before)
  })
  test('comes once with an Idempotency-Key, and is for billing alone', async () => {
    for (let i = 0; i < 2; i++)
      await p.call(p.owner, 'POST', `/servers/${id}/bandwidth`, { action: 'add', gb: 5 }, { 'Idempotency-Key': 'a' })
    expect((await bandwidth()).addedGb).toBe(5)
    expect((await add(5, p.customer)).status).toBe(403)
    expect((await p.call(p.owner, 'POST', `/servers/${id}/bandwidth`, { action: 'add', gb: 0 })).status).toBe(422)
    expect((await bandwidth()).addedGb).toBe(5)
  })
})

describe('a package that slows down', () => {
  const port = () => (p.node.agent.host.network as FakeNetwork).limits.get(`bth${number}`)?.speed
  const isSlow = async () => [port()?.inMbps, port()?.outMbps, (await bandwidth()).throttledToMbps]
  beforeEach(() => p.admin('PATCH', `/admin/packages/${p.pack}`, { overTraffic: 'throttle', throttleMbps: 10 }))

  test('does so at 100 percent, says so by mail and record, and gives the speed back with the month', async () => {
    const usual = port()
    await send(80)
    expect([await isSlow(), mails()]).toEqual([
      [usual!.inMbps, usual!.outMbps, null],
      ['web01 has used 80 % of its traffic'],
    ])
    await send(20)
    expect([status(), await isSlow()]).toEqual(['running', [10, 10, 10]])
    expect((await p.admin('GET', `/servers/${id}`)).speed).toMatchObject({ portInMbps: 10, throttledToMbps: 10 })
    expect(p.mailed().find(({ subject }) => subject.includes('100 %'))!.text).toContain('slowed down to 10 Mbit/s')
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'restart' })
    await p.settle()
    expect(await isSlow()).toEqual([10, 10, 10])
    nextMonth()
    await p.settle()
    expect([port(), (await bandwidth()).throttledToMbps]).toEqual([usual, null])
  })
  test('never makes a slower server faster', async () => {
    await p.admin('PATCH', `/servers/${id}/speed`, { portInMbps: 4 })
    await p.settle()
    await send(100)
    expect(await isSlow()).toEqual([4, 10, 10])
  })
  test('ends with a top-up that is enough, and begins again when that is used up', async () => {
    const usual = port()
    await send(150)
    expect((await add(50)).body).toMatchObject({ jobId: null, bandwidth: { throttledToMbps: 10 } })
    const { body } = await add(50)
    expect(body.bandwidth.throttledToMbps).toBeNull()
    await p.settle()
    expect([p.job(body.jobId).state, port()]).toEqual(['succeeded', usual])
    await send(50)
    expect(await isSlow()).toEqual([10, 10, 10])
  })
  test('ends with a change of package, unless its traffic is used up under the new one too', async () => {
    await send(150)
    const to = async (name: string, trafficGb: number) => {
      const sizes = { vcpus: 2, memoryMb: 2048, diskGb: 40, trafficGb, portMbps: 77 }
      const made = await p.admin('POST', '/admin/packages', {
        name,
        ...sizes,
        overTraffic: 'throttle',
        throttleMbps: 5,
      })
      await p.admin('POST', `/servers/${id}/actions/change-package`, { packageId: made.id })
      await p.settle()
    }
    await to('Larger', 400)
    expect(await isSlow()).toEqual([77, 77, null])
    await to('Smaller', 90)
    await send(1)
    expect(await isSlow()).toEqual([5, 5, 5])
  })
  test('waits while a job holds the server, and is told when that has ended', async () => {
    p.node.agent.fault({ command: 'vm.stop', mode: 'slow', times: 1, ms: 700 })
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'restart' })
    await send(100)
    expect([port()?.inMbps, p.server(id).throttleMbps]).toEqual([null, 10])
    settleTraffic(p.db, p.controller.app)
    await p.settle()
    expect(await isSlow()).toEqual([10, 10, 10])
  })
  test('names its speed', async () => {
    const before = p.fingerprint()
    const wrong = await p.call(p.owner, 'PATCH', `/admin/packages/${p.pack}`, { throttleMbps: null })
    expect([wrong.status, wrong.body.error.details.fields[0].field]).toEqual([422, 'throttleMbps'])
    expect(p.fingerprint()).toBe(before)
  })
})

describe('a suspension by somebody else', () => {
  const suspend = () => p.call(p.token(p.owner.id), 'POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
  test('of a server that is suspended for its traffic stays with the end of the month and with a top-up', async () => {
    await send(100)
    expect((await suspend()).status).toBe(200)
    expect(p.server(id).suspendReason).toBe('overdue')
    expect((await add(500)).body.jobId).toBeNull()
    nextMonth()
    await p.settle()
    expect(status()).toBe('suspended')
    expect((await suspend()).body.error.code).toBe('already_suspended')
  })
  test('that was there before is left alone', async () => {
    await suspend()
    await p.settle()
    await send(100)
    nextMonth()
    await p.settle()
    expect([status(), p.server(id).suspendReason]).toEqual(['suspended', 'overdue'])
  })
  test('ends with an unsuspension, and the traffic of this month does not suspend it again', async () => {
    await send(100)
    await p.call(p.owner, 'POST', `/servers/${id}/actions/unsuspend`)
    await p.settle()
    await send(10)
    expect(status()).toBe('running')
  })
})
