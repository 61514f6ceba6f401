// A part of a node that does not answer: nothing is concluded from its silence, and staff are told what to do.
import { expect, test } from 'bun:test'
import { MOST_WORKLOADS } from '../../../agent/protocol/wire.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { htmlOf } from '../../support/pages/pages-for.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const GiB = 1024 ** 3
const minute = 60_000
const figures = { kind: 'file', path: '/srv/local', totalBytes: 100 * GiB, freeBytes: 90 * GiB }
const beat = async (p: World, pools: object[], more: object = {}) => {
  const load = { cpuPercent: 1, load1: 0, memoryFreeMb: 1000, workloads: [] }
  p.node.agent.say({ type: 'heartbeat', at: p.now(), ...load, pools, ...more })
  await p.settle()
}
const pageOf = async (p: World, path: string) => {
  const headers = { Cookie: `__Host-panel=${p.owner.cookie}` }
  return { text: await (await p.controller.router.fetch(new Request(`http://localhost${path}`, { headers }))).text() }
}
const troubles = async (p: World) =>
  ((await p.admin('GET', '/admin/overview')).attention as { what: string; effect: string; since: string }[]).filter(
    ({ what }) => what.includes('answer'),
  )
const get = (p: World) => p.admin('GET', `/admin/nodes/${p.node.id}`)
const poolOf = async (p: World) => (await p.admin('GET', `/admin/nodes/${p.node.id}/storage-pools`)).data[0]

test('a storage pool that does not answer keeps its figures and servers, and takes no new disk', async () => {
  using p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const before = await p.admin('GET', `/servers/${serverId}`)
  await beat(p, [{ name: 'local', ...figures }])
  expect(await poolOf(p)).toMatchObject({ state: 'open', silentSince: null, freeDiskGb: 80 })

  // An agent that has started since does not know the figures.
  const silent = { name: 'local', ...figures, totalBytes: 0, freeBytes: 0, silentSince: p.now() - minute }
  await beat(p, [{ ...silent, warnings: ['The pool does not answer: there was no answer in time'] }])
  const { silentSince: since } = await poolOf(p)
  expect(Math.abs(Date.parse(since) - (p.now() - minute))).toBeLessThan(1000)
  expect(await poolOf(p)).toMatchObject({
    ...{ state: 'silent', missingSince: null, freeDiskGb: 0 },
    ...{ totalBytes: figures.totalBytes, freeBytes: figures.freeBytes, heldDiskGb: 20 },
  })
  expect((await get(p)).load.pools).toMatchObject([{ silentSince: since }])
  const [trouble, ...others] = await troubles(p)
  expect([trouble!.what, trouble!.since, others]).toEqual([
    expect.stringMatching(/^The storage of .* does not answer\.$/),
    since,
    [],
  ])
  expect(trouble!.effect).toMatch(/takes no new disks.* there was no answer in time\.$/)
  const was = p.fingerprint()
  const refused = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'web9' })
  expect([refused.body.error.code, p.fingerprint()]).toEqual(['no_capacity', was])
  expect(refused.body.error.message).toMatch(/: \S+ storage does not answer\.$/)
  expect((await p.admin('GET', '/stock')).stock[0]).toMatchObject({ available: 0, limit: 'storage_silent' })
  const inventory = { type: 'inventory', vms: [{ workload: serverId, power: 'running' }], volumes: [], foreign: [] }
  p.node.agent.say({ ...inventory, silentPools: ['local'] })
  await p.settle()
  expect((await get(p)).found).toEqual([])
  expect(await p.admin('GET', `/servers/${serverId}`)).toEqual(before)
  const { text } = await pageOf(p, `/admin/nodes/${p.node.id}/storage`)
  expect(text).toContain('The figures are the last that are')

  p.turnClock(minute)
  await beat(p, [{ ...silent, silentSince: p.now() - minute - 5 }])
  expect((await poolOf(p)).silentSince).toBe(since)
  await beat(p, [{ name: 'local', ...figures }])
  p.node.agent.say(inventory)
  await p.settle()
  expect(await poolOf(p)).toMatchObject({ state: 'open', silentSince: null, freeDiskGb: 80 })
  expect((await get(p)).found).toMatchObject([{ kind: 'missing_volume', workloadId: serverId }])
  expect(await troubles(p)).toEqual([])
})

test('what needs space in a pool that does not answer is refused in these words, and nothing is begun', async () => {
  using p = await world()
  const sizes = { vcpus: 2, memoryMb: 2048, diskGb: 40, trafficGb: null, snapshotLimit: 3, volumeGb: 50 }
  const small = await p.admin('POST', '/admin/packages', { name: 'small', ...sizes, diskGb: 20 })
  const large = await p.admin('POST', '/admin/packages', { name: 'large', ...sizes })
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, packageId: small.id })
  await p.settle()
  await p.admin('PATCH', `/admin/images/${p.order.imageId}`, { isRescue: true })
  await beat(p, [{ name: 'local', ...figures }])
  const { volumeId } = await p.admin('POST', `/servers/${serverId}/volumes`, { name: 'data', sizeGb: 10 })
  await p.settle()

  await beat(p, [{ name: 'local', ...figures, silentSince: p.now() - minute }])
  const was = p.fingerprint()
  for (const [path, body] of [
    [`/servers/${serverId}/snapshots`, { name: 'before' }],
    [`/servers/${serverId}/volumes`, { name: 'more', sizeGb: 10 }],
    [`/volumes/${volumeId}/actions/grow`, { sizeGb: 20 }],
    [`/servers/${serverId}/actions/change-package`, { packageId: large.id }],
    [`/servers/${serverId}/actions/rescue`, undefined],
    [
      `/servers/${serverId}/actions/reinstall`,
      { imageId: p.order.imageId, discardFirst: true, access: p.order.access },
    ],
  ] as const) {
    const refused = await p.call(p.owner, 'POST', path, body)
    expect([path, refused.body.error?.code, refused.body.error?.message]).toEqual([
      path,
      'no_capacity',
      expect.stringMatching(/^The storage of \S+ does not answer now\. Nothing was changed;/),
    ])
  }
  expect(p.fingerprint()).toBe(was)
})

