// An order gets a node and a storage pool on it, and a server stays in its pool.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import { type World, world } from '../../support/world/panel.ts'

const GiB = 1024 ** 3
const fast = (gib: number) => ({ name: 'fast', class: 'nvme', totalBytes: gib * GiB })
/** A world whose node is closed, beside one with the pools local and fast. */
async function withPools(gib = 100) {
  const p = await world()
  await p.admin('PATCH', `/admin/nodes/${p.node.id}`, { open: false })
  const node = p.addNode(p.location, 'fra-02', { pools: [fast(gib)] })
  p.attach(p.pool, node.id)
  return Object.assign(p, { second: node })
}
const packageOf = async (p: World, more: object) =>
  (await p.admin('POST', '/admin/packages', { name: 'NVMe', vcpus: 1, memoryMb: 512, diskGb: 20, ...more }))
    .id as string
const order = (p: World, packageId: string, hostname = 'web01') =>
  p.call(p.owner, 'POST', '/admin/servers', { ...p.order, packageId, hostname })
const disksOf = (home: string) => {
  const db = new Database(`${home}/fake.db`, { readonly: true })
  const rows = db.query<{ pool: string }, []>('select pool from volumes').all()
  db.close()
  return rows.map(({ pool }) => pool)
}

describe('an order for a package with a class of storage', () => {
  test('goes to a pool that has it, and the record says so to those who may know', async () => {
    using p = await withPools()
    const pack = await packageOf(p, { storageClass: 'nvme' })
    const { body } = await order(p, pack)
    await p.settle()
    expect(p.server(body.serverId)).toMatchObject({ pool: 'fast', status: 'running' })
    expect(p.server(body.serverId).placement).toBe('fra-02, pool fast: most free memory')
    expect(disksOf(p.second.agent.home)).toEqual(['fast'])
    expect(await p.admin('GET', `/servers/${body.serverId}`)).toMatchObject({
      storagePool: 'fast',
      storageClass: 'nvme',
    })
    expect((await p.call(p.customer, 'GET', `/servers/${body.serverId}`)).body).toMatchObject({
      storagePool: null,
      storageClass: 'nvme',
    })
  })
  test('is refused in words where no node has it, or no room in it', async () => {
    using p = await withPools(30)
    const none = await order(p, await packageOf(p, { name: 'Tape', storageClass: 'tape' }))
    expect([none.status, none.body.error.code]).toEqual([409, 'no_capacity'])
    expect(none.body.error.message).toContain('fra-02 no tape storage')
    const pack = await packageOf(p, { storageClass: 'nvme' })
    expect((await order(p, pack, 'one')).status).toBe(201)
    await p.settle()
    const before = p.fingerprint()
    const second = await order(p, pack, 'two')
    expect(second.body.error.code).toBe('no_capacity')
    expect(second.body.error.message).toContain('fra-02 no nvme disk left')
    expect(p.fingerprint()).toBe(before)
    const { stock } = await p.admin('GET', '/stock')
    expect(stock.map(({ packageName, available, limit }: any) => [packageName, available, limit])).toEqual(
      expect.arrayContaining([
        ['NVMe', 0, 'disk'],
        ['Tape', 0, 'storage_class'],
      ]),
    )
  })
  test('takes no pool that staff closed, although it has room', async () => {
    using p = await withPools()
    const { data } = await p.admin('GET', `/admin/nodes/${p.second.id}/storage-pools`)
    await p.admin('PATCH', `/admin/storage-pools/${data[0].id}`, { open: false })
    const refused = await order(p, await packageOf(p, { storageClass: 'nvme' }))
    expect(refused.body.error.code).toBe('no_capacity')
  })
  test('wins the last space of a pool once, of many that come together', async () => {
    using p = await withPools(50)
    const pack = await packageOf(p, { storageClass: 'nvme', ipv4: 0 })
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => order(p, pack, `web${n}`)))
    // 47 GiB without the reserve of 5 %: two disks.
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409, 409, 409])
    expect(answers.filter(({ status }) => status === 409).map(({ body }) => body.error.code)).toEqual(
      Array(4).fill('no_capacity'),
    )
    await p.settle()
    expect(disksOf(p.second.agent.home)).toEqual(['fast', 'fast'])
  })
})

test('an order for any class takes the pool with the most space, or the least that is enough', async () => {
  using p = await withPools(60)
  const pack = await packageOf(p, {})
  const first = (await order(p, pack, 'one')).body.serverId
  await p.admin('PATCH', `/admin/node-groups/${p.location}`, { placement: 'fill' })
  const second = (await order(p, pack, 'two')).body.serverId
  expect([p.server(first).pool, p.server(second).pool]).toEqual(['local', 'fast'])
})

