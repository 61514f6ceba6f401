// The report of a month over a million intervals: 60,000 servers of 6,000 accounts, 16 or 17 intervals each.
//
//   bun test/bench/usage.ts
import { mkdtempSync, rmSync } from 'node:fs'
import { addedUp } from '../../src/billing/usage/model.ts'
import { wholeMonth } from '../../src/billing/usage/period.ts'
import {
  countLines,
  countOwners,
  lastIntervalsOf,
  lineKeys,
  ownerIds,
  partsOf,
  totalsOf,
  workloadsOf,
} from '../../src/billing/usage/queries.ts'
import { openDb, write } from '../../src/kernel/db/open.ts'

const SERVERS = 60_000
const INTERVALS = 1_000_000
const period = wholeMonth('2026-11')
const dir = mkdtempSync('/dev/shm/berth-bench-usage-')
const db = openDb(`${dir}/berth.db`)
const everything = { where: '1', values: [] }
const idOf = (n: number) => `srv_${String(n).padStart(26, '0')}`
const ownerOf = (n: number) => `usr_${String(n % 6000).padStart(26, '0')}`

const timed = <T>(words: string, work: () => T): T => {
  const [began, before] = [performance.now(), process.cpuUsage()]
  const result = work()
  const { user, system } = process.cpuUsage(before)
  const [wall, cpu] = [performance.now() - began, (user + system) / 1000].map(Math.round)
  console.log(`${words}: ${cpu} ms of processor, ${wall} ms`)
  return result
}

try {
  timed('writing the intervals', () =>
    write(db, ({ $client }) => {
      const insert = $client.prepare(
        `INSERT INTO usage_intervals (workload_id, kind, owner_id, hostname, product_id, product_name, state, since,
          until) VALUES (?, 'server', ?, ?, 'pkg_1', 'KVM', ?, ?, ?)`,
      )
      const states = ['active', 'suspended']
      for (let i = 0; i < INTERVALS; i++) {
        const [server, nth] = [i % SERVERS, Math.floor(i / SERVERS)]
        const [since, until] = [period.from + nth * 3_600_000, period.from + (nth + 1) * 3_600_000]
        const isLast = i + SERVERS >= INTERVALS
        insert.run(idOf(server), ownerOf(server), `web${server}`, states[nth % 2]!, since, isLast ? null : until)
      }
    }),
  )
  let ms = 0
  timed('all lines, by pages of 500, as the spreadsheet reads them', () => {
    for (let after: { workloadId: string; ownerId: string } | undefined; ; ) {
      const keys = lineKeys(db, everything, period, { after, skip: 0, limit: 500 })
      const ids = keys.map(({ workloadId }) => workloadId)
      const byServer = Map.groupBy(partsOf(db, ids, everything, period), ({ workloadId }) => workloadId)
      for (const parts of byServer.values()) ms += addedUp(parts).ms
      if (lastIntervalsOf(db, ids, everything, period).length !== keys.length) throw new Error('a line has no end')
      if (keys.length < 500) break
      after = keys.at(-1)!
    }
  })
  if (ms !== SERVERS * (period.to - period.from)) throw new Error(`the lines add up to ${ms}`)
  timed('a page of 1,000 lines with their number', () => {
    const ids = lineKeys(db, everything, period, { after: undefined, skip: 0, limit: 1000 })
    const workloads = ids.map(({ workloadId }) => workloadId)
    partsOf(db, workloads, everything, period)
    lastIntervalsOf(db, workloads, everything, period)
    countLines(db, everything, period)
  })
  timed('the totals of every account', () => {
    const owners = ownerIds(db, everything, period, { after: undefined, skip: 0, limit: 10_000 })
    const total = totalsOf(db, owners, everything, period).reduce((sum, one) => sum + one.ms, 0)
    if (total !== ms) throw new Error(`the accounts add up to ${total}`)
  })
  timed('a page of 50 accounts with their number', () => {
    const owners = ownerIds(db, everything, period, { after: undefined, skip: 0, limit: 51 })
    totalsOf(db, owners, everything, period)
    workloadsOf(db, owners, everything, period)
    countOwners(db, everything, period)
  })
  const own = { where: 'i.owner_id = +?', values: [ownerOf(7)] }
  timed('the lines of one customer', () => {
    const keys = lineKeys(db, own, period, { after: undefined, skip: 0, limit: 200 })
    const workloads = keys.map(({ workloadId }) => workloadId)
    partsOf(db, workloads, own, period)
    lastIntervalsOf(db, workloads, own, period)
  })
} finally {
  db.$client.close()
  rmSync(dir, { recursive: true, force: true })
}
