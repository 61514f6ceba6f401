// Reinstalling: the old system survives every failure, and where it cannot, the caller agrees beforehand.
import { describe, expect, test } from 'bun:test'
import { system } from '../../../src/kernel/api/actor.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { cancelJob } from '../../../src/kernel/jobs/start.ts'
import { invariants } from '../../support/crash-matrix/invariants.ts'
import { type World, world } from '../../support/world/panel.ts'

const GiB = 1024 ** 3

/** A panel with one running server of 20 GB. */
async function built(more: object = {}) {
  const p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ...more })
  await p.settle()
  return { p, id: serverId as string }
}
const body = (p: World, more: object = {}) => ({ imageId: p.image, access: { mode: 'password' }, ...more })
const reinstall = (p: World, id: string, more: object = {}) =>
  p.call(p.customer, 'POST', `/servers/${id}/actions/reinstall`, body(p, more))
const options = async (p: World, id: string) =>
  (await p.call(p.customer, 'GET', `/servers/${id}/reinstall-options`)).body
/** Leaves the node with a pool of this size. */
const poolOf = (p: World, gib: number) => p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [gib * GiB])
const held = (p: World) => (p.db.$client.query('SELECT disk_gb AS n FROM node_held').get() as { n: number }).n
/** Everything that a refusal must not change. */
const state = (p: World) =>
  ['workloads', 'servers', 'jobs', 'events', 'deliveries'].map((table) =>
    p.db.$client.query(`SELECT * FROM ${table}`).all(),
  )
const asBefore = { status: 'running', power: 'running', disk: { onNode: 1, inUse: 1 }, volumes: 1, vms: 1, seeds: 0 }
const replaced = { status: 'running', power: 'running', disk: { onNode: 2, inUse: 2 }, volumes: 1, vms: 1, seeds: 0 }

describe('where both disks fit', () => {
  test('the old system is kept until the new one is in use, and its disk is deleted after that', async () => {
    const { p, id } = await built()
    using _ = p
    expect(await options(p, id)).toEqual({ oldSystem: 'kept', neededGb: 20, snapshots: 0 })
    const { status, body: started } = await reinstall(p, id)
    expect(status).toBe(202)
    await p.settle()
    expect(p.job(started.jobId)).toMatchObject({ kind: 'reinstall', state: 'succeeded' })
    expect(await invariants(p, id)).toMatchObject(replaced)
    expect(held(p)).toBe(20)
    expect(p.events().filter((name) => name === 'server.reinstalled')).toHaveLength(1)
  })
  test('the space of both is held while both exist', async () => {
    const { p, id } = await built()
    using _ = p
    p.node.agent.fault({ command: 'volume.create', mode: 'slow', ms: 500, times: 1 })
    await reinstall(p, id)
    for (let i = 0; i < 200 && held(p) === 20; i++) await Bun.sleep(5)
    expect(held(p)).toBe(40)
    poolOf(p, 50)
    const { status, body: refused } = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'web02' })
    expect([status, refused.error?.code]).toEqual([409, 'no_capacity'])
    await p.settle()
    expect(held(p)).toBe(20)
  })
  test('hostname and image change when the new system is in use, not before', async () => {
    const { p, id } = await built()
    using _ = p
    p.node.agent.fault({ command: 'vm.await', mode: 'fail', times: 1 })
    const read = async () => (await p.call(p.customer, 'GET', `/servers/${id}`)).body
    const { body: started } = await reinstall(p, id, { hostname: 'db01' })
    await p.settle()
    expect(p.job(started.jobId).state).toBe('failed')
    expect(await read()).toMatchObject({ hostname: 'web01', name: 'web01', status: 'running', failure: null })
    await reinstall(p, id, { hostname: 'db01' })
    await p.settle()
    expect(await read()).toMatchObject({ hostname: 'db01', name: 'db01', status: 'running' })
  })
  for (const command of ['image.ensure', 'volume.create', 'vm.stop', 'vm.define', 'vm.start', 'vm.await'] as const)
    test(`when ${command} fails, the old system runs as before and can be reinstalled again`, async () => {
      const { p, id } = await built()
      using _ = p
      p.node.agent.fault({ command, mode: 'fail', times: 1 })
      const { body: started } = await reinstall(p, id)
      await p.settle()
      expect(p.job(started.jobId)).toMatchObject({ state: 'failed' })
      expect(await invariants(p, id)).toMatchObject(asBefore)
      expect(held(p)).toBe(20)
      await reinstall(p, id)
      await p.settle()
      // A generation is never used twice, so the second attempt has the third.
      expect(await invariants(p, id)).toMatchObject({ ...replaced, disk: { onNode: 3, inUse: 3 } })
    })
  test('when the new system switches itself off, the old one comes back', async () => {
    const { p, id } = await built()
    using _ = p
    p.node.agent.fault({ command: 'vm.start', mode: 'lie', times: 1 })
    p.node.agent.host.network.sshAt = async () => 'silent'
    const { body: started } = await reinstall(p, id)
    for (let i = 0; i < 1500 && p.job(started.jobId).state !== 'failed'; i++) await Bun.sleep(10)
    await p.settle()
    expect(p.job(started.jobId)).toMatchObject({ state: 'failed', errorCode: 'vm_off' })
    expect(await invariants(p, id)).toMatchObject(asBefore)
  }, 60_000)
  test('a cancellation leads back to the old system', async () => {
    const { p, id } = await built()
    using _ = p
    p.node.agent.fault({ command: 'vm.define', mode: 'slow', ms: 300, times: 1 })
    const { body: started } = await reinstall(p, id)
    const defining = () => p.job(started.jobId).stepName === 'Defining the virtual machine'
    for (let i = 0; i < 500 && !defining(); i++) await Bun.sleep(2)
    write(p.db, (tx) => cancelJob(tx, started.jobId, { by: system, reason: 'by the test', now: p.now() }))
    for (let i = 0; i < 500 && p.job(started.jobId).state !== 'failed'; i++) await Bun.sleep(5)
    await p.settle()
    expect(p.job(started.jobId)).toMatchObject({ state: 'failed', errorCode: 'cancelled' })
    expect(await invariants(p, id)).toMatchObject(asBefore)
    expect(held(p)).toBe(20)
  })
  test('another server that takes the hostname meanwhile makes it fail, and the old system stays', async () => {
    const { p, id } = await built()
    using _ = p
    p.node.agent.fault({ command: 'volume.create', mode: 'slow', ms: 300, times: 1 })
    const { body: started } = await reinstall(p, id, { hostname: 'db01' })
    await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'db01' })
    for (let i = 0; i < 500 && p.job(started.jobId).state !== 'failed'; i++) await Bun.sleep(5)
    await p.settle()
    expect(p.job(started.jobId)).toMatchObject({ state: 'failed', errorCode: 'hostname_taken' })
    expect(await invariants(p, id)).toMatchObject({ ...asBefore, volumes: 2, vms: 2 })
  })
})

