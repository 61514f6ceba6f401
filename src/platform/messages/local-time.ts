// Times for one reader, in the time zone of that reader.
import { dayText, hour, iso, minute } from '../../kernel/db/clock.ts'
import { count, list } from '../../kernel/words.ts'

/** `3 Dec 2026, 10:30 UTC`, `3 Dec 2026, 11:30 Europe/Berlin`. `zone`: a name of the IANA database. */
export function minuteTextIn(at: number, zone: string): string {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en', {
      timeZone: zone,
      hourCycle: 'h23',
      ...({ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const),
    })
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour: hours = 0, minute: minutes = 0 } = parts
  const local = Date.UTC(year, month - 1, day, hours, minutes)
  return `${dayText(local)}, ${iso(local).slice(11, 16)} ${zone}`
}

/** `45 minutes`, `1 hour and 30 minutes`, `2 hours`; of whole minutes. */
export function durationText(ms: number): string {
  const minutes = Math.round(ms / minute)
  const hours = Math.floor((minutes * minute) / hour)
  const rest = minutes - hours * 60
  return list([...(hours ? [count(hours, 'hour')] : []), ...(rest || !hours ? [count(rest, 'minute')] : [])])
}
