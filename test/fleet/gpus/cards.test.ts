// Cards as their nodes report them, and the gate that each passes before it is sold.
import { describe, expect, test } from 'bun:test'
import type { Card } from '../../../agent/protocol/gpu.ts'
import { checkWaitingCards } from '../../../src/fleet/gpus/check.ts'
import { addGpuHost, cardIn, cardOf, MODEL, passAll, reportCards } from '../../support/nodes/gpus.ts'
import { type World, world } from '../../support/world/panel.ts'

const hostOf = async (p: World, nodeId: string) => (await p.admin('GET', `/admin/gpus?nodeId=${nodeId}`)).data[0]
const statesOf = async (p: World, nodeId: string): Promise<string[]> =>
  (await hostOf(p, nodeId)).cards.map(({ state }: { state: string }) => state)
/** The clock comes round. */
const check = async (p: World) => {
  checkWaitingCards(p.db, p.controller.app)
  await p.settle()
}
const troubles = async (p: World): Promise<string[]> =>
  (await p.call(p.owner, 'GET', '/admin/overview')).body.attention
    .map(({ what }: { what: string }) => what)
    .filter((what: string) => /GPU/.test(what))
const kindsOfJobs = async (p: World) => (await p.admin('GET', '/jobs')).data.map(({ kind }: { kind: string }) => kind)

describe('a node that reports cards', () => {
  test('is a GPU host from then on, and one without cards is none', async () => {
    using p = await world()
    expect((await p.admin('GET', '/admin/gpus')).total).toBe(0)
    reportCards(p, p.node.id, { cards: [] })
    expect((await p.admin('GET', '/admin/gpus')).total).toBe(0)
    reportCards(p, p.node.id, { cards: [cardOf(1)] })
    expect(await hostOf(p, p.node.id)).toMatchObject({
      name: 'fra-01',
      open: true,
      engine: { name: 'fake', problems: [] },
      publicAddress: null,
      address: '10.9.0.1',
      firstPort: 20_000,
      lastPort: 29_999,
      cards: [{ model: MODEL, state: 'checking', checkedAt: null, heldBy: null }],
    })
    const { status, body } = await p.call(p.owner, 'PATCH', `/admin/nodes/${p.addNode(p.location).id}/gpu-host`, {})
    expect([status, body.error.code]).toEqual([409, 'not_possible'])
  })
  test('brings them by its facts', async () => {
    using p = await world()
    const { facts } = await p.admin('GET', `/admin/nodes/${p.node.id}`)
    const cards = [cardOf(1), cardOf(2)]
    const containers = { name: 'podman', version: '5.4.2', problems: [] }
    p.node.agent.say({ type: 'facts', facts: { ...facts, containers, cards } })
    expect(await hostOf(p, p.node.id)).toMatchObject({ engine: { name: 'podman', version: '5.4.2' } })
    expect(await statesOf(p, p.node.id)).toEqual(['checking', 'checking'])
  })
  test('sells none before it was cleared and has passed a check', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 2, { unchecked: true })
    expect(await statesOf(p, host.id)).toEqual(['checking', 'checking'])
    await check(p)
    expect(await statesOf(p, host.id)).toEqual(['free', 'free'])
    expect(cardIn(p, host.id, host.cards[0]!.uuid)).toMatchObject({ clearedMb: 23_034, checkProblems: [] })
    await check(p)
    expect(await kindsOfJobs(p)).toEqual(['check_cards'])
  })
  test('shows a card broken that failed its check, and checks it again when staff ask', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 0, { name: 'gpu-01' })
    const { uuid } = cardOf(77)
    // The simulated host knows no such card.
    reportCards(p, host.id, { cards: [cardOf(77)] })
    await check(p)
    const [card] = (await hostOf(p, host.id)).cards
    expect(card).toMatchObject({ state: 'broken', problems: [expect.any(String)], clearedMb: 0 })
    expect(await troubles(p)).toEqual(['A GPU of gpu-01 cannot be sold.'])
    await check(p)
    expect(await kindsOfJobs(p)).toEqual(['check_cards'])
    const { checkedAt } = cardIn(p, host.id, uuid)
    await p.admin('POST', `/admin/gpu-cards/${card.id}/actions/check`)
    expect(await statesOf(p, host.id)).toEqual(['checking'])
    await p.settle()
    expect(await statesOf(p, host.id)).toEqual(['broken'])
    expect(cardIn(p, host.id, uuid).checkedAt).toBeGreaterThan(checkedAt!)
    passAll(p, host.id)
    expect(await troubles(p)).toEqual([])
  })
  for (const [mode, why] of [
    ['fail', 'cards.check fails on purpose (fail)'],
    ['lie', 'Its node did not answer for it.'],
  ] as const)
    test(`tries a check again later that could not be made (${mode})`, async () => {
      using p = await world()
      const host = addGpuHost(p, p.location, 1, { unchecked: true })
      host.agent.fault({ command: 'cards.check', mode })
      await check(p)
      expect((await hostOf(p, host.id)).cards[0]).toMatchObject({ state: 'broken', problems: [why] })
      host.agent.fault()
      await check(p)
      expect(await statesOf(p, host.id)).toEqual(['broken'])
      p.turnClock(6 * 60_000)
      await check(p)
      expect(await statesOf(p, host.id)).toEqual(['free'])
    })
})

