// Rescue: another system on a disk beside the server's own.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import type { Vm } from '../../../agent/protocol/wire.ts'
import { invariants } from '../../support/crash-matrix/invariants.ts'
import { type World, world } from '../../support/world/panel.ts'

async function built() {
  const p = await world()
  const rescue = p.addImage('Rescue', 2)
  await p.admin('PATCH', `/admin/images/${rescue}`, { isRescue: true, published: false })
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return { p, id: serverId as string, rescue }
}
const act = (p: World, id: string, name: string, body?: object) =>
  p.call(p.customer, 'POST', `/servers/${id}/actions/${name}`, body)
function onNode<R>(p: World, sql: string, id: string): R {
  const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
  const row = db.query(sql).get(id) as R
  db.close()
  return row
}
const definition = (p: World, id: string): Vm =>
  JSON.parse(onNode<{ definition: string }>(p, 'select definition from vms where workload = ?', id).definition)
const read = async (p: World, id: string) => (await p.call(p.customer, 'GET', `/servers/${id}`)).body
const held = (p: World) => (p.db.$client.query('SELECT disk_gb AS n FROM node_held').get() as { n: number }).n
const state = (p: World) =>
  ['workloads', 'servers', 'jobs', 'events'].map((table) => p.db.$client.query(`SELECT * FROM ${table}`).all())

test('boots the rescue disk before the own one, with a password shown once, and ends without a trace', async () => {
  const { p, id } = await built()
  using _ = p
  const { status, body } = await act(p, id, 'rescue')
  expect(status).toBe(202)
  expect(body.rootPassword).toMatch(/^\S{16,}$/)
  await p.settle()
  expect(p.job(body.jobId)).toMatchObject({ kind: 'rescue', state: 'succeeded' })
  expect(await read(p, id)).toMatchObject({ rescue: true, status: 'running', job: null })
  expect(definition(p, id)).toMatchObject({ volume: { generation: 1 }, rescue: { generation: 2 } })
  expect(held(p)).toBe(22)
  // The password is nowhere: the node has had its hash alone, and that is gone with the seed.
  expect(JSON.stringify(p.db.$client.query('SELECT * FROM jobs').all())).not.toContain(body.rootPassword)
  expect((await invariants(p, id)).seeds).toBe(0)

  // Power works, and the node comes back in rescue.
  expect((await act(p, id, 'power', { action: 'restart' })).status).toBe(202)
  await p.settle()
  expect(definition(p, id).rescue).toMatchObject({ generation: 2 })

  expect((await act(p, id, 'rescue/exit')).status).toBe(202)
  await p.settle()
  expect(await read(p, id)).toMatchObject({ rescue: false, status: 'running' })
  expect(definition(p, id)).toMatchObject({ volume: { generation: 1 }, rescue: null, seeded: false })
  expect(held(p)).toBe(20)
  expect(await invariants(p, id)).toMatchObject({ volumes: 1, spareDiskGb: 0, rescue: { onNode: null, inUse: null } })
})

test('the firewall of the server applies in rescue, and the page says when it lets nobody in by SSH', async () => {
  const { p, id } = await built()
  using _ = p
  const policy = () => p.node.agent.host.state.portRules().find(({ workload }) => workload === id)?.policy
  const page = async () => {
    const headers = { Cookie: `__Host-panel=${p.customer.cookie}` }
    const answer = await p.controller.router.fetch(new Request(`http://localhost/servers/${id}/access`, { headers }))
    return (await answer.text()).replace(/\s+/g, ' ')
  }
  const closed = 'The firewall lets nobody in by SSH.'
  await p.call(p.customer, 'PATCH', `/servers/${id}/firewall`, { enabled: true, acceptClosedSsh: true })
  await p.settle()
  const before = policy()
  expect(before?.firewall).toMatchObject({ in: 'drop', rules: [] })
  expect(await page()).toContain('lets nobody in by SSH: only the console is left')
  await act(p, id, 'rescue')
  await p.settle()
  expect(policy()).toEqual(before!)
  expect(await page()).toContain(closed)
  // A rule that is added in rescue lets its owner in.
  await p.call(p.customer, 'POST', `/servers/${id}/firewall/actions/allow-services`, { services: ['ssh'] })
  await p.settle()
  expect(policy()?.firewall?.rules).toMatchObject([{ direction: 'in', action: 'accept', ports: [[22, 22]] }])
  expect(await page()).not.toContain(closed)
  expect((await p.call(p.customer, 'GET', `/servers/${id}/rescue-options`)).body.sshOpen).toBe(true)
})

