// Somebody sets the clock of the controller's host while people work.
import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import type { ScheduleContext } from '../../../src/kernel/feature.ts'
import { setBy } from '../../../src/platform/host/attention.ts'
import { journalOf } from '../../support/journal.ts'
import { codeOf, finish, password, pendingIn, person, signIn, withApp } from '../../support/second-factor.ts'
import { type World, world } from '../../support/world/panel.ts'

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000]
const comparing = registry.schedule.find(({ words }) => words === "comparing the host's clock")!
const jumps = [-hour, hour, -400 * day, 400 * day]
const inWords = (byMs: number) =>
  `${byMs < 0 ? 'back' : 'forward'} by ${Math.abs(byMs) === hour ? '1 hour' : '400 days'}`
const attention = async (p: World) =>
  (await p.admin('GET', '/admin/overview')).attention.map(({ what }: { what: string }) => what) as string[]

/**
 * Each begins something that takes time, and answers what to check after the clock was set and after the time is up.
 */
type Begun = { meanwhile(): Promise<unknown>; after: number; later(): Promise<unknown> }
const users: Record<string, (p: World) => Promise<Begun>> = {
  async 'limits refill in their minute'(p) {
    const code = async () => (await signIn(p, 'nobody@customer.test', 'x')).body.error.code
    for (let i = 0; i < 20; i++) await signIn(p, `nobody${i}@customer.test`, 'x')
    expect(await code()).toBe('rate_limited')
    return {
      meanwhile: async () => expect(await code()).toBe('rate_limited'),
      after: minute,
      later: async () => expect(await code()).toBe('sign_in_failed'),
    }
  },
  async 'the delay of guesses ends after its seconds'(p) {
    const { email } = person(p)
    const guess = async (pass: string) => (await signIn(p, email, pass)).status
    for (let i = 0; i < 5; i++) await guess('wrong')
    expect(await guess(password)).toBe(429)
    return {
      meanwhile: async () => expect(await guess(password)).toBe(429),
      after: 20 * second,
      later: async () => expect(await guess(password)).toBe(201),
    }
  },
  async 'sessions end when they were idle for their time'(p) {
    const [cal, ada] = [p.signIn(p.customer.id), p.staff()]
    const status = async (who: typeof cal) => (await p.call(who, 'GET', '/account')).status
    return {
      async meanwhile() {
        expect([await status(cal), await status(ada)]).toEqual([200, 200])
      },
      after: hour + 2 * minute,
      async later() {
        expect([await status(cal), await status(ada)]).toEqual([200, 401])
        p.turnClock(13 * hour)
        expect(await status(cal)).toBe(401)
      },
    }
  },
  async 'a sign-in that waits for its second factor waits as long as it says'(p) {
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const cookie = pendingIn(await signIn(p, cal.email))
    const late = pendingIn(await signIn(p, cal.email))
    return {
      meanwhile: async () => expect((await finish(p, { code: codeOf(p, secret) }, cookie)).status).toBe(201),
      after: 11 * minute,
      later: async () => expect((await finish(p, { code: codeOf(p, secret) }, late)).status).toBe(401),
    }
  },
  async 'a key of a call is remembered for a day'(p) {
    const call = async () =>
      (
        await p.call(
          p.owner,
          'POST',
          '/admin/customers',
          { name: 'Dora', email: 'dora@customer.test' },
          { 'Idempotency-Key': 'k' },
        )
      ).headers.get('Idempotency-Replayed')
    await call()
    return {
      meanwhile: async () => expect(await call()).toBe('true'),
      after: 25 * hour,
      async later() {
        Object.assign(p.owner, p.signIn(p.owner.id))
        expect(await call()).toBeNull()
      },
    }
  },
  async 'a job waits 15 minutes for its node'(p) {
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.node.agent.disconnect()
    const { jobId } = await p.admin('POST', `/servers/${serverId}/actions/power`, { action: 'off' })
    const state = async () => {
      p.controller.runner.sweep()
      await Bun.sleep(5)
      return p.job(jobId).state
    }
    return {
      meanwhile: async () => expect(await state()).not.toBe('failed'),
      after: 17 * minute,
      later: async () => expect(await state()).toBe('failed'),
    }
  },
}

