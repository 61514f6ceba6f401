// Orders through the API: what an offer says is free is what is sold, to whoever comes first.
import { expect, test } from 'bun:test'
import { addGpuHost, addGpuOffer } from '../../support/nodes/gpus.ts'
import { type World, world } from '../../support/world/panel.ts'

const locationsOf = async (p: World, offerId: string) => {
  const { data } = await p.admin('GET', '/admin/gpu-offers')
  return data.find(({ id }: { id: string }) => id === offerId).locations[0]
}
const codes = (replies: readonly { status: number; body: any }[]) =>
  Object.fromEntries(
    Map.groupBy(replies, ({ status, body }) => (status === 201 ? 'sold' : body.error.code))
      .entries()
      .map(([code, of]) => [code, of.length]),
  )

test('200 orders for 16 cards at the same time sell each card once', async () => {
  using p = await world()
  for (const n of [8, 5, 3]) addGpuHost(p, p.location, n, { memoryMb: 65_536 })
  const offerId = await addGpuOffer(p)
  expect(await locationsOf(p, offerId)).toMatchObject({ available: true, free: 16 })
  const order = { ownerId: p.customer.id, offerId, nodeGroupId: p.location }
  const ordered = Array.from({ length: 200 }, () => p.call(p.owner, 'POST', '/admin/gpu-instances', order))
  expect(codes(await Promise.all(ordered))).toEqual({ sold: 16, no_capacity: 184 })
  expect(await locationsOf(p, offerId)).toMatchObject({ available: false, free: 0 })
  await p.settle()
  const held = p.db.$client.query('SELECT count(DISTINCT workload_id) AS n FROM gpu_cards').get()
  expect(held).toEqual({ n: 16 })
  const { data } = await p.admin('GET', '/admin/gpus')
  for (const host of data)
    expect(new Set(host.cards.map(({ state }: { state: string }) => state))).toEqual(new Set(['held']))
}, 60_000)

test('the quota gpus of a reseller ends its orders before the cards do', async () => {
  using p = await world()
  addGpuHost(p, p.location, 4)
  const rex = p.account('reseller', 'Rex')
  const rita = p.account('customer', 'Rita', rex.id)
  await p.admin('PATCH', `/resellers/${rex.id}`, { locationIds: [p.location], quotas: { gpus: 3 } })
  const order = { ownerId: rita.id, offerId: await addGpuOffer(p), nodeGroupId: p.location }
  const ordered = Array.from({ length: 6 }, () => p.call(p.owner, 'POST', '/admin/gpu-instances', order))
  expect(codes(await Promise.all(ordered))).toEqual({ sold: 3, quota_exceeded: 3 })
  expect((await p.admin('GET', `/resellers/${rex.id}`)).used).toMatchObject({ gpus: 3 })
})
