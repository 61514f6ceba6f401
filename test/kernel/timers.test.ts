// A failing scheduled task does not end the controller.
import { expect, test } from 'bun:test'
import { world } from '../support/world/panel.ts'

test('a clock whose work fails goes on, and so does the controller', async () => {
  using p = await world()
  p.controller.start()
  await p.call(undefined, 'POST', '/password-resets', { email: 'nobody@example.com' })
  p.db.$client.run('ALTER TABLE reset_requests RENAME TO away')
  await Bun.sleep(2500)
  p.db.$client.run('ALTER TABLE away RENAME TO reset_requests')
  expect((await p.call(p.customer, 'GET', '/servers')).status).toBe(200)
  await Bun.sleep(2500)
  expect(p.db.$client.query('SELECT count(*) AS n FROM reset_requests').get()).toEqual({ n: 0 })
}, 10_000)
