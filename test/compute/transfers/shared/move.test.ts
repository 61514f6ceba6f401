import { expect, test } from 'bun:test'
import { eventually } from '../../../support/waiting/eventually.ts'
import { move, nodeNamed } from '../world.ts'
import { mixed } from './scenarios.ts'
import { hypervisorOn, openShared, orderShared, STORAGE, whereShared } from './world.ts'

const GIB = 1024 ** 3
const NOTHING = 'Both nodes reach the storage of its disks: nothing is copied.'

test('move-options tell for each node what is copied, in words and figures', async () => {
  using p = await openShared()
  const id = await orderShared(p)
  const options = await p.admin('GET', `/admin/servers/${id}/move-options?mode=near_live`)
  const on = (name: string) => options.nodes.find(({ node }: { node: { name: string } }) => node.name === name)
  expect(on('ceph-2')).toMatchObject({ possible: true, bytes: 0, sharedStorage: NOTHING, expectedSeconds: 20 })
  expect(on('ceph-2').expectedDowntimeMs).toBe(20_000)
  // Its pool has the same name, and is another one.
  expect(on('far-3')).toMatchObject({ possible: false, bytes: null, sharedStorage: null })
  const dry = await move(p, id, { nodeId: nodeNamed(p, 'ceph-2') }).catch((error) => error)
  expect(dry).toMatchObject({ mode: 'live', bytes: 0, sharedStorage: NOTHING })
})

for (const mode of ['live', 'near_live', 'cold'] as const)
  test(`it moves ${mode} without a copy, and back`, async () => {
    using p = await openShared()
    const id = await orderShared(p)
    for (const [from, to] of [
      ['ceph-1', 'ceph-2'],
      ['ceph-2', 'ceph-1'],
    ] as const) {
      const { jobId, transferId } = await move(p, id, { nodeId: nodeNamed(p, to), mode })
      await p.settle()
      expect(p.job(jobId)).toMatchObject({ state: 'succeeded', errorMessage: null })
      expect(await whereShared(p, id)).toMatchObject({
        ...{ status: 'running', stays: [`home on ${to}`], running: 1, shared: '1 disks, as they were', openJobs: [] },
        onNodes: { [from]: 'nothing', [to]: 'running, 0 local disks, 1 rules, 0 transfers' },
      })
      expect(await p.admin('GET', `/admin/transfers/${transferId}`)).toMatchObject({ bytesTotal: 0, bytesCopied: 0 })
    }
    expect(await p.admin('DELETE', `/servers/${id}?immediately=true`)).toBeDefined()
    await p.settle()
    expect((await whereShared(p, id)).shared).toBe('0 disks, as they were')
  })

test('of a server with a disk on both nodes and a volume on one the volume alone is copied', async () => {
  using p = await openShared()
  const id = await mixed(p)
  const started = await move(p, id, { nodeId: nodeNamed(p, 'ceph-2') })
  expect(started).toMatchObject({
    ...{ mode: 'live', bytes: 10 * GIB },
    sharedStorage: 'Both nodes reach the storage of 1 disk: only 1 other one is copied.',
  })
  await p.settle()
  expect(await whereShared(p, id)).toMatchObject({
    onNodes: { 'ceph-1': 'nothing', 'ceph-2': 'running, 1 local disks, 1 rules, 0 transfers' },
    shared: '1 disks, as they were',
  })
})

test('a node starts no server whose disk another one has open', async () => {
  using p = await openShared()
  const id = await orderShared(p)
  await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
  await p.settle()
  // By hand, on a node that knows it from somewhere.
  const { db } = hypervisorOn(p, 'ceph-2') as unknown as { db: import('bun:sqlite').Database }
  db.run(`insert into vms (workload, vcpus, disk, inUse, power, definition) values (?, 1, ?, ?, 'running', '{}')`, [
    id,
    `/fake/${STORAGE}/${id}-1.raw`,
    `/fake/${STORAGE}/${id}-1.raw`,
  ])
  const own = p.agents.get(nodeNamed(p, 'ceph-1'))!
  const [{ disk }] = (hypervisorOn(p, 'ceph-1') as any).db.query('select disk from vms').all()
  db.run('update vms set disk = ?, inUse = ?', [disk, disk])
  const { jobId } = await p.admin('POST', `/servers/${id}/actions/power`, { action: 'start' })
  await p.settle()
  expect(p.job(jobId)).toMatchObject({ state: 'failed', errorCode: 'disk_in_use' })
  expect(await own.host.hypervisor.power(id)).toBe('stopped')
  db.run('delete from vms')
  await p.admin('POST', `/servers/${id}/actions/power`, { action: 'start' })
  await p.settle()
  expect(await whereShared(p, id)).toMatchObject({ status: 'running', running: 1 })
})