test('a package change in rescue stays in rescue', async () => {
  const { p, id } = await built()
  using _ = p
  await act(p, id, 'rescue')
  await p.settle()
  const { id: packageId } = await p.admin('POST', '/admin/packages', {
    name: 'L',
    vcpus: 4,
    memoryMb: 4096,
    diskGb: 20,
  })
  await p.admin('POST', `/servers/${id}/actions/change-package`, { packageId })
  await p.settle()
  expect(definition(p, id)).toMatchObject({ vcpus: 4, rescue: { generation: 2 } })
})

test('what cannot be is refused and changes nothing', async () => {
  const { p, id, rescue } = await built()
  using _ = p
  const refused = async (name: string, code: string, words?: string) => {
    const before = state(p)
    const { status, body } = await act(p, id, name)
    expect([status, body.error?.code]).toEqual([409, code])
    if (words) expect(body.error.message).toContain(words)
    expect(state(p)).toEqual(before)
  }
  await refused('rescue/exit', 'not_in_rescue')
  p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [21 * 1024 ** 3])
  await refused('rescue', 'no_capacity', 'needs 2 GiB')
  p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [1024 ** 4])
  await p.admin('PATCH', `/admin/images/${rescue}`, { firmware: 'uefi' })
  p.db.$client.run("UPDATE nodes SET facts = json_remove(facts, '$.hardware')")
  await refused('rescue', 'image_not_supported', 'it needs UEFI')
  await p.admin('PATCH', `/admin/images/${rescue}`, { isRescue: false })
  await refused('rescue', 'no_rescue_image')
  expect((await p.call(p.customer, 'GET', `/servers/${id}/rescue-options`)).body).toEqual({
    image: null,
    sshOpen: true,
  })
  const readOnly = p.call({ token: 'pnl_none' }, 'POST', `/servers/${id}/actions/rescue`)
  expect((await readOnly).status).toBe(401)
})

test('a rescue system that does not start leads back to the own system, which runs', async () => {
  const { p, id } = await built()
  using _ = p
  for (const command of ['volume.create', 'seed.write', 'vm.define', 'vm.start'] as const) {
    p.node.agent.fault({ command, mode: 'fail', times: 1 })
    const { body } = await act(p, id, 'rescue')
    await p.settle()
    expect(p.job(body.jobId).state).toBe('failed')
    expect(definition(p, id)).toMatchObject({ volume: { generation: 1 }, rescue: null })
    const end = await invariants(p, id)
    expect(end).toMatchObject({ status: 'running', power: 'running', volumes: 1, seeds: 0, spareDiskGb: 0 })
  }
})

const clean = { volumes: 1, seeds: 0, spareDiskGb: 0, rescue: { onNode: null, inUse: null }, openJobs: 0 }
test('what ends a server’s system in rescue ends its rescue too, and a failure leaves it in rescue', async () => {
  const { p, id } = await built()
  using _ = p
  await act(p, id, 'rescue')
  await p.settle()
  p.node.agent.fault({ command: 'vm.await', mode: 'fail', times: 1 })
  await act(p, id, 'reinstall', { imageId: p.image, access: { mode: 'password' } })
  await p.settle()
  expect(await invariants(p, id)).toMatchObject({ rescue: { onNode: 2, inUse: 2 }, volumes: 2, power: 'running' })
  await act(p, id, 'reinstall', { imageId: p.image, access: { mode: 'password' } })
  await p.settle()
  expect(await invariants(p, id)).toMatchObject({ ...clean, disk: { onNode: 4, inUse: 4 }, power: 'running' })

  // Suspended in rescue: unsuspending starts its own system.
  await act(p, id, 'rescue')
  await p.settle()
  await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
  await p.settle()
  await p.admin('POST', `/servers/${id}/actions/unsuspend`)
  await p.settle()
  expect(await invariants(p, id)).toMatchObject({ ...clean, disk: { onNode: 4, inUse: 4 }, power: 'running' })

  await act(p, id, 'rescue')
  await p.settle()
  await p.admin('DELETE', `/servers/${id}?immediately=true`)
  await p.settle()
  expect(await invariants(p, id)).toMatchObject({ ...clean, volumes: 0, vms: 0 })
  expect(p.db.$client.query('SELECT disk_gb AS n FROM node_held').get()).toEqual({ n: 0 })
})
