// A new root password: by the guest agent at once, else by a seed at the next start.

import { describe, expect, test } from 'bun:test'
import { removeReadSeeds } from '../../../src/compute/guest/pending-seed.ts'
import { sha512Crypt } from '../../../src/kernel/crypto/sha512-crypt.ts'
import { type World, world } from '../../support/world/panel.ts'

async function ordered() {
  const p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return Object.assign(p, { id: serverId as string })
}
const reset = (p: World, id: string, who = p.customer) =>
  p.call(who, 'POST', `/servers/${id}/actions/reset-password`, {})
const power = async (p: World, id: string, action: string) => {
  await p.call(p.customer, 'POST', `/servers/${id}/actions/power`, { action })
  await p.settle()
}
const agentOf = (p: World) => p.node.agent.host.guestAgent
const pending = async (p: World, id: string) => (await p.call(p.customer, 'GET', `/servers/${id}`)).body.passwordPending
const isHashOf = (hash: string | undefined, password: string) =>
  hash !== undefined && sha512Crypt(password, hash.split('$').at(-2)) === hash
/** The password's hash in the seed that waits on the node. */
function inSeed(p: World, id: string): string | undefined {
  const userData = p.node.agent.host.seeds.files(id)?.['user-data']
  return userData && JSON.parse(userData.split('\n').slice(1).join('\n')).users?.[0].hashed_passwd
}

describe('a reset of the root password', () => {
  test('is done at once by the guest agent, and only the answer has the password', async () => {
    using p = await ordered()
    await p.controller.app.guestWatch.turn({ db: p.db, app: p.controller.app, hub: p.controller.hub })
    const { status, body } = await reset(p, p.id)
    expect([status, body.applies]).toEqual([202, 'now'])
    await p.settle()
    expect(p.job(body.jobId)).toMatchObject({ state: 'succeeded', kind: 'password' })
    expect(isHashOf(agentOf(p).password(p.id), body.rootPassword)).toBe(true)
    expect([await pending(p, p.id), inSeed(p, p.id)]).toEqual([false, undefined])
    for (const { name } of p.db.$client
      .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all())
      expect([
        name,
        JSON.stringify(p.db.$client.query(`SELECT * FROM "${name}"`).all()).includes(body.rootPassword),
      ]).toEqual([name, false])
  })
  test('waits in a seed for the next start where no agent answers, and the seed is removed after it', async () => {
    using p = await ordered()
    agentOf(p).behave(p.id, 'broken')
    const { body } = await reset(p, p.id)
    expect(body.applies).toBe('next_boot')
    await p.settle()
    expect(p.job(body.jobId).state).toBe('succeeded')
    expect(isHashOf(inSeed(p, p.id), body.rootPassword)).toBe(true)
    expect(await pending(p, p.id)).toBe(true)
    // While it has not been off, nothing has read the seed.
    removeReadSeeds(p.db, p.controller.app)
    await p.settle()
    expect(inSeed(p, p.id)).toBeDefined()
    await power(p, p.id, 'restart')
    removeReadSeeds(p.db, p.controller.app)
    await p.settle()
    expect([await pending(p, p.id), inSeed(p, p.id)]).toEqual([false, undefined])
  })
  test('of a stopped server survives a change of its package, and a later one takes its place', async () => {
    using p = await ordered()
    await power(p, p.id, 'off')
    const first = (await reset(p, p.id)).body
    await p.settle()
    const { id: packageId } = await p.admin('POST', '/admin/packages', {
      name: 'L',
      vcpus: 4,
      memoryMb: 4096,
      diskGb: 30,
    })
    await p.admin('POST', `/servers/${p.id}/actions/change-package`, { packageId })
    await p.settle()
    expect(isHashOf(inSeed(p, p.id), first.rootPassword)).toBe(true)
    await power(p, p.id, 'start')
    const second = (await reset(p, p.id)).body
    await p.settle()
    expect(isHashOf(agentOf(p).password(p.id), second.rootPassword)).toBe(true)
    expect([await pending(p, p.id), inSeed(p, p.id)]).toEqual([false, undefined])
    removeReadSeeds(p.db, p.controller.app)
    await p.settle()
    expect(await p.node.agent.host.seeds.path(p.id)).toBeUndefined()
  })
  test('that waits for the next start survives a stay in rescue', async () => {
    using p = await ordered()
    await p.admin('PATCH', `/admin/images/${p.image}`, { isRescue: true })
    await power(p, p.id, 'off')
    const { body } = await reset(p, p.id)
    await p.settle()
    for (const action of ['rescue', 'rescue/exit']) {
      const { jobId } = await p.admin('POST', `/servers/${p.id}/actions/${action}`)
      await p.settle()
      expect([action, p.job(jobId).state]).toEqual([action, 'succeeded'])
      if (action === 'rescue') removeReadSeeds(p.db, p.controller.app)
      await p.settle()
    }
    expect(isHashOf(inSeed(p, p.id), body.rootPassword)).toBe(true)
    removeReadSeeds(p.db, p.controller.app)
    await p.settle()
    expect([await pending(p, p.id), inSeed(p, p.id)]).toEqual([false, undefined])
  })
  test('is replayed under its key with the same password, and refused to those who may not', async () => {
    using p = await ordered()
    const again = () =>
      p.call(p.customer, 'POST', `/servers/${p.id}/actions/reset-password`, {}, { 'Idempotency-Key': 'one' })
    const [one, two] = [await again(), await again()]
    expect(two.body).toEqual(one.body)
    await p.settle()
    const eve = p.account('customer', 'Eve')
    await p.call(eve, 'GET', '/servers')
    const before = p.fingerprint()
    expect((await reset(p, p.id, eve)).body.error.code).toBe('server_not_found')
    expect(p.fingerprint()).toBe(before)
  })
})

