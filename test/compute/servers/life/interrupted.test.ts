// A suspension during the installation stops it; the customer who pays gets what was ordered. Whoever waits for a
// server hears when it is there, and when its installation has failed.
import { describe, expect, test } from 'bun:test'
import { eventually } from '../../../support/waiting/eventually.ts'
import { type World, world } from '../../../support/world/panel.ts'

const told = (p: World) => p.events().filter((type) => type.startsWith('server.'))
const suspend = (p: World, id: string) =>
  p.call(p.owner, 'POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
const unsuspend = (p: World, id: string) => p.call(p.owner, 'POST', `/servers/${id}/actions/unsuspend`)

/** Suspends the server while its node works on this command. */
async function suspendedDuring(p: World, command: 'image.ensure' | 'volume.create' | 'vm.await', start: () => Begun) {
  p.node.agent.fault({ command, mode: 'slow', times: 1, ms: 150 })
  const { serverId: id, jobId } = await start()
  const step = { 'image.ensure': 'image', 'volume.create': 'disk', 'vm.await': 'boot' }[command]
  const begun = p.db.$client.query("SELECT 1 FROM job_steps WHERE job_id = ? AND name = ? AND state = 'started'")
  await eventually(() => begun.get(jobId, step) !== null)
  expect((await suspend(p, id)).status).toBe(202)
  await p.settle()
  expect(p.job(jobId)).toMatchObject({ state: 'failed' })
  return { id, jobId }
}
type Begun = Promise<{ serverId: string; jobId: string }>
const ordered = (p: World) => () => p.admin('POST', '/admin/servers', p.order) as Begun

describe('an installation that a suspension stopped', () => {
  for (const command of ['image.ensure', 'volume.create', 'vm.await'] as const)
    test(`at ${command} goes on when the server is unsuspended`, async () => {
      using p = await world()
      const { id } = await suspendedDuring(p, command, ordered(p))
      expect((await p.admin('GET', `/servers/${id}`)).status).toBe('suspended')
      const back = await unsuspend(p, id)
      expect([back.status, typeof back.body.jobId]).toEqual([202, 'string'])
      expect((await p.admin('GET', `/servers/${id}`)).status).toBe('provisioning')
      await p.settle()
      expect(p.job(back.body.jobId)).toMatchObject({ state: 'succeeded', kind: 'install' })
      expect(await p.admin('GET', `/servers/${id}`)).toMatchObject({ status: 'running', failure: null })
      expect(told(p)).toEqual(['server.created', 'server.suspended', 'server.unsuspended', 'server.provisioned'])
      // Once: a later suspension stops and starts the server that is there.
      await suspend(p, id)
      await p.settle()
      const again = await unsuspend(p, id)
      await p.settle()
      expect(p.job(again.body.jobId)).toMatchObject({ kind: 'unsuspend' })
      expect((await p.admin('GET', `/admin/nodes/${p.node.id}`)).differences).toBe(0)
    })

  test('goes on when both calls come at once, and its node is away meanwhile', async () => {
    using p = await world()
    p.node.agent.fault({ command: 'volume.create', mode: 'slow', times: 1, ms: 150 })
    const { serverId, jobId } = await ordered(p)()
    const isAtWork = () => p.job(jobId).stepN >= 2
    await eventually(isAtWork)
    p.node.agent.disconnect()
    expect((await suspend(p, serverId)).status).toBe(202)
    expect((await unsuspend(p, serverId)).status).toBe(202)
    p.node.agent.connect()
    for (let n = 0; n < 5; n++) await Promise.all([p.settle(), Bun.sleep(2)])
    expect((await p.admin('GET', `/servers/${serverId}`)).status).toBe('running')
    expect(told(p)).toEqual(['server.created', 'server.suspended', 'server.unsuspended', 'server.provisioned'])
  })

  test('of its owner (setup) goes on too', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', {
      ...p.order,
      imageId: undefined,
      hostname: undefined,
      access: undefined,
    })
    const { imageId, access } = p.order
    await suspendedDuring(p, 'volume.create', async () => {
      const wanted = { imageId, hostname: 'mine01', access }
      return (await p.call(p.customer, 'POST', `/servers/${serverId}/actions/setup`, wanted)).body
    })
    const { jobId } = (await unsuspend(p, serverId)).body
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ state: 'succeeded', kind: 'setup' })
    expect(await p.admin('GET', `/servers/${serverId}`)).toMatchObject({ status: 'running', hostname: 'mine01' })
  })

  test('does not go on for another owner, whose keys it does not have, nor after a termination', async () => {
    using p = await world()
    const { id } = await suspendedDuring(p, 'volume.create', ordered(p))
    await p.admin('POST', `/servers/${id}/actions/change-owner`, { ownerId: p.account('customer', 'Nora').id })
    expect([(await unsuspend(p, id)).body.jobId, p.server(id).status as string]).toEqual([null, 'failed'])
    const rows = p.db.$client.query('SELECT count(*) AS n FROM interrupted_installations')
    await p.admin('DELETE', `/servers/${id}`)
    await p.settle()
    expect(rows.get()).toEqual({ n: 0 })
  })
})

describe('a first installation that fails', () => {
  const failing = async (p: World) => {
    p.node.agent.fault({ command: 'volume.create', mode: 'fail', times: 1 })
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    return serverId as string
  }

  test('is told with the reason, to the customer too', async () => {
    using p = await world()
    const id = await failing(p)
    expect(told(p)).toEqual(['server.created', 'server.install_failed'])
    const { body } = await p.call(p.customer, 'GET', '/events?type=server.install_failed')
    expect(body.data[0].data).toMatchObject({
      server: { id, status: 'failed' },
      customer: { id: p.customer.id },
      error: (await p.admin('GET', `/servers/${id}`)).failure,
    })
  })

  test('is made good by a reinstallation, which tells that the server is there, once', async () => {
    using p = await world()
    const id = await failing(p)
    const { imageId, access } = p.order
    const reinstall = async () => {
      await p.admin('POST', `/servers/${id}/actions/reinstall`, { imageId, access })
      await p.settle()
    }
    await reinstall()
    expect((await p.admin('GET', `/servers/${id}`)).status).toBe('running')
    expect(told(p).slice(2)).toEqual(['server.provisioned', 'server.reinstalled'])
    await reinstall()
    expect(told(p).slice(2)).toEqual(['server.provisioned', 'server.reinstalled', 'server.reinstalled'])
  })

  test('of a reinstallation that keeps the old system tells of no failure: the server is as it was', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.node.agent.fault({ command: 'volume.create', mode: 'fail', times: 1 })
    const { imageId, access } = p.order
    await p.admin('POST', `/servers/${serverId}/actions/reinstall`, { imageId, access })
    await p.settle()
    expect([(await p.admin('GET', `/servers/${serverId}`)).status, told(p)]).toEqual([
      'running',
      ['server.created', 'server.provisioned'],
    ])
  })
})
