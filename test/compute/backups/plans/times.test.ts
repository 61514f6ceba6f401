// When the backups of a plan begin, and which of them a plan keeps.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { localDates, mondayOf } from '../../../../src/compute/backups/plans/days.ts'
import { expendable } from '../../../../src/compute/backups/plans/retention.ts'
import {
  cronLine,
  dueAfter,
  frequencies,
  mostWindowMinutes,
  offsetOf,
  type Times,
  windowAfter,
} from '../../../../src/compute/backups/plans/times.ts'

const hour = 3_600_000
const nightly: Times = { every: 'day', startsAt: '02:30', timeZone: 'Europe/Berlin', windowMinutes: 0 }
const runs = (times: Times, from: string, n: number) => {
  const found: string[] = []
  for (let at = Date.parse(from); found.length < n; found.push(new Date(at).toISOString())) at = windowAfter(times, at)
  return found
}

describe('the times of a plan', () => {
  test('are lines of cron', () => {
    expect(cronLine(nightly)).toBe('30 2 * * *')
    expect(cronLine({ ...nightly, every: 'six_hours', startsAt: '14:05' })).toBe('5 2,8,14,20 * * *')
    expect(cronLine({ ...nightly, every: 'twelve_hours', startsAt: '23:00' })).toBe('0 11,23 * * *')
    expect(cronLine({ ...nightly, every: 'sunday' })).toBe('30 2 * * 0')
  })
  test('run once in a night in which the clock is set forward, and once in one in which it is set back', () => {
    expect(runs(nightly, '2027-03-27T12:00:00Z', 2)).toEqual(['2027-03-28T01:00:00.000Z', '2027-03-29T00:30:00.000Z'])
    expect(runs(nightly, '2027-10-30T12:00:00Z', 2)).toEqual(['2027-10-31T00:30:00.000Z', '2027-11-01T01:30:00.000Z'])
  })
  test('begin later than the moment asked about, at most one period on, whatever the zone', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu']
    fc.assert(
      fc.property(
        fc.record({
          every: fc.constantFrom(...frequencies),
          at: fc.integer({ min: 0, max: 1439 }),
          timeZone: fc.constantFrom(...zones),
          share: fc.double({ min: 0, max: 1, noNaN: true }),
          from: fc.integer({ min: 1_767_225_600, max: 1_830_297_600 }),
          serverId: fc.uuid(),
        }),
        ({ every, at, timeZone, share, from, serverId }) => {
          const two = (n: number) => String(n).padStart(2, '0')
          const startsAt = `${two(Math.floor(at / 60))}:${two(at % 60)}`
          const windowMinutes = Math.floor(share * mostWindowMinutes(every))
          const times: Times = { every, startsAt, timeZone, windowMinutes }
          const period = { six_hours: 6, twelve_hours: 12, day: 24 }[every as string] ?? 168
          const now = from * 1000 + 500
          const due = dueAfter(times, serverId, now)
          expect(due).toBeGreaterThan(now)
          expect(due - now).toBeLessThanOrEqual((period + 2) * hour)
          const begins = due - offsetOf(serverId, windowMinutes)
          expect(offsetOf(serverId, windowMinutes)).toBeLessThanOrEqual(windowMinutes * 60_000)
          // Its next one is another window.
          expect(dueAfter(times, serverId, due) - offsetOf(serverId, windowMinutes)).toBeGreaterThan(begins)
        },
      ),
      { numRuns: 200 },
    )
  })
  test('spread servers over the window, each always at the same moment', () => {
    const ids = Array.from({ length: 1000 }, (_, i) => `srv_${i}`)
    const minutes = ids.map((id) => offsetOf(id, 240) / 60_000)
    expect(ids.map((id) => offsetOf(id, 240) / 60_000)).toEqual(minutes)
    const quarters = [0, 1, 2, 3].map((q) => minutes.filter((m) => m >= q * 60 && m < q * 60 + 60).length)
    for (const n of quarters) expect(n).toBeGreaterThan(180)
    expect(quarters.reduce((a, b) => a + b)).toBe(1000)
  })
})