describe('the system of a guest', () => {
  const turn = (p: World) =>
    p.controller.app.guestWatch.turn({ db: p.db, app: p.controller.app, hub: p.controller.hub })
  const systemOf = async (p: World, id: string) => (await p.call(p.customer, 'GET', `/servers/${id}`)).body.os

  test('is known by itself once its agent answers, and unknown again after a reinstallation', async () => {
    using p = await ordered()
    expect(await systemOf(p, p.id)).toBeNull()
    await turn(p)
    expect(await systemOf(p, p.id)).toMatchObject({ id: 'fake', name: 'Fake Linux', version: '1' })
    await p.admin('POST', `/servers/${p.id}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    await p.settle()
    expect(await systemOf(p, p.id)).toBeNull()
  })
  test('is asked at growing intervals while no agent answers, and soon after a start', async () => {
    using p = await ordered()
    agentOf(p).behave(p.id, 'silent')
    const next = () =>
      p.db.$client
        .query<{ at: number; tries: number }, []>('SELECT next_look_at AS at, tries FROM server_guests')
        .get()!
    await turn(p)
    expect([next().at - p.now(), next().tries]).toEqual([expect.closeTo(10_000, -2), 1])
    p.db.$client.run('UPDATE server_guests SET tries = 72, next_look_at = 0')
    await turn(p)
    expect(next().at - p.now()).toBeCloseTo(6 * 3_600_000, -3)
    await power(p, p.id, 'restart')
    expect(next()).toEqual({ at: 0, tries: 0 })
  })
  test('is detected by staff on demand, with a failed job where no agent answers', async () => {
    using p = await ordered()
    const detect = () => p.admin('POST', `/servers/${p.id}/actions/detect-os`)
    const { jobId } = await detect()
    await p.settle()
    expect([p.job(jobId).state, (await systemOf(p, p.id)).name]).toEqual(['succeeded', 'Fake Linux'])
    agentOf(p).behave(p.id, 'silent')
    const failed = await detect()
    await p.settle()
    expect(p.job(failed.jobId)).toMatchObject({ state: 'failed', errorCode: 'guest_agent_silent' })
    const { status } = await p.call(p.customer, 'POST', `/servers/${p.id}/actions/detect-os`)
    expect(status).toBe(403)
  })
})
