import { describe, expect, test } from 'bun:test'
import { hour, minute } from '../../src/kernel/db/clock.ts'
import { world } from '../support/panel.ts'

const pageOf = async (p: Awaited<ReturnType<typeof world>>, cookie: string, path: string, headers: Record<string, string> = {}) => {
  const response = await p.controller.app.fetch(
    new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}`, ...headers } }),
  )
  return { status: response.status, text: await response.text() }
}

describe('a customer', () => {
  test('whose server waits for its setup is offered the published images, and no others', async () => {
    using p = await world()
    const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
    const { serverId } = await p.admin('POST', '/admin/servers', waiting)
    const hidden = p.addImage('Not yet')
    await p.admin('PATCH', `/admin/images/${hidden}`, { published: false })
    const { text } = await pageOf(p, p.customer.cookie!, `/servers/${serverId}`)
    expect(text).toContain('Debian 13')
    expect(text).not.toContain('Not yet')
    expect((await p.call(p.customer, 'GET', '/images')).body.data.map((i: any) => i.name)).toEqual(['Debian 13'])
    expect((await p.call(p.customer, 'GET', '/admin/images')).body.error.code).toBe('forbidden')
  })

  test("does not get at another's server page, nor at the staff's pages", async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    const stranger = p.account('customer', 'Mallory')
    expect((await pageOf(p, stranger.cookie!, `/servers/${serverId}`)).status).toBe(404)
    for (const path of ['/admin', '/admin/servers', `/admin/servers/${serverId}`, '/admin/nodes', '/admin/audit'])
      expect([path, (await pageOf(p, stranger.cookie!, path)).status]).toEqual([path, path.endsWith(serverId) ? 404 : 403])
  })
})

describe('a session', () => {
  test('is not kept alive by a page that asks for itself, but by a person who opens one', async () => {
    using p = await world()
    for (let passed = 0; passed < 50; passed += 10) {
      p.turnClock(10 * minute)
      expect((await pageOf(p, p.owner.cookie!, '/admin', { 'HX-Request': 'true' })).status).toBe(200)
    }
    p.turnClock(11 * minute)
    expect((await pageOf(p, p.owner.cookie!, '/admin', { 'HX-Request': 'true' })).status).toBe(303)
    const other = p.staff()
    for (let passed = 0; passed < 3 * hour; passed += 50 * minute) {
      p.turnClock(50 * minute)
      expect((await pageOf(p, other.cookie!, '/admin')).status).toBe(200)
    }
  })

  test('that begins is in the audit log under the name of who signed in', async () => {
    using p = await world()
    await p.admin('POST', '/admin/staff', { email: 'ada@berth.test', name: 'Ada', password: 'seven green bicycles' })
    const { body } = await p.call(undefined, 'POST', '/sessions', { email: 'ada@berth.test', password: 'seven green bicycles' })
    expect(p.auditLines().at(-1)).toMatchObject({
      operation: 'sessions.create',
      actorName: 'Ada',
      actorId: body.accountId,
      target: body.accountId,
      details: { password: '***' },
    })
  })
})
