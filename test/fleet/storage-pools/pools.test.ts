// Several storage pools of a node: what it reports of them, and what staff decide.
import { describe, expect, test } from 'bun:test'
import { storeFill } from '../../../src/platform/metrics/fill.ts'
import { htmlOf } from '../../support/pages/pages-for.ts'
import { type World, world } from '../../support/world/panel.ts'

const GiB = 1024 ** 3
type Reported = { name: string; totalBytes: number; freeBytes: number; [more: string]: unknown }
async function report(p: World, pools: readonly Reported[]) {
  const load = { cpuPercent: 1, load1: 0, memoryFreeMb: 1000, workloads: [] }
  p.node.agent.say({
    type: 'heartbeat',
    at: p.now(),
    ...load,
    pools: pools.map((pool) => ({ kind: 'file', path: `/srv/${pool.name}`, ...pool })),
  })
  await p.settle()
}
const full = { name: 'local', totalBytes: 100 * GiB, freeBytes: 90 * GiB }
const fast = { name: 'fast', class: 'nvme', totalBytes: 50 * GiB, freeBytes: 50 * GiB }
const listed = async (p: World) => (await p.admin('GET', `/admin/nodes/${p.node.id}/storage-pools`)).data as any[]
const pool = async (p: World, name: string) => (await listed(p)).find((row) => row.name === name)
const attention = async (p: World) =>
  ((await p.admin('GET', '/admin/overview')).attention as any[])
    .filter(({ what }) => /storage|full:|metadata/.test(what))
    .map(({ level, what }) => `${level}: ${what}`)

