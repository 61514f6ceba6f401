import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { presets } from '../../../../src/identity/tokens/presets.ts'
import { shop } from '../../../identity/resellers/shop.ts'
import { type Panel, type World, world } from '../../../support/world/panel.ts'

const GIB = 1024 ** 3
const made = async (p: Panel, more: object = {}) =>
  (await p.admin('POST', '/admin/packages', { name: 'KVM 4G', vcpus: 4, memoryMb: 4096, diskGb: 40, ...more }))
    .id as string
const ordered = async (p: World) => {
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return serverId as string
}
const change = (p: World, id: string, packageId: string) =>
  p.call(p.owner, 'POST', `/servers/${id}/actions/change-package`, { packageId })
const onNode = (p: World, id: string) => {
  const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
  const vm = db.query<{ definition: string }, [string]>('select definition from vms where workload = ?').get(id)!
  const disk = db.query<{ sizeBytes: number }, [string]>('select sizeBytes from volumes where workload = ?').get(id)!
  db.close()
  const { vcpus, memoryMb } = JSON.parse(vm.definition)
  return { vcpus, memoryMb, diskGb: disk.sizeBytes / GIB }
}
const record = async (p: World, id: string) => {
  const { package: pack, vcpus, memoryMb, diskGb, trafficGb, portMbps, ipv4 } = await p.admin('GET', `/servers/${id}`)
  return { package: pack.name, vcpus, memoryMb, diskGb, trafficGb, portMbps, ipv4 }
}

