// When the clocks of a time zone are set forward, by the offsets of the zone.
import { minute } from '../../../kernel/db/clock.ts'

const formats = new Map<string, Intl.DateTimeFormat>()
/** By how many ms the clocks of the zone are ahead of UTC. */
export function offsetAt(timeZone: string, at: number): number {
  let format = formats.get(timeZone)
  if (!format) {
    const digits = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone, calendar: 'gregory', hourCycle: 'h23', ...digits })
    formats.set(timeZone, format)
  }
  const [month, date, year, hours, minutes] = format.format(at).match(/\d+/g)!.map(Number)
  return Date.UTC(year!, month! - 1, date, hours, minutes) - Math.floor(at / minute) * minute
}

/** `at`: when the clocks jump. `from` and `to`: the local times between which there are none, as if they were UTC. */
export type Gap = { at: number; from: number; to: number }

/** The first time that clocks are set forward behind `after` and before `before`; undefined: they are not. */
export function gapBetween(timeZone: string, after: number, before: number): Gap | undefined {
  const old = offsetAt(timeZone, after)
  const now = offsetAt(timeZone, before)
  if (now <= old) return undefined
  let [low, high] = [after, before]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(timeZone, middle) === old) low = middle
    else high = middle
  }
  return { at: high, from: high + old, to: high + now }
}
