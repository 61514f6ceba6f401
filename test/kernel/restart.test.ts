import { expect, test } from 'bun:test'
import { world } from '../support/world/panel.ts'

test('while the controller stops, reads go on and changes are refused for a minute, and nothing happens', async () => {
  using p = await world()
  const before = p.fingerprint()
  p.controller.beginStop()
  const changes = [
    ['POST', '/admin/servers', p.order],
    ['POST', '/admin/customers', { name: 'N', email: 'n@customer.test' }],
    ['PATCH', `/admin/nodes/${p.node.id}`, { open: false }],
    ['DELETE', `/admin/nodes/${p.node.id}`, undefined],
    ['POST', '/sessions', { email: 'a@b.test', password: 'x' }],
  ] as const
  for (const [method, path, body] of changes) {
    const reply = await p.call(path === '/sessions' ? undefined : p.owner, method, path, body)
    expect([path, reply.status, reply.body.error.code, reply.headers.get('Retry-After')]).toEqual([
      path,
      503,
      'restarting',
      '60',
    ])
    expect(reply.body.error.details).toBeUndefined()
  }
  for (const path of ['/status', '/admin/nodes', '/jobs', '/admin/overview'])
    expect((await p.call(p.owner, 'GET', path)).status).toBe(200)
  expect(p.fingerprint()).toBe(before)
})

test('who may not make the change is told that and not to come back', async () => {
  using p = await world()
  p.controller.beginStop()
  expect((await p.call(undefined, 'POST', '/admin/servers', p.order)).body.error.code).toBe('not_authenticated')
})