describe('changing the package of a server', () => {
  test('gives it more on its node, keeps its address, and tells so once', async () => {
    using p = await world()
    const id = await ordered(p)
    const larger = await made(p, { trafficGb: 4000, portMbps: 500, ipv4: 3, billingProductId: 'whmcs:4' })
    const billing = p.token(p.owner.id, presets.billing)
    const answer = await p.call(billing, 'POST', `/servers/${id}/actions/change-package`, { packageId: larger })
    const { jobId, ...rest } = answer.body
    expect([answer.status, rest]).toEqual([202, { serverId: id, takesEffect: 'at_restart' }])
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ kind: 'resize', state: 'succeeded' })
    expect(await record(p, id)).toEqual({
      package: 'KVM 4G',
      vcpus: 4,
      memoryMb: 4096,
      diskGb: 40,
      trafficGb: 4000,
      portMbps: 500,
      ipv4: '203.0.113.10',
    })
    expect(onNode(p, id)).toEqual({ vcpus: 4, memoryMb: 4096, diskGb: 40 })
    const told = p.db.$client.query("SELECT data FROM events WHERE type = 'server.resized'").all() as { data: string }[]
    expect(told.map(({ data }) => JSON.parse(data))).toMatchObject([
      {
        server: { id, package: 'KVM 4G' },
        from: 'KVM 2G',
        to: 'KVM 4G',
        fromPackageId: p.pack,
        toPackageId: larger,
        billingProductId: 'whmcs:4',
      },
    ])
  })

  test('takes effect at once when it is off, and also leads to less, but for the disk', async () => {
    using p = await world()
    const id = await ordered(p)
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
    await p.settle()
    const small = await made(p, { name: 'KVM 1G', vcpus: 1, memoryMb: 1024, diskGb: 20 })
    const { status, body } = await change(p, id, small)
    expect([status, body.takesEffect]).toEqual([202, 'now'])
    // Until it is done, the larger of both is held.
    expect(p.server(id)).toMatchObject({ vcpus: 2, memoryMb: 2048, packageId: p.pack })
    await p.settle()
    expect(onNode(p, id)).toEqual({ vcpus: 1, memoryMb: 1024, diskGb: 20 })
    expect(p.server(id)).toMatchObject({ vcpus: 1, memoryMb: 1024, packageId: small })
    const tiny = await made(p, { name: 'KVM tiny', vcpus: 1, memoryMb: 512, diskGb: 10 })
    const untouched = p.fingerprint()
    const refused = await change(p, id, tiny)
    expect([refused.status, refused.body.error.code]).toEqual([422, 'validation_failed'])
    expect(refused.body.error.details.fields[0].message).toContain('A disk cannot shrink')
    expect(p.fingerprint()).toBe(untouched)
  })

  test('to the package that it has does nothing; what the package has become since is taken over', async () => {
    using p = await world()
    const id = await ordered(p)
    const same = await change(p, id, p.pack)
    expect([same.status, same.body]).toEqual([200, { jobId: null, serverId: id, takesEffect: 'now' }])
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { memoryMb: 3072, archived: true })
    expect((await change(p, id, p.pack)).status).toBe(202)
    await p.settle()
    expect((await record(p, id)).memoryMb).toBe(3072)
  })

  const refusals: [string, (p: World, id: string) => Promise<unknown> | unknown, object, string][] = [
    [
      'a package that is archived',
      (p) => p.db.$client.run('UPDATE packages SET archived = 1'),
      {},
      '422 validation_failed',
    ],
    ['a node without memory', (p) => p.db.$client.run('UPDATE nodes SET memory_mb = 4095'), {}, '409 no_capacity'],
    [
      'a node without disk',
      (p) => p.db.$client.run('UPDATE storage_pools SET total_bytes = ?', [39 * GIB]),
      {},
      '409 no_capacity',
    ],
    [
      'a suspended server',
      (p, id) => p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'unpaid' }),
      {},
      '409 server_suspended',
    ],
  ]
  for (const [what, before, more, expected] of refusals)
    test(`${what} is refused, and nothing happens`, async () => {
      using p = await world()
      const id = await ordered(p)
      const larger = await made(p, more)
      await before(p, id)
      await p.settle()
      const untouched = p.fingerprint()
      const { status, body } = await change(p, id, larger)
      expect(`${status} ${body.error?.code}`).toBe(expected)
      expect(p.fingerprint()).toBe(untouched)
    })

  test('holds the larger package from the call on: what is left is not sold meanwhile', async () => {
    using p = await world()
    const id = await ordered(p)
    p.db.$client.run('UPDATE nodes SET memory_mb = 4096 + 2047')
    p.node.agent.fault({ command: 'vm.define', mode: 'slow', ms: 300, times: 1 })
    const larger = await made(p)
    expect((await change(p, id, larger)).status).toBe(202)
    const order = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'web02' })
    expect(order.body.error.code).toBe('no_capacity')
    expect((await change(p, id, larger)).body.error.code).toBe('server_busy')
    await p.settle()
    expect(p.server(id).packageId).toBe(larger)
  })

  for (const command of ['vm.look', 'vm.define', 'volume.grow'] as const)
    test(`leaves everything as it was when ${command} fails`, async () => {
      using p = await world()
      const id = await ordered(p)
      const before = [await record(p, id), onNode(p, id)]
      p.node.agent.fault({ command, mode: 'fail', times: 1 })
      const { body } = await change(p, id, await made(p))
      await p.settle()
      expect(p.job(body.jobId).state).toBe('failed')
      expect([await record(p, id), onNode(p, id)]).toEqual(before)
      expect(p.events()).not.toContain('server.resized')
    })

  test('gives way to a suspension', async () => {
    using p = await world()
    const id = await ordered(p)
    const before = await record(p, id)
    p.node.agent.fault({ command: 'vm.define', mode: 'slow', ms: 100, times: 1 })
    await change(p, id, await made(p))
    expect((await p.call(p.owner, 'POST', `/servers/${id}/actions/suspend`, { reason: 'unpaid' })).status).toBe(202)
    await p.settle()
    expect(await record(p, id)).toEqual(before)
    expect(p.server(id).status).toBe('suspended')
  })

  test("is the reseller's within its packages and quotas, and never the customer's", async () => {
    using p = await shop({ memoryMb: 5000 })
    const id = (await p.sell({ imageId: p.image, hostname: 'web01', access: { mode: 'password' } })).body.serverId
    await p.settle()
    const larger = await made(p)
    const path = `/servers/${id}/actions/change-package`
    const asReseller = () => p.call(p.rita, 'POST', path, { packageId: larger })
    expect((await asReseller()).body.error.code).toBe('package_not_allowed')
    await p.change({ packageIds: [p.pack, larger] })
    expect((await p.call(p.client, 'POST', path, { packageId: larger })).body.error.code).toBe('forbidden')
    await p.change({ quotas: { memoryMb: 4095 } })
    expect((await asReseller()).body.error).toMatchObject({ code: 'quota_exceeded', details: { resource: 'memoryMb' } })
    await p.change({ quotas: { memoryMb: 4096 } })
    expect((await asReseller()).status).toBe(202)
    await p.settle()
    expect(p.server(id).packageId).toBe(larger)
  })
})
