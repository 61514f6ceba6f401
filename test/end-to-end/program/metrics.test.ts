// `kill -9` of a real agent, again and again, while its metrics and its traffic are measured: the compiled programs and
// a fake host whose use is the same at every moment, so that what counted twice would stand out.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Subprocess } from 'bun'
import { FakeCounters } from '../../../agent/drivers/traffic/fake.ts'
import { emptyQcow2 } from '../../support/guest.ts'
import { type Installation, installation } from '../../support/world/processes.ts'

let live: Installation
let token: string
let home: string
let agent: Subprocess
let nodeId = ''
let serverId = ''

beforeAll(async () => {
  live = await installation()
  await live.serve()
  token = await live.ownerToken()
  const location = (await live.admin('locations.create', { name: 'Lab' })).id
  home = await live.enroll(location, 'fra-01', ['--fake'], { bootMs: 5, heartbeatMs: 250 })
  agent = live.agent(home)
  nodeId = (
    await live.until('the node', async () => (await live.admin('nodes.list')).data.find((n: any) => n.connected))
  ).id
  await live.admin('pools.create', {
    ...{ name: 'v4', network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [nodeId] },
  })
  const packageId = (await live.admin('packages.create', { name: 'S', vcpus: 2, memoryMb: 64, diskGb: 3 })).id
  await Bun.write(`${live.dir}/incoming/tiny.qcow2`, emptyQcow2())
  const imageId = (await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny' })).id
  const ownerId = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
  const order = { hostname: 'web01', ownerId, packageId, nodeGroupId: location, imageId, access: { mode: 'password' } }
  serverId = (await live.api(token, 'POST', '/admin/servers', order)).body.serverId
  await live.until('the server', async () => (await get(`/servers/${serverId}`)).status === 'running')
}, 60_000)
afterAll(() => live.close())

const get = async (path: string) => (await live.api(token, 'GET', path)).body

/** Bytes per second of the last hour in steps of ten seconds, as far as they were measured. */
const sentOf = async (path: string): Promise<number[]> =>
  (await get(`${path}/metrics?range=1h`)).series.txBytesPerSecond.filter((value: number | null) => value !== null)
/** Samples that this controller has taken in. */
async function taken(): Promise<number> {
  const response = await fetch(`${live.url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })
  return Number(/^berth_metric_samples_total (\d+)$/m.exec(await response.text())?.[1])
}
const sentInAll = () => Number(live.query('SELECT coalesce(sum(tx_bytes), 0) AS words FROM traffic_days')[0])

test('kill -9 of an agent while it measures: its graphs go on, and no byte is lost or counts twice', async () => {
  const state = new Database(`${home}/state.db`, { readonly: true })
  const { tap } = state.query<{ tap: string }, []>('SELECT tap FROM ports').get()!
  state.close()
  const db = new Database(`${home}/fake.db`)
  db.run('PRAGMA busy_timeout = 5000')
  const counters = new FakeCounters(db, 'first-boot')
  let flowed = 0
  const flow = () => {
    counters.flow(tap, { sentBytes: 1_000_003, receivedBytes: 7 })
    flowed += 1_000_003
    // The stored sum is never more than what flowed.
    expect(sentInAll()).toBeLessThanOrEqual(flowed)
  }
  const restart = async (meanwhile: () => void) => {
    agent.kill('SIGKILL')
    await agent.exited
    meanwhile()
    const wasMeasured = await taken()
    agent = live.agent(home)
    await live.until('samples after the restart', async () => (await taken()) > wasMeasured)
  }

  for (let round = 0; round < 5; round++) {
    // The moment is another one in each round, and the counters grow all along.
    for (let i = 0; i < 3 + round * 7; i++) {
      flow()
      await Bun.sleep(10)
    }
    await restart(flow)
  }
  // A report goes out when the agent connects, which may be before its first look at the counters.
  for (let i = 0; i < 5 && sentInAll() !== flowed; i++) await restart(() => {})
  expect(sentInAll()).toBe(flowed)
  db.close()

  // The use is the same at every moment: 480 kB/s of the server, 7.2 MB/s of its node. Counters that a new process
  // took as grown since nothing would stand out by the seconds that both have been running.
  for (const [path, usual] of [
    [`/servers/${serverId}`, 480_000],
    [`/admin/nodes/${nodeId}`, 7_200_000],
  ] as const) {
    const values = await sentOf(path)
    expect(values.length).toBeGreaterThan(0)
    expect([path, Math.max(...values) < usual * 5, Math.min(...values) > 0]).toEqual([path, true, true])
  }
}, 60_000)
