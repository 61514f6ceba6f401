// Each server has a restart policy of its own: the order takes it from the package, its owner changes it.
import { describe, expect, test } from 'bun:test'
import { type World, world } from '../../../support/world/panel.ts'

const set = (p: World, id: string, restartPolicy: string, who = p.customer) =>
  p.call(who, 'PUT', `/servers/${id}/restart-policy`, { restartPolicy })
const onNode = (p: World, id: string) => p.node.agent.host.state.wantedOne(id)?.restart
async function ordered() {
  const p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return Object.assign(p, { id: serverId as string })
}

describe('the restart policy of a server', () => {
  test('is that of its package, until it gets one of its own; its node keeps it at once', async () => {
    using p = await ordered()
    expect((await p.call(p.customer, 'GET', `/servers/${p.id}`)).body.restartPolicy).toBe('on_failure')
    const { status, body } = await set(p, p.id, 'never')
    expect([status, p.job(body.jobId).title]).toEqual([202, 'Restart policy of web01: leave it off'])
    await p.settle()
    expect([p.job(body.jobId).state, onNode(p, p.id)]).toEqual(['succeeded', 'never'])
    expect((await p.call(p.customer, 'GET', `/servers/${p.id}`)).body.restartPolicy).toBe('never')
    // A list keeps what it has rendered, unless the record changed.
    expect((await p.call(p.customer, 'GET', '/servers')).body.data[0].restartPolicy).toBe('never')
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { restartPolicy: 'always' })
    expect(p.server(p.id).restartPolicy).toBe('never')
    expect(p.auditLines().map(({ operation }) => operation)).toContain('servers.restart-policy')
  })
  test('stays as it is when the node cannot be told, and no job starts for the one that it has', async () => {
    using p = await ordered()
    p.node.agent.fault({ command: 'vm.set-restart-policy', mode: 'fail', times: 1 })
    const { jobId } = (await set(p, p.id, 'always')).body
    await p.settle()
    expect([p.job(jobId).state, p.server(p.id).restartPolicy, onNode(p, p.id)]).toEqual([
      'failed',
      'on_failure',
      'on_failure',
    ])
    expect((await set(p, p.id, 'on_failure')).body.jobId).toBeNull()
  })
  test('can be chosen before the setup, which tells the node', async () => {
    using p = await world()
    const { imageId, hostname, access, ...waiting } = p.order
    const { serverId } = await p.admin('POST', '/admin/servers', waiting)
    expect((await set(p, serverId, 'always')).body).toEqual({ jobId: null, serverId })
    await p.admin('POST', `/servers/${serverId}/actions/setup`, { imageId, hostname, access })
    await p.settle()
    expect(onNode(p, serverId)).toBe('always')
  })
  test('is refused for other values, and for strangers', async () => {
    using p = await ordered()
    const stranger = p.account('customer', 'Eve')
    const before = p.fingerprint()
    expect((await set(p, p.id, 'sometimes')).body.error.code).toBe('validation_failed')
    expect((await set(p, p.id, 'always', stranger)).body.error.code).toBe('server_not_found')
    expect(p.fingerprint()).toBe(before)
  })
  test('stands on its settings page in words, with a button', async () => {
    using p = await ordered()
    const html = await (
      await p.controller.router.fetch(
        new Request(`http://localhost/servers/${p.id}/settings`, {
          headers: { Cookie: `__Host-panel=${p.customer.cookie}` },
        }),
      )
    ).text()
    for (const part of ['After a crash', 'Start it again after a crash', `/servers/${p.id}/restart-policy`])
      expect([part, html.includes(part)]).toEqual([part, true])
  })
})
