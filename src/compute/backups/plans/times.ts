// When the backups of a plan begin: at a local time of its zone, and each server at a moment of its own in the window
// behind it.
import { createHash } from 'node:crypto'
import { Cron } from 'croner'
import { day, hour, minute, second } from '../../../kernel/db/clock.ts'
import { gapBetween } from './clock-changes.ts'

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
export const frequencies = ['six_hours', 'twelve_hours', 'day', ...weekdays] as const
export type Frequency = (typeof frequencies)[number]

export const frequencyWords: Readonly<Record<Frequency, string>> = {
  six_hours: 'Every 6 hours',
  twelve_hours: 'Every 12 hours',
  day: 'Every day',
  monday: 'Every Monday',
  tuesday: 'Every Tuesday',
  wednesday: 'Every Wednesday',
  thursday: 'Every Thursday',
  friday: 'Every Friday',
  saturday: 'Every Saturday',
  sunday: 'Every Sunday',
}

/** `startsAt`: as 02:30, in `timeZone`. */
export type Times = { every: Frequency; startsAt: string; timeZone: string; windowMinutes: number }

/** The longest window in minutes: a server's backup begins before the next one is due. */
export const mostWindowMinutes = (every: Frequency): number =>
  every === 'six_hours' ? 5 * 60 : every === 'twelve_hours' ? 11 * 60 : 23 * 60

/** The hours of a day at which a plan begins. */
function hoursOf({ every, startsAt }: Times): number[] {
  const hour = Number(startsAt.slice(0, 2))
  const step = every === 'six_hours' ? 6 : every === 'twelve_hours' ? 12 : 24
  const first = hour % step
  return Array.from({ length: 24 / step }, (_, i) => first + i * step)
}

/** The plan as a line of cron: `30 2 * * *`. */
export function cronLine(times: Times): string {
  const weekday = weekdays.indexOf(times.every as (typeof weekdays)[number])
  return `${Number(times.startsAt.slice(3))} ${hoursOf(times).join()} * * ${weekday < 0 ? '*' : weekday}`
}

const crons = new Map<string, Cron>()
/** Parsing a line takes longer than asking it. */
function cronOf(times: Times): Cron {
  const key = `${cronLine(times)} ${times.timeZone}`
  const known = crons.get(key)
  if (known) return known
  // Lists of hours count as fixed times too: a clock that is set forward or back neither drops a run nor doubles it.
  const made = new Cron(cronLine(times), { timezone: times.timeZone, paused: true, fixedTimeRule: 'no-wildcard' })
  if (crons.size > 500) crons.clear()
  crons.set(key, made)
  return made
}

/** The first beginning of a window after this moment; both in ms. */
export function windowAfter(times: Times, after: number): number {
  const found = cronOf(times).nextRun(new Date(after))
  if (!found) throw new Error(`no run of ${cronLine(times)} after ${after}`)
  const next = found.getTime()
  return droppedBefore(times, after, next) ?? next
}

/**
 * The library drops a run that falls into an hour that is left out at the end of a day, as in Greenland: the moment
 * behind the gap, which is another day there. Undefined: nothing was dropped.
 */
function droppedBefore(times: Times, after: number, next: number): number | undefined {
  const gap = gapBetween(times.timeZone, after, next)
  if (!gap || gap.at >= next) return undefined
  const date = Math.floor(gap.from / day) * day
  const weekday = weekdays.indexOf(times.every as (typeof weekdays)[number])
  const isLeftOut = (local: number) => gap.from <= local && local < gap.to
  return [date, date + day].some(
    (start) =>
      (weekday < 0 || new Date(start).getUTCDay() === weekday) &&
      hoursOf(times).some((hours) => isLeftOut(start + hours * hour + Number(times.startsAt.slice(3)) * minute)),
  )
    ? gap.at
    : undefined
}

/** The server's distance from the beginning of a window, in ms: always the same, so its backups are evenly apart. */
export function offsetOf(serverId: string, windowMinutes: number): number {
  const share = createHash('sha256').update(serverId).digest().readUInt32BE(0) / 2 ** 32
  return Math.floor(share * windowMinutes * 60) * second
}

/** When the next backup of the server begins after this moment. */
export function dueAfter(times: Times, serverId: string, after: number): number {
  const offset = offsetOf(serverId, times.windowMinutes)
  return windowAfter(times, after - offset) + offset
}
