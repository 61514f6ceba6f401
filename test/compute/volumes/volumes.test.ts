// Extra volumes: whose they are, where they stand, what moves them, and what becomes of them when their server ends.
import { describe, expect, test } from 'bun:test'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import { serialOf } from '../../../agent/protocol/wire.ts'
import { shop } from '../../identity/resellers/shop.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

type Shown = {
  id: string
  name: string
  sizeGb: number
  state: string
  serial: string
  server: { id: string; hostname: string } | null
  attachableTo: { hostname: string }[]
  jobId: string | null
}

/** Two servers on one node, whose packages have 50 GiB of volumes each. */
async function begin(p: World, nodeIds: { b?: string } = {}) {
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
  const order = async (hostname: string, nodeId: string) => {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId })
    await p.settle()
    return serverId as string
  }
  const a = await order('web01', p.node.id)
  const b = await order('web02', nodeIds.b ?? p.node.id)
  const hypervisor = p.node.agent.host.hypervisor as FakeHypervisor
  const call = async (who: Who, method: string, path: string, body?: object) => {
    const answer = await p.call(who, method, path, body)
    await p.settle()
    const { jobId } = answer.body
    return {
      status: answer.status,
      code: answer.body.error?.code,
      message: answer.body.error?.message,
      job: jobId ? p.job(jobId) : undefined,
      ...answer.body,
    }
  }
  const shown = async (id: string, who: Who = p.customer): Promise<Shown> =>
    (await p.call(who, 'GET', `/volumes/${id}`)).body
  return {
    a,
    b,
    call,
    shown,
    hypervisor,
    make: async (name = 'data', sizeGb = 10, server = a) =>
      (await call(p.customer, 'POST', `/servers/${server}/volumes`, { name, sizeGb })).volumeId as string,
    act: (id: string, action: string, body?: object, who: Who = p.customer) =>
      call(who, 'POST', `/volumes/${id}/actions/${action}`, body),
    attach: (id: string, serverId: string, who: Who = p.customer) =>
      call(who, 'POST', `/volumes/${id}/actions/attach`, { serverId }),
    remove: (id: string, who: Who = p.customer) => call(who, 'DELETE', `/volumes/${id}`),
    /** The serial numbers of the volumes that the vm has on its node. */
    inVm: (server: string) => hypervisor.volumes(server).map(({ serial }) => serial),
    onNode: async () =>
      (await p.node.agent.host.storage.list()).map(({ workload }) => workload).filter((id) => id.startsWith('vol_')),
    heldGb: () => (p.db.$client.query('SELECT disk_gb AS n FROM node_held').get() as { n: number }).n,
    reinstall: async () => {
      const { jobId } = await p.admin('POST', `/servers/${a}/actions/reinstall`, {
        imageId: p.image,
        access: { mode: 'password' },
      })
      await p.settle()
      return p.job(jobId).state
    },
  }
}

