// The strip of heartbeats says of each minute what is known of it.
import { expect, test } from 'bun:test'
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
  heartbeatsOf({ absences }, metrics, now).minutes

test('an hour of measurements is an hour of heartbeats, and ends with this minute', () => {
  const { from, minutes } = heartbeatsOf({ absences: [] }, measured(), now)
  expect([minutes.length, new Set(minutes)]).toEqual([60, new Set(['heard'])])
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
})
