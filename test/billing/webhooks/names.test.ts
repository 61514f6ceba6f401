// A webhook has a name, and its form offers events in words, by what they are about.
import { expect, test } from 'bun:test'
import { world } from '../../support/world/panel.ts'

test('a webhook is called by its name, or by the host of its address', async () => {
  using p = await world()
  const made = { url: 'https://hooks.example.com/berth', events: ['server.provisioned'] }
  const { id, name } = (await p.call(p.customer, 'POST', '/webhooks', made)).body
  expect(name).toBeNull()
  const page = async (path: string) =>
    (
      await p.controller.router.fetch(
        new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${p.customer.cookie}` } }),
      )
    ).text()
  expect(await page('/account/webhooks')).toContain('>hooks.example.com</a>')
  const named = await p.call(p.customer, 'PATCH', `/webhooks/${id}`, { name: 'Billing' })
  expect(named.body).toMatchObject({ name: 'Billing', url: made.url, events: made.events })
  const list = await page('/account/webhooks')
  expect(list).toContain('>Billing</a>')
  expect(list).toContain('<legend>Servers</legend>')
  expect(list).toContain('Built and booted</label><span class="hint">server.provisioned</span>')
  const empty = await p.call(p.customer, 'PATCH', `/webhooks/${id}`, { name: '' })
  expect([empty.status, (await p.call(p.customer, 'GET', `/webhooks/${id}`)).body.name]).toEqual([422, 'Billing'])
  expect((await p.call(p.customer, 'PATCH', `/webhooks/${id}`, { name: null })).body.name).toBeNull()
})
