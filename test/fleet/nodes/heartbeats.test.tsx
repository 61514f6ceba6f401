// The strip of heartbeats says of each minute what is known of it.
import { expect, test } from 'bun:test'
import { MOST_ABSENCES } from '../../../src/fleet/nodes/nodes.ts'
import { heartbeatsOf } from '../../../views/fleet/nodes/heartbeats.tsx'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { world } from '../../support/world/panel.ts'

const MINUTE = 60_000
const now = Date.parse('2026-11-27T12:00:30Z')
const iso = (minutesAgo: number) => new Date(now - minutesAgo * MINUTE).toISOString()
/** Measured in each minute of the hour but those of `gaps`, which are minutes ago. */
const measured = (...gaps: number[]) => {
  const from = Date.parse('2026-11-27T11:00:00Z')
  const cpuPercent = Array.from({ length: 61 }, (_, i) => (gaps.includes(60 - i) ? null : 5))
  return { from: new Date(from).toISOString(), resolutionSeconds: 60, series: { cpuPercent } } as never
}
const minutesOf = (absences: { from: string; to: string | null }[], metrics = measured()) =>
  heartbeatsOf({ absences }, metrics, now).beats

test('an hour of measurements is an hour of heartbeats, and ends with this minute', () => {
  const { from, beats } = heartbeatsOf({ absences: [] }, measured(), now)
  expect([beats.length, new Set(beats)]).toEqual([60, new Set(['heard'])])
  expect(new Date(from).toISOString()).toBe('2026-11-27T11:01:00.000Z')
})

test('each minute of an absence is away, at its edges too, and what a node measured meanwhile does not hide it', () => {
  const minutes = minutesOf([{ from: iso(10.2), to: iso(7.9) }])
  expect(minutes.map((minute, i) => (minute === 'away' ? 59 - i : -1)).filter((ago) => ago >= 0)).toEqual([10, 9, 8])
  expect(minutesOf([{ from: iso(3), to: null }]).slice(-5)).toEqual(['heard', 'away', 'away', 'away', 'away'])
})

test('minutes without measurement and without absence are unknown, but the newest are still on their way', () => {
  expect(minutesOf([], measured(0, 1, 20)).flatMap((minute, i) => (minute === 'unknown' ? [59 - i] : []))).toEqual([20])
})

/** Measured in each ten minutes of the day but those of `gaps`, which are ten minutes ago each. */
const measuredDay = (...gaps: number[]) => {
  const cpuPercent = Array.from({ length: 144 }, (_, i) => (gaps.includes(144 - i) ? null : 5))
  return { from: '2026-11-26T12:00:00.000Z', resolutionSeconds: 600, series: { cpuPercent } } as never
}

test('a day has a bar for ten minutes, and an absence of a minute is not lost in it', () => {
  const { from, beats } = heartbeatsOf({ absences: [] }, measuredDay(40), now, 'day')
  expect([beats.length, new Date(from).toISOString()]).toEqual([144, '2026-11-26T12:10:00.000Z'])
  expect(beats.flatMap((beat, i) => (beat === 'unknown' ? [143 - i] : []))).toEqual([40])
  const away = heartbeatsOf({ absences: [{ from: iso(605), to: iso(604) }] }, measuredDay(), now, 'day').beats
  expect(away.flatMap((beat, i) => (beat === 'away' ? [143 - i] : []))).toEqual([61])
})

test('before the oldest absence that is known of a node that was away very often nothing is known', () => {
  const absences = Array.from({ length: MOST_ABSENCES }, (_, i) => ({ from: iso(i * 5 + 3), to: iso(i * 5 + 2) }))
  const { beats } = heartbeatsOf({ absences }, measuredDay(), now, 'day')
  expect(new Set(beats.slice(0, 90))).toEqual(new Set(['unknown']))
  expect(heartbeatsOf({ absences: absences.slice(1) }, measuredDay(), now, 'day').beats[0]).toBe('heard')
})

test('the page of a node has its heartbeats and what is on it before the facts of its host', async () => {
  using p = await world()
  await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'first01' })
  await p.settle()
  using pages = pagesFor(p, p.owner)
  const shown = async () => {
    const html = await (await fetch(new URL(`/admin/nodes/${p.node.id}`, pages.url))).text()
    return { html, order: [...html.matchAll(/<section class="sec[^"]*" id="([a-z]+)"/g)].map(([, id]) => id) }
  }
  const whole = await shown()
  expect(whole.order.slice(0, 3)).toEqual(['heartbeats', 'servers', 'facts'])
  expect(whole.html).toContain('It has not been away')
  p.node.agent.disconnect()
  p.turnClock(5 * MINUTE)
  const away = await shown()
  expect(away.order.slice(0, 4)).toEqual(['heartbeats', 'servers', 'try', 'facts'])
  expect(away.html).toMatch(/none since <time[^>]*data-clock/)
  expect(away.html).toMatch(/Away for\D*5 min/)
  const day = await (await fetch(new URL(`/admin/nodes/${p.node.id}?beats=day`, pages.url))).text()
  expect(day).toContain('Heartbeats, last day')
  expect(day.match(/<rect /g)!.length).toBeGreaterThanOrEqual(144)
  expect(whole.html).toContain(`href="/admin/nodes/${p.node.id}?beats=day"`)
})
