// Beyond a number of destructions in an hour, what one account asks for is accepted and held for a second person.
import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import type { DestructionKind } from '../../../src/compute/brake/tables.ts'
import { deleteReleased } from '../../../src/compute/gpu-instances/life/delete.ts'
import { purgeDue } from '../../../src/compute/servers/life/terminate.ts'
import type { Destroyed } from '../../../src/kernel/api/operation.ts'
import { hour } from '../../../src/kernel/db/clock.ts'
import { invariants } from '../../support/crash-matrix/invariants.ts'
import { addGpuHost, addGpuOffer } from '../../support/nodes/gpus.ts'
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
    expect(one.held.map((held: any) => held.name)).toEqual(['web2', 'web3'])
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
    const first = await decide(p, second, id, 'refuse', { heldIds: [p.ids[3]] })
    expect(first.body).toMatchObject({ settled: 1, waiting: 1 })
    await p.settle()
    expect(left(p).slice(2)).toEqual(['terminated held', 'running held'])
    expect((await decide(p, second, id, 'refuse')).body).toMatchObject({ settled: 1, waiting: 0, failed: [] })
    await p.settle()
    expect(left(p).slice(2)).toEqual(['running held', 'running held'])
    expect((await decide(p, second, id, 'refuse')).body.error.code).toBe('already_done')
  })
  test('of servers that wait for their setup are not counted: nothing is destroyed', async () => {
    using p = await fleet(2)
    const bare = { ...p.order, imageId: undefined, hostname: undefined, access: undefined }
    for (let i = 0; i < 3; i++) {
      const { serverId } = await p.admin('POST', '/admin/servers', bare)
      expect((await p.call(p.billing, 'DELETE', `/servers/${serverId}`)).status).toBe(200)
    }
    expect(await terminateAll(p, '?immediately=true')).toEqual([202, 202])
    expect(left(p)).toEqual(['terminated released', 'terminated released'])
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
  await decide(p, second, id, 'release', { heldIds: [p.ids[2]] })
  await decide(p, second, id, 'refuse', { heldIds: [p.ids[3]] })
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

/** A thing that is destroyed for good: how it is asked for, whether it is as it was, and the kind that is counted. */
type Target = { ask: (who: Who) => ReturnType<World['call']>; isThere: () => Promise<boolean>; of?: string }
type Way = { kind: DestructionKind; make: (p: Fleet, n: number) => Promise<Target> }
const isHeld = (p: Fleet, n: number) => async () => p.server(p.ids[n]!).releasedAt === null
const backupAt = async (p: Fleet, n: number, targetId?: string) => {
  if (targetId) await p.admin('POST', `/admin/backup-targets/${targetId}/actions/make-default`)
  const at = `/servers/${p.ids[n]}/backups`
  const { backupId } = await p.admin('POST', at, {})
  await p.settle()
  const isThere = async () => (await p.admin('GET', at)).data.some(({ id }: any) => id === backupId)
  return { at, backupId: backupId as string, isThere }
}
const instance = (path: string, owner: boolean) => async (p: Fleet, n: number) => {
  if (n === 0) await withCards(p)
  const { instanceId } = await p.admin('POST', '/admin/gpu-instances', {
    ownerId: p.customer.id,
    offerId: p.db.$client.query<{ id: string }, []>('SELECT id FROM gpu_offers').get()!.id,
    nodeGroupId: p.location,
  })
  await p.settle()
  return {
    ask: (who: Who) => p.call(owner ? p.token(p.customer.id) : who, 'DELETE', `${path}/${instanceId}`),
    isThere: async () => (await p.admin('GET', `/gpu-instances/${instanceId}`)).status !== 'deleted',
    of: instanceId,
  }
}
async function withCards(p: Fleet) {
  addGpuHost(p, p.location, 4)
  await addGpuOffer(p)
}
/** By the id of the operation, and behind it the way in which it is called. */
const ways: Record<string, Way> = {
  'servers.terminate': {
    kind: 'terminate',
    make: async (p, n) => ({
      ask: (who) => p.call(who, 'DELETE', `/servers/${p.ids[n]}?immediately=true`),
      isThere: isHeld(p, n),
    }),
  },
  'servers.terminate within its window': {
    kind: 'give_up_window',
    async make(p, n) {
      await p.admin('DELETE', `/servers/${p.ids[n]}`)
      await p.settle()
      return { ask: (who) => p.call(who, 'DELETE', `/servers/${p.ids[n]}?immediately=true`), isThere: isHeld(p, n) }
    },
  },
  'gpu-instances.delete': { kind: 'terminate', make: instance('/admin/gpu-instances', false) },
  'gpu-instances.delete-own': { kind: 'terminate', make: instance('/gpu-instances', true) },
  'servers.reinstall': {
    kind: 'reinstall',
    async make(p, n) {
      const before = p.server(p.ids[n]!).diskGeneration
      const body = { imageId: p.image, access: { mode: 'password' } }
      return {
        ask: (who) => p.call(who, 'POST', `/servers/${p.ids[n]}/actions/reinstall`, body),
        isThere: async () => p.server(p.ids[n]!).diskGeneration === before,
      }
    },
  },
  'snapshots.restore': {
    kind: 'restore',
    async make(p, n) {
      const at = `/servers/${p.ids[n]}/snapshots`
      const { snapshotId } = await p.admin('POST', at, { name: 'before' })
      await p.settle()
      const before = p.server(p.ids[n]!).diskLayer
      return {
        ask: (who) => p.call(who, 'POST', `${at}/${snapshotId}/actions/restore`),
        isThere: async () => p.server(p.ids[n]!).diskLayer === before,
      }
    },
  },
  'backups.restore': {
    kind: 'restore',
    async make(p, n) {
      const { at, backupId } = await backupAt(p, n)
      const before = p.server(p.ids[n]!).diskGeneration
      return {
        ask: (who) => p.call(who, 'POST', `${at}/${backupId}/actions/restore`),
        isThere: async () => p.server(p.ids[n]!).diskGeneration === before,
      }
    },
  },
  'volumes.delete': {
    kind: 'delete_volume',
    async make(p, n) {
      const { volumeId } = await p.admin('POST', `/servers/${p.ids[n]}/volumes`, { name: `data${n}`, sizeGb: 5 })
      await p.settle()
      await p.admin('POST', `/volumes/${volumeId}/actions/detach`)
      await p.settle()
      return {
        ask: (who) => p.call(who, 'DELETE', `/volumes/${volumeId}`),
        isThere: async () => (await p.node.agent.host.storage.list()).some(({ workload }) => workload === volumeId),
      }
    },
  },
  'backups.remove': {
    kind: 'delete_backup',
    async make(p, n) {
      const { at, backupId, isThere } = await backupAt(p, n)
      return { ask: (who) => p.call(who, 'DELETE', `${at}/${backupId}`), isThere }
    },
  },
  'backups.delete': {
    kind: 'delete_backup',
    async make(p, n) {
      const { backupId, isThere } = await backupAt(p, n)
      return { ask: (who) => p.call(who, 'DELETE', `/backups/${backupId}`), isThere }
    },
  },
  'backup-targets.remove': {
    kind: 'forget_backup',
    async make(p, n) {
      const { id } = await p.admin('POST', '/admin/backup-targets/local', { name: `d${n}`, address: `/srv/${n}` })
      const { isThere } = await backupAt(p, n, id)
      return {
        // In person: no token removes a target that holds something.
        ask: async () => {
          const answer = await p.call(p.owner, 'DELETE', `/admin/backup-targets/${id}?forgetBackups=true`)
          return { ...answer, status: answer.status === 200 ? 202 : answer.status }
        },
        isThere: async () =>
          (await isThere()) &&
          (await p.admin('GET', '/admin/backup-targets')).data.some((target: { id: string }) => target.id === id),
      }
    },
  },
}
/** One call of theirs counts every workload of a node: see below. */
const ofNodes = ['nodes.remove-with-workloads', 'nodes.declare-lost', 'nodes.remove']
const held: readonly Destroyed[] = ['servers', 'disks', 'backups', 'nodes']

test('S60: every operation that declares that it destroys servers, disks, backups or nodes is tried', () =>
  expect(
    registry.operations
      .filter(({ destroys }) => destroys?.some((one) => held.includes(one)))
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual([...new Set([...Object.keys(ways).map((way) => way.split(' ')[0]!), ...ofNodes])].toSorted()))

describe('S60: of every operation that destroys, what goes beyond the limit', () => {
  for (const [way, { kind, make }] of Object.entries(ways))
    test(`waits, stays when a second person refuses it, and goes when they release it: ${way}`, async () => {
      using p = await fleet(4)
      await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50, snapshotLimit: 2 })
      const { id: place } = await p.admin('POST', '/admin/backup-targets/local', { name: 'disk', address: '/srv/b' })
      await p.admin('POST', `/admin/backup-targets/${place}/actions/make-default`)
      const targets: Target[] = []
      for (const n of [0, 1, 2, 3]) targets.push(await make(p, n))
      for (const { ask } of targets) expect((await ask(p.billing)).status).toBeOneOf([200, 202])
      await p.settle()
      const there = () => Promise.all(targets.map(({ isThere }) => isThere()))
      expect(await there()).toEqual([false, false, true, true])
      const second = p.staff(undefined, 'Bea')
      const [one] = await cases(p, second)
      expect(one.held.map(({ kind }: any) => kind)).toEqual([kind, kind])
      expect(one.held.map(({ workload }: any) => workload.id)).toEqual([2, 3].map((n) => targets[n]!.of ?? p.ids[n]))
      expect(one.held.map(({ owner }: any) => owner.id)).toEqual([p.customer.id, p.customer.id])
      const [refused, released] = one.held.map(({ id }: any) => id)
      expect((await decide(p, second, one.id, 'refuse', { heldIds: [refused] })).body.settled).toBe(1)
      expect((await decide(p, second, one.id, 'release', { heldIds: [released] })).body.waiting).toBe(0)
      await p.settle()
      const later = async () => {
        purgeDue(p.db, p.controller.app)
        deleteReleased(p.db, p.controller.app)
        await p.settle()
      }
      await later()
      if (kind === 'terminate') p.turnClock(25 * hour)
      await later()
      expect(await there()).toEqual([false, false, true, false])
      // The refused one can be asked for again, as if nobody had.
      if (kind !== 'terminate') {
        await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 100 })
        expect((await targets[2]!.ask(p.billing)).status).toBeOneOf([200, 202])
        await p.settle()
        expect(await there()).toEqual([false, false, false, false])
      }
    })
})

