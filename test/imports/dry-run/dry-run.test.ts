// Points 5, 7, 8, 11 and 18 of Imports: what a dry run checks, and what it says.
import { expect, test } from 'bun:test'
import { decided, dryRun, results, totals } from './world.ts'

test('the dry run shows the node per server, what is copied and how long each is away', async () => {
  using p = await decided()
  expect(await dryRun(p)).toMatchObject({ status: 'ready', servers: { ready: 2 } })
  expect(await results(p)).toEqual([['ready'], ['ready']])
  const [one] = (await p.admin('GET', `/admin/migrations/${p.id}/servers`)).data
  expect(one.check).toMatchObject({
    node: { id: p.node.id },
    pool: 'local',
    isRunning: true,
    disk: { format: 'qcow2', bytes: 20 * 1024 ** 3, usedBytes: 5 * 1024 ** 3 },
    mac: '02:00:5e:00:00:00',
  })
  expect(one.check.awaySeconds).toBeGreaterThan(one.check.copySeconds)
  expect(await totals(p)).toMatchObject({
    isRunning: false,
    servers: { total: 2, ready: 2, unchecked: 0 },
    usedBytes: 10 * 1024 ** 3,
    nodes: [{ id: p.node.id, servers: 2 }],
    hypervisors: [{ id: '1', servers: 2, isMeasured: true }],
  })
})
