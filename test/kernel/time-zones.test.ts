// Old names of time zones stand for the present ones.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { timeZoneFrom, timeZones } from '../../src/kernel/time-zones.ts'

const known = (zone: string) => {
  try {
    return !!new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    return false
  }
}
/** Every name that the tz database of this system has. */
const source = '/usr/share/zoneinfo/tzdata.zi'
const names = existsSync(source)
  ? readFileSync(source, 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .flatMap(([kind, first, second]) => (kind === 'Z' ? [first!] : kind === 'L' ? [second!] : []))
      .filter(known)
  : []
const formats = new Map<string, Intl.DateTimeFormat>()
function wallClock(zone: string, at: number): string {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' })
  formats.set(zone, format)
  return format.format(at)
}

describe('a time zone', () => {
  test('that browsers and systems call by an old name has its present one', () => {
    for (const [old, present] of [
      ['Asia/Calcutta', 'Asia/Kolkata'],
      ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
      ['Europe/Kiev', 'Europe/Kyiv'],
      ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
      ['US/Eastern', 'America/New_York'],
      ['Etc/UTC', 'UTC'],
      ['GMT', 'UTC'],
      ['etc/utc', 'UTC'],
      ['europe/berlin', 'Europe/Berlin'],
      [' Europe/Berlin ', 'Europe/Berlin'],
    ] as const)
      expect([old, timeZoneFrom(old)]).toEqual([old, present])
    for (const zone of timeZones()) expect(timeZoneFrom(zone)).toBe(zone)
    for (const text of ['', 'Mars/Olympus', '+01:00', 'UTC+1', 'Factory', '__proto__', 'constructor'])
      expect([text, timeZoneFrom(text)]).toEqual([text, undefined])
  })
  test.skipIf(!names.length)('of every name in the database is one that is offered', () => {
    const offered = new Set(timeZones())
    for (const name of names) expect([name, offered.has(timeZoneFrom(name)!)]).toEqual([name, true])
  })
  test('shows the same clock by its old and its present name, in each month from 2025 to 2040', () => {
    for (const name of names) {
      const present = timeZoneFrom(name)!
      if (present === name) continue
      for (let month = 0; month < 12 * 16; month++) {
        const at = Date.UTC(2025, month, 15, 12)
        expect([name, at, wallClock(present, at)]).toEqual([name, at, wallClock(name, at)])
      }
    }
  })
})
