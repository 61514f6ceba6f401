// Times are shown in the zone that somebody chose; without one the browser draws its own, and what the server writes
// says UTC.
import { expect, test } from 'bun:test'
import { world } from '../../support/world/panel.ts'

const pageOf = async (p: Awaited<ReturnType<typeof world>>, path: string) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${p.customer.cookie}` } }),
    )
  ).text()

test('every time is drawn in the chosen zone, with the zone beside it', async () => {
  using p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const activity = () => pageOf(p, '/account/activity')
  expect(await activity()).toMatch(
    /<time datetime="[^"]+" title="[^"]+" data-exact>\d+ \w+ \d{4}, [\d:]{5} UTC<\/time>/,
  )
  expect(await activity()).not.toContain('data-zone')

  const chosen = await p.call(p.customer, 'PATCH', '/account', { timeZone: 'Asia/Tokyo' })
  expect([chosen.status, chosen.body.timeZone]).toEqual([200, 'Asia/Tokyo'])
  const text = await activity()
  expect(text).toContain('data-zone="Asia/Tokyo"')
  const [, iso, drawn] = /<time datetime="([^"]+)" title="[^"]+" data-exact>([^<]+)<\/time>/.exec(text)!
  const inTokyo = new Date(Date.parse(iso!) + 9 * 3_600_000).toISOString()
  expect(drawn).toContain(inTokyo.slice(11, 16))
  expect(drawn).toEndWith('GMT+9')
  const job = (await p.call(p.customer, 'GET', '/jobs')).body.data[0].id
  const log = await pageOf(p, `/jobs/${job}`)
  expect(log).toContain('Times in <span data-zone-name>Asia/Tokyo</span>')
})

test('what is no time zone is refused, and nothing changes', async () => {
  using p = await world()
  const before = (await p.call(p.customer, 'GET', '/account')).body
  const refused = await p.call(p.customer, 'PATCH', '/account', { timeZone: 'Mars/Olympus', name: 'Other' })
  expect([refused.status, refused.body.error.code, refused.body.error.details.fields[0].field]).toEqual([
    422,
    'validation_failed',
    'timeZone',
  ])
  const { timeZone, name } = (await p.call(p.customer, 'GET', '/account')).body
  expect([timeZone, name]).toEqual([null, before.name])
  expect((await p.call(p.customer, 'PATCH', '/account', { timeZone: 'UTC' })).body.timeZone).toBe('UTC')
  expect((await p.call(p.customer, 'PATCH', '/account', { timeZone: null })).body.timeZone).toBeNull()
})
