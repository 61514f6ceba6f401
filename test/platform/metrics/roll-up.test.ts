// Metrics on their way from samples to a year: every coarser value is the mean of the finer ones, whatever is killed or
// left out on the way.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { MetricsSample } from '../../../agent/protocol/wire.ts'
import type { Db } from '../../../src/kernel/db/open.ts'
import { blockMs, firstKept, tiers } from '../../../src/platform/metrics/blocks.ts'
import { Metrics } from '../../../src/platform/metrics/metrics.ts'
import { expiringBlocks } from '../../../src/platform/metrics/queries.ts'
import { type Resolution, valuesOf } from '../../../src/platform/metrics/read.ts'
import { GAP, packed, unpacked } from '../../../src/platform/metrics/series.ts'
import { freshDb } from '../../support/world/fresh-db.ts'

const ID = `srv_${'0'.repeat(26)}`
const NODE = 'nod_1'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const BEGAN = Math.floor(1_800_000_000_000 / DAY) * DAY

function rig(placed = { nodeIds: [NODE], vcpus: 2, memoryMb: 1024, changes: 0 }) {
  const db = freshDb()
  let now = BEGAN
  const open = () =>
    new Metrics(
      db,
      () => now,
      (id) => (id === ID ? { ...placed } : undefined),
      () => placed.changes,
    )
  let metrics = open()
  return {
    db: db as Db,
    placed,
    get now() {
      return now
    },
    get metrics() {
      return metrics
    },
    /** The controller is killed: what was not stored is lost. */
    kill: () => void (metrics = open()),
    async stop() {
      await metrics.storeAll()
      metrics = open()
    },
    /** Time passes, with a sample each 10 s: `rate` is bytes received per second, `cpu` a share of all vCPUs. */
    async pass(ms: number, { rate = 0, cpu = 0, node = NODE, away = false, more = {} as Partial<MetricsSample> } = {}) {
      for (const end = now + ms; now < end; ) {
        now += 10_000
        if (!away) metrics.take(node, [{ id: ID, ms: 10_000, fast: [cpu * 2 * 10_000, rate * 10, 0, 0, 0], ...more }])
        if (now % MINUTE === 0) await metrics.advance()
        await metrics.storeDue()
      }
    },
    values: (from: number, to: number, resolution: Resolution) =>
      valuesOf(db, metrics.recent, ID, { from, to, resolution }),
  }
}

describe('a stored value', () => {
  test('is exact up to 2,047 and within 0.03 % above, and no number is taken for a gap', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2e12, noNaN: true }), (value) => {
        const stored = packed(value)
        expect(stored).toBeLessThan(GAP)
        const off = Math.abs(unpacked(stored)! - Math.round(value))
        expect(off).toBeLessThanOrEqual(value < 2048 ? 0 : value * 0.0003)
      }),
      { numRuns: 5000 },
    )
    for (let stored = 0; stored < 63_488; stored++) expect(packed(unpacked(stored))).toBe(stored)
    expect([packed(-5), packed(Number.POSITIVE_INFINITY) < GAP, packed(undefined), unpacked(GAP)]).toEqual([
      0,
      true,
      GAP,
      undefined,
    ])
  })
})