describe('where only one disk fits', () => {
  test('it is refused before anything happens, with the space that is missing', async () => {
    const { p, id } = await built()
    using _ = p
    poolOf(p, 39)
    expect(await options(p, id)).toEqual({ oldSystem: 'deleted_first', neededGb: 20, snapshots: 0 })
    const before = state(p)
    const { status, body: refused } = await reinstall(p, id)
    expect(status).toBe(409)
    expect(refused.error).toMatchObject({ code: 'no_room_to_reinstall', details: { neededGb: 20 } })
    expect(state(p)).toEqual(before)
    expect(await invariants(p, id)).toMatchObject(asBefore)
  })
  test('its page says so before, and its form agrees to it; where both fit, neither is there', async () => {
    const { p, id } = await built()
    using _ = p
    const headers = { Cookie: `__Host-panel=${p.customer.cookie}` }
    const settings = async () =>
      (await p.controller.router.fetch(new Request(`http://localhost/servers/${id}/settings`, { headers }))).text()
    const warning = 'old system is deleted first, because there is no space for both'
    expect(await settings()).not.toContain(warning)
    expect(await settings()).not.toContain('name="discardFirst"')
    poolOf(p, 39)
    expect(await settings()).toContain(warning)
    expect(await settings()).toContain('name="discardFirst"')
  })
  test('with discardFirst the old system is deleted first', async () => {
    const { p, id } = await built()
    using _ = p
    poolOf(p, 39)
    await reinstall(p, id, { discardFirst: true })
    await p.settle()
    expect(await invariants(p, id)).toMatchObject(replaced)
    expect(held(p)).toBe(20)
  })
  test('a failure after that leaves a failed server and nothing on the node, which can be reinstalled', async () => {
    const { p, id } = await built()
    using _ = p
    poolOf(p, 39)
    p.node.agent.fault({ command: 'vm.define', mode: 'fail', times: 1 })
    await reinstall(p, id, { discardFirst: true })
    await p.settle()
    expect(await invariants(p, id)).toMatchObject({ status: 'failed', power: 'absent', vms: 0, volumes: 0, rules: 0 })
    // Nothing is installed, so there is nothing to agree to.
    expect(await options(p, id)).toEqual({ oldSystem: 'none', neededGb: 20, snapshots: 0 })
    await reinstall(p, id)
    await p.settle()
    expect(await invariants(p, id)).toMatchObject({ ...replaced, disk: { onNode: 3, inUse: 3 } })
  })
  test('discardFirst where both fit deletes nothing first', async () => {
    const { p, id } = await built()
    using _ = p
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
    await reinstall(p, id, { discardFirst: true })
    await p.settle()
    expect(await invariants(p, id)).toMatchObject(asBefore)
  })
})

test('a server that was terminated after a reinstallation leaves no disk', async () => {
  const { p, id } = await built()
  using _ = p
  await reinstall(p, id)
  await p.settle()
  await p.admin('DELETE', `/servers/${id}?immediately=true`)
  await p.settle()
  expect(await invariants(p, id)).toMatchObject({ status: 'terminated', vms: 0, volumes: 0, rules: 0, held: 0 })
})
