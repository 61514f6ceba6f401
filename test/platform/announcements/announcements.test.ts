import { describe, expect, test } from 'bun:test'
import { type Who, type World, world } from '../../support/world/panel.ts'

const announce = (p: World, body: object) =>
  p.call(p.owner, 'POST', '/admin/announcements', { text: 'Hello', audience: 'everybody', ...body })
const described = async (p: World, who: Who) =>
  (await p.call(who, 'GET', '/announcements')).body.data.map((a: any) => a.text)
const at = (p: World, ms: number) => new Date(p.now() + ms).toISOString()
const page = async (p: World, path: string, who: Who) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
  ).text()

describe('an announcement', () => {
  test('is told to those it is for, and to nobody else', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Reed')
    for (const audience of ['everybody', 'customers', 'resellers', 'staff'])
      await announce(p, { audience, text: `for ${audience}` })
    expect(await described(p, p.customer)).toEqual(['for customers', 'for everybody'])
    expect(await described(p, reseller)).toEqual(['for resellers', 'for everybody'])
    expect(await described(p, p.owner)).toEqual(['for staff', 'for everybody'])
  })
  test('is told from its start until its end', async () => {
    using p = await world()
    await announce(p, { startsAt: at(p, 60_000), endsAt: at(p, 120_000) })
    const seen = []
    for (const ms of [0, 61_000, 60_000]) {
      p.turnClock(ms)
      seen.push((await described(p, p.customer)).length)
    }
    expect(seen).toEqual([0, 1, 0])
  })
  test('cannot end before it starts, also by a change of one end', async () => {
    using p = await world()
    const before = p.fingerprint()
    expect((await announce(p, { startsAt: at(p, 60_000), endsAt: at(p, 59_000) })).body.error.code).toBe(
      'validation_failed',
    )
    expect(p.fingerprint()).toBe(before)
    const { id } = (await announce(p, { endsAt: at(p, 60_000) })).body
    expect((await p.call(p.owner, 'PATCH', `/admin/announcements/${id}`, { startsAt: at(p, 90_000) })).status).toBe(422)
    expect((await p.call(p.owner, 'PATCH', `/admin/announcements/${id}`, { endsAt: null })).body.endsAt).toBe(null)
  })
  test('stands on the first page of each, as text and not as markup', async () => {
    using p = await world()
    await announce(p, { text: 'Maintenance <script>alert(1)</script>', level: 'warn' })
    for (const [path, who] of [
      ['/', p.customer],
      ['/reseller', p.account('reseller', 'Reed')],
      ['/admin', p.owner],
    ] as const)
      expect(await page(p, path, who)).toContain('Maintenance &lt;script>alert(1)&lt;/script>')
  })
  test('is gone when it is removed, and the log knows what it said', async () => {
    using p = await world()
    const { id } = (await announce(p, { text: 'Once' })).body
    await p.call(p.owner, 'DELETE', `/admin/announcements/${id}`)
    expect(await described(p, p.customer)).toEqual([])
    expect(p.auditLines().at(-1)!.changes).toEqual([{ field: 'text', before: 'Once', after: null }])
  })
  test('is written by who may change settings', async () => {
    using p = await world()
    const who = p.staff(['customers.write'])
    const before = p.fingerprint()
    const { body } = await p.call(who, 'POST', '/admin/announcements', { text: 'x', audience: 'staff' })
    expect(body.error.code).toBe('forbidden')
    expect(p.fingerprint()).toBe(before)
  })
})
