// A whole fleet moves in one import, with failures of every kind among its servers.
import { expect, test } from 'bun:test'
import type { FakeSourceServer } from '../../../agent/drivers/source-host/fake.ts'
import { hypervisor, pack, range, server, v4 } from '../panel-in-memory.ts'
import { macOf, moveAll, moves, onNodes, progress, ready, start } from './world.ts'

test('300 servers over 5 hypervisors with failures of every kind end by themselves with a list', async () => {
  const servers = Array.from({ length: 300 }, (_, i) =>
    server(i + 1, {
      ...{ hypervisorId: String((i % 5) + 1), diskGb: 1, memoryMb: 128 },
      addresses: [v4(`198.18.${Math.floor(i / 200)}.${10 + (i % 200)}`)],
    }),
  )
  const faults = [
    { startsAtPercent: 50 },
    { readErrorAt: 1000 },
    { arrivesDifferent: true },
    { isNotKept: true },
    { doesNotStop: true },
    { cutAtPercent: 30 },
  ]
  const special: Record<number, FakeSourceServer> = Object.fromEntries(
    faults.flatMap((moving, i) => [10, 70, 130].map((n) => [n + i, { moving: { ms: 1, ...moving } }])),
  )
  for (const { id } of servers) {
    const n = Number(id)
    const definition = { drives: [driveOf(n)], nics: [{ mac: macOf(n), model: 'virtio', bridge: 'br0' }] }
    special[n] = { moving: { ms: 1 }, ...special[n], definition }
  }
  using p = await ready(
    {
      servers,
      packages: [pack('1', { diskGb: 1, memoryMb: 128 })],
      hypervisors: ['1', '2', '3', '4', '5'].map((id) => hypervisor(id)),
      ranges: [{ ...range('1', '198.18.0.0/22'), first: '198.18.0.10', last: '198.18.3.250' }],
    },
    { special },
  )
  await start(p, { perHypervisor: 8, perNode: 16, method: 'plain' })
  expect((await moveAll(p, 2000)).status).toBe('verifying')
  const { servers: counts } = await progress(p)
  expect(counts).toMatchObject({ total: 300, moved: 282, failed: 18, moving: 0, waiting: 0 })
  const failed = await moves(p, '&state=failed')
  expect(new Set(failed.map(({ failure }) => failure.code)).size).toBe(6)
  for (const { failure, whereItRuns } of failed as any[]) {
    expect(failure.words.length).toBeGreaterThan(10)
    expect(failure.nextStep.length).toBeGreaterThan(5)
    expect(whereItRuns).toBe('source')
  }
  expect(await onNodes(p)).toEqual({ running: 282, vms: 282, volumes: 282 })
})

const driveOf = (n: number) => ({
  ...{ target: 'vda', device: 'disk' as const, bus: 'virtio', holder: 'file' as const, format: 'qcow2' },
  ...{ path: `/var/lib/panel/v${n}.disk`, isReadOnly: false, isSeed: false, virtualBytes: 1024 ** 3 },
  ...{ allocatedBytes: 1024 ** 3, pool: null, backing: null, snapshots: 0, trouble: null },
})