describe('a card', () => {
  test('is missing while its node does not report it, and is checked when it is back', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 2, { name: 'gpu-01' })
    reportCards(p, host.id, { cards: host.cards.slice(1) })
    expect(await statesOf(p, host.id)).toEqual(['missing', 'free'])
    expect(await troubles(p)).toEqual(['A GPU of gpu-01 is missing.'])
    reportCards(p, host.id, host)
    expect(await statesOf(p, host.id)).toEqual(['checking', 'free'])
    await check(p)
    expect(await statesOf(p, host.id)).toEqual(['free', 'free'])
  })
  test('is broken while its node says so, and is checked when that is over', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 1)
    const [card] = host.cards as [ReturnType<typeof cardOf>]
    reportCards(p, host.id, { cards: [{ ...card, problems: ['Xid 79: it fell off the bus.'] }] })
    expect((await hostOf(p, host.id)).cards[0]).toMatchObject({
      state: 'broken',
      problems: ['Xid 79: it fell off the bus.'],
    })
    await check(p)
    expect(await kindsOfJobs(p)).toEqual([])
    reportCards(p, host.id, { cards: [card] })
    expect(await statesOf(p, host.id)).toEqual(['checking'])
    // The same report again begins nothing anew.
    await check(p)
    reportCards(p, host.id, { cards: [card] })
    expect(await statesOf(p, host.id)).toEqual(['free'])
    reportCards(p, host.id, { cards: [{ ...card, driver: '580.0' }] })
    expect(await statesOf(p, host.id)).toEqual(['checking'])
  })
  test('is closed and opened by staff, with a line in the audit log', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 1)
    const { id } = (await hostOf(p, host.id)).cards[0]
    const path = `/admin/gpu-cards/${id}`
    expect((await p.call(p.owner, 'PATCH', path, { open: false })).body).toMatchObject({ state: 'closed' })
    const refused = await p.call(p.owner, 'POST', `${path}/actions/check`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'not_possible'])
    expect((await p.call(p.owner, 'PATCH', path, { open: true })).body).toMatchObject({ state: 'free' })
    expect(p.auditLines().filter(({ target }) => target === id)).toHaveLength(2)
  })
  test('is forgotten once it is taken out, and not before', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 1)
    const { id } = (await hostOf(p, host.id)).cards[0]
    const forget = () => p.call(p.owner, 'DELETE', `/admin/gpu-cards/${id}`)
    expect((await forget()).body.error.code).toBe('not_possible')
    reportCards(p, host.id, { cards: [] })
    expect((await forget()).status).toBe(200)
    expect(await statesOf(p, host.id)).toEqual([])
    expect((await forget()).body.error.code).toBe('gpu_card_not_found')
  })
  test('is gone with its node', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 2)
    await p.admin('DELETE', `/admin/nodes/${host.id}`)
    expect((await p.admin('GET', '/admin/gpus')).total).toBe(0)
    expect(p.db.$client.query('SELECT count(*) AS n FROM gpu_cards').get()).toEqual({ n: 0 })
  })
  test('is not stored without end where a node invents cards', async () => {
    using p = await world()
    for (let round = 0; round < 5; round++)
      reportCards(p, p.node.id, { cards: Array.from({ length: 64 }, (_, i) => cardOf(round * 64 + i)) })
    const { cards } = await hostOf(p, p.node.id)
    expect(cards).toHaveLength(128)
    expect(cards.filter(({ state }: { state: string }) => state === 'checking')).toHaveLength(64)
  })
})

describe('a GPU host', () => {
  test('refuses settings that make no sense', async () => {
    using p = await world()
    const { id } = addGpuHost(p, p.location, 1)
    const fieldOf = async (body: object) => {
      const reply = await p.call(p.owner, 'PATCH', `/admin/nodes/${id}/gpu-host`, body)
      return [reply.status, reply.body.error?.details?.fields?.[0]?.field ?? reply.body.error?.details?.[0]?.field]
    }
    expect((await fieldOf({ publicAddress: '2001:db8::1' }))[0]).toBe(422)
    expect((await fieldOf({ publicAddress: 'gpu.example.com' }))[0]).toBe(422)
    expect((await fieldOf({ firstPort: 30_000, lastPort: 20_000 }))[0]).toBe(422)
    expect((await fieldOf({ firstPort: 1024, lastPort: 65_535 }))[0]).toBe(422)
    expect((await fieldOf({ publicAddress: null }))[0]).toBe(200)
  })
  test('that cannot run containers needs attention', async () => {
    using p = await world()
    const host = addGpuHost(p, p.location, 1, { name: 'gpu-01' })
    reportCards(p, host.id, { cards: host.cards, problems: ['crun 1.8 is too old: install crun 1.14.'] })
    expect(await troubles(p)).toEqual(['gpu-01 cannot run GPU instances.'])
    reportCards(p, host.id, { cards: host.cards, engine: false })
    expect(await troubles(p)).toEqual(['gpu-01 cannot run GPU instances.'])
  })
})

test('a card that was sold and breaks or vanishes has a line in the audit log, once', async () => {
  using p = await world()
  const host = addGpuHost(p, p.location, 3)
  const [well, broken] = host.cards as [Card, Card]
  const reported = [well, { ...broken, problems: ['A row of its memory waits to be replaced: reset it'] }]
  for (let n = 0; n < 2; n++) reportCards(p, host.id, { cards: reported })
  const lines = p.db.$client
    .query<{ who: string; details: string }, []>(
      "SELECT actor_id AS who, details FROM audit WHERE operation = 'gpus.out-of-sale'",
    )
    .all()
    .map(({ who, details }) => [who, JSON.parse(details).action, JSON.parse(details).uuid])
  expect(lines.toSorted()).toEqual([
    ['system', 'broken', broken.uuid],
    ['system', 'missing', host.cards[2]!.uuid],
  ])
})
