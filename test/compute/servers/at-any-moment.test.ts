// A suspension and a termination are recorded at once, whatever is going on, and come to their end by themselves.
import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { invariants } from '../../support/invariants.ts'
import { type World, world } from '../../support/panel.ts'
import { quickly } from '../../support/quick.ts'
import { scenarios } from '../../support/scenarios.ts'

const suspend = (p: World, id: string) =>
  p.call(p.owner, 'POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
const terminate = (p: World, id: string) => p.call(p.owner, 'DELETE', `/servers/${id}`)
const unsuspend = (p: World, id: string) => p.admin('POST', `/servers/${id}/actions/unsuspend`)
const undosLeft = (p: World) =>
  (p.db.$client.query('SELECT count(*) AS n FROM jobs WHERE undo_node_id IS NOT NULL').get() as { n: number }).n
const settled = async (p: World, id: string) => ({ ...(await invariants(p, id)), undosLeft: undosLeft(p) })

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

/** Every moment of every job of a server, but for the terminations themselves. */
const moments = scenarios
  .filter(({ kind }) => kind !== 'terminate')
  .flatMap((scenario) => {
    const { steps } = registry.jobs.find(({ kind }) => kind === scenario.kind)!
    return steps.flatMap(({ name }) =>
      ['before', 'noted'].map((at) => ({ scenario, moment: `${scenario.kind}/${name}:${at}` })),
    )
  })

type Call = typeof suspend
/** Calls at the moment, once, and waits until nothing is going on any more. */
async function during(p: World, { scenario, moment }: (typeof moments)[number], call: Call) {
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
  for (let i = 0; i < 5; i++) await p.settle()
  return { id, answer: await answer }
}

describe('a termination at any moment is recorded at once and leaves nothing behind', () => {
  for (const [i, one] of quickly([...moments.entries()], 4))
    test(`${one.scenario.name}, at ${one.moment}`, async () => {
      using p = await world()
      const { id, answer } = await during(p, one, terminate)
      expect([i, answer?.status]).toEqual([i, 202])
      expect(await settled(p, id)).toMatchObject(gone)
      expect(p.events().filter((type) => type === 'server.terminated')).toHaveLength(1)
    })
})

describe('a suspension at any moment is recorded at once and stops the server; unsuspending restores it', () => {
  for (const [i, one] of quickly(
    moments
      .filter(({ scenario }) => scenario.kind !== 'suspend')
      .entries()
      .toArray(),
    4,
    1,
  ))
    test(`${one.scenario.name}, at ${one.moment}`, async () => {
      using p = await world()
      const { id, answer } = await during(p, one, suspend)
      expect([i, answer?.status]).toEqual([i, 202])
      const after = await settled(p, id)
      expect(after).toMatchObject({ status: 'suspended', openJobs: 0, undosLeft: 0, addresses: 1, held: 1, seeds: 0 })
      expect(after.power).not.toBe('running')
      const { lifecycle, wantedPower } = p.server(id)
      p.arm({})
      await unsuspend(p, id)
      await p.settle()
      const { status, power } = await settled(p, id)
      if (lifecycle === 'active') return expect([status, power]).toEqual([wantedPower, wantedPower])
      expect(status).toBe(lifecycle)
      expect(power).not.toBe('running')
    })
})
