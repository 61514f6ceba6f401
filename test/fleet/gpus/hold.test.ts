// Holding cards and what goes with them: the last one is sold once, and an offer says exactly what is free.
import { describe, expect, test } from 'bun:test'
import { needOf } from '../../../src/catalog/gpu-offers/model.ts'
import { gpuOfferById } from '../../../src/catalog/gpu-offers/queries.ts'
import { type GpuNeed, heldOf, releaseInstance, reserveInstance } from '../../../src/fleet/gpus/hold.ts'
import { changeBroken, endHold, holdOn } from '../../../src/fleet/gpus/queries.ts'
import { locationById } from '../../../src/fleet/locations/queries.ts'
import type { WorkloadKind } from '../../../src/fleet/workloads/kind.ts'
import { changeWorkload } from '../../../src/fleet/workloads/queries.ts'
import { openArriving, releaseHome } from '../../../src/fleet/workloads/stays/stays.ts'
import { accountById } from '../../../src/identity/account-records/queries.ts'
import { mustAllowInstance, resellerOf } from '../../../src/identity/resellers/model.ts'
import { ApiError } from '../../../src/kernel/api/errors.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { addGpuHost, addGpuOffer, cardIn, MODEL, passAll, reportCards } from '../../support/nodes/gpus.ts'
import { type World, world } from '../../support/world/panel.ts'

/** Servers are the kind that is there; nothing here depends on the kind. */
const kind: WorkloadKind = {
  kind: 'gpu_instance',
  idPrefix: 'srv',
  words: { one: 'GPU instance', many: 'GPU instances' },
  hostnamePrefix: 'gpu',
  busy: 'server_busy',
}
const need: GpuNeed = {
  model: MODEL,
  cards: 1,
  vcpus: 1,
  memoryMb: 1024,
  workspaceGb: 10,
  ports: 3,
  ownIpv4: false,
}
const order = (p: World, more: Partial<GpuNeed> = {}, namesNodes = true) =>
  write(p.db, (tx) =>
    reserveInstance(tx, p.controller.app, {
      kind,
      owner: { id: p.customer.id, resellerId: null },
      location: locationById(tx, p.location)!,
      need: { ...need, ...more },
      namesNodes,
    }),
  )
const refused = (work: () => unknown): [code: string, message: string] => {
  try {
    work()
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.message]
    throw error
  }
  return ['accepted', '']
}
const release = (p: World, { id, nodeId }: { id: string; nodeId: string }) =>
  write(p.db, (tx) => {
    releaseInstance(tx, { id, nodeId }, p.now())
    changeWorkload(tx, id, { lifecycle: 'terminated', terminatedAt: p.now() })
    releaseHome(tx, id, p.now())
  })
const change = (p: World, nodeId: string, body: object) => p.admin('PATCH', `/admin/nodes/${nodeId}/gpu-host`, body)
const freeOf = async (p: World, offerId: string) => {
  const { data } = await p.admin('GET', '/admin/gpu-offers')
  return data.find(({ id }: { id: string }) => id === offerId).locations[0]
}

