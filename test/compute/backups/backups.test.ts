// Backups of servers: what they bring back, who may do what with them, and how long they stay.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { FakeLayers } from '../../../agent/drivers/storage/fake-layers.ts'
import { forgetDue } from '../../../src/compute/backups/delete.ts'
import { day } from '../../../src/kernel/db/clock.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const GiB = 1024 ** 3
/** The first part of its name decides how a target of the fake behaves. */
async function target(p: World, host = 'oslo', more: object = {}): Promise<string> {
  const body = { name: host, address: `https://${host}.example/web/`, login: 'node1', secret: 'hidden-1', ...more }
  const { id } = await p.admin('POST', '/admin/backup-targets/rest', body)
  await p.admin('POST', `/admin/backup-targets/${id}/actions/make-default`)
  return id
}
/** A target that is not append-only. */
async function folder(p: World): Promise<string> {
  const { id } = await p.admin('POST', '/admin/backup-targets/local', { name: 'disk', address: '/srv/backups' })
  await p.admin('POST', `/admin/backup-targets/${id}/actions/make-default`)
  return id
}

/** A server with a target, and ways to write and read its disk, which is a text on the fake host. */
async function begin(p: World, makeTarget: (p: World) => Promise<string> = folder) {
  const targetId = await makeTarget(p)
  const { serverId: id } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const at = `/servers/${id}/backups`
  const layers = () => new FakeLayers(new Database(`${p.node.agent.home}/fake.db`))
  const diskOf = (of: string) => {
    const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
    const { disk } = db.query('select disk from vms where workload = ?').get(of) as { disk: string }
    db.close()
    return disk
  }
  const call = async (who: Who, method: string, path: string, body?: object) => {
    const answer = await p.call(who, method, path, body)
    await p.settle()
    return { status: answer.status, code: answer.body.error?.code, ...answer.body }
  }
  return {
    id,
    at,
    targetId,
    call,
    write: (text: string) => layers().write(diskOf(id), text),
    read: (of = id) => layers().read(diskOf(of)),
    make: async (who: Who = p.customer, body: object = {}) => (await call(who, 'POST', at, body)).backupId as string,
    list: async (who: Who = p.customer) => (await p.call(who, 'GET', at)).body,
    states: async () => (await p.call(p.customer, 'GET', at)).body.data.map(({ state }: any) => state),
    restore: (backupId: string, who: Who = p.customer) => call(who, 'POST', `${at}/${backupId}/actions/restore`),
    remove: (backupId: string, who: Who = p.customer) => call(who, 'DELETE', `${at}/${backupId}`),
    spareGb: () =>
      (p.db.$client.query('SELECT spare_disk_gb AS n FROM workload_stays WHERE workload_id = ?').get(id) as any).n,
    state: async () => (await p.admin('GET', `/servers/${id}`)).status,
  }
}