describe('an extra volume', () => {
  test('is made empty for a running server, attached, listed, renamed, enlarged, and told to billing', async () => {
    using p = await world()
    const v = await begin(p)
    const before = v.heldGb()
    const made = await v.call(p.customer, 'POST', `/servers/${v.a}/volumes`, { name: 'data', sizeGb: 10 })
    expect([made.status, made.job.state, made.job.title]).toEqual([201, 'succeeded', 'Create volume data for web01'])
    const id = made.volumeId
    expect(await v.shown(id)).toMatchObject({
      name: 'data',
      sizeGb: 10,
      state: 'attached',
      serial: serialOf(id),
      location: { id: p.location, name: 'Frankfurt' },
      server: { id: v.a, hostname: 'web01' },
      attachableTo: [{ hostname: 'web02' }],
      jobId: null,
    })
    expect([serialOf(id).length, v.inVm(v.a), v.heldGb() - before]).toEqual([20, [serialOf(id)], 10])
    expect((await v.call(p.customer, 'PATCH', `/volumes/${id}`, { name: 'Archive' })).name).toBe('Archive')
    expect((await v.act(id, 'grow', { sizeGb: 25 })).job.state).toBe('succeeded')
    const { data, limitGb, usedGb } = await v.call(p.customer, 'GET', `/servers/${v.a}/volumes`)
    expect([data[0].sizeGb, limitGb, usedGb, v.heldGb() - before]).toEqual([25, 100, 25, 25])
    const volume = { workload: id, generation: 0, pool: 'local', format: 'qcow2' as const }
    expect(await p.node.agent.host.storage.pool('local').sizeBytes(volume)).toBe(25 * 1024 ** 3)
    expect((await v.act(id, 'grow', { sizeGb: 25 })).status).toBe(422)
    expect(p.events().filter((type) => type.startsWith('volume'))).toEqual(['volume.created', 'volume.resized'])
  })

  test('moves to another server with what is on it, and never has two', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    const seen = new Set<string>()
    p.arm({ failpoints: () => void seen.add(`${v.inVm(v.a).length} ${v.inVm(v.b).length}`) })
    expect((await v.attach(id, v.b)).job.state).toBe('succeeded')
    expect([...seen].sort()).toEqual(['0 0', '0 1', '1 0'])
    expect((await v.shown(id)).server?.id).toBe(v.b)
    expect((await v.attach(id, v.b)).jobId).toBe(null)
    expect((await v.act(id, 'detach')).job.state).toBe('succeeded')
    expect([await v.shown(id), v.inVm(v.b)]).toMatchObject([{ state: 'detached', server: null }, []])
    expect(await v.onNode()).toEqual([id])
    expect((await v.attach(id, v.a)).job.state).toBe('succeeded')
    expect(v.inVm(v.a)).toEqual([serialOf(id)])
  })

  test('stays where it is when the guest does not release it, and says so', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    v.hypervisor.holdVolumes(v.a, true)
    const kept = await v.attach(id, v.b)
    expect([kept.job.state, kept.job.errorCode]).toEqual(['failed', 'volume_held'])
    const { body } = await p.call(p.customer, 'GET', `/jobs/${kept.jobId}`)
    expect(body.error.message).toContain('Unmount it there')
    expect([(await v.shown(id)).server?.id, v.inVm(v.a), v.inVm(v.b)]).toEqual([v.a, [serialOf(id)], []])
    await v.call(p.customer, 'POST', `/servers/${v.a}/actions/power`, { action: 'off' })
    expect((await v.act(id, 'detach')).job.state).toBe('succeeded')
  })

  test('stays with its server over a restart, a package change, rescue and a reinstallation', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    await p.admin('PATCH', `/admin/images/${p.image}`, { isRescue: true })
    await v.call(p.customer, 'POST', `/servers/${v.a}/actions/power`, { action: 'restart' })
    await v.call(p.customer, 'POST', `/servers/${v.a}/actions/rescue`)
    expect(v.inVm(v.a)).toEqual([serialOf(id)])
    await v.call(p.customer, 'POST', `/servers/${v.a}/actions/rescue/exit`)
    expect([await v.reinstall(), v.inVm(v.a), await v.onNode()]).toEqual(['succeeded', [serialOf(id)], [id]])
    expect((await v.shown(id)).state).toBe('attached')
    p.node.agent.fault({ command: 'vm.await', mode: 'fail', times: 1 })
    expect([await v.reinstall(), v.inVm(v.a)]).toEqual(['failed', [serialOf(id)]])
  })

  test('is deleted only when no server has it, and its space is free again', async () => {
    using p = await world()
    const v = await begin(p)
    const before = v.heldGb()
    const id = await v.make()
    expect((await v.remove(id)).code).toBe('volume_attached')
    await v.act(id, 'detach')
    expect((await v.remove(id)).job.state).toBe('succeeded')
    expect([await v.onNode(), v.heldGb() - before]).toEqual([[], 0])
    expect((await v.call(p.customer, 'GET', `/volumes/${id}`)).code).toBe('volume_not_found')
    expect(p.events()).toContain('volume.deleted')
  })
})

