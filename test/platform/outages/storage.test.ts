import { expect, test } from 'bun:test'
import type { World } from '../../support/world/panel.ts'
import { events, mailsTo, noticesOf, outageWorld, subjectsTo, watch } from './world.ts'

const GIB = 1024 ** 3
const TOTAL = 1000 * GIB
async function filled(p: World, percent: number, where = '1') {
  p.db.$client.run(`UPDATE storage_pools SET total_bytes = ?, free_bytes = ? WHERE ${where}`, [
    TOTAL,
    Math.round(TOTAL * (1 - percent / 100)),
  ])
  await watch(p)
}
const types = (p: World) => events(p, /^storage\./).map(({ type }) => type)

test('storage that is nearly full is told once, and again only after it had space', async () => {
  using p = await outageWorld()
  await filled(p, 79)
  expect([types(p), mailsTo(p, p.owner)]).toEqual([[], []])
  await filled(p, 82)
  const [{ data }] = events(p, /^storage\.nearly_full$/) as any
  expect(data).toMatchObject({
    node: { name: 'fra-01' },
    location: { name: 'Frankfurt' },
    storagePool: { name: 'local' },
    usedPercent: 82,
    totalBytes: TOTAL,
    metadataPercent: null,
  })
  const words = 'fra-01 is almost full: 180 GiB of 1,000 GiB left'
  expect(subjectsTo(p, p.owner)).toEqual([words])
  expect(await noticesOf(p, p.owner)).toEqual([`● ${words}`])
  const { attention } = await p.admin('GET', '/admin/overview')
  expect(attention.map(({ what }: { what: string }) => what)).toContain(`${words}.`)
  // Up and down around the limit is no news.
  for (const percent of [79, 81, 76, 95]) await filled(p, percent)
  expect([types(p), subjectsTo(p, p.owner).length]).toEqual([['storage.nearly_full'], 1])
  await filled(p, 74)
  expect(types(p)).toEqual(['storage.nearly_full', 'storage.has_room'])
  expect(await noticesOf(p, p.owner)).toEqual(['✓ fra-01 has space again'])
  await filled(p, 91)
  expect(types(p).slice(2)).toEqual(['storage.nearly_full'])
  expect(mailsTo(p, p.owner).at(-1)!.text).toContain('It takes no new disks. Servers stop writing and pause')
})

test('several pools that fill are one mail, and one storage of several nodes is one notice', async () => {
  using p = await outageWorld()
  for (const name of ['fra-02', 'fra-03']) p.addNode(p.location, name)
  await p.reported()
  p.db.$client.run("UPDATE storage_pools SET storage = 'ceph-1' WHERE node_id <> ?", [p.node.id])
  await filled(p, 85)
  expect(types(p)).toEqual(['storage.nearly_full', 'storage.nearly_full'])
  expect(subjectsTo(p, p.owner)).toHaveLength(1)
  expect(subjectsTo(p, p.owner)[0]).toMatch(/^Storage of fra-01 and fra-0[23] is almost full$/)
  expect(await noticesOf(p, p.owner)).toHaveLength(2)
})

test('the space for metadata counts as the space for data', async () => {
  using p = await outageWorld()
  p.db.$client.run('UPDATE storage_pools SET metadata_total_bytes = 1000, metadata_free_bytes = 150')
  await watch(p)
  expect(subjectsTo(p, p.owner)).toEqual(['fra-01 uses 85 % of its space for metadata'])
  expect(events(p, /^storage\./)[0]!.data).toMatchObject({ metadataPercent: 85 })
})

test('storage that does not answer, or whose node is gone, changes nothing', async () => {
  using p = await outageWorld()
  await filled(p, 85)
  p.db.$client.run('UPDATE storage_pools SET silent_since = 1')
  await filled(p, 10)
  expect(types(p)).toEqual(['storage.nearly_full'])
  p.db.$client.run('UPDATE storage_pools SET silent_since = NULL')
  await watch(p)
  expect(types(p)).toEqual(['storage.nearly_full', 'storage.has_room'])
  p.db.$client.run('UPDATE nodes SET lost_at = 1')
  await filled(p, 85)
  expect(types(p)).toHaveLength(2)
})
