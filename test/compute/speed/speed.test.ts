// A server with a speed of its own: an add-on that billing sells, or a limit that staff set.
import { describe, expect, test } from 'bun:test'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import type { FakeNetwork } from '../../../agent/drivers/network/fake.ts'
import { presets } from '../../../src/identity/tokens/presets.ts'
import { type World, world } from '../../support/world/panel.ts'

async function ordered() {
  const p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return Object.assign(p, { id: serverId as string })
}
type Ordered = Awaited<ReturnType<typeof ordered>>
const change = (p: Ordered, speed: object, who: object = p.owner) =>
  p.call(who, 'PATCH', `/servers/${p.id}/speed`, speed)
const inForce = (p: World & { id: string }) => {
  const { network, hypervisor } = p.node.agent.host
  const { inMbps, outMbps } = (network as FakeNetwork).limits.get(`bth${p.server(p.id).number}`)!.speed
  return { inMbps, outMbps, cpuPercent: (hypervisor as FakeHypervisor).cpuPercent(p.id) }
}
const record = async (p: Ordered) => (await p.admin('GET', `/servers/${p.id}`)).speed
const told = (p: Ordered) =>
  (p.db.$client.query("SELECT data FROM events WHERE type = 'server.speed_changed'").all() as { data: string }[]).map(
    ({ data }) => JSON.parse(data),
  )

describe('the speed of a server', () => {
  test('is that of its package, until it gets one of its own, in force at once and per direction', async () => {
    using p = await ordered()
    const ofPackage = p.server(p.id).portMbps
    const none = { portInMbps: null, portOutMbps: null, cpuPercent: null }
    expect(await record(p)).toEqual({
      portInMbps: ofPackage,
      portOutMbps: ofPackage,
      cpuPercent: null,
      override: none,
      throttledToMbps: null,
    })
    const { status, body } = await change(p, { portInMbps: 200, cpuPercent: 50 }, p.token(p.owner.id, presets.billing))
    expect([status, p.job(body.jobId).title]).toEqual([202, 'Change the speed of web01'])
    await p.settle()
    expect(p.job(body.jobId).state).toBe('succeeded')
    // Half of two vCPUs is one processor.
    expect(inForce(p)).toEqual({ inMbps: 200, outMbps: ofPackage, cpuPercent: 100 })
    const speed = { portInMbps: 200, portOutMbps: ofPackage, cpuPercent: 50 }
    expect(await record(p)).toMatchObject({ ...speed, override: { ...none, portInMbps: 200, cpuPercent: 50 } })
    expect(told(p)).toMatchObject([{ server: { id: p.id }, speed, overridden: true }])
    expect((await change(p, { portInMbps: 200 })).body).toEqual({ jobId: null, serverId: p.id })
  })
  test('survives a restart, a reinstallation and a change of package, until it is taken back', async () => {
    using p = await ordered()
    await change(p, { portOutMbps: 7 })
    await p.settle()
    await p.admin('POST', `/servers/${p.id}/actions/power`, { action: 'restart' })
    await p.settle()
    expect(inForce(p).outMbps).toBe(7)
    await p.admin('POST', `/servers/${p.id}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    await p.settle()
    expect(inForce(p).outMbps).toBe(7)
    const faster = { name: 'Fast', vcpus: 2, memoryMb: 2048, diskGb: 40, portMbps: 555 }
    const { id: packageId } = await p.admin('POST', '/admin/packages', faster)
    await p.admin('POST', `/servers/${p.id}/actions/change-package`, { packageId })
    await p.settle()
    // It runs on: the new package's speed is in force without a restart.
    expect(inForce(p)).toMatchObject({ inMbps: 555, outMbps: 7 })
    await change(p, { portOutMbps: null })
    await p.settle()
    expect(inForce(p)).toEqual({ inMbps: 555, outMbps: 555, cpuPercent: null })
    expect(told(p).map(({ overridden }) => overridden)).toEqual([true, false])
  })
  test('stays as it is when its node cannot do it', async () => {
    using p = await ordered()
    const before = [inForce(p), await record(p)]
    p.node.agent.fault({ command: 'vm.set-speed', mode: 'fail-late', times: 1 })
    const { jobId } = (await change(p, { portInMbps: 3 })).body
    await p.settle()
    expect(p.job(jobId).state).toBe('failed')
    expect([inForce(p), await record(p)]).toEqual(before)
    expect(told(p)).toEqual([])
  })
  test('can be set before the setup, which tells the node', async () => {
    using p = await world()
    const { imageId, hostname, access, ...waiting } = p.order
    const { serverId: id } = await p.admin('POST', '/admin/servers', waiting)
    expect((await p.admin('PATCH', `/servers/${id}/speed`, { portInMbps: 11 })).jobId).toBeNull()
    await p.admin('POST', `/servers/${id}/actions/setup`, { imageId, hostname, access })
    await p.settle()
    expect(inForce(Object.assign(p, { id })).inMbps).toBe(11)
  })
  test('is for staff alone, and within bounds', async () => {
    using p = await ordered()
    const before = p.fingerprint()
    expect((await change(p, { portInMbps: 5 }, p.customer)).status).toBe(403)
    for (const wrong of [{ portInMbps: 0 }, { cpuPercent: 101 }, { portOutMbps: 1.5 }, { mbps: 5 }])
      expect((await change(p, wrong)).body.error.code).toBe('validation_failed')
    expect(p.fingerprint()).toBe(before)
  })
})
