// 2,000 servers within five minutes, and 20,000 in little memory; others are served meanwhile.
import { expect, test } from 'bun:test'
import { hypervisor, owner, pack, range, server, v4 } from '../panel-in-memory.ts'
import { checked, type Decided, decided, totals } from './world.ts'

const long = process.env['BERTH_LONG'] === '1'
const MIB = 1024 ** 2

/** So many servers on five hypervisors, and seven nodes that can hold all of them. */
async function fleet(n: number): Promise<Decided> {
  const hypervisors = Array.from({ length: 5 }, (_, i) => hypervisor(String(i + 1)))
  const addresses = (i: number) => [v4(`100.${64 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`)]
  const p = await decided({
    hypervisors,
    packages: [pack('1', { memoryMb: 64, diskGb: 20 })],
    ranges: [range('1', '100.64.0.0/10', { first: '100.64.0.0', last: '100.127.255.255' })],
    owners: Array.from({ length: Math.ceil(n / 4) }, (_, i) => owner(String(i + 1))),
    servers: Array.from({ length: n }, (_, i) =>
      server(i + 1, { hypervisorId: String((i % 5) + 1), ownerId: String((i >> 2) + 1), addresses: addresses(i) }),
    ),
  })
  for (let i = 2; i <= 7; i++) p.addNode(p.location, `fra-0${i}`, { sourceHosts: p.sourcesPath })
  p.db.$client.run('UPDATE nodes SET memory_mb = 1000000')
  p.db.$client.run('UPDATE storage_pools SET total_bytes = ?1, free_bytes = ?1', [200 * 1024 ** 4])
  return p
}

async function measured(p: Decided) {
  await p.admin('POST', `/admin/migrations/${p.id}/actions/dry-run`)
  Bun.gc(true)
  const idle = process.memoryUsage().rss
  let most = idle
  let longest = 0
  let last = performance.now()
  const begun = last
  const watch = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    most = Math.max(most, process.memoryUsage().rss)
  }, 1)
  const { status } = await checked(p, p.id)
  clearInterval(watch)
  return { status, seconds: (performance.now() - begun) / 1000, grownMb: (most - idle) / MIB, longestMs: longest }
}
const told = (n: number, { seconds, grownMb, longestMs }: Awaited<ReturnType<typeof measured>>) =>
  console.log(
    `dry run of ${n} servers: ${seconds.toFixed(1)} s, memory ${grownMb.toFixed(0)} MiB above idle, longest hold of ` +
      `the loop ${longestMs.toFixed(0)} ms`,
  )

test.skipIf(long)(
  '300 servers of five hypervisors are checked from seven nodes',
  async () => {
    using p = await fleet(300)
    const end = await measured(p)
    told(300, end)
    expect(end.status).toBe('ready')
    const { servers, nodes } = await totals(p)
    expect(servers.ready).toBe(300)
    expect(nodes).toHaveLength(7)
  },
  20_000,
)

for (const [n, limitSeconds] of [
  [2000, 300],
  [20_000, 3000],
] as const)
  test.skipIf(!long)(
    `${n} servers are checked within ${limitSeconds} s and 200 MiB`,
    async () => {
      using p = await fleet(n)
      const end = await measured(p)
      told(n, end)
      expect((await totals(p)).servers.ready).toBe(n)
      expect(end.seconds).toBeLessThan(limitSeconds)
      expect(end.grownMb).toBeLessThan(200)
    },
    3_600_000,
  )
