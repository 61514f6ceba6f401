// Snapshots of servers: what they keep, their limits, and what other jobs do to them.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { FakeLayers } from '../../../agent/drivers/storage/fake-layers.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

const GiB = 1024 ** 3

async function running(p: World): Promise<string> {
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return serverId
}
/** A server with ways to write and read its disk, which is a text on the fake host. */
async function begin(p: World) {
  const id = await running(p)
  const at = `/servers/${id}/snapshots`
  const layers = () => new FakeLayers(new Database(`${p.node.agent.home}/fake.db`))
  const disk = () => {
    const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
    const { disk } = db.query('select disk from vms where workload = ?').get(id) as { disk: string }
    db.close()
    return disk
  }
  const call = async (who: Who, method: string, path: string, body?: object) => {
    const answer = await p.call(who, method, path, body)
    await p.settle()
    return { status: answer.status, code: answer.body.error?.code, ...answer.body }
  }
  const take = async (name: string, more: object = {}) =>
    (await call(p.customer, 'POST', at, { name, ...more })).snapshotId as string
  return {
    id,
    at,
    call,
    take,
    write: (text: string) => layers().write(disk(), text),
    read: () => layers().read(disk()),
    list: async () => (await p.call(p.customer, 'GET', at)).body,
    names: async () => (await p.call(p.customer, 'GET', at)).body.data.map(({ name }: any) => name),
    restore: (snapshotId: string, who: Who = p.customer) => call(who, 'POST', `${at}/${snapshotId}/actions/restore`),
    remove: (snapshotId: string, who: Who = p.customer) => call(who, 'DELETE', `${at}/${snapshotId}`),
    power: (action: string) => call(p.customer, 'POST', `/servers/${id}/actions/power`, { action }),
    spareGb: () =>
      (p.db.$client.query('SELECT spare_disk_gb AS n FROM workload_stays WHERE workload_id = ?').get(id) as any).n,
    state: async () => (await p.admin('GET', `/servers/${id}`)).status,
  }
}

describe('a snapshot', () => {
  test('is taken of a running server, listed, renamed, restored and deleted', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const answer = await s.call(p.customer, 'POST', s.at, { name: 'a', comment: 'first' })
    expect(answer.status).toBe(201)
    s.write('two')
    expect(await s.list()).toMatchObject({
      total: 1,
      limit: 3,
      heldGb: 20,
      notTakeable: null,
      data: [{ id: answer.snapshotId, name: 'a', comment: 'first', state: 'ready', consistent: true, diskGb: 20 }],
    })
    const changed = await s.call(p.customer, 'PATCH', `${s.at}/${answer.snapshotId}`, { name: 'z', comment: '' })
    expect(changed).toMatchObject({ status: 200, name: 'z', comment: '' })
    expect((await s.restore(answer.snapshotId)).status).toBe(202)
    expect([s.read(), await s.state()]).toEqual(['one', 'running'])
    s.write('three')
    expect((await s.remove(answer.snapshotId)).status).toBe(202)
    expect([s.read(), await s.names(), s.spareGb()]).toEqual(['three', [], 0])
    await s.power('restart')
    expect([s.read(), await s.state()]).toEqual(['three', 'running'])
  })

  test('of a stopped server is consistent, and the server stays off when it is restored', async () => {
    using p = await world()
    const s = await begin(p)
    await s.power('shutdown')
    s.write('one')
    const a = await s.take('a')
    s.write('two')
    expect((await s.list()).data[0].consistent).toBe(true)
    await s.restore(a)
    expect([s.read(), await s.state()]).toEqual(['one', 'stopped'])
    await s.power('start')
    expect(await s.state()).toBe('running')
  })

  test('without an answer of the guest agent is marked as not consistent', async () => {
    using p = await world()
    const s = await begin(p)
    const { guestAgent } = p.node.agent.host as any
    guestAgent.behave(s.id, 'silent')
    await s.take('a')
    expect((await s.list()).data[0].consistent).toBe(false)
  })

  test('comes back with the disk as large as it has become', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('small')
    const a = await s.take('a')
    const { id: packageId } = await p.admin('POST', '/admin/packages', {
      name: 'Larger',
      vcpus: 2,
      memoryMb: 2048,
      diskGb: 30,
    })
    await s.call(p.owner, 'POST', `/servers/${s.id}/actions/change-package`, { packageId })
    expect(await s.list()).toMatchObject({ heldGb: 20, data: [{ diskGb: 20 }] })
    await s.take('b')
    expect((await s.list()).heldGb).toBe(50)
    await s.restore(a)
    expect(s.read()).toBe('small')
    const sizes = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
      .query('select max(sizeBytes) as n from layers where path like ?')
      .get(`%/${s.id}-%`) as { n: number }
    expect(sizes.n).toBe(30 * GiB)
  })
})

