// Servers of Windows images: what cloudbase-init finds, who gets the password, and what Windows cannot have.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import type { Vm } from '../../../agent/protocol/wire.ts'
import { removeReadSeeds } from '../../../src/compute/guest/pending-seed.ts'
import { netmask } from '../../../src/compute/server-vm/config-drive.ts'
import { toNumber } from '../../../src/network/ip-pools/ranges.ts'
import { type World, world } from '../../support/world/panel.ts'

const minute = 60_000
async function windows() {
  const p = await world()
  const image = await p.admin('PATCH', `/admin/images/${p.image}`, { os: 'windows', name: 'Windows Server 2025' })
  expect(image).toMatchObject({ os: 'windows', user: 'Administrator' })
  return p
}
async function ordered(more: object = {}) {
  const p = await windows()
  const order = { ...p.order, access: { mode: 'password' }, ...more }
  const { serverId, rootPassword, user } = await p.admin('POST', '/admin/servers', order)
  expect(user).toBe('Administrator')
  await p.settle()
  return Object.assign(p, { id: serverId as string, password: rootPassword as string })
}
function drive(p: World, id: string) {
  const files = p.node.agent.host.seeds.files(id)
  if (!files) return undefined
  const json = (name: string) => JSON.parse(files[`openstack/latest/${name}`]!)
  return {
    meta: json('meta_data.json'),
    network: json('network_data.json'),
    userData: files['openstack/latest/user_data'],
  }
}
function definitionOf(p: World, id: string): { vm: Vm; seed: string | null } {
  const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
  const row = db.query('select definition, seed from vms where workload = ?').get(id) as any
  db.close()
  return { vm: JSON.parse(row.definition), seed: row.seed }
}
const pageOf = async (p: World, { cookie }: { cookie?: string | undefined }, path: string) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } }),
    )
  ).text()
/** The names of the controller's tables in which the text stands. */
const tablesWith = (p: World, text: string) =>
  p.db.$client
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .flatMap(({ name }) =>
      JSON.stringify(p.db.$client.query(`SELECT * FROM "${name}"`).all()).includes(text) ? [name] : [],
    )
const refused = async (p: World, more: object) => {
  const { status, body } = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, ...more })
  return [status, body.error.details?.fields?.[0]?.field]
}