describe('the end of its server', () => {
  test('keeps it: with the server while that can come back, then with its owner, detached', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    await p.admin('DELETE', `/servers/${v.a}`)
    await p.settle()
    expect((await v.shown(id)).server?.id).toBe(v.a)
    await p.admin('POST', `/servers/${v.a}/actions/undelete`)
    await p.settle()
    expect([(await v.shown(id)).state, v.inVm(v.a)]).toEqual(['attached', [serialOf(id)]])
    await p.admin('DELETE', `/servers/${v.a}`)
    await p.settle()
    await p.admin('DELETE', `/servers/${v.a}?immediately=true`)
    await p.settle()
    expect([await v.shown(id), await v.onNode()]).toMatchObject([{ state: 'detached', server: null }, [id]])
    expect((await v.attach(id, v.b)).job.state).toBe('succeeded')
    expect(v.inVm(v.b)).toEqual([serialOf(id)])
  })

  test('lets its owner take it off during the undelete window', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    await p.admin('DELETE', `/servers/${v.a}`)
    await p.settle()
    expect((await v.attach(id, v.b)).job.state).toBe('succeeded')
    await p.admin('POST', `/servers/${v.a}/actions/undelete`)
    await p.settle()
    expect([v.inVm(v.a), v.inVm(v.b)]).toEqual([[], [serialOf(id)]])
  })

  test('binds it to its owner: a server with a volume goes to nobody else', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    const ownerId = p.account('customer', 'Next').id
    const give = () => v.call(p.owner, 'POST', `/servers/${v.a}/actions/change-owner`, { ownerId })
    const refused = await give()
    expect([refused.code, refused.message]).toEqual(['in_use', expect.stringContaining('the volume data')])
    await v.act(id, 'detach')
    expect((await give()).status).toBe(200)
    expect((await v.attach(id, v.a, p.owner)).code).toBe('validation_failed')
  })
})

describe('what refuses a volume', () => {
  test('is the allowance of the packages, also with volumes that no server has', async () => {
    using p = await world()
    const v = await begin(p)
    const first = await v.make('one', 60)
    await v.act(first, 'detach')
    const more = await v.call(p.customer, 'POST', `/servers/${v.a}/volumes`, { name: 'two', sizeGb: 41 })
    expect([more.code, more.message]).toEqual(['limit_reached', expect.stringContaining('100 GiB')])
    expect((await v.act(first, 'grow', { sizeGb: 101 })).code).toBe('limit_reached')
    expect(await v.make('two', 40)).toStartWith('vol_')
    expect((await v.call(p.customer, 'POST', `/servers/${v.a}/volumes`, { name: 'two', sizeGb: 1 })).code).toBe(
      'limit_reached',
    )
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 0 })
    const { notMakeable, limitGb } = await v.call(p.customer, 'GET', `/servers/${v.a}/volumes`)
    expect([limitGb, notMakeable]).toEqual([0, expect.stringContaining('another package')])
  })

  test('is a name that the owner has, and a seventh volume', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make('data', 1)
    const again = await v.call(p.customer, 'POST', `/servers/${v.b}/volumes`, { name: 'data', sizeGb: 1 })
    expect(again.code).toBe('name_taken')
    for (const name of ['2', '3', '4', '5', '6']) await v.make(name, 1)
    expect((await v.call(p.customer, 'POST', `/servers/${v.a}/volumes`, { name: '7', sizeGb: 1 })).code).toBe(
      'limit_reached',
    )
    const other = await v.make('7', 1, v.b)
    expect((await v.attach(other, v.a)).code).toBe('limit_reached')
    await v.act(id, 'detach')
    expect((await v.attach(other, v.a)).job.state).toBe('succeeded')
  })

  test('is the space of the pool, which it shares with the disks of servers', async () => {
    using p = await world()
    const v = await begin(p)
    p.db.$client.run('UPDATE storage_pools SET total_bytes = ?, free_bytes = NULL', [60 * 1024 ** 3])
    const refused = await v.call(p.customer, 'POST', `/servers/${v.a}/volumes`, { name: 'data', sizeGb: 21 })
    expect([refused.code, p.events().includes('volume.created')]).toEqual(['no_capacity', false])
    const id = await v.make('data', 15)
    expect((await v.act(id, 'grow', { sizeGb: 21 })).code).toBe('no_capacity')
    const third = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'web03' })
    expect(third.body.error.code).toBe('no_capacity')
  })

  test('is a server on another node, in words', async () => {
    using p = await world()
    const other = p.addNode(p.location, 'fra-02')
    p.attach(p.pool, other.id)
    const v = await begin(p, { b: other.id })
    const id = await v.make()
    expect((await v.shown(id)).attachableTo).toEqual([])
    const refused = await v.attach(id, v.b)
    expect([refused.code, refused.message]).toEqual(['volume_elsewhere', expect.stringContaining('another machine')])
    expect((await v.shown(id)).server?.id).toBe(v.a)
  })

  test('is the state of its server, its protection and a lock of the account', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    const three = async () => [
      (await v.call(p.customer, 'POST', `/servers/${v.a}/volumes`, { name: 'more', sizeGb: 1 })).code,
      (await v.act(id, 'grow', { sizeGb: 11 })).code,
      (await v.act(id, 'detach')).code,
    ]
    await p.admin('PUT', `/servers/${v.a}/protection`, { protected: true })
    expect((await v.act(id, 'detach')).code).toBe('server_protected')
    await p.admin('PUT', `/servers/${v.a}/protection`, { protected: false })
    await p.admin('POST', `/servers/${v.a}/actions/suspend`, { reason: 'overdue' })
    await p.settle()
    expect(await three()).toEqual(Array(3).fill('server_suspended'))
    await p.admin('POST', `/servers/${v.a}/actions/unsuspend`)
    await p.settle()
    await p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'overdue' })
    expect(await three()).toEqual(Array(3).fill('account_locked'))
    expect(v.inVm(v.a)).toEqual([serialOf(id)])
  })

  test('is a job that changes it', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    p.node.agent.disconnect()
    expect((await p.call(p.customer, 'POST', `/volumes/${id}/actions/detach`)).status).toBe(202)
    for (const [action, body] of [
      ['detach', undefined],
      ['attach', { serverId: v.b }],
      ['grow', { sizeGb: 20 }],
    ] as const)
      expect((await p.call(p.customer, 'POST', `/volumes/${id}/actions/${action}`, body)).body.error.code).toBe(
        'volume_busy',
      )
  })

  test('is a quota of the reseller, for which volumes count like disks', async () => {
    using p = await shop()
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ownerId: p.client.id })
    await p.settle()
    await p.change({ quotas: { diskGb: 30 } })
    const make = (name: string, sizeGb: number) =>
      p.call(p.client, 'POST', `/servers/${serverId}/volumes`, { name, sizeGb })
    expect((await make('data', 11)).body.error.code).toBe('quota_exceeded')
    expect((await make('data', 10)).status).toBe(201)
    await p.settle()
    expect((await p.terms()).used.diskGb).toBe(30)
  })
})

