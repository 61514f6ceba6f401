// The time of the product, while somebody sets the clock of the host.
import { describe, expect, test } from 'bun:test'
import { MonotonicClock, OBSERVED_EVERY_MS } from '../../../agent/protocol/monotonic-clock.ts'

const [second, minute, hour] = [1000, 60_000, 3_600_000]
const START = 1_800_000_000_000

/** A host whose clock is `off` from the real time, and which compares it every five seconds. */
function host() {
  let elapsed = 0
  let off = 0
  const time = new MonotonicClock({ wall: () => START + elapsed + off, monotonic: () => 77.25 + elapsed })
  return {
    time,
    /** How far the product's time is from the real one. */
    error: () => time.now() - START - elapsed,
    set(byMs: number) {
      off += byMs
      return time.observe()
    },
    pass(ms: number) {
      for (const end = elapsed + ms; elapsed < end; ) {
        elapsed = Math.min(end, elapsed + OBSERVED_EVERY_MS)
        expect(time.observe()).toBeUndefined()
      }
    },
  }
}

describe('the time of the product', () => {
  test('is that of the host, in whole milliseconds', () => {
    const { time, pass, error } = host()
    expect(time.now()).toBe(START)
    pass(hour)
    expect([error(), time.unsettled()]).toEqual([0, undefined])
  })
  for (const byMs of [-hour, hour, -10 * minute, 10 * minute, -365 * 24 * hour, 365 * 24 * hour])
    test(`does not follow a host clock that is set by ${byMs / minute} minutes, and approaches it by 1 %`, () => {
      const { time, pass, error, set } = host()
      pass(minute)
      expect(set(byMs)).toEqual({ at: START + minute, byMs })
      expect(error()).toBe(0)
      expect(time.unsettled()).toMatchObject({ byMs, offMs: byMs })
      pass(5 * minute)
      expect(Math.abs(error())).toBeLessThanOrEqual(3 * second)
      expect(Math.sign(error())).toBe(Math.sign(byMs))
      // The clock is right again: nothing is left of it.
      set(-byMs)
      expect(time.unsettled()).toBeUndefined()
      pass(10 * minute)
      expect(Math.abs(error())).toBeLessThan(50)
    })
  test('reaches a host clock that stays where it was set', () => {
    const { time, pass, error, set } = host()
    set(-10 * minute)
    pass(15 * hour)
    expect(time.unsettled()).toBeDefined()
    pass(2 * hour)
    expect([Math.abs(error() + 10 * minute) < 50, time.unsettled()]).toEqual([true, undefined])
  })
  test('never goes back, whatever the host clock does, and not when the monotonic clock stumbles', () => {
    let [wall, monotonic] = [START, 0]
    const time = new MonotonicClock({ wall: () => wall, monotonic: () => monotonic })
    for (let i = 0, last = time.now(); i < 5000; i++) {
      wall += [1, -hour, hour, 17, 0][i % 5]!
      monotonic += [3, 0.5, 5000, 0, -2][i % 5]!
      if (i % 3 === 0) time.observe()
      expect(time.now()).toBeGreaterThanOrEqual(last)
      last = time.now()
    }
  })
  test('goes on where the process before it ended, when the host clock was set back meanwhile by a day at most', () => {
    let elapsed = 0
    const from = (wall: number, last?: number) =>
      new MonotonicClock({ wall: () => wall + elapsed, monotonic: () => 5 + elapsed }, last)
    expect(from(START).now()).toBe(START)
    expect(from(START, START - 365 * 24 * hour).now()).toBe(START)
    expect(from(START, START + 25 * hour).now()).toBe(START)
    const time = from(START - hour, START)
    expect([time.now(), time.unsettled()]).toEqual([
      START,
      { at: START, byMs: -hour, offMs: -hour, settledInMs: 100 * hour },
    ])
    elapsed = 100 * second
    expect(time.now() - START).toBe(99 * second)
  })
  test('a leap second and a correction of a second are no jump', () => {
    const { time, set, pass, error } = host()
    for (const byMs of [-1000, 1000, 900]) expect(set(byMs)).toBeUndefined()
    pass(10 * minute)
    expect([Math.abs(error() - 900) < 50, time.unsettled()]).toEqual([true, undefined])
  })
})