describe('holding', () => {
  test('sells each of 16 cards once to 200 orders at the same time', async () => {
    using p = await world()
    for (const n of [8, 5, 3]) addGpuHost(p, p.location, n)
    const results = await Promise.all(Array.from({ length: 200 }, async () => refused(() => order(p))[0]))
    expect(results.filter((result) => result === 'accepted')).toHaveLength(16)
    expect(results.filter((result) => result === 'no_capacity')).toHaveLength(184)
    const held = p.db.$client.query('SELECT count(DISTINCT workload_id) AS n FROM gpu_cards').get()
    expect(held).toEqual({ n: 16 })
  })
  test('takes cards, ports, memory and disk, in the order of the slots, and names the workload', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 4)
    await change(p, host.id, { publicAddress: '198.51.100.7', firstPort: 30_000, lastPort: 30_009 })
    const held = order(p, { cards: 2 })
    expect(held).toMatchObject({
      nodeId: host.id,
      hostname: `gpu${held.number}`,
      cards: host.cards.slice(0, 2).map(({ uuid }) => uuid),
      ports: [30_000, 30_001, 30_002],
      ipv4: null,
      hostAddress: '198.51.100.7',
    })
    expect(heldOf(p.db, held)).toMatchObject({ ports: held.ports, cards: [{ model: MODEL }, { model: MODEL }] })
    expect(await p.admin('GET', `/admin/nodes/${host.id}`)).toMatchObject({ heldMemoryMb: 1024, heldDiskGb: 10 })
    const { data } = await p.admin('GET', `/admin/gpus?nodeId=${host.id}`)
    expect(data[0]).toMatchObject({ heldPorts: 3, heldVcpus: 1, vcpus: 16 })
    expect(data[0].cards.map(({ state }: { state: string }) => state)).toEqual(['held', 'held', 'free', 'free'])
    expect(data[0].cards[0].heldBy).toEqual({
      id: held.id,
      name: held.hostname,
      hostname: held.hostname,
      ownerId: p.customer.id,
    })
  })
  test('keeps whole hosts free: it takes the host that has the fewest cards left', async () => {
    using p = await world()
    const [large, small] = [addGpuHost(p, p.location, 4), addGpuHost(p, p.location, 2)]
    expect([order(p), order(p)].map(({ nodeId }) => nodeId)).toEqual([small.id, small.id])
    expect(order(p, { cards: 4 }).nodeId).toBe(large.id)
  })
  test('is of one host each, also while an instance is on two', async () => {
    using p = await world()
    const [first, second] = [addGpuHost(p, p.location, 1), addGpuHost(p, p.location, 2)]
    for (const { id } of [first, second]) await change(p, id, { firstPort: 30_000, lastPort: 30_009 })
    const held = order(p)
    expect(held.nodeId).toBe(first.id)
    const there = { id: held.id, nodeId: second.id }
    const holdThere = () =>
      write(p.db, (tx) => {
        openArriving(tx, held.id, { nodeId: second.id, pool: 'local', spareDiskGb: 0 }, p.now())
        const ports = { nodeId: second.id, firstPort: 30_000, lastPort: 30_009 }
        return holdOn(tx, ports, held.id, { model: MODEL, cards: 1, ports: 3 })
      })
    const { cards } = holdThere()
    const uuids = (at: { id: string; nodeId: string }) => heldOf(p.db, at).cards.map(({ uuid }) => uuid)
    expect([uuids(held), uuids(there)]).toEqual([held.cards, cards])
    expect([heldOf(p.db, held).ports, heldOf(p.db, there).ports]).toEqual([held.ports, [30_000, 30_001, 30_002]])
    // It lacks none of its home's cards because it has one elsewhere.
    p.db.$client.run(`UPDATE gpu_cards SET problems = '["broken"]' WHERE uuid = ?`, [cards[0]!])
    const changed = write(p.db, (tx) => changeBroken(tx, held, { model: MODEL, wanted: 1 }))
    expect(changed).toEqual({ given: [], taken: [], lacking: 0 })
    write(p.db, (tx) => endHold(tx, there))
    expect([uuids(held), uuids(there), heldOf(p.db, there).ports]).toEqual([held.cards, [], []])
    expect(heldOf(p.db, held).ports).toEqual(held.ports)
  })
  test('gives the ports and the address back at once, and the cards after a check', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 1)
    p.attach(p.pool, host.id)
    const held = order(p, { ownIpv4: true, ports: 0 })
    expect(held).toMatchObject({ ipv4: '203.0.113.10', ports: [] })
    expect(refused(() => order(p))[0]).toBe('no_capacity')
    release(p, held)
    expect(heldOf(p.db, held)).toMatchObject({ cards: [], ports: [] })
    expect(cardIn(p, host.id, host.cards[0]!.uuid)).toMatchObject({ workloadId: null, health: 'unchecked' })
    expect(refused(() => order(p))[0]).toBe('no_capacity')
    await p.settle()
    expect(cardIn(p, host.id, host.cards[0]!.uuid)).toMatchObject({ health: 'passed', clearedMb: 23_034 })
    expect(order(p, { ownIpv4: true, ports: 0 }).ipv4).toBe('203.0.113.10')
    // A job that undoes releases again.
    release(p, held)
    expect(cardIn(p, host.id, host.cards[0]!.uuid)).toMatchObject({ health: 'passed' })
  })
})

