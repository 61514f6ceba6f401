// Times that people type: in the zone of all times of the page.
import { describe, expect, test } from 'bun:test'
import { instantOf, localMinute } from '../../../public/panel/page/zone.js'
import { type Who, type World, world } from '../../support/world/panel.ts'

const page = async (p: World, path: string, who: Who) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
  ).text()

describe('a local time', () => {
  test('is the same instant there and back, also around a change of the clocks', () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati'])
      for (let ms = Date.UTC(2026, 2, 1); ms < Date.UTC(2026, 11, 1); ms += 17 * 3_600_000 + 60_000) {
        const local = localMinute(ms, zone)
        expect(local).toMatch(/^2026-\d\d-\d\dT\d\d:\d\d$/)
        expect(localMinute(instantOf(local, zone), zone)).toBe(local)
      }
    expect(instantOf('2026-07-01T12:00', 'Europe/Berlin')).toBe(Date.UTC(2026, 6, 1, 10))
    expect(instantOf('2026-12-01T12:00', 'Europe/Berlin')).toBe(Date.UTC(2026, 11, 1, 11))
    // The clocks go from 2:00 to 3:00, and from 3:00 to 2:00: the first of the two hours.
    expect(instantOf('2026-03-29T03:30', 'Europe/Berlin')).toBe(Date.UTC(2026, 2, 29, 1, 30))
    expect(instantOf('2026-10-25T02:30', 'Europe/Berlin')).toBe(Date.UTC(2026, 9, 25, 0, 30))
    expect(instantOf('', 'UTC')).toBeNaN()
  })
})
describe('the filters of the audit log', () => {
  test('show an instant in the chosen zone, take a local time in it, and name it', async () => {
    using p = await world()
    await p.call(p.owner, 'PATCH', '/account', { timeZone: 'Asia/Kathmandu' })
    const html = await page(p, '/admin/audit?since=2026-11-22T08:18:00.000Z&until=2026-11-22T14:03', p.owner)
    expect(html.split('value="2026-11-22T14:03" data-iso="2026-11-22T08:18:00.000Z"')).toHaveLength(3)
    expect(html.match(/Asia\/Kathmandu/g)!.length).toBeGreaterThan(1)
    expect([html.includes('(UTC)'), html.includes('until=2026-11-22T08%3A18%3A00.000Z')]).toEqual([false, true])
  })
  test('do not fail for a time that is none', async () => {
    using p = await world()
    for (const since of ['x', '2026-02-31T00:00', '2026-11-22'])
      expect(await page(p, `/admin/audit?since=${since}`, p.owner)).toContain('Audit log')
  })
})
