// Beyond a number of destructions in an hour, what one account asks for is accepted and held for a second person.
import { describe, expect, test } from 'bun:test'
import { purgeDue } from '../../../src/compute/servers/life/terminate.ts'
import { hour } from '../../../src/kernel/db/clock.ts'
import { invariants } from '../../support/world/invariants.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const LIMIT = 2
/** Six servers, a limit of two, and a billing token. */
async function fleet(servers = 4) {
  const p = await world()
  await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: LIMIT })
  const ids: string[] = []
  for (let i = 0; i < servers; i++)
    ids.push((await p.admin('POST', '/admin/servers', { ...p.order, hostname: `web${i}` })).serverId)
  await p.settle()
  return Object.assign(p, { ids, billing: p.token(p.owner.id) })
}
type Fleet = Awaited<ReturnType<typeof fleet>>
const terminateAll = async (p: Fleet, more = '') => {
  const statuses = []
  for (const id of p.ids) statuses.push((await p.call(p.billing, 'DELETE', `/servers/${id}${more}`)).status)
  await p.settle()
  return statuses
}
const cases = async (p: World, who: Who) => (await p.call(who, 'GET', '/admin/brakes')).body.data
const decide = (p: World, who: Who, id: string, what: 'release' | 'refuse', body: object = {}) =>
  p.call(who, 'POST', `/admin/brakes/${id}/actions/${what}`, body)
const left = (p: Fleet) =>
  p.ids.map((id) => [p.server(id).status, p.server(id).releasedAt === null ? 'held' : 'released'].join(' '))

describe('S60: terminations', () => {
  test('are all accepted at once; those beyond the limit keep their disks, whatever the window says', async () => {
    using p = await fleet()
    expect(await terminateAll(p, '?immediately=true')).toEqual([202, 202, 202, 202])
    expect(left(p)).toEqual(['terminated released', 'terminated released', 'terminated held', 'terminated held'])
    expect((await invariants(p, p.ids[2]!)).power).toBe('stopped')
    expect(p.events().filter((type) => type === 'server.terminated')).toHaveLength(4)
    p.turnClock(48 * hour)
    purgeDue(p.db, p.controller.app)
    await p.settle()
    expect((await invariants(p, p.ids[2]!)).volumes).toBe(2)
  })
  test('are shown to other staff, mailed to them, and to the account itself without a right to decide', async () => {
    using p = await fleet()
    const second = p.staff(['servers.see_all', 'servers.terminate'], 'Bea')
    const without = p.staff(['servers.see_all'], 'Cleo')
    await terminateAll(p)
    const [one] = await cases(p, second)
    expect(one).toMatchObject({ actor: { id: p.owner.id }, count: 2, waiting: 2, own: false, decision: null })
    expect(one.held.map((held: any) => held.hostname)).toEqual(['web2', 'web3'])
    const attention = (await p.call(second, 'GET', '/admin/overview')).body.attention.map((row: any) => row.what)
    expect(attention.some((what: string) => what.startsWith('2 destructions that'))).toBe(true)
    const told = p.db.$client.query("SELECT account_id AS id FROM notices WHERE kind = 'brake_held'").all()
    expect(told).toEqual([{ id: second.id }])
    expect((await p.call(without, 'GET', '/admin/brakes')).status).toBe(403)
    expect((await cases(p, p.owner))[0].own).toBe(true)
  })
  test('are deleted after a second person has released them, in their window', async () => {
    using p = await fleet()
    const second = p.staff(undefined, 'Bea')
    await terminateAll(p)
    const [{ id }] = await cases(p, second)
    expect((await decide(p, second, id, 'release')).body).toEqual({ settled: 2, waiting: 0, failed: [] })
    purgeDue(p.db, p.controller.app)
    await p.settle()
    expect(left(p).every((line) => line === 'terminated held')).toBe(true)
    p.turnClock(25 * hour)
    purgeDue(p.db, p.controller.app)
    await p.settle()
    expect(left(p).every((line) => line === 'terminated released')).toBe(true)
    const [after] = await cases(p, p.staff(undefined, 'Cy'))
    expect(after).toMatchObject({ decision: 'released', decidedBy: 'Bea', waiting: 0 })
  })
  test('come back when a second person refuses them, some or all', async () => {
    using p = await fleet()
    const second = p.staff(undefined, 'Bea')
    await terminateAll(p)
    const [{ id }] = await cases(p, second)
    const first = await decide(p, second, id, 'refuse', { serverIds: [p.ids[3]] })
    expect(first.body).toMatchObject({ settled: 1, waiting: 1 })
    await p.settle()
    expect(left(p).slice(2)).toEqual(['terminated held', 'running held'])
    expect((await decide(p, second, id, 'refuse')).body).toMatchObject({ settled: 1, waiting: 0, failed: [] })
    await p.settle()
    expect(left(p).slice(2)).toEqual(['running held', 'running held'])
    expect((await decide(p, second, id, 'refuse')).body.error.code).toBe('already_done')
  })
  test('one that cannot come back stays held, and its reason is answered', async () => {
    using p = await fleet()
    const second = p.staff(undefined, 'Bea')
    await terminateAll(p)
    p.db.$client.run('UPDATE nodes SET memory_mb = 2048')
    const [{ id }] = await cases(p, second)
    const { body } = await decide(p, second, id, 'refuse')
    expect([body.settled, body.waiting, body.failed.map((one: any) => one.code)]).toEqual([1, 1, ['no_capacity']])
  })
})