test('shows who shares one server no other server of its owner', async () => {
  using p = await world()
  const v = await begin(p)
  const id = await v.make()
  const friend = p.account('customer', 'Fay')
  await share(p, p.customer as typeof friend, friend, 'manage', v.a)
  const seen = await v.call(friend, 'GET', `/servers/${v.a}/volumes`)
  expect([seen.data[0].id, seen.data[0].attachableTo]).toEqual([id, []])
  expect((await v.call(friend, 'GET', `/volumes/${id}`)).code).toBe('volume_not_found')
  expect((await v.call(p.customer, 'GET', `/servers/${v.a}/volumes`)).data[0].attachableTo).toHaveLength(1)
})

test('who shares a server makes no volume for it: it could neither detach nor delete that', async () => {
  using p = await world()
  const v = await begin(p)
  const friend = p.account('customer', 'Fay')
  await share(p, p.customer as typeof friend, friend, 'manage', v.a)
  const before = v.heldGb()
  const refused = await v.call(friend, 'POST', `/servers/${v.a}/volumes`, { name: 'data', sizeGb: 10 })
  expect([refused.status, refused.code]).toEqual([403, 'forbidden'])
  expect(refused.message).toBe('Volumes belong to the account that owns web01. Ask its owner.')
  expect([v.heldGb(), await v.onNode(), v.inVm(v.a)]).toEqual([before, [], []])
  const seen = await v.call(friend, 'GET', `/servers/${v.a}/volumes`)
  expect([seen.total, seen.notMakeable]).toEqual([0, refused.message])
  expect((await v.call(p.customer, 'GET', `/servers/${v.a}/volumes`)).notMakeable).toBeNull()
})

