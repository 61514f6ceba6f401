import { describe, expect, test } from 'bun:test'
import { hour, minute } from '../../../src/kernel/db/clock.ts'
import { world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

const pageOf = async (
  p: Awaited<ReturnType<typeof world>>,
  cookie: string,
  path: string,
  headers: Record<string, string> = {},
) => {
  const response = await p.controller.router.fetch(
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

  test('has first steps, and after them the servers with the buttons that fit their state', async () => {
    using p = await world()
    expect((await pageOf(p, p.customer.cookie!, '/')).text).toContain('First steps')
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const { text } = await pageOf(p, p.customer.cookie!, '/servers')
    expect(text).toContain(`/servers/${serverId}/actions/power`)
    expect(text).toMatch(/aria-disabled="true"[^>]*data-why="web01: It is running."/)
    expect(text).toContain('<span>Restart</span><span class="sr"> selected</span>')
  })

  test('who was only lent the sight of a server gets no buttons for it, nor ticks', async () => {
    using p = await world()
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const friend = p.account('customer', 'Bo')
    await share(p, p.customer, friend, 'view')
    for (const path of ['/', '/servers']) {
      const { text } = await pageOf(p, friend.cookie!, path)
      expect(text).toContain('web01')
      expect(text).not.toMatch(/actions\/power|data-tick|data-press/)
    }
  })

  test('is at home on the first page; staff and resellers are led to theirs', async () => {
    using p = await world()
    for (const [who, home] of [
      [p.owner, '/admin'],
      [p.account('reseller', 'Rita'), '/reseller'],
    ] as const) {
      const answer = await p.controller.router.fetch(
        new Request('http://localhost/', { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
      )
      expect([answer.status, answer.headers.get('Location')]).toEqual([303, home])
    }
  })

  test("does not get at another's server page, nor at the staff's pages", async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    const stranger = p.account('customer', 'Mallory')
    expect((await pageOf(p, stranger.cookie!, `/servers/${serverId}`)).status).toBe(404)
    for (const path of ['/admin', '/admin/servers', `/admin/servers/${serverId}`, '/admin/nodes', '/admin/audit'])
      expect([path, (await pageOf(p, stranger.cookie!, path)).status]).toEqual([path, 404])
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
    const { body } = await p.call(undefined, 'POST', '/sessions', {
      email: 'ada@berth.test',
      password: 'seven green bicycles',
    })
    expect(p.auditLines().at(-1)).toMatchObject({
      operation: 'sessions.create',
      actorName: 'Ada',
      actorId: body.accountId,
      target: body.accountId,
      details: { password: '***' },
    })
  })
})