test('a window whose end is refused goes on, and the server comes back from it', async () => {
  using p = await fleet(3)
  for (const id of p.ids) await p.admin('DELETE', `/servers/${id}`)
  await p.settle()
  await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 1 })
  const billing = p.token(p.owner.id)
  for (const id of p.ids) await p.call(billing, 'DELETE', `/servers/${id}?immediately=true`)
  const [, , last] = p.ids as [string, string, string]
  // Asked for twice, it is held once.
  expect((await p.call(billing, 'DELETE', `/servers/${last}?immediately=true`)).status).toBe(200)
  const second = p.staff(undefined, 'Bea')
  const one = (await cases(p, second)).find(({ actor }: any) => actor.id === p.owner.id)
  await decide(p, second, one.id, 'refuse')
  purgeDue(p.db, p.controller.app)
  await p.settle()
  expect(p.server(last)).toMatchObject({ releasedAt: null, purgeHeld: false })
  expect((await p.call(second, 'POST', `/servers/${last}/actions/undelete`)).status).toBe(202)
})

test('each server of a node that is declared lost is counted, and what comes after it waits', async () => {
  using p = await fleet(2)
  p.node.agent.disconnect()
  p.turnClock(2 * hour)
  const owner = p.signIn(p.owner.id)
  const lost = await p.call(owner, 'POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
  expect([lost.status, lost.body.count]).toEqual([200, 2])
  expect((await p.call(p.token(p.owner.id), 'DELETE', `/servers/${p.ids[0]}`)).status).toBe(202)
  expect(p.server(p.ids[0]!).purgeHeld).toBe(true)
})

test('each server of a node that is removed with them is counted, and those beyond the limit wait', async () => {
  using p = await fleet(4)
  const path = `/admin/nodes/${p.node.id}/actions/remove-with-workloads`
  expect((await p.call(p.owner, 'POST', path, { name: 'fra-01' })).status).toBe(200)
  await p.settle()
  const second = p.staff(undefined, 'Bea')
  expect((await cases(p, second))[0]).toMatchObject({ count: 2, waiting: 2 })
})

test('a volume whose deletion is refused is used on, and its deletion is told only when it goes', async () => {
  using p = await fleet(1)
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
  await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 1 })
  await p.call(p.billing, 'POST', `/servers/${p.ids[0]}/actions/reinstall`, {
    imageId: p.image,
    access: { mode: 'password' },
  })
  await p.settle()
  const volume = await ways['volumes.delete']!.make(p, 0)
  const { volumeId } = (await volume.ask(p.billing)).body
  await p.settle()
  const told = () => p.events().filter((type) => type === 'volume.deleted').length
  const open = () =>
    (p.db.$client.query('SELECT count(*) AS n FROM volume_intervals WHERE until IS NULL').get() as { n: number }).n
  const shown = async () => (await p.admin('GET', `/volumes/${volumeId}`)).state
  expect([told(), open(), await shown()]).toEqual([0, 1, 'deleting'])
  expect((await volume.ask(p.billing)).body.error.code).toBe('volume_busy')
  const second = p.staff(undefined, 'Bea')
  const [{ id, held }] = await cases(p, second)
  expect(held).toMatchObject([{ id: volumeId, name: 'data0', workload: { hostname: 'web0' } }])
  await decide(p, second, id, 'refuse')
  await p.settle()
  expect([told(), open(), await shown(), await volume.isThere()]).toEqual([0, 1, 'detached', true])
  await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 100 })
  await volume.ask(p.billing)
  await p.settle()
  expect([told(), open(), await volume.isThere()]).toEqual([1, 0, false])
})

