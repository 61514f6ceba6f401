// The use of cards: taken in from their hosts, kept, and shown to those who have the card at the time.
import { describe, expect, test } from 'bun:test'
import { CardMetrics } from '../../../src/platform/metrics/cards/card-metrics.ts'
import { addKey, checkCards, type GpuWorld, gpuWorld, orderInstance } from '../../support/nodes/instances.ts'

const second = 1000
const minute = 60 * second
const uuidOf = (p: GpuWorld): string =>
  p.db.$client.query<{ uuid: string }, []>('SELECT uuid FROM gpu_cards').get()!.uuid
const sample = (uuid: string, usePercent: number, more: object = {}) => ({
  uuid,
  usePercent,
  memoryUsedMb: 1000,
  temperatureC: 60,
  powerW: 300,
  correctedErrors: 0,
  uncorrectedErrors: 0,
  ...more,
})
/** The host reports for so long, each ten seconds. */
function reports(p: GpuWorld, forMs: number, usePercent: number, uuid = uuidOf(p)) {
  for (let ms = 0; ms < forMs; ms += 10 * second) {
    p.turnClock(10 * second)
    p.controller.app.cardMetrics.take(p.host.id, [sample(uuid, usePercent)])
  }
}
const metrics = async (p: GpuWorld, id: string, query = '', who: object = p.customer) =>
  (await p.call(who, 'GET', `/gpu-instances/${id}/metrics${query}`)).body
const measured = (values: (number | null)[]) => values.filter((value) => value !== null)

describe('the use of cards', () => {
  test('comes with the frames of a host, and is shown in steps of ten seconds', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    p.turnClock(minute)
    p.host.agent.say({ type: 'metrics', samples: [], cards: [sample(uuidOf(p), 93), sample('GPU-of-nobody', 5)] })
    const { cards, resolutionSeconds } = await metrics(p, id)
    expect(resolutionSeconds).toBe(10)
    expect(cards).toMatchObject([{ busyPercent: 93, memoryUsedMb: 1000, temperatureC: 60, powerW: 300 }])
    expect(measured(cards[0].series.busyPercent)).toEqual([93])
    expect(measured(cards[0].series.powerW)).toEqual([300])
  })
  test('of a day outlives a restart of the controller', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    reports(p, 30 * minute, 40)
    reports(p, 30 * minute, 80)
    await p.controller.app.cardMetrics.storeAll()
    await p.crash()
    const { series } = (await metrics(p, id, '?range=24h')).cards[0]
    const busy = measured(series.busyPercent)
    expect(Math.max(...(busy as number[]))).toBe(80)
    expect(Math.min(...(busy as number[]))).toBe(40)
    expect(busy.length).toBeGreaterThanOrEqual(11)
  })
  test('of the instance that had the card before is not shown to the next', async () => {
    using p = await gpuWorld()
    const first = await orderInstance(p)
    reports(p, 30 * minute, 99)
    await p.admin('DELETE', `/admin/gpu-instances/${first}`)
    await p.settle()
    await checkCards(p)
    const otto = p.account('customer', 'Otto')
    await addKey(p, otto.id, 2)
    const next = await orderInstance(p, { ownerId: otto.id })
    for (const range of ['1h', '24h']) {
      const { cards } = await metrics(p, next, `?range=${range}`, otto)
      expect(cards).toHaveLength(1)
      expect(cards[0]).toMatchObject({ busyPercent: null, measuredAt: null })
      for (const values of Object.values<(number | null)[]>(cards[0].series)) expect(measured(values)).toEqual([])
    }
    // Staff see the card of their host as it was.
    const host = (await p.call(p.owner, 'GET', `/admin/nodes/${p.host.id}/card-metrics?range=1h`)).body
    expect(measured(host.cards[0].series.busyPercent).length).toBeGreaterThan(100)
    expect((await metrics(p, next, '', p.customer)).error.code).toBe('gpu_instance_not_found')
  })
  test('is in the figures for monitoring while it is measured', async () => {
    using p = await gpuWorld()
    const uuid = uuidOf(p)
    reports(p, minute, 50)
    const figures = async () => String((await p.call(p.token(p.owner.id), 'GET', '/metrics')).body)
    expect(await figures()).toContain(`berth_card_busy_ratio{card="${uuid}"} 0.5`)
    expect(await figures()).toContain(`berth_card_memory_used_bytes{card="${uuid}"} ${1000 * 1024 ** 2}`)
    p.turnClock(2 * minute)
    expect(await figures()).not.toContain(uuid)
  })
})

test('a card is idle since its last use, and nobody knows while its host is silent', () => {
  let now = 10 * minute
  const held = new CardMetrics(
    undefined as never,
    () => now,
    () => new Map([['GPU-1', 'crd_1']]),
  )
  const says = (usePercent: number) => {
    now += 10 * second
    held.take('nod', [sample('GPU-1', usePercent)])
    return now
  }
  expect(held.idleSince('crd_1')).toBeUndefined()
  const began = says(0)
  says(0)
  expect(held.idleSince('crd_1')).toBe(began)
  const busy = says(7)
  expect(held.idleSince('crd_1')).toBeUndefined()
  says(0)
  expect(held.idleSince('crd_1')).toBe(busy)
  now += 2 * minute
  expect(held.idleSince('crd_1')).toBeUndefined()
  const back = says(0)
  expect(held.idleSince('crd_1')).toBe(back)
})
