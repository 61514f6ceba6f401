// `kill -9`, for real: the compiled controller and agent as two processes over a real WebSocket, each killed before and
// after every step of every kind of job. The fake node's state is on disk, as libvirt's is. The in-process matrix
// (test/every/saga) has more combinations; this one has no shared memory to hide behind.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, rmSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { installing } from '../../../src/compute/installation/install.ts'
import { reinstalling } from '../../../src/compute/installation/reinstall.ts'
import { suspending, unsuspending } from '../../../src/compute/servers/life/suspend.ts'
import { purging } from '../../../src/compute/servers/life/terminate.ts'
import { powering } from '../../../src/compute/servers/power-job.ts'
import type { Saga } from '../../../src/kernel/jobs/saga.ts'
import { emptyQcow2 } from '../../support/guest.ts'
import { quickly } from '../../support/quick.ts'
import { type Installation, installation } from '../../support/world/processes.ts'

let live: Installation
let token: string
let home: string
let order: Record<string, unknown>
let controller: Subprocess
let agent: Subprocess
let number = 0

beforeAll(async () => {
  live = await installation()
  controller = await live.serve()
  token = await live.staffToken()
  // More than one account may do in an hour without a second person.
  await live.admin('settings.set', { name: 'brake.limit', value: 10_000 })
  const location = (await live.admin('locations.create', { name: 'Lab' })).id
  home = await live.enroll(location, 'fra-01')
  agent = live.agent(home)
  const node = await live.until('the node', async () =>
    (await live.admin('nodes.list')).data.find((n: any) => n.connected),
  )
  await live.admin('pools.create', {
    name: 'v4',
    network: '198.51.100.0/24',
    gateway: '198.51.100.1',
    nodeIds: [node.id],
  })
  const pack = (await live.admin('packages.create', { name: 'S', vcpus: 1, memoryMb: 64, diskGb: 3 })).id
  await Bun.write(`${live.dir}/incoming/tiny.qcow2`, emptyQcow2())
  const image = (await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny' })).id
  const customer = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
  order = { ownerId: customer, packageId: pack, nodeGroupId: location, imageId: image, access: { mode: 'password' } }
}, 60_000)
afterAll(() => live.close())

/** The state of the fake host, read from its disk while its agent may be dead. */
function host() {
  const db = new Database(`${home}/fake.db`, { readonly: true })
  const tables = db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('vms', 'volumes', 'seeds')",
    )
    .all()
    .map((t) => t.name)
  const found = Object.fromEntries(
    tables.map((t) => [t, db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${t}`).get()!.n]),
  )
  db.close()
  return found
}
function panel() {
  const db = new Database(`${live.dir}/berth.db`, { readonly: true })
  const number = (sql: string) => db.query<{ n: number }, []>(sql).get()!.n
  const found = {
    addresses: number('SELECT count(workload_id) AS n FROM addresses'),
    servers: number('SELECT count(*) AS n FROM workloads WHERE released_at IS NULL'),
    open: number("SELECT count(*) AS n FROM jobs WHERE state IN ('queued','running','undoing')"),
  }
  db.close()
  return found
}

type Started = { serverId: string; jobId: string }
/**
 * A controller that dies while it answers is asked again with the same key, as a billing system does: the change was
 * made or it was not, and the key tells.
 */
async function surely(method: string, path: string, body?: object): Promise<Started> {
  const key = { 'Idempotency-Key': `key-${++number}` }
  const once = () => live.api(token, method, path, body, key).then((r) => r.body as Started)
  return once().catch(async () => {
    await controller.exited
    controller = await live.serve()
    return once()
  })
}
const nodeIsThere = () =>
  live.until('the node', async () => (await live.api(token, 'GET', '/admin/nodes')).body.data[0].connected)
/** A node that is on its way back takes no order yet. */
async function createServer() {
  await nodeIsThere()
  return surely('POST', '/admin/servers', { ...order, hostname: `web${number + 1}` })
}
const ended = (jobId: string) =>
  live.until(`the end of ${jobId}`, async () => {
    const { body } = await live.api(token, 'GET', `/jobs/${jobId}`)
    return (body.state === 'succeeded' || body.state === 'failed') && body
  })
const act = (path: string, body?: object, method = 'POST') => surely(method, path, body)

type Way = { name: string; saga: Saga; start(id: string): Promise<Started>; status: string }
const power = (action: string) => (id: string) => act(`/servers/${id}/actions/power`, { action })
/** Each chain goes over one server, so that each way begins with the state that the one before it left. */
const chains: readonly (readonly Way[])[] = [
  [
    { name: 'shutting down', saga: powering, start: power('shutdown'), status: 'stopped' },
    { name: 'starting', saga: powering, start: power('start'), status: 'running' },
  ],
  [
    {
      name: 'suspending',
      saga: suspending,
      start: (id) => act(`/servers/${id}/actions/suspend`, { reason: 'overdue' }),
      status: 'suspended',
    },
    {
      name: 'unsuspending',
      saga: unsuspending,
      start: (id) => act(`/servers/${id}/actions/unsuspend`),
      status: 'running',
    },
  ],
  [
    {
      name: 'reinstalling',
      saga: reinstalling,
      start: (id) =>
        act(`/servers/${id}/actions/reinstall`, { imageId: order['imageId'], access: { mode: 'password' } }),
      status: 'running',
    },
  ],
  [
    {
      name: 'terminating',
      saga: purging,
      start: (id) => act(`/servers/${id}?immediately=true`, undefined, 'DELETE'),
      status: 'terminated',
    },
  ],
]

/** Every moment of a saga at which one of the two can die. */
const moments = (saga: Saga) =>
  saga.steps.flatMap((step) => [
    ...['before', ...(step.kind === 'command' ? ['answered'] : []), 'noted'].map((at) => ({
      words: `controller killed at ${step.name}:${at}`,
      controller: `${saga.kind}/${step.name}:${at}`,
    })),
    ...(step.kind === 'command'
      ? ['before', 'after'].map((at) => ({ words: `agent killed ${at} ${step.name}`, agent: `*/${step.name}:${at}` }))
      : []),
  ]) as { words: string; controller?: string; agent?: string }[]

/**
 * Restarts one of the two armed to kill itself at the moment, does `work`, brings the dead back and waits for the end.
 */
async function killedAt(moment: { controller?: string; agent?: string }, work: () => Promise<Started>) {
  for (const mark of [`${live.dir}/crash-done`, `${home}/crash-done`]) rmSync(mark, { force: true })
  if (moment.controller) {
    controller.kill('SIGKILL')
    await controller.exited
    controller = await live.serve({ BERTH_CRASH_AT: moment.controller })
  } else {
    agent.kill('SIGKILL')
    await agent.exited
    agent = live.agent(home, { BERTH_CRASH_AT: moment.agent! })
  }
  await nodeIsThere()
  const victim = moment.controller ? controller : agent
  const { jobId, serverId } = await work()
  const died = await Promise.race([victim.exited.then(() => true), ended(jobId).then(() => false)])
  // One that was not killed at its moment must not carry it into the next.
  victim.kill('SIGKILL')
  await victim.exited
  if (victim === controller) controller = await live.serve()
  if (victim === agent) agent = live.agent(home)
  const job = await ended(jobId)
  return { job, serverId, died }
}

describe('kill -9', () => {
  for (const moment of quickly(moments(installing), 7))
    test(`ordering, ${moment.words}: one server, one disk, one address; and all of it goes when it is ` +
      'terminated', async () => {
      const before = { host: host(), panel: panel() }
      const { job, serverId } = await killedAt(moment, createServer)
      expect(job.state).toBe('succeeded')
      expect((await live.api(token, 'GET', `/servers/${serverId}`)).body.status).toBe('running')
      expect(panel()).toEqual({ addresses: before.panel.addresses + 1, servers: before.panel.servers + 1, open: 0 })
      expect(host()).toMatchObject({
        vms: (before.host['vms'] ?? 0) + 1,
        volumes: (before.host['volumes'] ?? 0) + 1,
      })
      const { jobId } = await act(`/servers/${serverId}?immediately=true`, undefined, 'DELETE')
      expect((await ended(jobId)).state).toBe('succeeded')
      expect(panel()).toEqual({ ...before.panel, open: 0 })
      expect(host()['vms']).toBe(before.host['vms'] ?? 0)
    }, 60_000)

  for (const [n, chain] of chains.entries())
    describe(chain.map((way) => way.name).join(', '), () => {
      const rounds = Math.max(...chain.map((way) => moments(way.saga).length))
      // Every moment is cut in the crash matrix; outside, every second one, and all of them in the long run.
      const some = [...Array(rounds).keys()].filter((i) => process.env['BERTH_LONG'] === '1' || i % 2 === n % 2)
      for (const round of quickly(some, 4, n + 2)) {
        const plan = chain.map((way) => ({ way, moment: moments(way.saga)[round % moments(way.saga).length]! }))
        test(plan.map(({ way, moment }) => `${way.name}, ${moment.words}`).join('; then '), async () => {
          const { serverId, jobId } = await createServer()
          expect((await ended(jobId)).state).toBe('succeeded')
          for (const { way, moment } of plan) {
            const { job } = await killedAt(moment, () => way.start(serverId))
            expect(`${way.name}: ${job.state}`).toBe(`${way.name}: succeeded`)
            expect((await live.api(token, 'GET', `/servers/${serverId}`)).body.status).toBe(way.status)
          }
          if (plan.at(-1)!.way.status !== 'terminated')
            await ended((await act(`/servers/${serverId}?immediately=true`, undefined, 'DELETE')).jobId)
          // The job that deletes a replaced disk is open a moment longer.
          await live.until('the end of every job', async () => panel().open === 0)
          expect(panel()).toMatchObject({ addresses: 0, servers: 0, open: 0 })
          expect(host()).toMatchObject({ vms: 0, volumes: 0 })
        }, 60_000)
      }
    })
})

describe('SIGTERM', () => {
  test('changes are refused, what is under way goes on at its node, and the next start finishes it', async () => {
    await Bun.write(
      `${home}/faults.json`,
      JSON.stringify([{ command: 'volume.create', mode: 'slow', ms: 1500, times: 1 }]),
    )
    const { jobId } = await createServer()
    await live.until(
      'the slow step',
      async () => (await live.api(token, 'GET', `/jobs/${jobId}`)).body.step.name === 'Making the disk',
    )
    controller.kill('SIGTERM')
    expect(await controller.exited).toBe(0)
    controller = await live.serve()
    expect((await ended(jobId)).state).toBe('succeeded')
    rmSync(`${home}/faults.json`)
  }, 60_000)

  test('an agent stops without its guests noticing', async () => {
    const before = host()
    agent.kill('SIGTERM')
    expect(await agent.exited).toBe(0)
    expect(host()).toEqual(before)
    agent = live.agent(home)
    expect(existsSync(`${home}/fake.db`)).toBe(true)
  }, 60_000)
})
