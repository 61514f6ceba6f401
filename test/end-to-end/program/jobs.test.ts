// Jobs of the compiled program that are stopped from outside: a suspension during an installation, a termination during
// a restart, and a node that is killed and never comes back.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { emptyQcow2 } from '../../support/guest.ts'
import { isQuick } from '../../support/quick.ts'
import { type Installation, installation } from '../../support/world/processes.ts'

const minute = 60_000
let live: Installation
let controller: Subprocess
let agent: Subprocess
let token: string
let home: string
let node: string
let order: Record<string, unknown>
let number = 0

beforeAll(async () => {
  live = await installation()
  controller = await live.serve()
  token = await live.ownerToken()
  const location = (await live.admin('locations.create', { name: 'Lab' })).id
  home = await live.enroll(location, 'fra-01')
  agent = live.agent(home)
  node = (await live.until('the node', async () => (await live.admin('nodes.list')).data.find((n: any) => n.connected)))
    .id
  const network = { name: 'v4', network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [node] }
  await live.admin('pools.create', network)
  const pack = (await live.admin('packages.create', { name: 'S', vcpus: 1, memoryMb: 64, diskGb: 3 })).id
  await Bun.write(`${live.dir}/incoming/t.qcow2`, emptyQcow2())
  const image = (await live.admin('images.import', { file: 't.qcow2', name: 'Tiny' })).id
  const customer = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
  order = { ownerId: customer, packageId: pack, nodeGroupId: location, imageId: image, access: { mode: 'password' } }
}, minute)
afterAll(() => live.close())

type Started = { serverId: string; jobId: string }
async function call(method: string, path: string, body?: object): Promise<any> {
  const reply = await live.api(token, method, path, body)
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
  return reply.body
}
const orderServer = (): Promise<Started> => call('POST', '/admin/servers', { ...order, hostname: `web${++number}` })
const act = (id: string, action: string, body?: object): Promise<Started> =>
  call('POST', `/servers/${id}/actions/${action}`, body)
const jobOf = (id: string) => call('GET', `/jobs/${id}`)
const ended = (id: string, seconds?: number) =>
  live.until(
    `the end of ${id}`,
    async () => {
      const job = await jobOf(id)
      return (job.state === 'succeeded' || job.state === 'failed') && job
    },
    seconds,
  )
const begun = (id: string, step: string) =>
  live.until(`${step} of ${id}`, async () => (await jobOf(id)).step.name === step)
const statusOf = async (id: string) => (await call('GET', `/servers/${id}`)).status
const faults = (...list: object[]) => writeFileSync(`${home}/faults.json`, JSON.stringify(list))
const one = (file: string, sql: string): number => {
  const db = new Database(file, { readonly: true })
  const found = db.query<{ n: number }, []>(sql).get()!.n
  db.close()
  return found
}
const onNode = (table: 'vms' | 'volumes') => one(`${home}/fake.db`, `SELECT count(*) AS n FROM ${table}`)
const OPEN = `SELECT id AS words FROM jobs
  WHERE state IN ('queued', 'running', 'undoing') OR undo_node_id IS NOT NULL`
const addressesHeld = () => one(`${live.dir}/berth.db`, 'SELECT count(workload_id) AS n FROM addresses')

test(
  'a suspension during the installation is recorded at once; the installation stops and leaves nothing',
  async () => {
    faults({ command: 'volume.create', mode: 'slow', ms: 1500, times: 1 })
    const { serverId, jobId } = await orderServer()
    await begun(jobId, 'Making the disk')
    const suspending = await act(serverId, 'suspend', { reason: 'overdue' })
    expect(await statusOf(serverId)).toBe('suspended')
    expect((await ended(suspending.jobId)).state).toBe('succeeded')
    expect(await jobOf(jobId)).toMatchObject({ state: 'failed', error: { code: 'cancelled' }, undoPending: false })
    expect([await statusOf(serverId), onNode('vms'), onNode('volumes')]).toEqual(['suspended', 0, 0])
    await ended((await call('DELETE', `/servers/${serverId}?immediately=true`)).jobId)
    expect(addressesHeld()).toBe(0)
  },
  minute,
)

test(
  "a termination during the owner's restart is recorded at once, and nothing is left",
  async () => {
    faults()
    const { serverId, jobId } = await orderServer()
    await ended(jobId)
    faults({ command: 'vm.stop', mode: 'slow', ms: 1500, times: 1 })
    const restart = await act(serverId, 'power', { action: 'restart' })
    await begun(restart.jobId, 'Stopping it')
    const termination = await call('DELETE', `/servers/${serverId}?immediately=true`)
    expect(await statusOf(serverId)).toBe('terminated')
    expect((await ended(termination.jobId)).state).toBe('succeeded')
    expect((await jobOf(restart.jobId)).error.code).toBe('cancelled')
    expect([onNode('vms'), onNode('volumes'), addressesHeld()]).toEqual([0, 0, 0])
  },
  minute,
)

test.skipIf(isQuick)(
  'a node killed for good: its jobs end, its servers can be suspended and terminated',
  async () => {
    faults()
    const servers = [await orderServer(), await orderServer(), await orderServer()]
    for (const { jobId } of servers) await ended(jobId)
    const [restarted, suspended, terminated] = servers.map((s) => s.serverId) as [string, string, string]
    faults({ command: 'vm.stop', workload: restarted, mode: 'hang', ms: 10 * minute })
    const restart = await act(restarted, 'power', { action: 'restart' })
    await begun(restart.jobId, 'Stopping it')
    agent.kill('SIGKILL')
    await agent.exited
    await live.until('the node to be away', async () => !(await call('GET', `/admin/nodes/${node}`)).connected)

    // Recorded at once, though nothing can be done there.
    const suspension = await act(suspended, 'suspend', { reason: 'overdue' })
    const termination = await call('DELETE', `/servers/${terminated}?immediately=true`)
    expect([await statusOf(suspended), await statusOf(terminated)]).toEqual(['suspended', 'terminated'])

    // The controller dies too. 14 minutes have gone by on the row: the wait goes on where it was.
    await live.until(
      'the wait to be noted',
      async () => live.query('SELECT id AS words FROM jobs WHERE waiting_since > 0').length > 0,
    )
    controller.kill('SIGKILL')
    await controller.exited
    const db = new Database(`${live.dir}/berth.db`)
    db.run('UPDATE jobs SET waiting_since = waiting_since - ? WHERE waiting_since IS NOT NULL', [14 * minute])
    db.close()
    controller = await live.serve()
    const failed = await ended(restart.jobId, 180)
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'node_unreachable' }, undoPending: true })
    expect([(await jobOf(suspension.jobId)).state, (await jobOf(termination.jobId)).state]).toEqual([
      'queued',
      'queued',
    ])

    // It never comes back: everything that waited for it ends, and nothing is held any more.
    const path = `/admin/nodes/${node}/actions/remove-with-workloads`
    await expect(call('POST', path, { name: 'fra-01' })).rejects.toThrow('token_not_allowed')
    await live.admin('nodes.remove-with-workloads', { id: node, name: 'fra-01' })
    expect((await ended(termination.jobId)).state).toBe('succeeded')
    await live.until('nothing to be open', async () => live.query(OPEN).length === 0)
    expect(addressesHeld()).toBe(0)
  },
  5 * minute,
)