describe('a backup', () => {
  test('of a running server is made, listed, restored in place and deleted', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const backupId = await s.make()
    s.write('two')
    const { data, total, lastFailure, notTakeable } = await s.list()
    expect([total, lastFailure, notTakeable]).toEqual([1, null, null])
    expect(data[0]).toMatchObject({
      id: backupId,
      state: 'ready',
      kind: 'manual',
      diskGb: 20,
      diskBytes: 20 * GiB,
      consistent: true,
      targetName: 'disk',
      error: null,
      notRestorable: null,
      notDeletable: null,
    })
    expect((await s.restore(backupId)).status).toBe(202)
    expect([s.read(), await s.state(), s.spareGb()]).toEqual(['one', 'running', 0])
    expect((await p.call(p.customer, 'GET', `/backups/${backupId}`)).body.id).toBe(backupId)
    expect((await s.remove(backupId)).status).toBe(202)
    expect((await s.list()).total).toBe(0)
  })

  test('of a stopped server leaves it off, also when it is restored', async () => {
    using p = await world()
    const s = await begin(p)
    await s.call(p.customer, 'POST', `/servers/${s.id}/actions/power`, { action: 'off' })
    s.write('one')
    const backupId = await s.make()
    s.write('two')
    await s.restore(backupId)
    expect([s.read(), await s.state()]).toEqual(['one', 'stopped'])
  })

  test('takes the snapshots with it when it is restored, and says how many before', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const backupId = await s.make()
    for (const name of ['a', 'b']) await s.call(p.customer, 'POST', `/servers/${s.id}/snapshots`, { name })
    s.write('two')
    expect((await s.list()).snapshots).toBe(2)
    await s.restore(backupId)
    expect([s.read(), s.spareGb(), (await s.list()).snapshots]).toEqual(['one', 0, 0])
    // A backup of a server with a snapshot is of the layer that it writes.
    await s.call(p.customer, 'POST', `/servers/${s.id}/snapshots`, { name: 'c' })
    s.write('three')
    const later = await s.make()
    s.write('four')
    await s.restore(later)
    expect(s.read()).toBe('three')
  })

  test('that fails says why, to its owner, to staff, to billing, and under Needs attention', async () => {
    using p = await world()
    const s = await begin(p, (p) => target(p, 'full'))
    const { body } = await p.call(p.customer, 'POST', s.at, {})
    await p.settle()
    expect(p.job(body.jobId).state).toBe('failed')
    const error = { code: 'backup_full', message: 'The place for backups is full.' }
    const list = await s.list()
    expect(list.data[0]).toMatchObject({ state: 'failed', error })
    expect(list.lastFailure).toMatchObject({ id: body.backupId, error })
    const { data } = await p.admin('GET', '/events?type=backup.failed')
    expect(data[0].data).toMatchObject({
      server: { id: s.id },
      customer: { id: p.customer.id },
      backup: { id: body.backupId, kind: 'manual', error: error.message },
    })
    for (const who of [p.owner, p.customer]) {
      const { attention } = (await p.call(who, 'GET', who === p.owner ? '/admin/overview' : '/overview')).body
      expect(attention.find(({ what }: any) => what.includes('backup'))).toMatchObject({ effect: error.message })
    }
    // Nothing lies anywhere: the record is deleted without a job.
    expect(await s.remove(body.backupId)).toMatchObject({ status: 200, jobId: null })
  })

  test('that somebody cancels is no failure that others hear of, and nothing of it is left', async () => {
    using p = await world()
    const s = await begin(p)
    p.node.agent.fault({ command: 'backup.make', mode: 'slow', times: 1, ms: 300 })
    const { jobId } = (await p.call(p.customer, 'POST', s.at, {})).body
    while (p.job(jobId).stepN !== 2) await Bun.sleep(1)
    expect((await p.call(p.customer, 'POST', `/servers/${s.id}/snapshots`, { name: 'a' })).body.error.code).toBe(
      'server_busy',
    )
    await p.call(p.customer, 'POST', `/jobs/${jobId}/actions/cancel`, {})
    await p.settle()
    expect(await s.list()).toMatchObject({
      lastFailure: null,
      data: [{ state: 'failed', error: { code: 'cancelled' } }],
    })
    expect(p.events()).not.toContain('backup.failed')
    expect(p.db.$client.query("SELECT state FROM jobs WHERE kind = 'drop_backup'").get()).toEqual({
      state: 'succeeded',
    })
  })

  test('leaves the server to power actions and suspensions, and the disk to nothing else', async () => {
    using p = await world()
    const s = await begin(p)
    p.node.agent.fault({ command: 'backup.make', mode: 'slow', times: 1, ms: 3000 })
    const { jobId, backupId } = (await p.call(p.customer, 'POST', s.at, {})).body
    while (p.job(jobId).stepN !== 2) await Bun.sleep(1)
    const done = async (path: string, who: Who = p.customer, body?: object) => {
      const answer = (await p.call(who, 'POST', `/servers/${s.id}/${path}`, body)).body
      while (!['succeeded', 'failed'].includes(p.job(answer.jobId).state)) await Bun.sleep(1)
      return p.job(answer.jobId).state
    }
    for (const action of ['off', 'start', 'restart'])
      expect([action, await done('actions/power', p.customer, { action })]).toEqual([action, 'succeeded'])
    expect(await done('actions/suspend', p.owner, { reason: 'overdue' })).toBe('succeeded')
    expect(await done('actions/unsuspend', p.owner)).toBe('succeeded')
    const refused: [string, object][] = [
      ['backups', {}],
      ['snapshots', { name: 'a' }],
      ['actions/reinstall', { imageId: p.order.imageId, access: { mode: 'password' } }],
    ]
    for (const [path, body] of refused) {
      const { body: answer } = await p.call(p.customer, 'POST', `/servers/${s.id}/${path}`, body)
      expect([path, answer.error?.code]).toEqual([path, 'server_busy'])
    }
    expect((await s.list()).notTakeable).toContain('is being made')
    expect(p.job(jobId).state).toBe('running')
    // A deletion of the disk does not wait for it.
    await p.admin('DELETE', `/servers/${s.id}?immediately=true`)
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ state: 'failed', errorCode: 'cancelled' })
    expect(p.db.$client.query('SELECT state FROM backups WHERE id = ?').get(backupId)).toEqual({ state: 'failed' })
    const left = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
    expect(left.query('SELECT count(*) AS n FROM vms').get()).toEqual({ n: 0 })
    left.close()
  })

  test('is held up by no limit of staff, and by that of its owner', async () => {
    using p = await world()
    const s = await begin(p)
    await p.admin('PUT', '/admin/settings/values', { name: 'backups.most_manual', value: 1 })
    await s.make()
    expect((await s.call(p.customer, 'POST', s.at, {})).code).toBe('backup_limit')
    expect((await s.list()).notTakeable).toContain('Delete one first')
    expect((await s.call(p.owner, 'POST', s.at, {})).status).toBe(201)
    await p.admin('PUT', '/admin/settings/values', { name: 'backups.most_manual', value: 0 })
    expect((await s.call(p.customer, 'POST', s.at, {})).code).toBe('backup_limit')
  })

  test('beyond the limit says who can help where the target keeps what is deleted', async () => {
    using p = await world()
    const s = await begin(p, (p) => target(p))
    await p.admin('PUT', '/admin/settings/values', { name: 'backups.most_manual', value: 1 })
    await s.remove(await s.make())
    expect((await s.call(p.customer, 'POST', s.at, {})).code).toBe('backup_limit')
    expect((await s.list()).notTakeable).toContain('1 of them was deleted, but the place for backups is append-only')
    expect((await s.list()).total).toBe(1)
  })

  test('needs a target that staff chose', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    await p.admin('POST', '/admin/backup-targets/local', { name: 'disk', address: '/srv/backups' })
    const { status, body } = await p.call(p.customer, 'POST', `/servers/${serverId}/backups`, {})
    expect([status, body.error.code]).toEqual([409, 'no_backup_target'])
  })
})