describe('the quota gpus of a reseller', () => {
  test('counts the cards of its customers, and refuses the next', async () => {
    using p = await world()
    addGpuHost(p, p.location, 4)
    const rex = p.account('reseller', 'Rex')
    const rita = p.account('customer', 'Rita', rex.id)
    const allow = (cards: number, location = p.location) =>
      write(p.db, (tx) =>
        mustAllowInstance(tx, p.now(), resellerOf(tx, accountById(tx, rita.id)!)!, locationById(tx, location)!, {
          ...need,
          cards,
        }),
      )
    expect(refused(() => allow(1))[0]).toBe('location_not_allowed')
    await p.admin('PATCH', `/resellers/${rex.id}`, { locationIds: [p.location], quotas: { gpus: 3 } })
    expect(refused(() => allow(4))).toEqual(['quota_exceeded', expect.stringContaining('gpus')])
    const held = write(p.db, (tx) =>
      reserveInstance(tx, p.controller.app, {
        kind,
        owner: { id: rita.id, resellerId: rex.id },
        location: locationById(tx, p.location)!,
        need: { ...need, cards: 2 },
        namesNodes: true,
      }),
    )
    expect((await p.admin('GET', `/resellers/${rex.id}`)).used).toMatchObject({ gpus: 2, servers: 0 })
    expect(refused(() => allow(2))[0]).toBe('quota_exceeded')
    expect(refused(() => allow(1))[0]).toBe('accepted')
    release(p, held)
    expect(refused(() => allow(3))[0]).toBe('accepted')
    await p.admin('POST', `/resellers/${rex.id}/actions/suspend`, { reason: 'unpaid' })
    expect(refused(() => allow(1))[0]).toBe('reseller_suspended')
  })
})

describe('an order is refused', () => {
  const one = async (work: (p: World, host: ReturnType<typeof addGpuHost>) => unknown, more: Partial<GpuNeed> = {}) => {
    using p = await world()
    const host = addGpuHost(p, p.location, 2, { name: 'gpu-01' })
    await work(p, host)
    const before = p.fingerprint()
    const result = refused(() => order(p, more))
    expect(p.fingerprint()).toBe(before)
    return result
  }
  const words: [what: string, work: Parameters<typeof one>[0], needed: Partial<GpuNeed>, why: string][] = [
    ['without that model', () => {}, { model: 'NVIDIA H200' }, 'gpu-01 has no free card'],
    ['without enough cards on one host', () => {}, { cards: 3 }, 'gpu-01 has 2 free cards of the model'],
    ['on a closed host', (p, { id }) => change(p, id, { open: false }), {}, 'gpu-01 is closed'],
    [
      'on a host whose engine has a problem',
      (p, { id, cards }) => reportCards(p, id, { cards, problems: ['crun is too old.'] }),
      {},
      'gpu-01 cannot run containers',
    ],
    [
      'on a host without an engine',
      (p, { id, cards }) => reportCards(p, id, { cards, engine: false }),
      {},
      'gpu-01 cannot run containers',
    ],
    ['without the vCPUs', () => {}, { vcpus: 17 }, 'gpu-01 has too few free vCPUs'],
    ['without the memory', () => {}, { memoryMb: 70_000 }, 'gpu-01 has too little free memory'],
    ['without the disk', () => {}, { workspaceGb: 2000 }, 'gpu-01 has too little free disk'],
    [
      'without the ports',
      (p, { id }) => change(p, id, { firstPort: 30_000, lastPort: 30_001 }),
      {},
      'gpu-01 has too few free ports',
    ],
  ]
  for (const [what, work, needed, why] of words)
    test(what, async () => {
      const [code, message] = await one(work, needed)
      expect(code).toBe('no_capacity')
      expect(message).toContain(why)
    })
  test('as no_addresses where only an address is missing', async () => {
    expect(await one(() => {}, { ownIpv4: true, ports: 0 })).toEqual([
      'no_addresses',
      'No free IPv4 address of the model NVIDIA L4 in Frankfurt: gpu-01 has no free IPv4 address.',
    ])
  })
  test('as restarting while the host comes back, and as no_capacity when it does not', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 1)
    host.agent.disconnect()
    expect(refused(() => order(p))[0]).toBe('restarting')
    p.turnClock(120_000)
    expect(refused(() => order(p))[0]).toBe('no_capacity')
  })
  test('in a closed location, and without naming hosts to those who may not know', async () => {
    using p = await world()
    addGpuHost(p, p.location, 1, { name: 'gpu-01' })
    expect(refused(() => order(p, { cards: 2 }, false))[1]).not.toContain('gpu-01')
    await p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: false })
    expect(refused(() => order(p))[0]).toBe('location_closed')
  })
  const states: [what: string, work: (p: World, id: string, uuid: string) => unknown][] = [
    [
      'a card that staff closed',
      (p, id, uuid) => p.admin('PATCH', `/admin/gpu-cards/${cardIn(p, id, uuid).id}`, { open: false }),
    ],
    ['a card that is missing', (p, id) => reportCards(p, id, { cards: [] })],
  ]
  for (const [what, work] of states)
    test(`for ${what}`, async () => {
      using p = await world()
      const host = addGpuHost(p, p.location, 1)
      await work(p, host.id, host.cards[0]!.uuid)
      expect(refused(() => order(p))[0]).toBe('no_capacity')
    })
})