describe('its node', () => {
  test('is compared with the record: a volume that is missing or foreign is a difference', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    const differences = async () => {
      await p.node.agent.look()
      await p.settle()
      const { found } = p.db.$client.query('SELECT differences AS found FROM nodes').get() as { found: string }
      return JSON.parse(found).map(({ words }: { words: string }) => words)
    }
    expect(await differences()).toEqual([])
    const pool = p.node.agent.host.storage.pool('local')
    const foreign = { workload: `vol_${'0'.repeat(26)}`, generation: 0, pool: 'local', format: 'qcow2' as const }
    await pool.receive(foreign, 1024 ** 3, async () => {})
    await pool.remove({ ...foreign, workload: id })
    const found = (await differences()).join('\n')
    expect(found).toContain(`The extra volume data (${id}) is not on this node.`)
    expect(found).toContain(`The disk of ${foreign.workload} carries our mark`)
  })

  test('is not removed while it holds one; when it is lost the volume is shown as lost, and deleted', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    await v.act(id, 'detach')
    for (const server of [v.a, v.b]) await p.admin('DELETE', `/servers/${server}?immediately=true`)
    await p.settle()
    const refused = await p.call(p.owner, 'DELETE', `/admin/nodes/${p.node.id}`)
    expect(refused.body.error.message).toContain('1 extra volume')
    p.node.agent.disconnect()
    await p.settle()
    await p.admin('POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
    expect((await v.shown(id)).state).toBe('lost')
    expect((await v.act(id, 'grow', { sizeGb: 20 })).code).toBe('volume_lost')
    expect(await v.remove(id)).toMatchObject({ status: 200, jobId: null })
    expect((await v.call(p.customer, 'GET', '/volumes')).total).toBe(0)
  })

  test('that is lost while it enlarges a volume ends that job, also when the volume is deleted before', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    await v.act(id, 'detach')
    // The command has arrived, and its answer never does.
    p.node.agent.host.withFaults = (name, _, work) => {
      if (name === 'volume.grow') p.node.agent.disconnect()
      return work()
    }
    const { body } = await p.call(p.customer, 'POST', `/volumes/${id}/actions/grow`, { sizeGb: 20 })
    await eventually(() => !p.controller.hub.connected(p.node.id))
    await p.call(p.owner, 'POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
    const removed = await p.call(p.customer, 'DELETE', `/volumes/${id}`)
    expect(removed.body).toMatchObject({ jobId: null, volumeId: id })
    await eventually(() => p.job(body.jobId).state === 'failed')
    expect(p.job(body.jobId).errorCode).toBe('node_removed')
    expect((await v.call(p.customer, 'GET', '/volumes')).total).toBe(0)
  })
})

test('the ledger has the size of each volume to the millisecond, attached or not, until it is deleted', async () => {
  using p = await world()
  const v = await begin(p)
  const hour = 3_600_000
  const month = new Date(p.controller.app.clock()).toISOString().slice(0, 7)
  const used = async (who: Who = p.customer) =>
    (await p.call(who, 'GET', `/reports/usage/volumes?month=${month}`)).body.data
  const id = await v.make()
  p.turnClock(2 * hour)
  await v.act(id, 'detach')
  await v.act(id, 'grow', { sizeGb: 20 })
  p.turnClock(hour)
  await p.admin('DELETE', `/volumes/${id}`)
  await p.settle()
  p.turnClock(5 * hour)
  const [line, ...others] = await used()
  expect(others).toEqual([])
  expect(line).toMatchObject({ volumeId: id, name: 'data', sizeGb: 20, owner: { id: p.customer.id } })
  expect(line.seconds).toBeGreaterThanOrEqual(3 * 3600)
  expect(line.seconds).toBeLessThan(3 * 3600 + 60)
  expect(line.gbHours).toBeGreaterThanOrEqual(40)
  expect(line.gbHours).toBeLessThan(40.5)
  expect(await used(p.account('customer', 'Other'))).toEqual([])
})