describe('the roll-up', () => {
  test('of constant use is that use in every step, with the peak beside it', async () => {
    const m = rig()
    await m.pass(2 * HOUR, { rate: 5000, cpu: 0.25 })
    await m.stop()
    for (const resolution of [60, 300, 600, 3600] as const) {
      const { rxBytesPerSecond, cpuPercent, cpuPeakPercent, memoryMb } = m.values(BEGAN, BEGAN + HOUR, resolution)
      expect(new Set(rxBytesPerSecond)).toEqual(new Set([5000]))
      expect(new Set(cpuPercent)).toEqual(new Set([25]))
      expect(new Set(cpuPeakPercent)).toEqual(new Set([25]))
      expect(new Set(memoryMb)).toEqual(new Set([null]))
    }
  })
  test('has the same sum in every tier, with gaps, orderly stops and kills anywhere between', async () => {
    const spell = fc.record({
      minutes: fc.integer({ min: 1, max: 45 }),
      rate: fc.integer({ min: 0, max: 2e9 }),
      away: fc.boolean(),
      end: fc.constantFrom('stop', 'kill', 'goes on'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(spell, { minLength: 1, maxLength: 6 }), async (spells) => {
        const m = rig()
        const most = Math.max(...spells.map(({ rate }) => rate))
        for (const { minutes, rate, away, end } of spells) {
          await m.pass(minutes * MINUTE, { rate, away })
          if (end === 'stop') await m.stop()
          if (end === 'kill') m.kill()
        }
        await m.stop()
        const to = BEGAN + Math.ceil((m.now - BEGAN) / (6 * HOUR)) * 6 * HOUR
        const fine = m.values(BEGAN, to, 60).rxBytesPerSecond
        for (const [resolution, per] of [
          [600, 10],
          [21_600, 360],
        ] as const) {
          const coarse = m.values(BEGAN, to, resolution).rxBytesPerSecond
          for (const [i, value] of coarse.entries()) {
            const within = fine.slice(i * per, (i + 1) * per).filter((one) => one !== null)
            if (!within.length) expect(value).toBeNull()
            expect(value ?? 0).toBeLessThanOrEqual(most * 1.001)
            // Six hours are the mean of their ten minutes, each of which is the mean of its minutes.
            const tens = Array.from({ length: per / 10 }, (_, ten) =>
              fine.slice(i * per + ten * 10, i * per + ten * 10 + 10).filter((one) => one !== null),
            ).filter((ten) => ten.length)
            const mean = (of: readonly number[]) => of.reduce((sum, n) => sum + n, 0) / of.length
            if (tens.length) expect(Math.abs(value! - mean(tens.map(mean)))).toBeLessThanOrEqual(1.5 + most * 0.001)
          }
        }
      }),
      { numRuns: 10 },
    )
  }, 60_000)
  test('that is made twice of the same minutes changes nothing', async () => {
    const m = rig()
    await m.pass(25 * MINUTE, { rate: 100 })
    await m.stop()
    const dump = () => m.db.$client.query('SELECT tier, block, hex(data) AS data FROM metric_blocks').all()
    const before = dump()
    await m.stop()
    expect(dump()).toEqual(before)
  })
  test('of a workload that reads nothing for a while is a gap there, and never 0', async () => {
    const m = rig()
    await m.pass(10 * MINUTE, { rate: 100 })
    await m.pass(20 * MINUTE, { away: true })
    await m.pass(10 * MINUTE, { rate: 100 })
    await m.pass(10 * MINUTE, { away: true })
    await m.stop()
    expect(m.values(BEGAN, BEGAN + 40 * MINUTE, 600).rxBytesPerSecond).toEqual([100, null, null, 100])
    const fine = m.values(BEGAN, BEGAN + 40 * MINUTE, 60).rxBytesPerSecond
    expect(fine.filter((value) => value === null)).toHaveLength(20)
    expect(fine.slice(10, 30).every((value) => value === null)).toBe(true)
  })
})

describe('a kill of the controller', () => {
  test('loses ten minutes and a few seconds at most', async () => {
    const m = rig()
    await m.pass(5 * HOUR, { rate: 100 })
    m.kill()
    const { rxBytesPerSecond } = m.values(BEGAN, BEGAN + 5 * HOUR, 60)
    const missing = rxBytesPerSecond.filter((value) => value === null).length
    expect(missing).toBeLessThanOrEqual(13)
    expect(rxBytesPerSecond.slice(0, -missing).every((value) => value === 100)).toBe(true)
  })
})

describe('the last hour', () => {
  test('is there in steps of 10 s, without a hole when samples come a little late', async () => {
    const m = rig()
    await m.pass(70 * MINUTE, { rate: 500, cpu: 0.5 })
    const { rxBytesPerSecond, cpuPercent } = m.values(m.now - 59 * MINUTE, m.now, 10)
    expect(rxBytesPerSecond).toHaveLength(354)
    expect(new Set(rxBytesPerSecond)).toEqual(new Set([500]))
    expect(new Set(cpuPercent)).toEqual(new Set([50]))
  })
  test('is known again by the minute after a restart', async () => {
    const m = rig()
    await m.pass(30 * MINUTE, { rate: 500 })
    await m.stop()
    expect(new Set(m.values(BEGAN, BEGAN + 20 * MINUTE, 10).rxBytesPerSecond)).toEqual(new Set([500]))
  })
})

describe('a sample', () => {
  test('of a workload on another node, or of none, is dropped', async () => {
    const m = rig()
    await m.pass(5 * MINUTE, { rate: 100, node: 'nod_2' })
    m.metrics.take(NODE, [{ id: `srv_${'1'.repeat(26)}`, ms: 10_000, fast: [1, 1, 1, 1, 1] }])
    expect(m.metrics.recent.ids()).toEqual([])
  })
  test('counts from both nodes while it moves, and afterwards from the new one only', async () => {
    const m = rig()
    const stays = (...nodeIds: string[]) => Object.assign(m.placed, { nodeIds, changes: m.placed.changes + 1 })
    await m.pass(10 * MINUTE, { rate: 9e9, node: 'nod_2' })
    await m.pass(10 * MINUTE, { rate: 100 })
    stays(NODE, 'nod_2')
    await m.pass(5 * MINUTE, { rate: 150 })
    await m.pass(5 * MINUTE, { rate: 250, node: 'nod_2' })
    stays('nod_2')
    await m.pass(10 * MINUTE, { rate: 9e9, node: NODE })
    await m.pass(10 * MINUTE, { rate: 300, node: 'nod_2' })
    await m.stop()
    expect(m.values(BEGAN, BEGAN + 50 * MINUTE, 600).rxBytesPerSecond).toEqual([null, 100, 200, null, 300])
  })
  test('cannot show more memory or processor than the workload has', async () => {
    const m = rig()
    await m.pass(5 * MINUTE, { cpu: 50, more: { memory: { ms: 10_000, usedMb: 1 << 29 } } })
    const { cpuPercent, memoryMb } = m.values(BEGAN, BEGAN + 3 * MINUTE, 60)
    expect([new Set(cpuPercent), new Set(memoryMb)]).toEqual([new Set([100]), new Set([1024])])
  })
  test('of disks over a minute is shared between the two minutes that it touches', async () => {
    const m = rig()
    await m.pass(30_000)
    for (let i = 0; i < 5; i++)
      await m
        .pass(MINUTE, { more: {} })
        .then(() =>
          m.metrics.take(NODE, [
            { id: ID, ms: 1, fast: [0, 0, 0, 0, 0], disk: { ms: MINUTE, sums: [600_000, 0, 60, 0] } },
          ]),
        )
    await m.pass(2 * MINUTE)
    const { diskReadBytesPerSecond, diskReadsPerSecond } = m.values(BEGAN + MINUTE, BEGAN + 5 * MINUTE, 60)
    expect(new Set(diskReadBytesPerSecond)).toEqual(new Set([10_000]))
    expect(new Set(diskReadsPerSecond)).toEqual(new Set([1]))
  })
})

describe('old blocks', () => {
  test('are deleted when their tier has kept them long enough, and no others', async () => {
    const m = rig()
    await m.pass(2 * HOUR, { rate: 1 })
    await m.stop()
    const count = () =>
      m.db.$client
        .query<{ tier: number; n: number }, []>('SELECT tier, count(*) AS n FROM metric_blocks GROUP BY tier')
        .all()
    const expire = (now: number) =>
      expiringBlocks.map((rows) => m.db.$client.transaction(() => rows.deleteExpired(m.db as never, now, 500))())
    expire(BEGAN + DAY)
    expect(count().map(({ tier }) => tier)).toEqual([0, 1, 2])
    for (const tier of tiers) {
      const gone = BEGAN + blockMs(tier) + tier.keptMs + 2 * HOUR
      expect(firstKept(tier, gone)).toBeGreaterThan(0)
      expire(gone + blockMs(tier))
      expect(count().map((row) => row.tier)).not.toContain(tier.tier)
    }
  })
})