describe('a restore', () => {
  test('that fails leaves the disk, its snapshots and its power', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const backupId = await s.make()
    await s.call(p.customer, 'POST', `/servers/${s.id}/snapshots`, { name: 'a' })
    s.write('two')
    for (const command of ['backup.restore', 'vm.define', 'vm.start'] as const) {
      p.node.agent.fault({ command, mode: 'fail', times: 1 })
      const { jobId } = await s.restore(backupId)
      expect([p.job(jobId!).state, s.read(), await s.state(), s.spareGb()]).toEqual(['failed', 'two', 'running', 20])
    }
    expect((await s.list()).snapshots).toBe(1)
  })

  test('is refused where it cannot work: protected, too small, no space, in rescue', async () => {
    using p = await world()
    const s = await begin(p)
    const backupId = await s.make()
    await s.call(p.customer, 'PUT', `/servers/${s.id}/protection`, { protected: true })
    for (const answer of [await s.restore(backupId), await s.remove(backupId)])
      expect(answer.code).toBe('server_protected')
    await s.call(p.customer, 'PUT', `/servers/${s.id}/protection`, { protected: false })
    p.db.$client.run('UPDATE backups SET disk_gb = 40')
    expect((await s.restore(backupId)).code).toBe('disk_too_small')
    p.db.$client.run('UPDATE backups SET disk_gb = 20')
    p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [30 * GiB])
    expect((await s.restore(backupId)).code).toBe('no_capacity')
    expect(s.spareGb()).toBe(0)
  })

  test('beyond the brake waits for a second person', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const backupId = await s.make()
    s.write('two')
    await p.admin('PUT', '/admin/settings/values', { name: 'brake.limit', value: 1 })
    await s.restore(backupId, p.owner)
    s.write('three')
    const { jobId } = await s.restore(backupId, p.owner)
    expect([p.job(jobId!).state, s.read()]).toEqual(['queued', 'three'])
  })

  test('to a new server makes one of the same owner with the disk of the backup', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const backupId = await s.make()
    s.write('two')
    const body = { packageId: p.pack, nodeGroupId: p.location, hostname: 'web02' }
    const path = `/backups/${backupId}/actions/restore-to-new-server`
    expect((await s.call(p.customer, 'POST', path, body)).status).toBe(403)
    const { status, serverId, jobId } = await s.call(p.owner, 'POST', path, body)
    expect([status, p.job(jobId!).state]).toEqual([201, 'succeeded'])
    expect([s.read(serverId!), s.read()]).toEqual(['one', 'two'])
    expect(await p.admin('GET', `/servers/${serverId}`)).toMatchObject({
      status: 'running',
      hostname: 'web02',
      owner: { id: p.customer.id },
    })
    expect(p.events().slice(-2)).toEqual(['server.created', 'server.provisioned'])
    const seedIn = (job: string) =>
      JSON.parse(
        p.db.$client
          .query<{ output: string }, [string]>("SELECT output FROM job_steps WHERE job_id = ? AND name = 'plan'")
          .get(job)!.output,
      ).seed
    expect(seedIn(jobId!)).toMatchObject({
      metaData: { 'local-hostname': 'web02' },
      userData: { hostname: 'web02', ssh_deletekeys: true, bootcmd: [expect.stringContaining('machine-id')] },
    })
    const twin = await s.call(p.owner, 'POST', path, { ...body, hostname: 'web04', identity: 'keep' })
    expect(p.job(twin.jobId!).state).toBe('succeeded')
    expect(seedIn(twin.jobId!).metaData).not.toHaveProperty('local-hostname')
    expect(seedIn(twin.jobId!).userData).toEqual({
      preserve_hostname: true,
      cloud_init_modules: [],
      cloud_config_modules: [],
      cloud_final_modules: [],
    })
    const { id: packageId } = await p.admin('POST', '/admin/packages', {
      name: 'Small',
      vcpus: 1,
      memoryMb: 512,
      diskGb: 5,
    })
    expect((await s.call(p.owner, 'POST', path, { ...body, packageId, hostname: 'web03' })).code).toBe('disk_too_small')
  })
})

