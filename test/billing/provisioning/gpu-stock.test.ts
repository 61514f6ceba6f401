// The stock of GPU offers is exact, as that of packages: so many orders are accepted, and what refuses the next.
import { describe, expect, test } from 'bun:test'
import { addGpuHost, addGpuOffer, MODEL, reportCards } from '../../support/nodes/gpus.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

type Line = { offerId: string; available: number; orMore: boolean; limit: string; code: string }
const stockOf = async (p: World, query = '', who: Who = p.owner): Promise<Line[]> =>
  (await p.call(who, 'GET', `/stock${query}`)).body.gpuStock

/** Orders until one is refused: how many were accepted, and the code of the refusal. */
async function sellOut(p: World, offerId: string, ownerId = p.customer.id): Promise<[number, string]> {
  for (let n = 0; n < 50; n++) {
    const order = { ownerId, offerId, nodeGroupId: p.location }
    const { status, body } = await p.call(p.owner, 'POST', '/admin/gpu-instances', order)
    if (status !== 201) return [n, body.error.code]
  }
  return [50, 'endless']
}
const update = (p: World, sql: string) => void p.db.$client.run(sql)

type Case = {
  bound: string
  cards?: number[]
  offer?: Record<string, unknown>
  prepare?: (p: World, hosts: ReturnType<typeof addGpuHost>[]) => unknown
  stock: [available: number, limit: string, code: string]
}
const cases: Case[] = [
  { bound: 'cards', cards: [3, 2], stock: [5, 'cards', 'no_capacity'] },
  {
    bound: 'cards, of which two hosts have one left each',
    cards: [3, 3],
    offer: { cards: 2 },
    stock: [2, 'cards', 'no_capacity'],
  },
  { bound: 'memory', cards: [4], offer: { memoryMb: 30_000 }, stock: [2, 'memory', 'no_capacity'] },
  { bound: 'vCPUs', cards: [4], offer: { vcpus: 7 }, stock: [2, 'vcpus', 'no_capacity'] },
  { bound: 'disk', cards: [4], offer: { workspaceGb: 300 }, stock: [3, 'disk', 'no_capacity'] },
  {
    bound: 'ports',
    cards: [4],
    prepare: (p) => update(p, 'UPDATE gpu_hosts SET last_port = first_port + 6'),
    stock: [2, 'ports', 'no_capacity'],
  },
  { bound: 'addresses', cards: [12, 12], offer: { ownIpv4: true }, stock: [20, 'addresses', 'no_addresses'] },
  {
    bound: 'a closed location',
    cards: [2],
    prepare: (p) => p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: false }),
    stock: [0, 'closed', 'location_closed'],
  },
  {
    bound: 'a closed host',
    cards: [2],
    prepare: (p) => update(p, 'UPDATE gpu_hosts SET open = 0'),
    stock: [0, 'closed', 'no_capacity'],
  },
  {
    bound: 'a host without an engine',
    cards: [2],
    prepare: (p, [host]) => reportCards(p, host!.id, { cards: host!.cards, engine: false }),
    stock: [0, 'no_node', 'no_capacity'],
  },
  { bound: 'the lack of a host', cards: [], stock: [0, 'no_node', 'no_capacity'] },
  {
    bound: 'a host that comes back in a moment, behind one that is there',
    cards: [2, 2],
    prepare: (_, [host]) => host!.agent.disconnect(),
    stock: [2, 'reconnecting', 'restarting'],
  },
  {
    bound: 'a host that is away',
    cards: [2],
    prepare: (p, [host]) => {
      host!.agent.disconnect()
      p.turnClock(10 * 60_000)
    },
    stock: [0, 'disconnected', 'no_capacity'],
  },
]

describe('the stock of an offer says how many orders are accepted, and what refuses the next', () => {
  for (const { bound, cards = [], offer = {}, prepare, stock } of cases)
    test(`bound by ${bound}`, async () => {
      using p = await world()
      const hosts = cards.map((n) => addGpuHost(p, p.location, n))
      for (const { id } of hosts) p.attach(p.pool, id)
      const offerId = await addGpuOffer(p, offer)
      await prepare?.(p, hosts)
      const [available, limit, code] = stock
      expect(await stockOf(p)).toMatchObject([{ offerId, available, orMore: false, limit, code }])
      expect(await sellOut(p, offerId)).toEqual([available, code])
      expect(await stockOf(p)).toMatchObject([{ available: 0, code }])
    })

  test('for a customer of a reseller bound by its quota, its suspension and its locations', async () => {
    using p = await world()
    addGpuHost(p, p.location, 5)
    const offerId = await addGpuOffer(p, { cards: 2 })
    const rex = p.account('reseller', 'Rex')
    const rita = p.account('customer', 'Rita', rex.id)
    const ofRita = () => stockOf(p, `?ownerId=${rita.id}`)
    expect(await ofRita()).toEqual([])
    await p.admin('PATCH', `/resellers/${rex.id}`, { locationIds: [p.location], quotas: { gpus: 3 } })
    expect(await ofRita()).toMatchObject([{ available: 1, limit: 'quota', code: 'quota_exceeded' }])
    expect(await sellOut(p, offerId, rita.id)).toEqual([1, 'quota_exceeded'])
    expect(await stockOf(p)).toMatchObject([{ available: 1, limit: 'cards' }])
    await p.admin('POST', `/resellers/${rex.id}/actions/suspend`, { reason: 'unpaid' })
    expect(await ofRita()).toMatchObject([{ available: 0, limit: 'suspended', code: 'reseller_suspended' }])
    expect(await sellOut(p, offerId, rita.id)).toEqual([0, 'reseller_suspended'])
  })
})

describe('the list', () => {
  test('has the offers that an order may name, in each location, and one of them where it is asked for', async () => {
    using p = await world()
    addGpuHost(p, p.location, 1)
    const sold = await addGpuOffer(p, { name: 'A', billingProductId: 'shop:80' })
    const other = await addGpuOffer(p, { name: 'B', model: 'NVIDIA H200' })
    const archived = await addGpuOffer(p)
    await p.admin('PATCH', `/admin/gpu-offers/${archived}`, { archived: true })
    expect(await stockOf(p)).toEqual([
      {
        ...{ offerId: sold, offerName: 'A', billingProductId: 'shop:80' },
        ...{ location: { id: p.location, name: expect.any(String) } },
        ...{ available: 1, orMore: false, limit: 'cards', code: 'no_capacity' },
      },
      expect.objectContaining({ offerId: other, available: 0, limit: 'cards', code: 'no_capacity' }),
    ] as never)
    expect((await stockOf(p, `?offerId=${sold}`)).map(({ offerId }) => offerId)).toEqual([sold])
    const asked = async (query: string) => (await p.call(p.owner, 'GET', `/stock${query}`)).body
    expect((await asked(`?offerId=${sold}`)).stock).toEqual([])
    expect((await asked(`?packageId=${p.pack}`)).gpuStock).toEqual([])
    expect((await asked(`?packageId=${p.pack}`)).stock).toHaveLength(1)
  })
  test('shows no offer to a reseller, who orders none', async () => {
    using p = await world()
    addGpuHost(p, p.location, 1, { model: MODEL })
    await addGpuOffer(p)
    const rex = p.account('reseller', 'Rex')
    await p.admin('PATCH', `/resellers/${rex.id}`, { locationIds: [p.location] })
    expect(await stockOf(p, '', rex)).toEqual([])
  })
})
