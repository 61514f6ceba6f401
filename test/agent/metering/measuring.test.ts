// Samples of metrics on the node: increments between two readings, never negative, and a gap where counters began anew.
import { expect, test } from 'bun:test'
import type { Seen, Usage } from '../../../agent/drivers/hypervisor/hypervisor.ts'
import { countersOfHost, disksIn, type HostCounters, trafficIn } from '../../../agent/host/metrics/counters.ts'
import { Measuring } from '../../../agent/host/metrics/measuring.ts'
import { LONGEST_SAMPLE_MS } from '../../../agent/protocol/wire.ts'
import { workloadId } from '../examples.ts'

const id = workloadId(1)
const seen = (n: number, more: Partial<Seen> = {}): Seen[] => [
  { id, power: 'running', cpuMs: n, rxBytes: 2 * n, txBytes: 3 * n, rxPackets: 4 * n, txPackets: 5 * n, ...more },
]
const usage =
  (n: number, more: Partial<Usage> = {}) =>
  async (): Promise<Usage[]> => [
    { id, readBytes: n, writtenBytes: 2 * n, reads: 3 * n, writes: 4 * n, memoryUsedMb: 512, ...more },
  ]

function rig() {
  let now = 1000
  const measuring = new Measuring(() => now)
  return (n: number, { afterMs = 10_000, more = {} as Partial<Seen>, of = usage(n) } = {}) => {
    now += afterMs
    return measuring.turn(seen(n, more), of)
  }
}

test('a sample has what grew since the one before, and the time that it covers', async () => {
  const turn = rig()
  expect(await turn(1000)).toEqual([])
  expect(await turn(1100)).toEqual([{ id, ms: 10_000, fast: [100, 200, 300, 400, 500] }])
})
test('disks and memory come with every sixth sample, over the minute that they cover', async () => {
  const turn = rig()
  const samples = []
  for (let i = 0; i < 13; i++) samples.push(...(await turn(1000 + i * 10)))
  expect(samples.filter(({ disk }) => disk)).toHaveLength(2)
  expect(samples[5]).toMatchObject({
    disk: { ms: 60_000, sums: [60, 120, 180, 240] },
    memory: { ms: 60_000, usedMb: 512 },
  })
})
test('a vm that was started again, was off, or was not looked at for long leaves a gap', async () => {
  const turn = rig()
  await turn(1000)
  expect(await turn(50)).toEqual([])
  expect(await turn(60)).toHaveLength(1)
  expect(await turn(70, { more: { power: 'stopped' } })).toEqual([])
  expect(await turn(80)).toEqual([])
  expect(await turn(90, { afterMs: LONGEST_SAMPLE_MS + 1 })).toEqual([])
  expect(await turn(100)).toHaveLength(1)
})
test('disks that cannot be read keep nothing of the rest back', async () => {
  const turn = rig()
  const broken = async () => Promise.reject(new Error('libvirt is busy'))
  await turn(10, { of: broken })
  for (let i = 2; i < 15; i++)
    expect(await turn(i * 10, { of: broken })).toEqual([{ id, ms: 10_000, fast: [10, 20, 30, 40, 50] }])
})

const counters = (n: number, more: Partial<HostCounters> = {}): HostCounters => ({
  ...{ cpuMs: n, rxBytes: 2 * n, txBytes: 3 * n, rxPackets: 4 * n, txPackets: 5 * n, memoryUsedMb: 700 },
  disk: { readBytes: 6 * n, writtenBytes: 7 * n, reads: 8 * n, writes: 9 * n },
  ...more,
})
test('the sample of the host has what grew, disks and memory with each, and nothing after a boot', () => {
  let now = 0
  const measuring = new Measuring(() => now)
  const turn = (of: HostCounters, afterMs = 10_000) => {
    now += afterMs
    return measuring.hostTurn(of)
  }
  expect(turn(counters(100))).toBeUndefined()
  expect(turn(counters(110))).toEqual({
    ms: 10_000,
    fast: [10, 20, 30, 40, 50],
    disk: { ms: 10_000, sums: [60, 70, 80, 90] },
    memory: { ms: 10_000, usedMb: 700 },
  })
  expect(turn(counters(120, { disk: undefined }))).not.toHaveProperty('disk')
  expect(turn(counters(130))).not.toHaveProperty('disk')
  expect(turn(counters(3))).toBeUndefined()
  expect(turn(counters(4), LONGEST_SAMPLE_MS + 1)).toBeUndefined()
})
test('the counters of the host leave out what is in others already', () => {
  const net = `Inter-|   Receive                            |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls
    lo: 900 9 0 0 0 0 0 0 900 9 0 0 0 0 0 0
  eth0:1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0
  eth1: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0
   br0: 500 5 0 0 0 0 0 0 600 6 0 0 0 0 0 0
`
  const asked: string[] = []
  const picked = trafficIn(net, (names) => {
    asked.push(...names)
    return ['eth0', 'eth1']
  })
  expect(asked).toEqual(['lo', 'eth0', 'eth1', 'br0'])
  expect(picked).toEqual({ rxBytes: 1001, rxPackets: 11, txBytes: 2001, txPackets: 21 })
  const drives = `   8       0 sda 5 1 16 4 7 2 32 9 0 1 1 0 0 0 0 0 0
   8       1 sda1 5 1 16 4 7 2 32 9 0 1 1
 253       0 dm-0 5 0 16 4 7 0 32 9 0 1 1
 259       0 nvme0n1 1 0 2 0 1 0 4 0 0 0 0
`
  expect(disksIn(drives, (name) => name === 'sda' || name === 'nvme0n1')).toEqual({
    ...{ reads: 6, readBytes: 18 * 512, writes: 8, writtenBytes: 36 * 512 },
  })
  expect(disksIn(drives, () => false)).toBeUndefined()
  expect(disksIn('', () => true)).toBeUndefined()
})
test('the counters of this host grow with its work', () => {
  const before = countersOfHost()
  const until = performance.now() + 60
  while (performance.now() < until);
  const after = countersOfHost()
  expect(after.cpuMs).toBeGreaterThan(before.cpuMs)
  expect(after.rxBytes).toBeGreaterThanOrEqual(before.rxBytes)
  expect(after.memoryUsedMb).toBeGreaterThan(0)
})
