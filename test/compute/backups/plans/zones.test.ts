// A plan of every day runs once in each local day, in every zone of the world, around every change of its clocks from
// 2020 to 2040. The expected moments come from the offsets of the zone alone, not from the library that finds the runs.
import { describe, expect, test } from 'bun:test'
import { type Times, windowAfter } from '../../../../src/compute/backups/plans/times.ts'
import { timeZones } from '../../../../src/kernel/time-zones.ts'
import { quickCount, quickly } from '../../../support/quick.ts'

const [FROM, TO] = [Date.UTC(2020, 0, 1), Date.UTC(2041, 0, 1)]
const minute = 60_000
const day = 1440 * minute

/** Minutes by which the local clock is ahead of UTC. */
function offsets(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (at) => {
    const [month, date, year, hours, minutes, seconds] = format.format(at).match(/\d+/g)!.map(Number)
    return (Date.UTC(year!, month! - 1, date, hours, minutes, seconds) - at) / minute
  }
}

type Change = { at: number; before: number; after: number }
/** Every change of the offset, to the minute. */
function changesOf(offset: (at: number) => number): Change[] {
  const found: Change[] = []
  let before = offset(FROM)
  for (let at = FROM; at < TO; at += 5 * day) {
    const after = offset(at + 5 * day)
    if (after === before) continue
    let [low, high] = [at, at + 5 * day]
    while (high - low > minute) {
      const middle = low + Math.floor((high - low) / 2 / minute) * minute
      if (offset(middle) === before) low = middle
      else high = middle
    }
    found.push({ at: high, before, after: offset(high) })
    before = after
  }
  return found
}

/** The moments at which a local date and time is, given the offsets around it: none, one or two. */
const momentsOf = (local: number, { at, before, after }: Change) =>
  [...new Set([local - before * minute, local - after * minute])].filter(
    (moment) => moment + (moment < at ? before : after) * minute === local,
  )

/** Zones with the same changes are one case. */
const cases = new Map<string, { zone: string; changes: Change[] }>()
for (const zone of timeZones()) {
  const changes = changesOf(offsets(zone))
  const key = JSON.stringify(changes)
  if (!cases.has(key)) cases.set(key, { zone, changes })
}

describe('a plan of every day', () => {
  test('looks at every zone and at hundreds of changes', () => {
    expect(timeZones().length).toBeGreaterThan(400)
    const changes = [...cases.values()].flatMap((each) => each.changes)
    expect(changes.length).toBeGreaterThan(1000)
  })
  test('runs once in each local day around every change, late only where its time does not exist', () => {
    let looked = 0
    for (const { zone, changes } of quickly([...cases.values()], 6))
      for (const change of changes) {
        const { at, before, after } = change
        const [early, late] = [at + Math.min(before, after) * minute, at + Math.max(before, after) * minute]
        // Every quarter of an hour from one before the change to one behind it, and the ends of the day.
        const wanted = new Set([0, 1439])
        for (let local = early - 60 * minute; local <= late + 60 * minute; local += 15 * minute)
          wanted.add(Math.floor((local % day) / minute))
        for (const startsMinute of wanted) {
          const two = (n: number) => String(n).padStart(2, '0')
          const startsAt = `${two(Math.floor(startsMinute / 60))}:${two(startsMinute % 60)}`
          const times: Times = { every: 'day', startsAt, timeZone: zone, windowMinutes: 0 }
          // The local dates around the change.
          const first = Math.floor((at + before * minute) / day) - 1
          const expected: [low: number, high: number][] = []
          for (let date = first; date < first + 4; date++) {
            const local = date * day + startsMinute * minute
            const moments = momentsOf(local, change)
            // A time that the clocks leave out: the first moment behind the gap, or as much later as the gap is long.
            expected.push(moments.length ? [Math.min(...moments), Math.min(...moments)] : [at, local - before * minute])
          }
          let moment = expected[0]![0] - 1
          const runs = expected.map(() => (moment = windowAfter(times, moment)))
          const isRight = runs.every((run, i) => expected[i]![0] <= run && run <= Math.max(...expected[i]!))
          if (!isRight)
            expect({
              zone,
              startsAt,
              change: new Date(at).toISOString(),
              runs: runs.map((run) => new Date(run).toISOString()),
            }).toEqual({ expected: expected.map(([low]) => new Date(low).toISOString()) } as never)
          looked++
        }
      }
    expect(looked).toBeGreaterThan(quickCount(10_000, 6))
  }, 120_000)
  test('runs in Greenland in the night in which the last hour of a day is left out, also once a week', () => {
    const nuuk = { startsAt: '23:30', timeZone: 'America/Nuuk', windowMinutes: 0 }
    const after = (every: Times['every'], from: string) =>
      new Date(windowAfter({ every, ...nuuk }, Date.parse(from))).toISOString()
    expect(after('day', '2027-03-27T12:00:00Z')).toBe('2027-03-28T01:00:00.000Z')
    expect(after('day', '2027-03-28T01:00:00Z')).toBe('2027-03-29T00:30:00.000Z')
    expect(after('saturday', '2027-03-27T12:00:00Z')).toBe('2027-03-28T01:00:00.000Z')
    expect(after('sunday', '2027-03-27T12:00:00Z')).toBe('2027-03-29T00:30:00.000Z')
  })
})