test('other snapshots stay when one is restored, and are deleted in any order that leaves the rest', async () => {
  using p = await world()
  const s = await begin(p)
  const ids: Record<string, string> = {}
  for (const name of ['a', 'b', 'c']) {
    s.write(name)
    ids[name] = await s.take(name)
  }
  s.write('now')
  await s.restore(ids['a']!)
  expect(s.read()).toBe('a')
  // The disk and `b` stand on `a`.
  const [, , a] = (await s.list()).data
  expect(a.notDeletable).toContain('“b”')
  expect((await s.remove(ids['a']!)).code).toBe('snapshot_in_use')
  for (const [name, content] of [
    ['c', 'c'],
    ['b', 'b'],
    ['a', 'a'],
  ] as const) {
    await s.restore(ids[name]!)
    expect(s.read()).toBe(content)
  }
  // `b` stands between `a` and `c`: the others keep their content.
  await s.remove(ids['b']!)
  for (const name of ['c', 'a'] as const) {
    await s.restore(ids[name]!)
    expect(s.read()).toBe(name)
  }
  await s.remove(ids['c']!)
  s.write('end')
  await s.remove(ids['a']!)
  expect([s.read(), await s.names(), s.spareGb(), await s.state()]).toEqual(['end', [], 0, 'running'])
})

describe('the limit', () => {
  test('of the package refuses one more, and 0 allows none', async () => {
    using p = await world()
    const s = await begin(p)
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { snapshotLimit: 1 })
    expect((await s.call(p.customer, 'POST', s.at, { name: 'a' })).status).toBe(201)
    const answer = await s.call(p.customer, 'POST', s.at, { name: 'b' })
    expect([answer.status, answer.code]).toEqual([409, 'snapshot_limit'])
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { snapshotLimit: 0 })
    // The one that is there stays.
    expect(await s.list()).toMatchObject({
      limit: 0,
      total: 1,
      notTakeable: expect.stringContaining('no snapshots'),
    })
    expect((await s.call(p.customer, 'POST', s.at, { name: 'c' })).code).toBe('snapshot_limit')
  })

  test('of space on the node refuses one, and nothing is held', async () => {
    using p = await world()
    const s = await begin(p)
    p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [30 * GiB])
    expect((await s.list()).notTakeable).toContain('20 GiB')
    const answer = await s.call(p.customer, 'POST', s.at, { name: 'a' })
    expect([answer.code, s.spareGb(), (await s.names()).length]).toEqual(['no_capacity', 0, 0])
  })

  test('of a name is the server: two of one server differ, two servers may have the same', async () => {
    using p = await world()
    const s = await begin(p)
    await s.take('a')
    expect((await s.call(p.customer, 'POST', s.at, { name: 'a' })).code).toBe('name_taken')
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
    await p.settle()
    expect((await s.call(p.customer, 'POST', `/servers/${serverId}/snapshots`, { name: 'a' })).status).toBe(201)
  })
})

describe('who may', () => {
  test('a snapshot of another server is not found under this one', async () => {
    using p = await world()
    const s = await begin(p)
    const a = await s.take('a')
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
    await p.settle()
    const other = `/servers/${serverId}/snapshots/${a}`
    for (const [method, path, body] of [
      ['PATCH', other, { name: 'x' }],
      ['DELETE', other, undefined],
      ['POST', `${other}/actions/restore`, undefined],
    ] as const)
      expect((await s.call(p.customer, method, path, body)).code).toBe('snapshot_not_found')
    expect(await s.names()).toEqual(['a'])
  })

  test('a protected server is neither restored nor are its snapshots deleted; new ones are taken', async () => {
    using p = await world()
    const s = await begin(p)
    const a = await s.take('a')
    await s.call(p.customer, 'PUT', `/servers/${s.id}/protection`, { protected: true })
    for (const answer of [await s.restore(a), await s.remove(a)]) expect(answer.code).toBe('server_protected')
    expect((await s.list()).data[0]).toMatchObject({
      notRestorable: expect.stringContaining('protected'),
      notDeletable: expect.stringContaining('protected'),
    })
    expect(await s.take('b')).toStartWith('snp_')
  })

  test('restores of one account beyond the brake wait for a second person', async () => {
    using p = await world()
    const s = await begin(p)
    const a = await s.take('a')
    s.write('now')
    await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 1 })
    await s.restore(a, p.owner)
    s.write('again')
    const { jobId } = await s.restore(a, p.owner)
    expect([p.job(jobId).state, s.read()]).toEqual(['queued', 'again'])
    expect((await p.admin('GET', '/admin/brakes')).data[0]).toMatchObject({ waiting: 1 })
  })
})