describe('who may', () => {
  test('backups of another server, and those of an owner before, are not found', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const backupId = await s.make()
    const other = p.account('customer', 'Other')
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
    await p.settle()
    for (const at of [`/servers/${serverId}/backups/${backupId}`])
      expect((await s.call(p.customer, 'POST', `${at}/actions/restore`)).code).toBe('backup_not_found')
    expect((await s.call(other, 'GET', `/backups/${backupId}`)).code).toBe('backup_not_found')
    expect((await p.call(other, 'GET', '/backups')).body.total).toBe(0)
    await p.admin('POST', `/servers/${s.id}/actions/change-owner`, { ownerId: other.id })
    // It belongs to the owner before, under whose key it lies.
    expect((await p.call(other, 'GET', s.at)).body.total).toBe(0)
    for (const who of [other, p.owner]) expect((await s.restore(backupId, who)).code).toBe('backup_not_found')
    expect((await p.call(p.customer, 'GET', '/backups')).body.data[0]).toMatchObject({ id: backupId })
    // The next one has the new owner's key.
    await s.make(other)
    const keys = p.db.$client.query('SELECT id FROM backup_keys ORDER BY id').all()
    expect(keys).toEqual([p.customer.id, other.id].sort().map((id) => ({ id })))
  })

  test('a recovery sheet is for the owner in person, with the key of that owner', async () => {
    using p = await world()
    const s = await begin(p)
    await s.make()
    const path = '/account/recovery-sheet'
    const { status, body } = await p.call(p.customer, 'POST', path)
    expect(status).toBe(200)
    expect(body.repository).toBe(p.customer.id)
    expect(body.sheet).toContain(`restic -r ./${p.customer.id} -p key.txt snapshots`)
    const other = p.account('customer', 'Other')
    const keyIn = (sheet: string) => /opens it:\n {2}(\S+)/.exec(sheet)![1]
    expect(keyIn((await p.call(p.customer, 'POST', path)).body.sheet)).toBe(keyIn(body.sheet))
    expect(keyIn((await p.call(other, 'POST', path)).body.sheet)).not.toBe(keyIn(body.sheet))
    expect((await p.call(p.owner, 'POST', path)).status).toBe(403)
    expect((await p.call(p.token(p.customer.id), 'POST', path)).body.error.code).toBe('token_not_allowed')
    const noted = p.db.$client
      .query("SELECT count(*) AS n FROM audit WHERE operation = 'backups.recovery-sheet' AND result = 'done'")
      .get()
    expect(noted).toMatchObject({ n: 3 })
  })

  test('no job, log or audit line has the key of backups or the secret of the target', async () => {
    using p = await world()
    const s = await begin(p, (p) => target(p, 'oslo', { secret: 'canary-of-a-target' }))
    const backupId = await s.make()
    await s.restore(backupId)
    const { sheet } = (await p.call(p.customer, 'POST', '/account/recovery-sheet')).body
    const key = /opens it:\n {2}(\S+)/.exec(sheet)![1]!
    const tables = p.db.$client.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    for (const { name } of tables) {
      const text = JSON.stringify(p.db.$client.query(`SELECT * FROM "${name}"`).all(), asText)
      for (const secret of [key, 'canary-of-a-target']) expect([name, text.includes(secret)]).toEqual([name, false])
    }
  })
})

