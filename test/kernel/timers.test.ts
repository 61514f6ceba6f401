// A failing scheduled task does not end the controller.
import { expect, spyOn, test } from 'bun:test'
import { log } from '../../src/kernel/log.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { world } from '../support/world/panel.ts'

test('a clock whose work fails goes on, and so does the controller', async () => {
  using p = await world()
  p.controller.start()
  await p.call(undefined, 'POST', '/password-resets', { email: 'nobody@example.com' })
  p.db.$client.run('ALTER TABLE reset_requests RENAME TO away')
  const failed = spyOn(log, 'error')
  const hasFailed = () => failed.mock.calls.some(([words]) => words === 'mailing links to new passwords failed')
  await eventually(hasFailed)
  expect(hasFailed()).toBe(true)
  failed.mockRestore()
  p.db.$client.run('ALTER TABLE away RENAME TO reset_requests')
  expect((await p.call(p.customer, 'GET', '/servers')).status).toBe(200)
  const waiting = () => p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM reset_requests').get()!.n
  await eventually(() => waiting() === 0)
  expect(waiting()).toBe(0)
})