describe('other jobs', () => {
  test('a reinstallation says how many it deletes, and deletes them with the old disk', async () => {
    using p = await world()
    const s = await begin(p)
    await s.take('a')
    await s.take('b')
    const options = (await p.call(p.customer, 'GET', `/servers/${s.id}/reinstall-options`)).body
    expect(options.snapshots).toBe(2)
    await s.call(p.customer, 'POST', `/servers/${s.id}/actions/reinstall`, {
      imageId: p.image,
      access: { mode: 'password' },
    })
    expect([await s.names(), s.spareGb(), await s.state()]).toEqual([[], 0, 'running'])
    // The new disk has snapshots of its own.
    s.write('new')
    const c = await s.take('c')
    s.write('newer')
    await s.restore(c)
    expect(s.read()).toBe('new')
  })

  test('a reinstallation that fails leaves them', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const a = await s.take('a')
    s.write('two')
    p.node.agent.fault({ command: 'volume.create', mode: 'fail', times: 1 })
    await s.call(p.customer, 'POST', `/servers/${s.id}/actions/reinstall`, {
      imageId: p.image,
      access: { mode: 'password' },
    })
    expect([s.read(), await s.names(), s.spareGb()]).toEqual(['two', ['a'], 20])
    await s.restore(a)
    expect(s.read()).toBe('one')
  })

  test('one without space for two disks gives their space back at once', async () => {
    using p = await world()
    const s = await begin(p)
    await s.take('a')
    p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [45 * GiB])
    await s.call(p.customer, 'POST', `/servers/${s.id}/actions/reinstall`, {
      imageId: p.image,
      access: { mode: 'password' },
      discardFirst: true,
    })
    expect([await s.names(), s.spareGb(), await s.state()]).toEqual([[], 0, 'running'])
  })

  test('a termination keeps them until the window ends, and then nothing of them is left', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const a = await s.take('a')
    s.write('two')
    await p.admin('DELETE', `/servers/${s.id}`)
    await p.settle()
    await p.admin('POST', `/servers/${s.id}/actions/undelete`)
    await p.settle()
    await s.restore(a)
    expect(s.read()).toBe('one')
    await p.admin('DELETE', `/servers/${s.id}?immediately=true`)
    await p.settle()
    expect(p.db.$client.query('SELECT count(*) AS n FROM snapshots').get()).toEqual({ n: 0 })
    expect(p.db.$client.query('SELECT disk_gb AS n FROM node_held').get()).toEqual({ n: 0 })
    const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
    expect(db.query('select count(*) as n from layers').get()).toEqual({ n: 0 })
  })

  test('rescue, a new boot order and a restart keep the layer that the server writes', async () => {
    using p = await world()
    const s = await begin(p)
    await p.admin('PATCH', `/admin/images/${p.image}`, { isRescue: true })
    s.write('one')
    await s.take('a')
    s.write('two')
    await s.call(p.customer, 'POST', `/servers/${s.id}/actions/rescue`)
    expect((await s.list()).notTakeable).toContain('rescue')
    await s.call(p.customer, 'POST', `/servers/${s.id}/actions/rescue/exit`)
    await s.call(p.customer, 'PUT', `/servers/${s.id}/boot-order`, { bootFirst: 'cd' })
    await s.power('restart')
    expect([s.read(), await s.state()]).toEqual(['two', 'running'])
  })

  test('a suspension that comes while one is deleted begins after it, and the record is that of the node', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const a = await s.take('a')
    s.write('two')
    // The node is away when it should merge.
    let away = false
    p.arm({
      failpoints: (at) => {
        if (away || at !== 'delete_snapshot/merge:before') return
        away = true
        p.node.agent.disconnect()
      },
    })
    const { jobId } = (await p.call(p.customer, 'DELETE', `${s.at}/${a}`)).body
    for (let i = 0; p.controller.hub.connected(p.node.id); i++) {
      if (i === 5000) throw new Error('the job never came to its node')
      await Bun.sleep(1)
    }
    await p.call(p.owner, 'POST', `/servers/${s.id}/actions/suspend`, { reason: 'overdue' })
    expect(p.job(jobId).state).toBe('running')
    p.node.agent.connect()
    await p.settle()
    expect([p.job(jobId).state, await s.state(), s.read()]).toEqual(['succeeded', 'suspended', 'two'])
    await p.call(p.owner, 'POST', `/servers/${s.id}/actions/unsuspend`)
    await p.settle()
    expect([await s.state(), s.read(), await s.names()]).toEqual(['running', 'two', []])
  })
})

test('the list says who took each snapshot, as much of it as the reader may know', async () => {
  using p = await world()
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { snapshotLimit: 5 })
  const s = await begin(p)
  const friend = p.account('customer', 'Fay')
  await share(p, p.customer, friend, 'view', s.id)
  for (const [name, who] of [
    ['own', p.customer],
    ['token', p.token(p.customer.id)],
    ['staff', p.owner],
  ] as const)
    expect((await s.call(who, 'POST', s.at, { name })).status).toBe(201)
  // From before it was noted.
  p.db.$client.run("UPDATE snapshots SET taken_by = NULL WHERE name = 'own'")
  const visibleTo = async (who: Who) =>
    Object.fromEntries((await p.call(who, 'GET', s.at)).body.data.map(({ name, takenBy }: any) => [name, takenBy]))
  expect(await visibleTo(p.customer)).toEqual({ own: null, token: 'test (Cal)', staff: 'Staff' })
  expect(await visibleTo(friend)).toEqual({ own: null, token: 'Cal', staff: 'Staff' })
  expect(await visibleTo(p.staff(undefined, 'Sam'))).toEqual({ own: null, token: 'test (Cal)', staff: 'Ada' })
})
