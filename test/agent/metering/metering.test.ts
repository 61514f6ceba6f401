// The node adds up traffic by day from counters that may begin anew at any time: nothing is lost, nothing counts twice.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { FakeCounters } from '../../../agent/drivers/traffic/fake.ts'
import { Metering } from '../../../agent/host/metering.ts'
import { portRulesOf } from '../examples.ts'
import { temporary } from '../temporary.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const MB = 1_000_000

function meter() {
  const db = new Database(':memory:')
  const path = `${temporary('metering')}/traffic.db`
  const rules = [portRulesOf(1), portRulesOf(2)]
  let now = 20_000 * DAY + 1000
  let boot = 'first'
  const open = () => new Metering(path, new FakeCounters(db, boot), { portRules: () => rules }, () => now)
  let metering = open()
  return {
    get metering() {
      return metering
    },
    rules,
    later: (ms: number) => void (now += ms),
    flow: (n: number, sentBytes: number, receivedBytes = 0) =>
      new FakeCounters(db, boot).flow(`bth${n}`, { sentBytes, receivedBytes }),
    restart(newBoot = boot) {
      metering.close()
      boot = newBoot
      metering = open()
    },
    days: () =>
      (metering.report()?.days ?? []).map(({ workload, day, txBytes, measuredSeconds }) => ({
        vm: rules.findIndex((one) => one.workload === workload) + 1,
        day: day - 20_000,
        txBytes,
        measuredSeconds,
      })),
    /** Of the first vm. */
    estimated: () =>
      (metering.report()?.days ?? [])
        .filter(({ workload }) => workload === rules[0]!.workload)
        .map(({ estimatedSeconds }) => estimatedSeconds),
  }
}

test('traffic is the sum of all samples, also over a restart of the agent', async () => {
  const m = meter()
  m.flow(1, 3 * MB)
  await m.metering.sample()
  m.later(30_000)
  m.flow(1, 2 * MB)
  m.restart()
  m.flow(1, MB)
  m.later(3600_000)
  await m.metering.sample()
  expect(m.days().find(({ vm }) => vm === 1)).toEqual({ vm: 1, day: 0, txBytes: 6 * MB, measuredSeconds: 3630 })
})

test('traffic of an absence is spread over its days, and says how much of it is an estimate', async () => {
  const m = meter()
  await m.metering.sample()
  m.later(12 * HOUR - 1000) // to noon
  await m.metering.sample()
  m.flow(1, 40 * MB)
  // Four days until noon again.
  m.restart()
  m.later(4 * DAY)
  await m.metering.sample()
  m.later(30_000)
  m.flow(1, MB)
  await m.metering.sample()
  const found = m.days().filter(({ vm }) => vm === 1)
  expect(found.toSorted((a, b) => a.day - b.day)).toEqual([
    { vm: 1, day: 0, txBytes: 5 * MB, measuredSeconds: 86_400 - 1 }, // it begins with its first sample
    { vm: 1, day: 1, txBytes: 10 * MB, measuredSeconds: 86_400 },
    { vm: 1, day: 2, txBytes: 10 * MB, measuredSeconds: 86_400 },
    { vm: 1, day: 3, txBytes: 10 * MB, measuredSeconds: 86_400 },
    { vm: 1, day: 4, txBytes: 6 * MB, measuredSeconds: 12 * 3600 + 30 },
  ])
  expect(m.estimated().toSorted((a, b) => a! - b!)).toEqual([
    12 * 3600,
    12 * 3600 + 11 * 3600 + 3599,
    86_400,
    86_400,
    86_400,
  ])
})

test('an absence of months is spread over the days that the controller still takes', async () => {
  const m = meter()
  await m.metering.sample()
  m.flow(1, 6000 * MB)
  m.later(200 * DAY)
  await m.metering.sample()
  const found = m.days().filter(({ vm }) => vm === 1)
  expect(found.reduce((sum, { txBytes }) => sum + txBytes, 0)).toBe(6000 * MB)
  expect(Math.min(...found.filter(({ txBytes }) => txBytes).map(({ day }) => day))).toBeGreaterThanOrEqual(200 - 60)
  expect(Math.max(...found.map(({ measuredSeconds }) => measuredSeconds))).toBe(86_400)
})

test('a report that ends among the days of an absence is followed by the rest', async () => {
  const m = meter()
  for (let n = 3; n <= 10; n++) m.rules.push(portRulesOf(n))
  await m.metering.sample()
  for (let n = 1; n <= 10; n++) m.flow(n, 60 * MB)
  m.later(59 * DAY)
  await m.metering.sample()
  const bytes = new Map<string, number>()
  for (let report = m.metering.report(); report; report = m.metering.report()) {
    for (const { workload, day, txBytes } of report.days) bytes.set(`${workload} ${day}`, txBytes)
    m.metering.stored(report.seq)
  }
  expect([...bytes.values()].reduce((sum, each) => sum + each, 0)).toBe(600 * MB)
})

test('counters that began anew count from 0, and the time before is not measured', async () => {
  const m = meter()
  m.flow(1, 9 * MB)
  await m.metering.sample()
  m.later(600_000)
  m.restart('second')
  m.flow(1, 20 * MB)
  await m.metering.sample()
  expect(m.days().find(({ vm }) => vm === 1)).toEqual({ vm: 1, day: 0, txBytes: 29 * MB, measuredSeconds: 0 })
})

test('samples of one moment, and after the clock was set back, count nothing twice', async () => {
  const m = meter()
  await m.metering.sample()
  m.flow(1, 5 * MB)
  m.later(30_000)
  for (let i = 0; i < 3; i++) await m.metering.sample()
  m.later(-10_000)
  m.flow(1, MB)
  await m.metering.sample()
  expect(m.days().find(({ vm }) => vm === 1)).toEqual({ vm: 1, day: 0, txBytes: 6 * MB, measuredSeconds: 30 })
})
test('the day of a sample at midnight is the one that ends', async () => {
  const m = meter()
  await m.metering.sample()
  m.later(DAY - 1000 - 30_000)
  await m.metering.sample()
  m.flow(1, MB)
  m.later(30_000)
  await m.metering.sample()
  m.flow(1, 2 * MB)
  m.later(30_000)
  await m.metering.sample()
  const found = m.days().filter(({ vm }) => vm === 1)
  expect(found.map(({ day, txBytes }) => [day, txBytes])).toEqual([
    [0, MB],
    [1, 2 * MB],
  ])
})

test('a report is repeated until the controller has stored it, and then only what changed', async () => {
  const m = meter()
  m.flow(1, MB)
  await m.metering.sample()
  const first = m.metering.report()!
  expect(m.metering.report()).toEqual(first)
  m.metering.stored(first.seq)
  expect(m.metering.report()).toBeUndefined()
  m.rules.pop()
  m.later(1000)
  await m.metering.sample()
  expect(m.days().map(({ vm }) => vm)).toEqual([1])
  // A controller that was restored from a backup knows less than it said.
  m.metering.stored(10 ** 9)
  m.later(1000)
  await m.metering.sample()
  expect(m.days()).toHaveLength(1)
})

test('the last traffic of a vm counts when its rules are removed, and its counters go', async () => {
  const m = meter()
  await m.metering.sample()
  m.flow(2, 5 * MB)
  m.later(1000)
  await m.metering.forget(m.rules[1]!.workload)
  expect(m.days().find(({ vm }) => vm === 2)!.txBytes).toBe(5 * MB)
  const { ports } = await new FakeCounters(new Database(':memory:'), 'x').read()
  expect(ports.size).toBe(0)
})
