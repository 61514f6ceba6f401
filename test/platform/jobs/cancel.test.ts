// Cancelling a job by the API: who may, what becomes of the server, and what the page says.
import { expect, test } from 'bun:test'
import { type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

const path = (jobId: string) => `/jobs/${jobId}/actions/cancel`
const jobOf = async (p: World, jobId: string) => (await p.call(p.owner, 'GET', `/jobs/${jobId}`)).body

/** A server whose installation waits for its node, which is away. */
async function waiting() {
  const p = await world()
  const { imageId: _, hostname: __, access: ___, ...order } = p.order
  const { serverId } = (await p.admin('POST', '/admin/servers', order)) as { serverId: string }
  p.node.agent.disconnect()
  const body = { imageId: p.image, hostname: 'web01', access: { mode: 'password' } }
  const { jobId } = (await p.call(p.customer, 'POST', `/servers/${serverId}/actions/setup`, body)).body
  return Object.assign(p, { jobId: jobId as string, serverId })
}

test('202: the owner cancels the installation; the server waits for its setup again', async () => {
  using p = await waiting()
  expect(await jobOf(p, p.jobId)).toMatchObject({ state: 'queued', cancellable: true, cancelled: null })
  const { status, body } = await p.call(p.customer, 'POST', path(p.jobId), { reason: 'wrong image' })
  expect([status, body.id, body.cancelled.by.name]).toEqual([202, p.jobId, 'Cal'])
  await p.settle()
  expect(await jobOf(p, p.jobId)).toMatchObject({
    state: 'failed',
    error: { code: 'cancelled', message: 'It was cancelled before its end: wrong image.' },
    cancellable: false,
    cancelled: { by: { type: 'person', id: p.customer.id, name: 'Cal' } },
  })
  const server = (await p.call(p.customer, 'GET', `/servers/${p.serverId}`)).body
  expect([server.status, server.allowed.includes('setup')]).toEqual(['pending_setup', true])
})

test('a customer does not learn which member of staff cancelled the job', async () => {
  using p = await waiting()
  await p.call(p.owner, 'POST', path(p.jobId), {})
  await p.settle()
  const { cancelled } = (await p.call(p.customer, 'GET', `/jobs/${p.jobId}`)).body
  expect(cancelled.by).toMatchObject({ id: '', name: 'Staff' })
})

test('409 job_ended: a job that has ended is not cancelled', async () => {
  using p = await world()
  const { jobId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const { status, body } = await p.call(p.customer, 'POST', path(jobId), {})
  expect([status, body.error.code]).toEqual([409, 'job_ended'])
  expect((await jobOf(p, jobId)).cancelled).toBe(null)
})

test('409 job_not_cancellable: a suspension comes to its end', async () => {
  using p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  p.node.agent.disconnect()
  const { jobId } = await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'overdue' })
  const { status, body } = await p.call(p.owner, 'POST', path(jobId), {})
  expect([status, body.error.code]).toEqual([409, 'job_not_cancellable'])
  expect(await jobOf(p, jobId)).toMatchObject({ state: 'queued', cancellable: false })
})

test('403: it takes the right with which such a job is started', async () => {
  using p = await waiting()
  const asked = async (...[who, code]: [Parameters<World['call']>[0], string]) => {
    const { status, body } = await p.call(who, 'POST', path(p.jobId), {})
    expect([status, body.error?.code]).toEqual([403, code])
  }
  await asked(p.staff(['servers.see_all', 'servers.power']), 'forbidden')
  await asked(p.token(p.customer.id, ['servers:read', 'servers:power']), 'missing_scope')
  const friend = p.account('customer', 'Bo')
  await share(p, p.customer, friend, 'view')
  await asked(friend, 'forbidden')
  expect((await jobOf(p, p.jobId)).cancelled).toBe(null)
})

test('the page of a job has the button while the job can be cancelled', async () => {
  using p = await waiting()
  const page = async () =>
    (
      await p.controller.router.fetch(
        new Request(`http://localhost/jobs/${p.jobId}`, { headers: { Cookie: `__Host-panel=${p.customer.cookie}` } }),
      )
    ).text()
  expect(await page()).toContain('Cancel job')
  await p.call(p.customer, 'POST', path(p.jobId), {})
  await p.settle()
  const after = await page()
  expect(after).not.toContain('Cancel job')
  expect(after).toContain('Cancelled by')
})