/** The kind under which each job that loses data is counted: a new job does not pass before that is decided. */
const countedAs: Record<string, DestructionKind> = {
  purge: 'terminate',
  gpu_delete: 'terminate',
  reinstall: 'reinstall',
  restore: 'restore',
  restore_snapshot: 'restore',
  import_roll_back: 'restore',
}
test('every job that loses data of a server or GPU instance for good is counted', () => {
  const losing = registry.jobs.filter(({ losingSteps }) => losingSteps.length > 0)
  expect(losing.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(countedAs).toSorted())
})

describe('S60: a node with terminations that wait for a second person', () => {
  const path = (p: Fleet, action = '') => `/admin/nodes/${p.node.id}${action && `/actions/${action}`}`
  const removeAll = (p: Fleet) =>
    p.call(p.signIn(p.owner.id), 'POST', path(p, 'remove-with-workloads'), { name: 'fra-01' })

  test('stays when it is removed with its servers, and a refusal brings them back', async () => {
    using p = await fleet()
    const second = p.staff(['servers.see_all', 'servers.terminate'], 'Bea')
    const { status, body } = await removeAll(p)
    expect([status, body.removed, body.count, body.held]).toEqual([200, false, 4, 2])
    await p.settle()
    expect((await p.call(p.owner, 'GET', path(p))).body).toMatchObject({ open: false, connected: true })
    const [one] = await cases(p, second)
    expect((await decide(p, second, one.id, 'refuse')).body).toEqual({ settled: 2, waiting: 0, failed: [] })
    await p.settle()
    expect(left(p).slice(2)).toEqual(['running held', 'running held'])
  })
  test('is removed by a second call, after they were released', async () => {
    using p = await fleet()
    const second = p.staff(['servers.see_all', 'servers.terminate'], 'Bea')
    await removeAll(p)
    const [one] = await cases(p, second)
    await decide(p, second, one.id, 'release')
    expect((await removeAll(p)).body).toMatchObject({ removed: true, held: 0 })
    expect((await p.call(p.owner, 'GET', path(p))).status).toBe(404)
  })
  async function withVolumes(n: number) {
    const p = await fleet(1)
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
    for (let i = 0; i < n; i++) {
      await p.admin('POST', `/servers/${p.ids[0]}/volumes`, { name: `data${i}`, sizeGb: 5 })
      await p.settle()
    }
    return p
  }
  const states = async (p: Fleet) =>
    (await p.admin('GET', '/volumes')).data.map(({ state }: { state: string }) => state)
  test('stays with its extra volumes too, and a refusal leaves them as they were', async () => {
    using p = await withVolumes(3)
    const second = p.staff(['servers.see_all', 'servers.terminate'], 'Bea')
    const { body } = await removeAll(p)
    expect(body).toMatchObject({ removed: false, count: 1, volumeCount: 3, held: 2 })
    expect(body.summary).toBe('fra-01 stays: the loss of 2 extra volumes waits for a second person.')
    const again = await removeAll(p)
    expect(again.body).toMatchObject({ removed: false, held: 2 })
    p.node.agent.disconnect()
    for (const [method, action] of [
      ['DELETE', ''],
      ['POST', 'declare-lost'],
    ] as const)
      expect((await p.call(p.owner, method, path(p, action), action && { name: 'fra-01' })).body.error.code).toBe(
        'node_held',
      )
    const [one] = await cases(p, second)
    expect(one.held.map(({ kind, name }: any) => [kind, name])).toEqual([
      ['lose_volume', 'data1'],
      ['lose_volume', 'data2'],
    ])
    expect((await decide(p, second, one.id, 'refuse')).body).toEqual({ settled: 2, waiting: 0, failed: [] })
    expect((await p.call(p.owner, 'GET', path(p))).status).toBe(200)
    expect(await states(p)).toEqual(['detached', 'detached', 'detached'])
    // Refused, it is asked for anew.
    p.turnClock(hour)
    const third = await removeAll(p)
    expect(third.body).toMatchObject({ removed: true, held: 0, volumeCount: 3 })
    expect(await states(p)).toEqual(['lost', 'lost', 'lost'])
  })
  test('is removed with its extra volumes after they were released, and counts none twice', async () => {
    using p = await withVolumes(4)
    const second = p.staff(['servers.see_all', 'servers.terminate'], 'Bea')
    expect((await removeAll(p)).body).toMatchObject({ removed: false, held: 3 })
    const [one] = await cases(p, second)
    await decide(p, second, one.id, 'release')
    expect((await removeAll(p)).body).toMatchObject({ removed: true, held: 0 })
    expect(await states(p)).toEqual(['lost', 'lost', 'lost', 'lost'])
  })
  test('is neither removed nor declared lost, also when it is away', async () => {
    using p = await fleet()
    await terminateAll(p)
    p.node.agent.disconnect()
    const before = p.fingerprint()
    const lost = await p.call(p.owner, 'POST', path(p, 'declare-lost'), { name: 'fra-01' })
    expect([lost.status, lost.body.error.code]).toEqual([409, 'node_held'])
    const removed = await p.call(p.owner, 'DELETE', path(p))
    expect([removed.status, removed.body.error.code]).toEqual([409, 'node_held'])
    expect(p.fingerprint()).toBe(before)
  })
})