describe('nobody decides what they asked for', () => {
  test('neither the person, nor a token of anybody', async () => {
    using p = await fleet()
    const second = p.staff(undefined, 'Bea')
    await terminateAll(p)
    const [{ id }] = await cases(p, second)
    const before = p.fingerprint(['audit', 'sessions'])
    for (const what of ['release', 'refuse'] as const) {
      expect((await decide(p, p.owner, id, what)).body.error.code).toBe('forbidden')
      expect((await decide(p, p.billing, id, what)).body.error.code).toBe('token_not_allowed')
    }
    expect(p.fingerprint(['audit', 'sessions'])).toBe(before)
  })
})

test('S60: a reinstallation beyond the limit waits before its first step, and goes on or is cancelled', async () => {
  using p = await fleet(4)
  const second = p.staff(undefined, 'Bea')
  const jobs: string[] = []
  for (const id of p.ids) {
    const { status, body } = await p.call(p.billing, 'POST', `/servers/${id}/actions/reinstall`, {
      imageId: p.image,
      access: { mode: 'password' },
    })
    expect(status).toBe(202)
    jobs.push(body.jobId)
  }
  await p.settle()
  const states = () => jobs.map((id) => p.job(id).state)
  expect(states()).toEqual(['succeeded', 'succeeded', 'queued', 'queued'])
  // Neither a restart of the controller nor the look after jobs that nothing looks after begins them.
  await p.crash()
  p.controller.runner.pickUpOrphans()
  await p.settle()
  expect(states().slice(2)).toEqual(['queued', 'queued'])
  const { step, state } = (await p.call(second, 'GET', `/jobs/${jobs[2]}`)).body
  expect([state, step.name]).toEqual(['queued', 'Waiting until a second person releases it'])
  expect((await p.admin('GET', `/servers/${p.ids[2]}`)).status).toBe('running')
  const [{ id }] = await cases(p, second)
  await decide(p, second, id, 'release', { serverIds: [p.ids[2]] })
  await decide(p, second, id, 'refuse', { serverIds: [p.ids[3]] })
  await p.settle()
  expect(states().slice(2)).toEqual(['succeeded', 'failed'])
  expect(p.job(jobs[3]!).errorCode).toBe('cancelled')
  expect((await invariants(p, p.ids[3]!)).disk).toEqual({ onNode: 1, inUse: 1 })
})

test('the count is of one account in one hour, and begins anew after a release', async () => {
  using p = await fleet(4)
  const second = p.staff(undefined, 'Bea')
  const [one, two, three, four] = p.ids as [string, string, string, string]
  await p.call(p.billing, 'DELETE', `/servers/${one}`)
  await p.call(p.token(second.id), 'DELETE', `/servers/${two}`)
  p.turnClock(2 * hour)
  await p.call(p.billing, 'DELETE', `/servers/${three}`)
  await p.call(p.billing, 'DELETE', `/servers/${four}`)
  await p.settle()
  expect((await p.call(p.token(second.id), 'GET', '/admin/brakes')).status).toBe(403)
  expect(p.db.$client.query('SELECT count(*) AS n FROM brake_cases').get()).toEqual({ n: 0 })
})

test('without a setting the limit is 25, or 5 % of all servers', async () => {
  using p = await world()
  const { settings } = await p.admin('GET', '/admin/settings/values')
  expect(settings.find((one: any) => one.name === 'brake.limit')).toMatchObject({
    value: null,
    default: null,
    defaultWords: '25 or 5 % of all servers, whichever is more',
  })
})