describe('a server of a Windows image', () => {
  test('gets name, address, keys and password by a config drive, and the hardware of Windows', async () => {
    using p = await windows()
    await p.admin('POST', '/admin/ip-pools', {
      name: 'v6',
      network: '2001:db8::/40',
      gateway: 'fe80::1',
      nodeIds: [p.node.id],
    })
    await p.admin('PATCH', `/admin/packages/${p.order.packageId}`, { ipv6Prefix: 64 })
    const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me'
    const { id: key } = (
      await p.call(p.customer, 'POST', `/customers/${p.customer.id}/ssh-keys`, { name: 'k', publicKey })
    ).body
    const { serverId, rootPassword } = await p.admin('POST', '/admin/servers', {
      ...p.order,
      hostname: 'win01.example.com',
      access: { mode: 'password', sshKeyIds: [key] },
      userData: '#ps1\nWrite-Output 1\n',
    })
    await p.settle()
    const { meta, network, userData } = drive(p, serverId)!
    expect(meta).toMatchObject({
      hostname: 'win01.example.com',
      admin_pass: rootPassword,
      meta: { admin_username: 'Administrator' },
      public_keys: { key0: publicKey.replace(' me', '') },
    })
    expect(meta.uuid).toStartWith('job_')
    const { mac, ipv6 } = await p.admin('GET', `/servers/${serverId}`)
    expect(network.links).toEqual([{ id: 'eth0', type: 'phy', ethernet_mac_address: mac }])
    expect(network.networks).toEqual([
      {
        id: 'eth0-ipv4',
        type: 'ipv4',
        link: 'eth0',
        ip_address: '203.0.113.10',
        netmask: '255.255.255.0',
        routes: [{ network: '0.0.0.0', netmask: '0.0.0.0', gateway: '203.0.113.1' }],
      },
      {
        id: 'eth0-ipv6',
        type: 'ipv6',
        link: 'eth0',
        ip_address: ipv6,
        netmask: 'ffff:ffff:ffff:ffff::',
        routes: [{ network: '::', netmask: '::', gateway: 'fe80::1' }],
      },
    ])
    expect(userData).toBe('#ps1\nWrite-Output 1\n')
    expect(definitionOf(p, serverId).vm.hardware.os).toBe('windows')
  })
  test('has its password in the answer and on its drive alone, until Windows has read it', async () => {
    using p = await ordered()
    expect(p.password).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z2-9]{20}$/)
    expect(drive(p, p.id)!.meta.admin_pass).toBe(p.password)
    expect(tablesWith(p, p.password)).toEqual([])
    const turn = async () => {
      removeReadSeeds(p.db, p.controller.app)
      await p.settle()
      return drive(p, p.id) !== undefined
    }
    // Windows restarts while it sets itself up, so an early answer says nothing.
    expect(await turn()).toBe(true)
    p.turnClock(29 * minute)
    expect(await turn()).toBe(true)
    p.turnClock(2 * minute)
    expect(await turn()).toBe(false)
    expect(definitionOf(p, p.id).seed).toBeNull()
  })
  test('is shown with Remote Desktop and its user, never with an SSH command of root', async () => {
    using p = await ordered()
    const record = (await p.call(p.customer, 'GET', `/servers/${p.id}`)).body
    expect(record).toMatchObject({ osFamily: 'windows', user: 'Administrator', sshCommand: null })
    const page = await pageOf(p, p.customer, `/servers/${p.id}`)
    expect(page).toContain('Remote Desktop')
    expect(page).toContain('Administrator')
    expect(page).not.toContain('ssh root@')
    expect(await pageOf(p, p.customer, `/servers/${p.id}/settings`)).toContain('Administrator password')
  })
  test('is refused what Windows cannot have, and an order page offers no keys alone', async () => {
    using p = await windows()
    const script = (
      await p.call(p.customer, 'POST', `/customers/${p.customer.id}/scripts`, { name: 's', content: '#!/bin/sh\n' })
    ).body
    expect(await refused(p, { access: { mode: 'ssh_keys', sshKeyIds: [] } })).toEqual([422, 'access.mode'])
    const access = { mode: 'password' }
    expect(await refused(p, { access, scriptId: script.id })).toEqual([422, 'scriptId'])
    expect(await refused(p, { access, userData: '#!/bin/sh\n' })).toEqual([422, 'userData'])
    const rescue = await p.call(p.owner, 'PATCH', `/admin/images/${p.image}`, { isRescue: true })
    expect([rescue.status, rescue.body.error.details.fields[0].field]).toEqual([422, 'isRescue'])
    const text = await pageOf(p, p.owner, `/admin/servers/new?ownerId=${p.customer.id}`)
    expect(text).toContain('Sign-in as Administrator')
    expect(text).not.toContain('value="ssh_keys"')
  })
  test('gets a new password by its guest agent, in the clear for the agent alone', async () => {
    using p = await ordered()
    const { body } = await p.call(p.customer, 'POST', `/servers/${p.id}/actions/reset-password`, {})
    await p.settle()
    expect(p.job(body.jobId)).toMatchObject({ state: 'succeeded', title: 'Reset the Administrator password of web01' })
    expect(p.node.agent.host.guestAgent.password(p.id, 'Administrator')).toBe(body.rootPassword)
    expect(p.node.agent.host.guestAgent.password(p.id)).toBeUndefined()
    expect(tablesWith(p, body.rootPassword)).toEqual([])
  })
  test('gets it by a new drive at its next start where no agent answers', async () => {
    using p = await ordered()
    p.node.agent.host.guestAgent.behave(p.id, 'silent')
    const before = drive(p, p.id)!.meta.uuid
    const { body } = await p.call(p.customer, 'POST', `/servers/${p.id}/actions/reset-password`, {})
    await p.settle()
    expect(drive(p, p.id)!.meta).toMatchObject({ admin_pass: body.rootPassword })
    expect(drive(p, p.id)!.meta.uuid).not.toBe(before)
    expect(tablesWith(p, body.rootPassword)).toEqual([])
    const shown = () => p.call(p.customer, 'GET', `/servers/${p.id}`)
    expect((await shown()).body.passwordPending).toBe(true)
    await p.call(p.customer, 'POST', `/servers/${p.id}/actions/power`, { action: 'restart' })
    await p.settle()
    for (const wait of [0, 31 * minute]) {
      p.turnClock(wait)
      removeReadSeeds(p.db, p.controller.app)
      await p.settle()
    }
    expect([(await shown()).body.passwordPending, drive(p, p.id)]).toEqual([false, undefined])
  })
  test('whose node has another key by now fails with what to do, and its disk is removed', async () => {
    using p = await windows()
    p.node.agent.rekey()
    p.node.agent.connect()
    const { jobId } = await p.admin('POST', '/admin/servers', { ...p.order, access: { mode: 'password' } })
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ state: 'failed', errorCode: 'encrypted_for_another' })
    expect(await p.node.agent.host.storage.list()).toEqual([])
  })
  test('is told of an extra address by PowerShell, which Windows keeps, and gets no seed for it', async () => {
    using p = await ordered()
    p.turnClock(40 * minute)
    for (const _ of [1, 2]) {
      removeReadSeeds(p.db, p.controller.app)
      await p.settle()
      p.turnClock(40 * minute)
    }
    expect(drive(p, p.id)).toBeUndefined()
    const body = await p.admin('POST', `/servers/${p.id}/ips`, { version: 4 })
    await p.settle()
    expect(p.job(body.jobId).state).toBe('succeeded')
    const [told] = p.node.agent.host.guestAgent.programs(p.id)
    expect(told!.argv[0]).toBe('powershell')
    expect(told!.argv[1]).toContain("-IPAddress '203.0.113.11' -PrefixLength 24")
    expect(drive(p, p.id)).toBeUndefined()
    await p.admin('DELETE', `/servers/${p.id}/ips/${body.address.id}`)
    await p.settle()
    expect(p.node.agent.host.guestAgent.programs(p.id)[1]!.argv[1]).toContain('Remove-NetIPAddress')
  })
  test('boots a Linux rescue system with root, and becomes Linux when it is reinstalled so', async () => {
    using p = await ordered()
    const linux = p.addImage('Debian')
    await p.admin('PATCH', `/admin/images/${linux}`, { isRescue: true })
    await p.admin('POST', `/servers/${p.id}/actions/rescue`)
    await p.settle()
    expect(definitionOf(p, p.id).vm.hardware.os).toBe('linux')
    expect((await p.admin('GET', `/servers/${p.id}`)).sshCommand).toBe('ssh root@203.0.113.10')
    await p.admin('POST', `/servers/${p.id}/actions/rescue/exit`)
    await p.settle()
    expect(definitionOf(p, p.id).vm.hardware.os).toBe('windows')
    await p.admin('POST', `/servers/${p.id}/actions/reinstall`, { imageId: linux, access: { mode: 'password' } })
    await p.settle()
    expect(await p.admin('GET', `/servers/${p.id}`)).toMatchObject({ osFamily: 'linux', user: 'root' })
    expect(definitionOf(p, p.id).vm.hardware.os).toBe('linux')
  })
})

test('a netmask has the bits of its prefix length', () => {
  const bitsOf = (version: 4 | 6, mask: string) =>
    toNumber(mask)!
      .n.toString(2)
      .padStart(version === 4 ? 32 : 128, '0')
  for (const [version, most] of [
    [4, 32],
    [6, 128],
  ] as const)
    for (let bits = 0; bits <= most; bits++) {
      expect(bitsOf(version, netmask(version, bits))).toBe('1'.repeat(bits).padEnd(most, '0'))
    }
})