for (const byMs of jumps)
  describe(`a host clock that is set ${inWords(byMs)}`, () => {
    for (const [words, begin] of Object.entries(users))
      test(`${words}`, async () => {
        using p = await world()
        const begun = await begin(p)
        p.setWallClock(byMs)
        await begun.meanwhile()
        p.turnClock(begun.after)
        await begun.later()
      })
    test(
      'is told in the journal and under Needs attention until it is right again; the times in our records go ' + 'on',
      async () => {
        using p = await world()
        const before = p.auditLines().at(-1)!.at
        const [line] = await journalOf(async () => {
          p.setWallClock(byMs, false)
          await comparing.work({ app: p.controller.app } as ScheduleContext)
        })
        expect(line).toMatchObject({ level: 'warning', byMs })
        expect(line!.message).toBe(`the clock of this host was set ${inWords(byMs)}`)
        expect(await attention(p)).toEqual([`The clock of the controller host was set ${inWords(byMs)}.`])
        await p.admin('POST', '/admin/node-groups', { name: 'Berlin' })
        const elapsed = p.auditLines().at(-1)!.at - before
        expect(elapsed).toBeGreaterThan(0)
        expect(elapsed).toBeLessThan(minute)
        // An authenticator app, a time server and the page of the host follow the host's clock.
        expect(
          Math.abs(Date.parse((await p.call(undefined, 'GET', '/status')).body.time) - p.wallClock()),
        ).toBeLessThan(second)
        p.setWallClock(-byMs)
        expect(await attention(p)).toEqual([])
      },
    )
  })

test('a host clock that is set back while the controller is stopped ends no session and delays no retry', async () => {
  using p = await world()
  const noting = registry.schedule.find(({ words }) => words === 'noting the time')!
  await noting.work({ db: p.db, app: p.controller.app } as ScheduleContext)
  p.setWallClock(-hour, false)
  await p.crash()
  expect(Math.abs(p.controller.app.clock() - p.now())).toBeLessThan(second)
  expect(await attention(p)).toEqual(['The clock of the controller host was set back by 1 hour.'])
  expect((await p.call(p.owner, 'GET', '/account')).status).toBe(200)
  p.turnClock(hour + 2 * minute)
  expect((await p.call(p.owner, 'GET', '/account')).status).toBe(401)
})

test('the clock of a node is reported as soon as it is wrong, and until it is right', async () => {
  using p = await world()
  const beat = (offMs: number) => {
    p.controller.reports.take(p.node.id, {
      type: 'heartbeat',
      at: p.wallClock() + offMs,
      cpuPercent: 1,
      load1: 1,
      memoryFreeMb: 1000,
      pools: [],
      workloads: [],
    })
  }
  const rows = async () => {
    await Bun.sleep(60)
    return await attention(p)
  }
  beat(0)
  expect(await rows()).toEqual([])
  beat(hour)
  expect(await rows()).toEqual(['The clock of fra-01 is 3600 s ahead.'])
  beat(20)
  expect(await rows()).toEqual([])
  // The controller's own clock is the wrong one: that is one row for it, and one for the node until both agree.
  p.setWallClock(-hour)
  beat(hour)
  expect((await rows()).length).toBe(2)
  p.setWallClock(hour)
  beat(0)
  expect(await rows()).toEqual([])
})

test('the size of a jump is told in the unit to which it is rounded', () => {
  const told = [-hour, 2 * day - 1, 2 * day + 1, 47 * hour, hour - 1, 2 * minute - 1, 90 * second].map(setBy)
  const expected = ['back by 1 hour', ...['2 days', '2 days', '47 hours', '1 hour', '2 minutes', '90 seconds']]
  expect(told).toEqual(expected.map((size) => (size.startsWith('back') ? size : `forward by ${size}`)))
})
