// A suspension and a termination are recorded at once, whatever is going on, and come to their end by themselves.
import { describe, expect, test } from 'bun:test'
import { registry } from '../../../../src/app/features.ts'
import { scenarios as rollBackScenarios } from '../../../imports/after/scenarios.ts'
import { scenarios as importScenarios } from '../../../imports/migrate/scenarios.ts'
import { scenarios as keyScenarios } from '../../../imports/source-access/scenarios.ts'
import { scenarios as removalScenarios } from '../../../imports/source-removal/scenarios.ts'
import { scenarios } from '../../../support/crash-matrix/every-scenario.ts'
import { invariants } from '../../../support/crash-matrix/invariants.ts'
import { quickly } from '../../../support/quick.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { type World, world } from '../../../support/world/panel.ts'
import { scenarios as instanceScenarios } from '../../gpu-instances/scenarios.ts'

const suspend = (p: World, id: string) =>
  p.call(p.owner, 'POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
const terminate = (p: World, id: string) => p.call(p.owner, 'DELETE', `/servers/${id}?immediately=true`)
const unsuspend = (p: World, id: string) => p.admin('POST', `/servers/${id}/actions/unsuspend`)
const undosLeft = (p: World) =>
  (p.db.$client.query('SELECT count(*) AS n FROM jobs WHERE undo_node_id IS NOT NULL').get() as { n: number }).n
/** The state of this server alone, on all nodes together: some scenarios have others beside it. */
async function settled(p: World, id: string) {
  const hosts = [...p.agents.values()].map(({ host }) => host)
  const vms = (await Promise.all(hosts.map((host) => host.hypervisor.look()))).flatMap(({ ours }) => ours)
  const own = vms.filter((vm) => vm.id === id)
  const volumes = (await Promise.all(hosts.map((host) => host.storage.list()))).flat()
  const seeds = (await Promise.all(hosts.map((host) => host.seeds.path(id)))).filter(Boolean)
  const number = (sql: string) => (p.db.$client.query(sql).get(id) as { n: number }).n
  const { status, openJobs } = await invariants(p, id)
  return {
    status,
    power: own.find((vm) => vm.power === 'running')?.power ?? own[0]?.power ?? 'absent',
    vms: own.length,
    volumes: volumes.filter(({ workload }) => workload === id).length,
    seeds: seeds.length,
    rules: hosts.flatMap((host) => host.state.portRules()).filter(({ workload }) => workload === id).length,
    addresses: number('SELECT count(*) AS n FROM addresses WHERE workload_id = ?'),
    held: number('SELECT count(*) AS n FROM workloads WHERE id = ? AND released_at IS NULL'),
    openJobs,
    undosLeft: undosLeft(p),
  }
}

const gone = {
  status: 'terminated',
  power: 'absent',
  vms: 0,
  volumes: 0,
  seeds: 0,
  rules: 0,
  addresses: 0,
  held: 0,
  openJobs: 0,
  undosLeft: 0,
}

const ends = new Set(['terminate', 'purge'])
/** Of no server, or of a server that is still another panel's in part. */
const withoutServer = new Set([
  ...[...instanceScenarios, ...keyScenarios, ...removalScenarios],
  ...[...importScenarios, ...rollBackScenarios],
])
/** Every moment of every job of a server, but for the terminations themselves. */
const moments = scenarios
  .filter((scenario) => !ends.has(scenario.kind) && !withoutServer.has(scenario))
  .flatMap((scenario) => {
    const { steps } = registry.jobs.find(({ kind }) => kind === scenario.kind)!
    return steps.flatMap(({ name }) =>
      ['before', 'noted'].map((at) => ({ scenario, moment: `${scenario.kind}/${name}:${at}` })),
    )
  })

/** Every eighth moment, beginning at `offset`; all of them in the long run. */
const sampled = <T>(all: readonly T[], offset: number): T[] =>
  all.filter((_, i) => process.env['BERTH_LONG'] === '1' || i % 8 === offset)

type Call = typeof suspend
/** Calls at the moment, once, and waits until nothing is going on any more, or for a moment where the node is away. */
async function during(p: World, { scenario, moment }: (typeof moments)[number], call: Call, rest = p.settle) {
  const before = await scenario.before(p)
  let answer: ReturnType<Call> | undefined
  let id = before
  p.arm({
    failpoints: (at) => {
      id ||= (p.db.$client.query('SELECT max(id) AS id FROM servers').get() as { id: string }).id
      if (at === moment) answer ??= call(p, id)
    },
  })
  await scenario.start(p, before)
  // On a busy machine the job at the moment may begin only after the others are idle.
  for (let i = 0; i < 5 || (!answer && i < 200); i++) {
    await rest()
    if (!answer) await Bun.sleep(1)
  }
  return { id, answer: await answer }
}

describe('a termination at any moment is recorded at once and leaves nothing behind', () => {
  for (const [i, one] of quickly([...sampled(moments, 0).entries()], 8))
    test(`${one.scenario.name}, at ${one.moment}`, async () => {
      using p = await (one.scenario.open ?? world)()
      const { id, answer } = await during(p, one, terminate)
      expect([i, answer?.status]).toEqual([i, 202])
      expect(await settled(p, id)).toMatchObject(gone)
      // A move that it ended tells the staff so after it.
      expect(p.events().findLast((type) => !type.startsWith('transfer.'))).toBe('server.terminated')
    })
})

describe('a suspension at any moment is recorded at once and stops the server; unsuspending restores it', () => {
  for (const [i, one] of quickly(
    sampled(
      moments.filter(({ scenario }) => scenario.kind !== 'suspend'),
      1,
    )
      .entries()
      .toArray(),
    8,
    1,
  ))
    test(`${one.scenario.name}, at ${one.moment}`, async () => {
      using p = await (one.scenario.open ?? world)()
      const { id, answer } = await during(p, one, suspend)
      expect([i, answer?.status]).toEqual([i, 202])
      const after = await settled(p, id)
      expect(after).toMatchObject({ status: 'suspended', openJobs: 0, undosLeft: 0, held: 1 })
      expect(after.addresses).toBeGreaterThan(0)
      // One that waits for the next start of the guest.
      expect(after.seeds).toBe(p.server(id).pendingSeed === null ? 0 : 1)
      expect(after.power).not.toBe('running')
      const { lifecycle, wantedPower, diskGeneration } = p.server(id)
      const stopped = p.db.$client.query('SELECT 1 FROM interrupted_installations WHERE server_id = ?').get(id) !== null
      p.arm({})
      await unsuspend(p, id)
      await p.settle()
      const { status, power } = await settled(p, id)
      if (lifecycle === 'active') return expect([status, power]).toEqual([wantedPower, wantedPower])
      // A stopped installation goes on.
      if (stopped && diskGeneration === null) return expect([status, power]).toEqual(['running', 'running'])
      expect(status).toBe(lifecycle)
      expect(power).not.toBe('running')
    })
})

const wishes = {
  'a termination': { call: terminate, ends: { ...gone } },
  'a suspension': { call: suspend, ends: { status: 'suspended', openJobs: 0, undosLeft: 0, held: 1 } },
} as const
describe('when the node goes away at a moment of a job, the wish is recorded and carried out at its return', () => {
  const afterSteps = moments.filter(({ scenario, moment }) => /:noted$/.test(moment) && scenario.kind !== 'suspend')
  // Every fourth moment for each wish; with BERTH_LONG all.
  for (const [n, [wish, { call, ends: end }]] of Object.entries(wishes).entries())
    for (const [i, one] of quickly(
      afterSteps.filter((_, at) => process.env['BERTH_LONG'] === '1' || at % 4 === 2 * n),
      8,
    ).entries())
      test(`${wish}: ${one.scenario.name}, at ${one.moment}`, async () => {
        using p = await (one.scenario.open ?? world)()
        const leaving: Call = (panel, id) => {
          p.node.agent.disconnect()
          return call(panel, id)
        }
        const { id, answer } = await during(p, one, leaving, () => Bun.sleep(2))
        expect([i, answer?.status]).toEqual([i, 202])
        expect(p.server(id).status as string).toBe(end.status)
        p.node.agent.connect()
        for (let n = 0; n < 5; n++) await Promise.all([p.settle(), Bun.sleep(2)])
        const after = await settled(p, id)
        expect(after).toMatchObject(end)
        expect(after.power).not.toBe('running')
      })
})

/** The other node of a job that has two. */
const otherNode = (p: World, kind: string) =>
  p.db.$client
    .query<{ id: string }, [string]>(
      'SELECT other_node_id AS id FROM jobs WHERE kind = ? AND other_node_id IS NOT NULL',
    )
    .get(kind)!.id
describe('when the other node of a job goes away at a moment, the wish is carried out at once', () => {
  const ofTwo = moments.filter(({ scenario, moment }) => /:noted$/.test(moment) && scenario.lost)
  for (const [n, [wish, { call, ends: end }]] of Object.entries(wishes).entries())
    for (const one of quickly(
      ofTwo.filter((_, at) => process.env['BERTH_LONG'] === '1' || at % 4 === 2 * n),
      2,
    ))
      test(`${wish}: ${one.scenario.name}, at ${one.moment}`, async () => {
        using p = await (one.scenario.open ?? world)()
        const leaving: Call = (panel, id) => {
          p.agents.get(otherNode(p, one.scenario.kind))!.disconnect()
          return call(panel, id)
        }
        const { id, answer } = await during(p, one, leaving, () => Bun.sleep(2))
        expect(answer?.status).toBe(202)
        const other = otherNode(p, one.scenario.kind)
        // Behind its pivot it is at home on the node that is away.
        if (p.server(id).nodeId !== other) {
          await eventually(() => p.job(answer!.body.jobId).state === 'succeeded')
          expect(p.job(answer!.body.jobId).state).toBe('succeeded')
        }
        p.agents.get(other)!.connect()
        await eventually(async () => (await settled(p, id)).undosLeft === 0)
        for (let n = 0; n < 5; n++) await Promise.all([p.settle(), Bun.sleep(2)])
        const after = await settled(p, id)
        expect(after).toMatchObject(end)
        expect(after.power).not.toBe('running')
      })
})

describe('while the node of a running server is away', () => {
  const minutes = (n: number) => n * 60_000
  async function away() {
    const p = await world()
    const { serverId: id } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.node.agent.disconnect()
    return { p, id: id as string, [Symbol.dispose]: () => p.close() }
  }
  /** Longer than a job may wait that fails. */
  async function longAfter(p: World) {
    p.turnClock(minutes(20))
    p.controller.runner.sweep()
    await Bun.sleep(5)
    p.turnClock(minutes(20))
    p.controller.runner.sweep()
    await Bun.sleep(5)
  }
  async function nodeReturns(p: World) {
    p.node.agent.connect()
    for (let i = 0; i < 5; i++) await Promise.all([p.settle(), Bun.sleep(2)])
  }

  test('a suspension is recorded at once, waits for ever, and is carried out when it is back', async () => {
    using one = await away()
    const { p, id } = one
    expect((await suspend(p, id)).status).toBe(202)
    expect(p.server(id).status).toBe('suspended')
    await longAfter(p)
    expect(await settled(p, id)).toMatchObject({ status: 'suspended', power: 'running', openJobs: 1 })
    await nodeReturns(p)
    expect(await settled(p, id)).toMatchObject({ status: 'suspended', power: 'stopped', openJobs: 0 })
  })
  test('a termination is recorded at once, holds its address, and leaves nothing behind when it is back', async () => {
    using one = await away()
    const { p, id } = one
    expect((await terminate(p, id)).status).toBe(202)
    expect((await p.call(p.customer, 'GET', `/servers/${id}`)).status).toBe(404)
    await longAfter(p)
    expect(await settled(p, id)).toMatchObject({ status: 'terminated', addresses: 1, held: 1, openJobs: 1 })
    await nodeReturns(p)
    expect(await settled(p, id)).toMatchObject(gone)
  })
  test('a termination replaces a suspension that waits', async () => {
    using one = await away()
    const { p, id } = one
    await suspend(p, id)
    expect((await terminate(p, id)).status).toBe(202)
    await nodeReturns(p)
    expect(await settled(p, id)).toMatchObject(gone)
  })
  test('a suspension that is taken back before it was carried out stops nothing', async () => {
    using one = await away()
    const { p, id } = one
    await suspend(p, id)
    await unsuspend(p, id)
    await nodeReturns(p)
    expect(await settled(p, id)).toMatchObject({ status: 'running', power: 'running', openJobs: 0 })
    expect(p.db.$client.query("SELECT kind, state FROM jobs WHERE kind LIKE '%suspend' ORDER BY rowid").all()).toEqual([
      { kind: 'suspend', state: 'failed' },
      { kind: 'unsuspend', state: 'succeeded' },
    ])
  })
  test("the owner's restart gives way to a termination, also when it waits since before", async () => {
    using one = await away()
    const { p, id } = one
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'restart' })
    expect((await terminate(p, id)).status).toBe(202)
    await nodeReturns(p)
    expect(await settled(p, id)).toMatchObject(gone)
  })
  test('what was installed when the node went away is terminated when it is back', async () => {
    using p = await world()
    p.arm({ failpoints: (at) => void (at === 'install/define:noted' && p.node.agent.disconnect()) })
    const { serverId: id } = await p.admin('POST', '/admin/servers', p.order)
    await Bun.sleep(20)
    expect(p.server(id).status).toBe('provisioning')
    expect((await terminate(p, id)).status).toBe(202)
    await Bun.sleep(5)
    await nodeReturns(p)
    expect(await settled(p, id)).toMatchObject(gone)
  })
})
