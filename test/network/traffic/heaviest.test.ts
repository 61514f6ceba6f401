import { expect, test } from 'bun:test'
import { workloadById } from '../../../src/fleet/workloads/queries.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { takeTraffic } from '../../../src/network/traffic/take.ts'
import { open, ordered } from '../../compute/drains/world.ts'
import type { World } from '../../support/world/panel.ts'

const GB = 1e9
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
type Reported = { nodeId?: string; rx: number; tx?: number; seconds?: number; ago?: number }
/** A node reports the sums of a day so far; each call adds to them. */
function reporting(p: World) {
  const sums = new Map<string, { rx: number; tx: number; seconds: number }>()
  return (id: string, { nodeId = p.node.id, rx, tx = 0, seconds = 300, ago = 0 }: Reported) => {
    const now = p.now() - ago
    const day = Math.floor(now / DAY_MS)
    const key = `${id} ${day} ${nodeId}`
    const before = sums.get(key) ?? { rx: 0, tx: 0, seconds: 0 }
    const sum = { rx: before.rx + rx, tx: before.tx + tx, seconds: before.seconds + seconds }
    sums.set(key, sum)
    write(p.db, (tx_) => {
      const about = { workload: workloadById(tx_, id)!, day, nodeId, meter: 'one' }
      takeTraffic(
        tx_,
        { ...about, rxBytes: sum.rx, txBytes: sum.tx, measuredSeconds: sum.seconds, estimatedSeconds: 0 },
        now,
      )
    })
  }
}
const heaviest = (p: World, query: string) => p.admin('GET', `/admin/traffic/heaviest?${query}`)
const namesOf = ({ heaviest }: any) => heaviest.map(({ name, percent }: any) => `${name} ${percent}`)

test('the heaviest users of an hour, a day and a month are those who used most in it', async () => {
  using p = await open()
  const [web, db] = [await ordered(p, 'web01'), await ordered(p, 'db01')]
  const report = reporting(p)
  p.turnClock(12 * HOUR_MS - (p.now() % DAY_MS) + DAY_MS)
  report(web, { rx: 3 * GB, tx: GB, ago: 2 * HOUR_MS })
  report(db, { rx: GB })
  const hour = await heaviest(p, 'per=hour')
  expect([namesOf(hour), hour.rxBytes, hour.series.length]).toEqual([['db01 100'], GB, 24])
  expect(hour.series.at(-3)).toMatchObject({ rxBytes: 3 * GB, txBytes: GB })
  const day = await heaviest(p, 'per=day')
  expect([namesOf(day), day.series.length, day.series.at(-1).rxBytes]).toEqual([['web01 80', 'db01 20'], 30, 4 * GB])
  p.turnClock(DAY_MS)
  report(db, { rx: 9 * GB })
  expect(namesOf(await heaviest(p, 'per=day'))).toEqual(['db01 100'])
  const at = new Date(p.now() - DAY_MS).toISOString()
  expect(namesOf(await heaviest(p, `per=day&at=${at}&limit=1`))).toEqual(['web01 80'])
  const month = await heaviest(p, 'per=month')
  expect(month.heaviest[0].name).toBe('db01')
  expect((await heaviest(p, 'at=1999-01-01')).heaviest).toEqual([])
})

test('the traffic of a node is what went over it, and a report of a long time counts for no hour', async () => {
  using p = await open()
  const [web, db] = [await ordered(p, 'web01'), await ordered(p, 'db01')]
  const other = [...p.agents.keys()].find((id) => id !== p.node.id)!
  const report = reporting(p)
  report(web, { rx: 2 * GB })
  report(web, { nodeId: other, rx: GB })
  report(db, { rx: GB, seconds: 2 * 3600 })
  for (const per of ['hour', 'day']) {
    const there = await heaviest(p, `per=${per}&nodeId=${other}`)
    expect([there.rxBytes, namesOf(there)]).toEqual([GB, ['web01 100']])
  }
  expect((await heaviest(p, `per=day&nodeId=${p.node.id}`)).rxBytes).toBe(3 * GB)
  expect((await heaviest(p, `per=hour&nodeId=${p.node.id}`)).rxBytes).toBe(2 * GB)
})

test('hours are deleted after three days, and days stay', async () => {
  using p = await open()
  const web = await ordered(p, 'web01')
  reporting(p)(web, { rx: GB })
  const at = new Date(p.now()).toISOString()
  p.turnClock(4 * DAY_MS)
  p.deleteExpired()
  expect((await heaviest(p, `per=hour&at=${at}`)).rxBytes).toBe(0)
  expect((await heaviest(p, `per=day&at=${at}`)).rxBytes).toBe(GB)
})

test('the spreadsheet of all servers has the mail of owners, every address and the traffic of the month', async () => {
  using p = await open()
  const web = await ordered(p, 'web01')
  reporting(p)(web, { rx: 1.5 * GB, tx: 0.25 * GB })
  const rowsOf = async (who: World['owner'], path: string) => {
    const [head, row] = (await p.call(who, 'GET', path)).body.trim().split('\n')
    const cells = (line: string) =>
      line
        .replace(/^\uFEFF/, '')
        .split(',')
        .map((cell) => cell.replace(/^"|"$/g, ''))
    return Object.fromEntries(cells(head).map((name, i) => [name, cells(row)[i]]))
  }
  const server = await p.admin('GET', `/servers/${web}`)
  const row = await rowsOf(p.owner, '/admin/servers.csv')
  expect(row).toMatchObject({
    node: 'fra-01',
    trafficInBytes: '1500000000',
    trafficOutBytes: '250000000',
    package: server.package.name,
  })
  expect(row['ownerEmail']).toContain('@')
  expect(row['addresses']).toContain(server.ipv4)
  const reader = p.staff(['servers.see_all'])
  expect((await rowsOf(reader, '/admin/servers.csv'))['ownerEmail']).toBe('')
  expect(Object.keys(await rowsOf(p.customer as World['owner'], '/servers.csv'))).not.toContain('ownerEmail')
})
