// The machine of a server: what its image needs, what its node can run, and what it keeps.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import type { Vm } from '../../../agent/protocol/wire.ts'
import { type World, world } from '../../support/world/panel.ts'

const secure = { machine: 'q35', firmware: 'uefi_secure', tpm: true } as const
/** The definition on the fake host. */
function definitionOf(p: World, id: string, home = p.node.agent.home): Vm {
  const db = new Database(`${home}/fake.db`, { readonly: true })
  const row = db.query('select definition from vms where workload = ?').get(id) as { definition: string }
  db.close()
  return JSON.parse(row.definition)
}
const change = (p: World, body: object) => p.admin('PATCH', `/admin/images/${p.image}`, body)
const state = (p: World) =>
  ['workloads', 'servers', 'jobs', 'events', 'audit'].map((table) =>
    p.db.$client.query(`SELECT count(*) AS n FROM ${table}`).get(),
  )

describe('the machine of an image', () => {
  test('is that of each server installed from it, which keeps it until it is reinstalled', async () => {
    using p = await world()
    expect(await change(p, secure)).toMatchObject(secure)
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    expect(definitionOf(p, serverId).hardware).toEqual({ ...secure, os: 'linux' })
    const usual = { machine: 'q35', firmware: 'bios', tpm: false } as const
    await change(p, usual)
    const { id: packageId } = await p.admin('POST', '/admin/packages', {
      name: 'L',
      vcpus: 4,
      memoryMb: 4096,
      diskGb: 30,
    })
    await p.admin('POST', `/servers/${serverId}/actions/change-package`, { packageId })
    await p.settle()
    expect(definitionOf(p, serverId)).toMatchObject({ vcpus: 4, hardware: secure })
    await p.admin('POST', `/servers/${serverId}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    await p.settle()
    expect(definitionOf(p, serverId).hardware).toEqual({ ...usual, os: 'linux' })
  })
  test('that does not exist is refused', async () => {
    using p = await world()
    const { status, body } = await p.call(p.owner, 'PATCH', `/admin/images/${p.image}`, {
      machine: 'pc',
      firmware: 'uefi',
    })
    expect([status, body.error.details.fields[0].field]).toEqual([422, 'machine'])
    expect(await change(p, { machine: 'pc' })).toMatchObject({ machine: 'pc', firmware: 'bios' })
    expect((await p.call(p.owner, 'PATCH', `/admin/images/${p.image}`, { firmware: 'uefi' })).status).toBe(422)
  })
  test('for rescue: at most one image is, and one that is removed is not', async () => {
    using p = await world()
    const other = p.addImage('Rescue')
    await change(p, { isRescue: true })
    await p.admin('PATCH', `/admin/images/${other}`, { isRescue: true })
    const rescue = async () =>
      (await p.admin('GET', '/admin/images')).data.flatMap((i: any) => (i.isRescue ? [i.id] : []))
    expect(await rescue()).toEqual([other])
    await p.admin('DELETE', `/admin/images/${other}`)
    expect(await rescue()).toEqual([])
  })
})

describe('a server that was imported', () => {
  const kept = { machine: 'pc', diskBus: 'ide', nicModel: 'e1000' } as const
  const onNode = { ...kept, firmware: 'bios', tpm: false, os: 'linux' } as const
  const imported = async (p: World): Promise<string> => {
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.db.$client.run("UPDATE servers SET machine = 'pc', disk_bus = 'ide', nic_model = 'e1000' WHERE id = ?", [
      serverId,
    ])
    return serverId
  }
  const done = async (p: World, path: string, body: object = {}) => {
    const answer = await p.admin('POST', path, body)
    await p.settle()
    return answer
  }

  test('keeps the devices of its system over every change and a move, until it is reinstalled', async () => {
    using p = await world()
    const second = p.addNode(p.location, 'fra-02')
    p.attach(p.pool, second.id)
    const id = await imported(p)
    expect(await p.admin('GET', `/servers/${id}/hardware`)).toMatchObject(kept)
    const { id: packageId } = await p.admin('POST', '/admin/packages', {
      ...{ name: 'L', vcpus: 4, memoryMb: 4096, diskGb: 30 },
    })
    await done(p, `/servers/${id}/actions/change-package`, { packageId })
    expect(definitionOf(p, id)).toMatchObject({ vcpus: 4, hardware: onNode })
    await done(p, `/admin/servers/${id}/actions/move`, { nodeId: second.id })
    expect(p.db.$client.query('SELECT node_id AS at FROM workloads WHERE id = ?').get(id)).toEqual({ at: second.id })
    expect(definitionOf(p, id, second.agent.home).hardware).toEqual(onNode)
    await done(p, `/servers/${id}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    const usual = { machine: 'q35', firmware: 'bios', tpm: false, os: 'linux' }
    expect(definitionOf(p, id, second.agent.home).hardware).toEqual(usual as never)
    expect(await p.admin('GET', `/servers/${id}/hardware`)).toMatchObject({
      ...{ machine: 'q35', diskBus: 'virtio', nicModel: 'virtio' },
    })
  })

  test('has them again after rescue, whose system has its own, and after a restore', async () => {
    using p = await world()
    const rescue = p.addImage('Rescue', 2)
    await p.admin('PATCH', `/admin/images/${rescue}`, { isRescue: true, published: false })
    const target = await p.admin('POST', '/admin/backup-targets/local', { name: 'disk', address: '/srv/backups' })
    await p.admin('POST', `/admin/backup-targets/${target.id}/actions/make-default`)
    const id = await imported(p)
    await done(p, `/servers/${id}/actions/rescue`)
    expect(definitionOf(p, id).hardware).toEqual({ machine: 'q35', firmware: 'bios', tpm: false, os: 'linux' })
    await done(p, `/servers/${id}/actions/rescue/exit`)
    expect(definitionOf(p, id).hardware).toEqual(onNode)
    const { backupId } = await done(p, `/servers/${id}/backups`)
    await done(p, `/servers/${id}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    expect(definitionOf(p, id).hardware).not.toEqual(onNode)
    await done(p, `/servers/${id}/backups/${backupId}/actions/restore`)
    expect(definitionOf(p, id).hardware).toEqual(onNode)
    expect(await p.admin('GET', `/servers/${id}/hardware`)).toMatchObject(kept)
    const { packageId, nodeGroupId } = p.order
    const body = { packageId, nodeGroupId, hostname: 'copy' }
    const { serverId } = await done(p, `/backups/${backupId}/actions/restore-to-new-server`, body)
    expect(definitionOf(p, serverId).hardware).toEqual(onNode)
    expect(await p.admin('GET', `/servers/${serverId}/hardware`)).toMatchObject(kept)
  })
})

describe('a node without the firmware', () => {
  const bare = { firmware: ['bios' as const], tpm: false }
  test('gets no order for the image: another does, and named or alone it is refused', async () => {
    using p = await world()
    const node = p.addNode(p.location, 'fra-02', bare)
    p.attach(p.pool, node.id)
    await change(p, secure)
    for (const hostname of ['a1', 'a2', 'a3', 'a4'])
      expect((await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname })).status).toBe(201)
    await p.settle()
    expect(p.db.$client.query('SELECT DISTINCT node_id AS id FROM workloads').all()).toEqual([{ id: p.node.id }])
    const before = state(p)
    const named = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'b', nodeId: node.id })
    expect([named.status, named.body.error.code]).toEqual([409, 'image_not_supported'])
    expect(named.body.error.message).toContain(
      'fra-02 cannot run this image: it needs UEFI with Secure Boot and a TPM.',
    )
    p.db.$client.run(
      'UPDATE nodes SET facts = json_set(facts, \'$.hardware\', json(\'{"firmware":["uefi"],"tpm":true}\'))',
    )
    const none = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'b' })
    expect([none.status, none.body.error.code]).toEqual([409, 'image_not_supported'])
    expect(none.body.error.message).toContain('No node in Frankfurt can run this image')
    // Only the refusals are in the audit log.
    expect(state(p).slice(0, 4)).toEqual(before.slice(0, 4))
  })
  test('of an old agent is taken for one with BIOS alone', async () => {
    using p = await world()
    p.db.$client.run("UPDATE nodes SET facts = json_remove(facts, '$.hardware')")
    expect((await p.call(p.owner, 'POST', '/admin/servers', p.order)).status).toBe(201)
    await change(p, { firmware: 'uefi' })
    const { body } = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'b' })
    expect(body.error.code).toBe('image_not_supported')
  })
  test('refuses setup and reinstallation of its servers with the image', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
    const pending = (await p.admin('POST', '/admin/servers', waiting)).serverId
    await p.settle()
    p.db.$client.run("UPDATE nodes SET facts = json_remove(facts, '$.hardware')")
    await change(p, { tpm: true })
    const before = state(p)
    const body = { imageId: p.image, access: { mode: 'password' } }
    for (const [path, more] of [
      [`/servers/${serverId}/actions/reinstall`, {}],
      [`/servers/${pending}/actions/setup`, { hostname: 'b' }],
    ] as const) {
      const { status, body: refused } = await p.call(p.customer, 'POST', path, { ...body, ...more })
      expect([status, refused.error.code]).toEqual([409, 'image_not_supported'])
      expect(refused.error.message).toContain('it needs a TPM')
    }
    expect(state(p).slice(0, 4)).toEqual(before.slice(0, 4))
  })
})