describe('a server stays in its pool', () => {
  test('when its disk grows, and a package of another class is refused', async () => {
    using p = await withPools(60)
    const small = await packageOf(p, { storageClass: 'nvme' })
    const { serverId } = (await order(p, small)).body
    await p.settle()
    const change = (packageId: string) =>
      p.call(p.owner, 'POST', `/servers/${serverId}/actions/change-package`, { packageId })
    const tooLarge = await change(await packageOf(p, { name: 'Large', storageClass: 'nvme', diskGb: 80 }))
    expect([tooLarge.status, tooLarge.body.error.code]).toEqual([409, 'no_capacity'])
    const slow = await change(await packageOf(p, { name: 'Slow', storageClass: 'hdd', diskGb: 40 }))
    expect([slow.status, slow.body.error.code]).toEqual([422, 'validation_failed'])
    expect(JSON.stringify(slow.body.error)).toContain('needs hdd storage, and the disk of the server stands on nvme')
    expect((await change(await packageOf(p, { name: 'Fits', diskGb: 40 }))).status).toBe(202)
    await p.settle()
    expect(p.server(serverId)).toMatchObject({ pool: 'fast', diskGb: 40 })
  })
  test('when it is reinstalled, for which its pool needs space', async () => {
    using p = await withPools(60)
    const { serverId } = (await order(p, await packageOf(p, { storageClass: 'nvme' }))).body
    await p.settle()
    const options = async () => (await p.admin('GET', `/servers/${serverId}/reinstall-options`)).oldSystem
    expect(await options()).toBe('kept')
    p.db.$client.run("UPDATE storage_pools SET total_bytes = ? WHERE name = 'fast'", [30 * GiB])
    expect(await options()).toBe('deleted_first')
    p.db.$client.run("UPDATE storage_pools SET total_bytes = ? WHERE name = 'fast'", [60 * GiB])
    const body = { imageId: p.image, access: { mode: 'password' } }
    await p.admin('POST', `/servers/${serverId}/actions/reinstall`, body)
    await p.settle()
    expect(disksOf(p.second.agent.home)).toEqual(['fast'])
    expect(p.db.$client.query("SELECT disk_gb AS n FROM storage_held WHERE pool = 'fast'").get()).toEqual({ n: 20 })
  })
})

describe('the limits of a package for disks', () => {
  const limits = { diskReadIops: 500, diskWriteIops: 200, diskReadMbPerSecond: 100, diskWriteMbPerSecond: 50 }
  const inForce = (p: Awaited<ReturnType<typeof withPools>>, id: string) =>
    (p.second.agent.host.hypervisor as FakeHypervisor).diskLimits(id)
  test('are in force on its servers, and change with the package on a running one', async () => {
    using p = await withPools()
    const { serverId } = (await order(p, await packageOf(p, limits))).body
    await p.settle()
    const MIB = 1024 ** 2
    const first = { reads: 500, writes: 200, readBytes: 100 * MIB, writtenBytes: 50 * MIB }
    expect(inForce(p, serverId)).toEqual(first)
    expect((await p.admin('GET', `/servers/${serverId}`)).diskLimits).toEqual({
      readIops: 500,
      writeIops: 200,
      readMbPerSecond: 100,
      writeMbPerSecond: 50,
    })
    const change = async (more: object) => {
      const packageId = await packageOf(p, more)
      await p.admin('POST', `/servers/${serverId}/actions/change-package`, { packageId })
      await p.settle()
    }
    await change({ name: 'One limit', diskWriteIops: 77 })
    expect(inForce(p, serverId)).toEqual({ reads: null, writes: 77, readBytes: null, writtenBytes: null })
    await change({ name: 'No limits' })
    expect(inForce(p, serverId)).toBeNull()
  })
  test('stay as they are when the node cannot change them', async () => {
    using p = await withPools()
    const { serverId } = (await order(p, await packageOf(p, limits))).body
    await p.settle()
    const before = inForce(p, serverId)
    p.second.agent.fault({ command: 'volume.grow', mode: 'fail-late', times: 1 })
    const packageId = await packageOf(p, { name: 'More', diskGb: 40 })
    await p.admin('POST', `/servers/${serverId}/actions/change-package`, { packageId })
    await p.settle()
    expect(p.server(serverId)).toMatchObject({ diskReadIops: 500 })
    expect(inForce(p, serverId)).toEqual(before)
  })
})
