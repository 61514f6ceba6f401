import { instantOf, localMinute } from '../../public/panel/page/zone.js'
import type { At } from '../../src/kernel/web/page.ts'
import { useAt } from '../../src/kernel/web/page-context.ts'

const units: [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

/** Milliseconds in their largest whole unit. */
export function span(ms: number): string {
  const [unit, word] = units.find(([u]) => ms >= u) ?? [1000, 's']
  return `${Math.max(0, Math.floor(ms / unit))} ${word}`
}

/** How long something took or has been taking. `from`, `to`: ISO times. */
export function howLong(from: string, to: string | null, now: number): string {
  const ms = (to ? Date.parse(to) : now) - Date.parse(from)
  return ms < 1000 ? 'under 1 s' : span(ms)
}

/**
 * The time zone chosen under Account. Without one this is UTC, and public/panel/page/times.js draws the browser's in
 * its place.
 */
const zoneOf = ({ uiPreferences }: At) => uiPreferences?.timeZone ?? 'UTC'

const minutes: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
const seconds: Intl.DateTimeFormatOptions = { ...minutes, second: '2-digit' }
type Form = 'exact' | 'second' | 'day' | 'weekday' | 'clock'
const formats = new Map<string, Record<Form, Intl.DateTimeFormat>>()
/** Making one takes longer than a whole page: each zone's are made once. */
function formatsOf(timeZone: string) {
  const known = formats.get(timeZone)
  if (known) return known
  const day = { day: 'numeric', month: 'short', year: 'numeric' } as const
  const made = {
    exact: new Intl.DateTimeFormat('en-GB', { ...day, ...minutes, timeZone, timeZoneName: 'short' }),
    second: new Intl.DateTimeFormat('en-GB', { ...day, ...seconds, timeZone, timeZoneName: 'short' }),
    day: new Intl.DateTimeFormat('en-GB', { ...day, timeZone }),
    weekday: new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone }),
    clock: new Intl.DateTimeFormat('en-GB', { ...seconds, timeZone }),
  }
  formats.set(timeZone, made)
  return made
}

const inForm = (iso: string | number, at: At, form: Form) =>
  formatsOf(zoneOf(at))[form].format(typeof iso === 'number' ? iso : Date.parse(iso))
/** `21 Nov 2026, 14:03:22 UTC`, for a look at one time. */
const absolute = (iso: string, at: At) => inForm(iso, at, 'second')
/** `21 Nov 2026`, in UTC: the day of a month or a file. */
export const dayOf = (at: string | number) => formatsOf('UTC').day.format(typeof at === 'number' ? at : Date.parse(at))
/** `Sat, 21 Nov`, in this zone. */
export const weekdayOf = (at: number, timeZone: string) => formatsOf(timeZone).weekday.format(at)

const relative = (iso: string, now: number) => {
  const ms = now - Date.parse(iso)
  return Math.abs(ms) < 5000 ? 'just now' : ms < 0 ? `in ${span(-ms)}` : `${span(ms)} ago`
}

/** Relative, absolute on hover; public/panel/page/times.js keeps it going. */
export function Time({ iso }: { iso: string }) {
  const at = useAt()
  return (
    <time datetime={iso} title={absolute(iso, at)} data-ago="">
      {relative(iso, at.now)}
    </time>
  )
}

/** The day, the time and its zone: `21 Nov 2026, 14:03 UTC`. For sentences, and where the time itself matters. */
export function Exact({ iso }: { iso: string }) {
  const at = useAt()
  return (
    <time datetime={iso} title={absolute(iso, at)} data-exact="">
      {inForm(iso, at, 'exact')}
    </time>
  )
}

/** Both, as a value of its own, also on a phone, which has no hover. A sentence has `Exact` or `Deadline`. */
export const Moment = ({ iso }: { iso: string }) => (
  <>
    <Time iso={iso} />{' '}
    <small>
      · <Exact iso={iso} />
    </small>
  </>
)
/** The same as a cell of a table, where the second stands below the first. */
export const MomentCell = ({ iso }: { iso: string }) => (
  <>
    <Time iso={iso} />
    <small>
      <Exact iso={iso} />
    </small>
  </>
)

/** How long something has been so: `for 40 min`. `Time` would say `since 40 min ago`. */
export const For = ({ iso }: { iso: string }) => (
  <span title={absolute(iso, useAt())}>for {howLong(iso, null, useAt().now)}</span>
)

/** For a sentence about a time to come: `3 Dec 2026, 10:30 UTC (6 d left)`. */
export function Deadline({ iso }: { iso: string }) {
  const left = Date.parse(iso) - useAt().now
  return (
    <>
      <Exact iso={iso} />
      {left > 0 && ` (${span(left)} left)`}
    </>
  )
}

/** For a list of moments within a day or so, e.g. a log; `ZoneName` says of which zone. */
export function Clock({ iso }: { iso: string }) {
  const at = useAt()
  return (
    <time datetime={iso} title={absolute(iso, at)} data-clock="">
      {formatsOf(zoneOf(at)).clock.format(Date.parse(iso))}
    </time>
  )
}
const DAY_MS = 86_400_000
/** How long ago, with the time of day behind it, and of an older one the day as well. `clock`: false leaves it out. */
export function Ago({ iso, clock = true }: { iso: string; clock?: boolean }) {
  const isOfToday = useAt().now - Date.parse(iso) < DAY_MS
  return (
    <>
      <Time iso={iso} />
      {clock && <> ({isOfToday ? <Clock iso={iso} /> : <Exact iso={iso} />})</>}
    </>
  )
}

/** As a datetime-local field takes it, in the reader's zone; undefined for none, and for what is no time. */
export function useLocalMinute(iso: string | null | undefined): string | undefined {
  const at = useAt()
  const ms = iso ? Date.parse(iso) : Number.NaN
  return Number.isNaN(ms) ? undefined : localMinute(ms, zoneOf(at))
}
/**
 * The page's query with the times of these names as instants: without scripts a datetime-local field sends the reader's
 * local time.
 */
export function instantsIn(at: At, names: readonly string[]): At['query'] {
  const local = Object.entries(at.query).filter(([name, value]) => names.includes(name) && LOCAL_MINUTE.test(value))
  const instants = local.map(([name, value]) => [name, new Date(instantOf(value, zoneOf(at))).toISOString()])
  return { ...at.query, ...Object.fromEntries(instants) }
}
const LOCAL_MINUTE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d$/

export const ZoneName = () => <span data-zone-name="">{zoneOf(useAt())}</span>