describe('the storage pools of a node', () => {
  test('are shown as the node reports them, by name', async () => {
    using p = await world()
    await report(p, [full, { ...fast, kind: 'lvm-thin', metadataTotalBytes: 1000, metadataFreeBytes: 250 }])
    expect(await listed(p)).toMatchObject([
      {
        name: 'fast',
        kind: 'lvm-thin',
        class: 'nvme',
        path: '/srv/fast',
        metadataPercent: 75,
        usedPercent: 0,
        state: 'open',
        limitGb: 50,
        heldDiskGb: 0,
        freeDiskGb: 47,
      },
      { name: 'local', class: null, metadataPercent: null, usedPercent: 10, freeDiskGb: 85 },
    ])
    const node = await p.admin('GET', `/admin/nodes/${p.node.id}`)
    expect(node).toMatchObject({ diskGb: 150, freeDiskGb: 132 })
    expect(node.storagePools.map(({ name }: any) => name)).toEqual(['fast', 'local'])
  })
  test('have a red bar as soon as they are said to be full, and an amber one before', async () => {
    using p = await world()
    /** The colour that browsers give a meter, by its attributes. */
    const colour = async () => {
      const html = await htmlOf(p, p.owner, `/admin/nodes/${p.node.id}/storage`)
      const meter = /<meter[^>]*aria-label="Used"[^>]*>/.exec(html)![0]
      const [low, high, value] = ['low', 'high', 'value'].map((name) =>
        Number(new RegExp(` ${name}="([0-9.]+)"`).exec(meter)![1]),
      )
      return value! > high! ? 'red' : value! > low! ? 'amber' : 'green'
    }
    const seen: string[] = []
    for (const used of [50, 89, 90, 91, 96]) {
      await report(p, [{ ...full, freeBytes: (100 - used) * GiB }])
      seen.push(`${used} ${(await pool(p, 'local')).state} ${await colour()}`)
    }
    expect(seen).toEqual(['50 open green', '89 open amber', '90 full red', '91 full red', '96 full red'])
  })
  test('keep the decisions of staff, and go without trace where nobody decided and nothing stands', async () => {
    using p = await world()
    await report(p, [full, fast])
    const { id } = await pool(p, 'fast')
    await report(p, [full])
    expect((await listed(p)).map(({ name }) => name)).toEqual(['local'])
    expect((await p.call(p.owner, 'PATCH', `/admin/storage-pools/${id}`, { open: false })).status).toBe(404)
    await report(p, [full, fast])
    const again = await pool(p, 'fast')
    await p.admin('PATCH', `/admin/storage-pools/${again.id}`, { open: false, overcommitPercent: 200 })
    await report(p, [full])
    await report(p, [full, fast])
    expect(await pool(p, 'fast')).toMatchObject({ id: again.id, state: 'closed', limitGb: 100 })
  })
  test('that no node can name are not kept', async () => {
    using p = await world()
    await report(p, [full, { ...fast, name: '../etc' }])
    expect((await listed(p)).map(({ name }) => name)).toEqual(['local'])
  })
  test('warn before they are full, of data and of metadata, and take no disk from 90 % on', async () => {
    using p = await world()
    await report(p, [{ ...full, freeBytes: 21 * GiB }])
    expect(await attention(p)).toEqual([])
    await report(p, [{ ...full, freeBytes: 20 * GiB }])
    expect(await attention(p)).toEqual([expect.stringMatching(/^warn: .* is almost full: 20 GiB of 100 GiB left\.$/)])
    expect((await pool(p, 'local')).freeDiskGb).toBe(15)
    await report(p, [{ ...full, freeBytes: 10 * GiB }])
    expect(await attention(p)).toEqual([expect.stringMatching(/^bad: /)])
    expect(await pool(p, 'local')).toMatchObject({ freeDiskGb: 0, state: 'full' })
    const metadata = { metadataTotalBytes: 100, metadataFreeBytes: 10 }
    await report(p, [full, { ...fast, ...metadata }])
    expect(await attention(p)).toEqual([expect.stringMatching(/^bad: The pool fast of .* uses 90 % of its/)])
    expect(await pool(p, 'fast')).toMatchObject({ freeDiskGb: 0, state: 'full' })
    await report(p, [full, { ...fast, warnings: ['A drive of it has failed.'] }])
    expect(await attention(p)).toEqual([expect.stringMatching(/^warn: The storage pool fast of .*: A drive of it/)])
  })
  test('that are gone while servers stand in them are shown as missing and take nothing', async () => {
    using p = await world()
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    await report(p, [fast])
    expect(await pool(p, 'local')).toMatchObject({ state: 'missing', missingSince: expect.any(String), freeDiskGb: 0 })
    expect(await attention(p)).toEqual([expect.stringMatching(/^down: The storage pool local of .* is gone/)])
    await report(p, [full, fast])
    expect(await pool(p, 'local')).toMatchObject({ state: 'open', missingSince: null, heldDiskGb: 20 })
    expect(await attention(p)).toEqual([])
  })
  test('promise as much as staff allow, and no more', async () => {
    using p = await world()
    await report(p, [{ ...full, totalBytes: 40 * GiB, freeBytes: 40 * GiB }])
    const { id } = await pool(p, 'local')
    const order = (n: number) => p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: `web${n}` })
    expect((await order(1)).status).toBe(201)
    expect((await order(2)).status).toBe(201)
    expect((await order(3)).body.error.code).toBe('no_capacity')
    await p.admin('PATCH', `/admin/storage-pools/${id}`, { overcommitPercent: 150 })
    expect((await order(4)).status).toBe(201)
    expect((await order(5)).body.error.code).toBe('no_capacity')
    expect(await pool(p, 'local')).toMatchObject({ heldDiskGb: 60, limitGb: 60, freeDiskGb: 0 })
  })
  test('were so full as was measured every ten minutes', async () => {
    using p = await world()
    const measure = () => storeFill(p.db, p.now(), () => true)
    await report(p, [{ ...full, freeBytes: 90 * GiB }])
    await measure()
    await report(p, [{ ...full, freeBytes: 25 * GiB }])
    p.turnClock(10 * 60_000)
    await measure()
    const { storagePools, resolutionSeconds } = await p.admin(
      'GET',
      `/admin/nodes/${p.node.id}/storage-pools/fill?range=24h`,
    )
    expect(resolutionSeconds).toBe(600)
    const measured = storagePools[0].usedPercent.filter((value: number | null) => value !== null)
    expect(measured).toEqual([10, 75])
    expect(storagePools[0].metadataPercent.every((value: null) => value === null)).toBe(true)
  })
})