describe('volumes are found', () => {
  test('by the search and the list, by name and id, and only by those who may see them', async () => {
    using p = await world()
    const v = await begin(p)
    const [data, logs] = [await v.make('data-a'), await v.make('logs')]
    const found = async (who: Who, q: string) =>
      (await p.call(who, 'GET', `/search?q=${q}`)).body.data
        .filter(({ type }: any) => type === 'volume')
        .map(({ title, detail, href }: any) => [title, detail, href])
    expect(await found(p.customer, 'data')).toEqual([['data-a', '10 GiB', `/volumes?q=${data}`]])
    expect(await found(p.owner, logs)).toEqual([['logs', '10 GiB', `/admin/volumes?q=${logs}`]])
    expect(await found(p.account('customer', 'Other'), 'data')).toEqual([])
    expect(await found(p.staff(['servers.create']), 'data')).toEqual([])
    const listed = async (who: Who, query: string) =>
      (await p.call(who, 'GET', `/volumes?${query}`)).body.data.map(({ name }: any) => name)
    expect(await listed(p.customer, 'q=LOG')).toEqual(['logs'])
    expect(await listed(p.customer, `q=${data}`)).toEqual(['data-a'])
    expect(await listed(p.owner, `nodeId=${p.node.id}`)).toEqual(['logs', 'data-a'])
    expect(await listed(p.owner, `nodeId=nod_${'0'.repeat(26)}`)).toEqual([])
  })
})

test('the navigation leads to volumes whoever sees one or has a package with some', async () => {
  using p = await world()
  const leads = async (who: Who, href: string, from = '/account/activity') => {
    const headers = { Cookie: `__Host-panel=${who.cookie}` }
    const answer = await p.controller.router.fetch(new Request(`http://localhost${from}`, { headers }))
    return (await answer.text()).includes(`<a href="${href}"`)
  }
  const other = p.account('customer', 'Other')
  const people = () =>
    Promise.all([
      leads(p.customer, '/volumes'),
      leads(other, '/volumes'),
      leads(p.owner, '/admin/volumes', '/admin/servers'),
    ])
  expect(await people()).toEqual([false, false, true])
  const v = await begin(p)
  expect(await people()).toEqual([true, false, true])
  await v.make()
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 0 })
  expect(await people()).toEqual([true, false, true])
})

describe('Needs attention', () => {
  const rows = async (p: World, who: Who, at: string) =>
    (await p.call(who, 'GET', at)).body.attention
      .filter((row: any) => /extra volume/.test(row.what))
      .map((row: any) => [row.level, row.what, row.href])
  test('has volumes that stayed when their server ended, until somebody attaches or deletes them', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    await v.act(id, 'detach')
    expect(await rows(p, p.owner, '/admin/overview')).toEqual([])
    await p.admin('DELETE', `/servers/${v.a}?immediately=true`)
    await p.settle()
    expect(await rows(p, p.owner, '/admin/overview')).toEqual([
      ['warn', '1 extra volume has no server since theirs ended.', '/admin/volumes'],
    ])
    expect(await rows(p, p.customer, '/overview')).toEqual([
      ['warn', '1 extra volume has no server since theirs ended.', '/volumes'],
    ])
    expect(await rows(p, p.account('customer', 'Other'), '/overview')).toEqual([])
    await v.attach(id, v.b)
    expect(await rows(p, p.owner, '/admin/overview')).toEqual([])
  })
  test('has volumes that were lost; removing the node for good names them before, and answers them', async () => {
    using p = await world()
    const v = await begin(p)
    const id = await v.make()
    const kept = await v.make('kept')
    await v.act(kept, 'detach')
    p.node.agent.disconnect()
    await p.settle()
    const page = await (
      await p.controller.router.fetch(
        new Request(`http://localhost/admin/nodes/${p.node.id}`, {
          headers: { Cookie: `__Host-panel=${p.owner.cookie}` },
        }),
      )
    ).text()
    expect(page).toContain('kept of Cal (detached), data of Cal (at web01). They stay listed as lost')
    const { status, body } = await p.call(p.owner, 'POST', `/admin/nodes/${p.node.id}/actions/remove-with-workloads`, {
      name: 'fra-01',
    })
    expect([status, body.count, body.volumeCount]).toEqual([200, 2, 2])
    expect(body.volumes).toEqual([
      { id, name: 'data' },
      { id: kept, name: 'kept' },
    ])
    await p.settle()
    expect([(await v.shown(id)).state, (await v.shown(kept)).state]).toEqual(['lost', 'lost'])
    expect(await rows(p, p.customer, '/overview')).toEqual([
      ['bad', '2 extra volumes were lost with the machine.', '/volumes'],
    ])
  })
})
