// Metrics of a node: kept as those of servers are, for staff alone, and drawn on a page of the node.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { pagesFor } from '../../support/pages/pages-for.ts'
import { type World, world } from '../../support/world/panel.ts'

const MINUTE = 60_000
let p: World
beforeEach(async () => {
  p = await world()
})
afterEach(() => p.close())

const node = () =>
  p.db.$client.query<any, [string]>('SELECT threads, memory_mb FROM nodes WHERE id = ?').get(p.node.id)!
/** Half of its threads are busy for so long. */
async function uses(ms: number) {
  const { threads } = node()
  for (const end = p.now() + ms; p.now() < end; ) {
    p.turnClock(10_000)
    const host = {
      ms: 10_000,
      fast: [threads * 5000, 10_000_000, 20_000_000, 0, 0],
      disk: { ms: 10_000, sums: [40_960, 81_920, 0, 0] },
      memory: { ms: 10_000, usedMb: 2048 },
    }
    p.node.agent.say({ type: 'metrics', host, samples: [] })
    await p.controller.app.metrics.advance()
    await p.controller.app.metrics.storeDue()
  }
}
const metricsOf = async (query: string, who: any = p.owner) =>
  p.call(who, 'GET', `/admin/nodes/${p.node.id}/metrics${query}`)
const known = (values: (number | null)[]) => [...new Set(values.filter((value) => value !== null))]

test('the use of a node is there in steps of 10 s, of minutes, and after a restart of the controller', async () => {
  await uses(20 * MINUTE)
  const live = await metricsOf('?range=1h')
  expect(live.status).toBe(200)
  expect(live.body).toMatchObject({ nodeId: p.node.id, threads: node().threads, memoryMb: node().memory_mb })
  expect(known(live.body.series.cpuPercent)).toEqual([50])
  await p.controller.app.metrics.storeAll()
  const { series } = (await metricsOf('?range=24h')).body
  expect([known(series.cpuPercent), known(series.memoryMb), known(series.diskWrittenBytesPerSecond)]).toEqual([
    [50],
    [2048],
    [8192],
  ])
  expect(Math.abs(known(series.rxBytesPerSecond)[0]! - 1_000_000)).toBeLessThan(500)
  const [{ n }] = p.db.$client
    .query<{ n: number }, [string]>('SELECT count(*) AS n FROM metric_blocks WHERE subject_id = ?')
    .all(p.node.id) as [{ n: number }]
  expect(n).toBeGreaterThanOrEqual(3)
})
test('an hour of last week is there in the steps that are kept for so long', async () => {
  const began = p.now()
  await uses(60 * MINUTE)
  await p.controller.app.metrics.storeAll()
  const span = `?from=${new Date(began).toISOString()}&to=${new Date(began + 60 * MINUTE).toISOString()}`
  expect((await metricsOf(span, p.staff())).body.resolutionSeconds).toBe(10)
  p.turnClock(7 * 24 * 60 * MINUTE)
  const { resolutionSeconds, series } = (await metricsOf(span, p.staff())).body
  expect([resolutionSeconds, known(series.cpuPercent)]).toEqual([600, [50]])
})
test('a node tells nothing of another one, and is no workload in the figures', async () => {
  await uses(5 * MINUTE)
  p.node.agent.say({ type: 'metrics', samples: [{ id: `nod_${'0'.repeat(26)}`, ms: 10_000, fast: [1, 1, 1, 1, 1] }] })
  const { recent } = p.controller.app.metrics
  expect([recent.ids(), recent.workloads()]).toEqual([[p.node.id], 0])
})
test('customers do not see that a node has metrics', async () => {
  expect((await metricsOf('', p.customer)).status).toBe(403)
})
test('a node of which nothing was measured has empty charts with their tables', async () => {
  const staff = pagesFor(p, p.owner)
  try {
    const html = await (await fetch(new URL(`/admin/nodes/${p.node.id}/metrics?range=7d`, staff.url))).text()
    for (const title of ['CPU', 'Memory', 'Disk', 'Network']) expect(html).toContain(`>${title}</h2>`)
    expect(html).toContain('nothing measured yet')
    expect(html).toContain(`/api/v1/admin/nodes/${p.node.id}/metrics?range=7d`)
  } finally {
    await staff.stop(true)
  }
})
test('kills of the controller double nothing, and what they lost stays a gap', async () => {
  const began = Math.ceil(p.now() / (60 * MINUTE)) * 60 * MINUTE
  p.turnClock(began - p.now())
  const stored = () =>
    p.db.$client.query<{ n: string }, []>('SELECT group_concat(hex(data)) AS n FROM metric_blocks').get()!.n
  for (let round = 0; round < 4; round++) {
    const before = stored()
    await uses(12 * MINUTE)
    expect(stored()).not.toBe(before)
    // The last minutes are in memory alone; in every second round the kill comes as soon as some are stored.
    if (round % 2) await uses(3 * MINUTE)
    await p.crash()
    p.turnClock(10 * MINUTE)
  }
  const seriesOf = async (resolution: number) => {
    const span = `from=${new Date(began).toISOString()}&to=${new Date(p.now()).toISOString()}`
    return (await metricsOf(`?${span}&resolution=${resolution}`, p.staff())).body.series
  }
  const [fine, coarse] = [await seriesOf(60), await seriesOf(600)]
  for (const { cpuPercent, rxBytesPerSecond } of [fine, coarse]) {
    expect(known(cpuPercent)).toEqual([50])
    for (const value of known(rxBytesPerSecond)) expect(Math.abs(value! - 1_000_000)).toBeLessThan(500)
  }
  const minutes: (number | null)[] = fine.rxBytesPerSecond
  const spells = minutes.map((value) => (value === null ? '-' : '#')).join('')
  expect(spells.match(/#+/g)).toHaveLength(4)
  expect(Math.min(...spells.match(/-+/g)!.map((gap) => gap.length))).toBeGreaterThanOrEqual(9)
}, 60_000)
