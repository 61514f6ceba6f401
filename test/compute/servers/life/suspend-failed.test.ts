// A server whose installation failed is suspended like any other: billing does not wait for an installation that works.
import { expect, test } from 'bun:test'
import { world } from '../../../support/world/panel.ts'

test('one whose installation failed is suspended and unsuspended as it was, and can be terminated', async () => {
  using p = await world()
  p.node.agent.fault({ command: 'volume.create', mode: 'fail' })
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const read = async () => (await p.call(p.owner, 'GET', `/servers/${serverId}`)).body
  expect(await read()).toMatchObject({
    status: 'failed',
    allowed: expect.arrayContaining(['reinstall', 'suspend', 'terminate']),
  })
  const suspended = await p.call(p.owner, 'POST', `/servers/${serverId}/actions/suspend`, { reason: 'unpaid' })
  expect([suspended.status, typeof suspended.body.jobId]).toEqual([202, 'string'])
  await p.settle()
  expect(await read()).toMatchObject({
    status: 'suspended',
    suspendReason: 'unpaid',
    allowed: expect.arrayContaining(['unsuspend', 'terminate']),
  })
  expect((await p.call(p.owner, 'GET', `/admin/nodes/${p.node.id}`)).body.differences).toBe(0)
  const back = await p.call(p.owner, 'POST', `/servers/${serverId}/actions/unsuspend`)
  expect([back.status, back.body.jobId]).toEqual([200, null])
  expect(await read()).toMatchObject({ status: 'failed', failure: expect.any(String) })
  await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'unpaid' })
  await p.settle()
  await p.admin('DELETE', `/servers/${serverId}?immediately=true`)
  await p.settle()
  expect(await read()).toMatchObject({ status: 'terminated' })
  expect(p.events()).toEqual([
    'server.created',
    'server.install_failed',
    'server.suspended',
    'server.unsuspended',
    'server.suspended',
    'server.terminated',
  ])
})