const keep = (keepLast: number, keepDaily = 0, keepWeekly = 0, keepMonthly = 0) => ({
  ...{ keepLast, keepDaily, keepWeekly, keepMonthly },
})
const at = (...times: string[]) => times.map((time, i) => ({ id: `bkp_${i}`, startedAt: Date.parse(time) }))
const stays = (backups: ReturnType<typeof at>, keeps: ReturnType<typeof keep>, zone = 'UTC') => {
  const going = new Set(expendable(backups, keeps, zone))
  return backups.filter((backup) => !going.has(backup)).map(({ startedAt }) => new Date(startedAt).toISOString())
}

describe('a plan keeps', () => {
  test('the last backups, and the newest of each day, week and month that has one', () => {
    const daily = at(...Array.from({ length: 60 }, (_, i) => new Date(Date.UTC(2027, 0, 1 + i, 2)).toISOString()))
    expect(stays(daily, keep(1, 2, 3, 3)).map((time) => time.slice(0, 10))).toEqual([
      // A month, a week, and the last two days, which are also the newest of their weeks and months.
      '2027-01-31',
      '2027-02-21',
      '2027-02-28',
      '2027-03-01',
    ])
    expect(stays(daily, keep(2))).toHaveLength(2)
  })
  test('one of each local day, also where a day has 23 or 25 hours', () => {
    // 23:30 and 00:30 in Berlin around both changes, and the doubled hour.
    const backups = at(
      '2027-03-27T22:30:00Z', // the 27th
      '2027-03-27T23:30:00Z', // the 28th, of 23 hours
      '2027-03-28T21:30:00Z', // still the 28th
      '2027-03-28T22:30:00Z', // the 29th
      '2027-10-31T00:30:00Z', // the 31st, 02:30 for the first time
      '2027-10-31T01:30:00Z', // 02:30 again
      '2027-10-31T22:30:00Z', // 23:30
    )
    expect(stays(backups, keep(1, 10), 'Europe/Berlin')).toEqual([
      '2027-03-27T22:30:00.000Z',
      '2027-03-28T21:30:00.000Z',
      '2027-03-28T22:30:00.000Z',
      '2027-10-31T22:30:00.000Z',
    ])
  })
  test('weeks from Monday on, also over the end of a year', () => {
    expect(['2026-12-28', '2027-01-03', '2027-01-04'].map(mondayOf)).toEqual(['2026-12-28', '2026-12-28', '2027-01-04'])
  })
  test('always the newest, no more than its rules add up to, and the same when it is asked again', () => {
    const made = fc
      .array(fc.integer({ min: 0, max: 400 * 24 }), { maxLength: 120 })
      .map((hours) => hours.map((h, i) => ({ id: `bkp_${String(i).padStart(4, '0')}`, startedAt: 1.8e12 + h * hour })))
    const rules = fc.record({
      keepLast: fc.integer({ min: 0, max: 5 }),
      keepDaily: fc.integer({ min: 0, max: 10 }),
      keepWeekly: fc.integer({ min: 0, max: 6 }),
      keepMonthly: fc.integer({ min: 0, max: 6 }),
    })
    fc.assert(
      fc.property(made, rules, fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Auckland'), (backups, rule, zone) => {
        const going = expendable(backups, rule, zone)
        const left = backups.filter((backup) => !going.includes(backup))
        const newest = Math.max(...backups.map(({ startedAt }) => startedAt))
        if (backups.length) expect(left.some(({ startedAt }) => startedAt === newest)).toBe(true)
        const most = Math.max(1, rule.keepLast) + rule.keepDaily + rule.keepWeekly + rule.keepMonthly
        expect(left.length).toBeLessThanOrEqual(most)
        expect(left.length).toBeGreaterThanOrEqual(Math.min(backups.length, Math.max(1, rule.keepLast)))
        // The backups that were kept stay when the others are gone.
        expect(expendable(left, rule, zone)).toEqual([])
        // Each of the last days that have one keeps one.
        const dateOf = localDates(zone)
        const days = [...new Set(backups.map(({ startedAt }) => dateOf(startedAt)))].toSorted().reverse()
        const kept = new Set(left.map(({ startedAt }) => dateOf(startedAt)))
        for (const date of days.slice(0, rule.keepDaily)) expect(kept.has(date)).toBe(true)
      }),
      { numRuns: 150 },
    )
  })
})
