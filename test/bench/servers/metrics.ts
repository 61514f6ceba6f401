// Metrics of servers: bytes per server and day, time to read a year, and what 60,000 servers cost the controller.
//
//   bun test/bench/servers/metrics.ts [--servers 1000] [--many 60000]
import { mkdtempSync, rmSync } from 'node:fs'
import type { MetricsSample } from '../../../agent/protocol/wire.ts'
import { openDb, write } from '../../../src/kernel/db/open.ts'
import { tiers } from '../../../src/platform/metrics/blocks.ts'
import { Metrics, rollUp } from '../../../src/platform/metrics/metrics.ts'
import { valuesOf } from '../../../src/platform/metrics/read.ts'
import { noPoint, packed, SERIES } from '../../../src/platform/metrics/series.ts'
import { flags, median, round, say } from '../words.ts'

const { servers, many } = flags('Measures what is kept of the use of servers.', { servers: 1000, many: 60_000 })
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const idOf = (n: number) => `srv_${String(n).padStart(26, '0')}`
const dir = mkdtempSync('/dev/shm/berth-bench-metrics-')
const db = openDb(`${dir}/berth.db`)
let now = Math.floor(1_800_000_000_000 / DAY) * DAY
const began = now
const open = () =>
  new Metrics(
    db,
    () => now,
    () => ({ nodeIds: ['nod_1'], vcpus: 2, memoryMb: 4096 }),
  )

/** A server that is used as servers are: by day more than at night, never evenly, the disk in bursts. */
function sampleOf(n: number, ms: number): MetricsSample {
  const busy = (1 + Math.sin((now / DAY) * 2 * Math.PI + n)) * (0.2 + Math.random())
  const of = (perSecond: number) => Math.round((busy * perSecond * ms) / 1000)
  return {
    id: idOf(n),
    ms,
    fast: [of(200), of(50_000), of(200_000), of(80), of(120)],
    disk: { ms, sums: Math.random() < 0.3 ? [of(20_000), of(90_000), of(4), of(15)] : [0, of(4096), 0, of(1)] },
    memory: { ms, usedMb: 1500 + (n % 500) + Math.round(Math.random() * 20) },
  }
}
const timed = async (work: () => unknown): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

try {
  const metrics = open()
  const all = Array.from({ length: servers }, (_, i) => i)
  while (now < began + DAY) {
    now += MINUTE
    metrics.take(
      'nod_1',
      all.map((n) => sampleOf(n, MINUTE)),
    )
    await metrics.advance()
    await metrics.storeDue()
  }
  await metrics.storeAll()
  const bytes = db.$client
    .query<{ tier: number; bytes: number }, []>(
      'SELECT tier, sum(length(data)) AS bytes FROM metric_blocks GROUP BY tier',
    )
    .all()
  const perDay = bytes.map(({ tier, bytes }) => [tier, bytes / servers] as const)
  const kept = [1, 31, 370]
  for (const [tier, of] of perDay)
    say(`tier of ${tiers[tier]!.slotMs / MINUTE} min: ${round(of)} bytes per server and day, kept ${kept[tier]} days`)
  const shortTiersBytes = perDay.reduce((sum, [tier, of]) => sum + (tier === 2 ? of : of * kept[tier]!), 0)
  say(`${round(perDay.reduce((sum, [, of]) => sum + of, 0))} bytes per server and day in all tiers, without keys`)

  // A year of one server, as the tier of six hours holds it.
  write(db, (tx) => {
    for (let day = 1; day <= 365; day++)
      for (let slot = 0; slot < 4; slot++) {
        const point = noPoint()
        for (let i = 0; i < SERIES; i++) point[i] = packed(Math.random() * 1e6)
        rollUp(tx, idOf(0), [{ at: began - day * DAY + slot * 6 * 60 * MINUTE, point }])
      }
  })
  const year = { from: began - 365 * DAY, to: began, resolution: 86_400 } as const
  const month = { from: began - 30 * DAY, to: began, resolution: 7200 } as const
  for (const [words, span] of [
    ['a year', year],
    ['30 days', month],
    ['a day', { from: began, to: began + DAY, resolution: 300 }],
  ] as const) {
    const times: number[] = []
    for (let i = 0; i < 30; i++)
      times.push(await timed(() => JSON.stringify(valuesOf(db, metrics.recent, idOf(0), span))))
    say(`reading ${words} of one server: ${round(times.toSorted((a, b) => a - b)[15]!, 2)} ms (median)`)
  }
  const yearBytes = db.$client
    .query<{ bytes: number }, [string]>(
      'SELECT sum(length(data)) AS bytes FROM metric_blocks WHERE tier = 2 AND subject_id = ?',
    )
    .get(idOf(0))!.bytes
  say(`a server that is a year old holds about ${round((shortTiersBytes + yearBytes) / 1024)} KiB`)

  // Many servers at once: a round of samples, the minutes, and a round of storing.
  const before = process.memoryUsage().rss
  const crowd = open()
  const take = async (ms: number) => {
    now += ms
    return timed(() => {
      for (let n = 0; n < many; n += 1000)
        crowd.take(
          'nod_1',
          Array.from({ length: Math.min(1000, many - n) }, (_, i) => sampleOf(n + i, ms)),
        )
    })
  }
  const took = []
  for (let i = 0; i < 6 * 12; i++) {
    took.push(await take(10_000))
    if (now % MINUTE === 0) await crowd.advance()
  }
  say(`${many} servers: ${round(median(took))} ms for the samples of 10 s, made here too`)
  say(`${many} servers: ${round(await timed(() => crowd.advance()))} ms to finish a minute, in parts`)
  const storing = await timed(() => crowd.storeAll())
  say(`${many} servers: ${round(storing)} ms to store ten minutes of all: ${round(storing / 6000, 2)} % of the time`)
  say(`${many} servers: ${round((process.memoryUsage().rss - before) / 2 ** 20)} MiB of memory`)
} finally {
  db.$client.close()
  rmSync(dir, { recursive: true, force: true })
}