describe('an offer says how many of it are free', () => {
  test('as many as are then sold, whatever runs out first', async () => {
    const cases: [what: string, more: Record<string, unknown>, prepare: (p: World) => unknown][] = [
      ['cards', {}, (p) => [4, 1].map((n) => addGpuHost(p, p.location, n))],
      ['pairs of cards', { cards: 2 }, (p) => [3, 2, 1].map((n) => addGpuHost(p, p.location, n))],
      ['vCPUs', { vcpus: 5 }, (p) => [8, 8].map((n) => addGpuHost(p, p.location, n))],
      ['memory', { memoryMb: 30_000 }, (p) => [8, 8].map((n) => addGpuHost(p, p.location, n))],
      ['disk', { workspaceGb: 300 }, (p) => [8].map((n) => addGpuHost(p, p.location, n))],
      [
        'ports',
        { ports: 4 },
        (p) => change(p, addGpuHost(p, p.location, 8).id, { firstPort: 30_000, lastPort: 30_009 }),
      ],
      [
        'addresses of pools that hosts share',
        { ownIpv4: true },
        (p) => {
          for (const n of [16, 12]) p.attach(p.pool, addGpuHost(p, p.location, n, { memoryMb: 200_000 }).id)
        },
      ],
    ]
    const sold = []
    for (const [what, more, prepare] of cases) {
      using p = await world()
      await prepare(p)
      const offerId = await addGpuOffer(p, more)
      const { free, available } = await freeOf(p, offerId)
      const needed = needOf(gpuOfferById(p.db, offerId)!)
      let n = 0
      while (refused(() => order(p, needed))[0] === 'accepted') n++
      sold.push([what, n])
      expect({ what, free, available }).toEqual({ what, free: n, available: true })
      expect(await freeOf(p, offerId)).toMatchObject({ free: 0, available: false })
    }
    expect(sold.map(([, n]) => n)).toEqual([5, 2, 6, 4, 3, 2, 20])
  }, 60_000)
  test('none of an archived one, of one without an image on sale, of a host that is away', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 2)
    const offerId = await addGpuOffer(p)
    const free = async () => (await freeOf(p, offerId)).free
    expect(await free()).toBe(2)
    await p.admin('PATCH', `/admin/gpu-offers/${offerId}`, { archived: true })
    expect(await free()).toBe(0)
    const { images } = await p.admin('PATCH', `/admin/gpu-offers/${offerId}`, { archived: false })
    expect(await free()).toBe(2)
    await p.admin('PATCH', `/admin/gpu-images/${images[0].id}`, { archived: true })
    expect(await free()).toBe(0)
    await p.admin('PATCH', `/admin/gpu-images/${images[0].id}`, { archived: false })
    host.agent.disconnect()
    expect(await free()).toBe(0)
    host.agent.connect()
    passAll(p, host.id)
    expect(await free()).toBe(2)
  })
})