describe('an end', () => {
  test('an append-only target keeps what is deleted, and the list says so', async () => {
    using p = await world()
    const s = await begin(p, (p) => target(p))
    s.write('one')
    const backupId = await s.make()
    await s.remove(backupId)
    const { data } = await s.list()
    expect(data[0]).toMatchObject({ state: 'ready', keptAt: expect.any(String) })
    s.write('two')
    await s.restore(backupId)
    expect(s.read()).toBe('one')
  })

  test('a deletion that fails leaves the backup as it was', async () => {
    using p = await world()
    const s = await begin(p)
    const backupId = await s.make()
    p.node.agent.fault({ command: 'backup.forget', mode: 'fail', times: 1 })
    const { jobId } = await s.remove(backupId)
    expect([p.job(jobId!).state, await s.states()]).toEqual(['failed', ['ready']])
  })

  test('backups outlive the termination of their server, and are deleted some days after it', async () => {
    using p = await world()
    const s = await begin(p)
    s.write('one')
    const backupId = await s.make()
    await p.admin('DELETE', `/servers/${s.id}?immediately=true`)
    await p.settle()
    const turn = async () => {
      forgetDue(p.db, p.now())
      await p.settle()
      return (await p.admin('GET', '/backups')).total
    }
    p.turnClock(6 * day)
    expect(await turn()).toBe(1)
    const body = { packageId: p.pack, nodeGroupId: p.location, hostname: 'web02' }
    const again = await p.admin('POST', `/backups/${backupId}/actions/restore-to-new-server`, body)
    await p.settle()
    expect(s.read(again.serverId)).toBe('one')
    p.turnClock(2 * day)
    expect(await turn()).toBe(0)
  })

  test('one with a time is deleted when it has come, and no other', async () => {
    using p = await world()
    const s = await begin(p)
    await s.make(p.customer, { keepDays: 2 })
    const stays = await s.make()
    p.turnClock(3 * day)
    forgetDue(p.db, p.now())
    await p.settle()
    expect((await p.admin('GET', s.at)).data.map(({ id }: any) => id)).toEqual([stays])
  })

  test('a target with backups is not removed by accident', async () => {
    using p = await world()
    const s = await begin(p)
    await s.make()
    const path = `/admin/backup-targets/${s.targetId}`
    const refused = await p.call(p.owner, 'DELETE', path)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'in_use'])
    expect(refused.body.error.message).toContain('1 backup lies in disk')
    expect((await p.call(p.owner, 'DELETE', `${path}?forgetBackups=true`)).status).toBe(200)
    expect((await s.list()).total).toBe(0)
  })

  test('the default target is one at a time', async () => {
    using p = await world()
    const first = await folder(p)
    const second = await target(p)
    const { data } = await p.admin('GET', '/admin/backup-targets')
    expect(data.filter(({ isDefault }: any) => isDefault).map(({ id }: any) => id)).toEqual([second])
    expect(first).not.toBe(second)
  })
})

const asText = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : typeof value === 'bigint' ? `${value}` : value