test('a server whose next node is lost comes back only when nobody has its disk open there', async () => {
  using p = await openShared()
  const id = await orderShared(p)
  const [far, near] = [nodeNamed(p, 'ceph-2'), nodeNamed(p, 'ceph-1')]
  p.arm({ failpoints: (moment) => void (moment === 'move/close:before' && p.agents.get(far)!.disconnect()) })
  const { jobId } = await move(p, id, { nodeId: far, mode: 'near_live' })
  await eventually(async () => !p.controller.hub.connected(far))
  await p.admin('POST', `/admin/nodes/${far}/actions/declare-lost`, { name: 'ceph-2' })
  const logged = () =>
    p.db.$client.query<{ text: string }, [string]>('SELECT text FROM job_log WHERE job_id = ?').all(jobId)
  await eventually(async () => logged().some(({ text }) => text.includes('has a disk of')))
  const { hypervisor } = p.agents.get(near)!.host
  expect([p.job(jobId).state, await hypervisor.power(id)]).toEqual(['running', 'stopped'])
  hypervisorOn(p, 'ceph-2').powerOff()
  await p.settle()
  expect([p.job(jobId).state, await hypervisor.power(id)]).toEqual(['succeeded', 'running'])
  expect(await whereShared(p, id)).toMatchObject({ stays: ['home on ceph-1'], shared: '1 disks, as they were' })
})

test('a pool that is another one by now takes nothing', async () => {
  using p = await openShared()
  const id = await orderShared(p)
  p.db.$client.run("UPDATE storage_pools SET storage = ? WHERE name = 'ceph' AND node_id = ?", [
    ...[STORAGE, nodeNamed(p, 'far-3')],
  ])
  const { jobId } = await move(p, id, { nodeId: nodeNamed(p, 'far-3') })
  await p.settle()
  expect(p.job(jobId)).toMatchObject({ state: 'failed', errorCode: 'volume_differs' })
  expect(await whereShared(p, id)).toMatchObject({
    ...{ stays: ['home on ceph-1'], running: 1, shared: '1 disks, as they were', openJobs: [] },
    onNodes: { 'far-3': 'nothing' },
  })
})

test('disks of other nodes in the same storage are no orphans, and a disk of nobody is one', async () => {
  using p = await openShared()
  const id = await orderShared(p)
  const agent = p.agents.get(nodeNamed(p, 'ceph-2'))!
  const differences = async () => {
    await agent.look()
    await p.settle()
    return p.db.$client
      .query<{ differences: string }, [string]>('SELECT differences FROM nodes WHERE id = ?')
      .all(nodeNamed(p, 'ceph-2'))
      .flatMap((row) => JSON.parse(row.differences) as { kind: string }[])
      .map(({ kind }) => kind)
  }
  expect((await agent.host.storage.volumes()).volumes.map(({ workload }) => workload)).toContain(id)
  expect(await differences()).toEqual([])
  const nobody = { workload: `srv_${'0'.repeat(26)}`, generation: 1, pool: 'rbd', format: 'raw' } as const
  await agent.host.storage.pool('rbd').receive(nobody, 1, async () => {})
  expect(await differences()).toEqual(['orphan_volume'])
})

test('what is promised in it counts on each of its nodes', async () => {
  using p = await openShared()
  await orderShared(p)
  const pool = async (node: string, name: string) =>
    (await p.admin('GET', `/admin/nodes/${nodeNamed(p, node)}/storage-pools`)).data.find(
      (one: any) => one.name === name,
    )
  expect((await pool('ceph-1', 'ceph')).heldDiskGb).toBe(20)
  expect((await pool('ceph-2', 'rbd')).heldDiskGb).toBe(20)
  expect((await pool('far-3', 'ceph')).heldDiskGb).toBe(0)
})

for (const [mode, to] of [
  ['near_live', 'ceph-2'],
  ['cold', 'ceph-2'],
] as const)
  test(`moved ${mode}, it keeps what its firmware and its TPM have stored`, async () => {
    using p = await openShared()
    await p.admin('PATCH', `/admin/images/${p.image}`, { firmware: 'uefi', tpm: true })
    const id = await orderShared(p)
    const on = (name: string) => p.agents.get(nodeNamed(p, name))!.host.firmwareStates
    on('ceph-1').store(id, 'the keys of its disk')
    await move(p, id, { nodeId: nodeNamed(p, to), mode })
    await p.settle()
    expect(await whereShared(p, id)).toMatchObject({ stays: [`home on ${to}`], running: 1, openJobs: [] })
    expect(on(to).read(id)).toBe('the keys of its disk')
  })