test('libvirt that does not answer: the node is connected, and its servers keep their last known power', async () => {
  using p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const before = await p.admin('GET', `/servers/${serverId}`)
  expect(before.status).toBe('running')
  const foreign = { type: 'inventory', vms: [{ workload: serverId, power: 'running' }], foreign: ['other'] }
  const [volume] = await p.node.agent.host.storage.list()
  p.node.agent.say({ ...foreign, volumes: [volume] })
  await p.settle()
  expect((await get(p)).found).toMatchObject([{ kind: 'foreign' }])

  p.node.agent.fault({ hangs: 'hypervisor' })
  await p.node.agent.look()
  await p.settle()
  const node = await get(p)
  expect(node).toMatchObject({ connected: true, silent: [{ part: 'hypervisor', why: 'there was no answer in time' }] })
  // Earlier differences stay, and no server is missing.
  expect(node.found).toMatchObject([{ kind: 'foreign' }])
  const since = node.silent[0].since
  expect(await p.admin('GET', `/servers/${serverId}`)).toEqual({ ...before, powerKnownAt: since })
  expect((await p.call(p.customer, 'GET', `/servers/${serverId}`)).body).toMatchObject({
    ...{ status: 'running', powerKnownAt: since },
  })
  const shownTo = async (who: Who, area: string) => [
    await htmlOf(p, who, `${area}/servers/${serverId}`),
    await htmlOf(p, who, `${area}/servers`),
  ]
  for (const html of [...(await shownTo(p.owner, '/admin')), ...(await shownTo(p.customer, ''))])
    expect(html).toContain('last known')
  expect((await shownTo(p.owner, '/admin'))[0]).toContain('libvirt on its node does not answer')
  expect((await shownTo(p.customer, ''))[0]).toContain('Its node does not tell whether it runs')
  expect(await troubles(p)).toEqual([])
  const was = p.fingerprint()
  const refused = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'web9' })
  expect([refused.body.error.code, p.fingerprint()]).toEqual(['no_capacity', was])
  expect(refused.body.error.message).toMatch(/: \S+ libvirt does not answer\.$/)
  expect((await p.admin('GET', '/stock')).stock[0]).toMatchObject({ available: 0, limit: 'hypervisor_silent' })
  p.turnClock(minute)
  await p.node.agent.look()
  await p.settle()
  expect(await troubles(p)).toMatchObject([
    {
      what: expect.stringMatching(/ is connected, but libvirt does not answer there\.$/),
      effect: expect.stringMatching(/power that was last known.*systemctl status libvirtd/),
      since: node.silent[0].since,
    },
  ])
  const { text } = await pageOf(p, `/admin/nodes/${p.node.id}`)
  expect(text).toContain('Connected, but libvirt has not answered ')

  p.node.agent.fault()
  // The question that hung ends a moment later, and nothing is asked before.
  await eventually(async () => {
    await p.node.agent.look()
    await p.settle()
    const { silent, found } = await get(p)
    return !silent.length && !found.length
  })
  expect(await get(p)).toMatchObject({ silent: [], found: [] })
  expect(await troubles(p)).toEqual([])
  expect(await p.admin('GET', `/servers/${serverId}`)).toEqual(before)
  for (const html of await shownTo(p.owner, '/admin')) expect(html).not.toContain('last known')
})

test('the times of a silence are those of the controller, however the clock of the node is set', async () => {
  using p = await world()
  const at = p.now() - 3_600_000
  await beat(p, [], { at, silent: [{ part: 'containers', since: at - minute, why: 'why' }] })
  const [silence] = (await get(p)).silent
  expect(silence).toMatchObject({ part: 'containers', why: 'why' })
  expect(Math.abs(Date.parse(silence.since) - (p.now() - minute))).toBeLessThan(1000)
})

test('a node that says it is silent and names others each time does not fill the list of its differences', async () => {
  using p = await world()
  const inventory = { type: 'inventory', volumes: [], foreign: [], silent: ['hypervisor'], silentPools: ['local'] }
  for (let i = 0; i < 3; i++) {
    const vms = Array.from({ length: MOST_WORKLOADS - 1000 }, () => ({ workload: newId('srv'), power: 'running' }))
    p.node.agent.say({ ...inventory, vms })
    await p.settle()
  }
  expect((await get(p)).differences).toBe(MOST_WORKLOADS)
})
