// A volume is its owner's, whatever happens to the servers that had it.
import { expect, test } from 'bun:test'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

/** Two servers of one customer on one node, the first with a volume, and another customer. */
async function begin(p: World) {
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
  const order = async (hostname: string) => {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname })
    await p.settle()
    return serverId as string
  }
  const [a, b] = [await order('web01'), await order('web02')]
  const call = async (who: Who, method: string, path: string, body?: object) => {
    const { status, body: answer } = await p.call(who, method, path, body)
    await p.settle()
    return { status, code: answer.error?.code as string | undefined, message: answer.error?.message, ...answer }
  }
  const { volumeId } = await call(p.customer, 'POST', `/servers/${a}/volumes`, { name: 'ledgers', sizeGb: 10 })
  const next = p.account('customer', 'Next')
  const hypervisor = p.node.agent.host.hypervisor as FakeHypervisor
  return {
    a,
    b,
    call,
    next,
    volumeId: volumeId as string,
    give: (server: string) => call(p.owner, 'POST', `/servers/${server}/actions/change-owner`, { ownerId: next.id }),
    ownerOf: async (server: string) => (await p.admin('GET', `/servers/${server}`)).owner.id as string,
    has: (server: string) => hypervisor.volumes(server).length,
    titlesSeenBy: async (who: Who) =>
      (await p.call(who, 'GET', '/jobs?limit=200')).body.data.map(({ title }: { title: string }) => title) as string[],
  }
}

test('a server from which a volume moves away goes to nobody else before that has ended', async () => {
  using p = await world()
  const v = await begin(p)
  p.arm({ failpoints: (at) => void (at === 'move_volume/attach:before' && p.node.agent.disconnect()) })
  const asked = await p.call(p.customer, 'POST', `/volumes/${v.volumeId}/actions/attach`, { serverId: v.b })
  await eventually(() => !p.controller.hub.connected(p.node.id))
  // The node has taken it from the first server, and has not heard of the second one.
  expect([v.has(v.a), v.has(v.b)]).toEqual([0, 0])
  const { body } = await p.call(p.owner, 'POST', `/servers/${v.a}/actions/change-owner`, { ownerId: v.next.id })
  const refused = body.error
  expect([refused.code, await v.ownerOf(v.a)]).toEqual(['in_use', p.customer.id])
  expect(refused.message).toContain('the volume ledgers')
  p.arm({})
  await p.call(p.customer, 'POST', `/jobs/${asked.body.jobId}/actions/cancel`)
  p.node.agent.connect()
  await eventually(() => v.has(v.a) === 1)
  await p.settle()
  expect([p.job(asked.body.jobId).state, v.has(v.b)]).toEqual(['failed', 0])
  await v.call(p.customer, 'POST', `/volumes/${v.volumeId}/actions/detach`)
  expect((await v.give(v.a)).status).toBe(200)
})

test('what becomes of a volume is shown to its owner, and not to who has the server now that had it', async () => {
  using p = await world()
  const v = await begin(p)
  await v.call(p.customer, 'POST', `/volumes/${v.volumeId}/actions/detach`)
  expect((await v.give(v.a)).status).toBe(200)
  const before = await v.titlesSeenBy(v.next)
  const grown = await v.call(p.customer, 'POST', `/volumes/${v.volumeId}/actions/grow`, { sizeGb: 20 })
  p.node.agent.disconnect()
  const { body: removed } = await p.call(p.customer, 'DELETE', `/volumes/${v.volumeId}`)
  expect(await v.titlesSeenBy(v.next)).toEqual(before)
  for (const { jobId } of [grown, removed]) {
    expect((await p.call(v.next, 'GET', `/jobs/${jobId}`)).status).toBe(404)
    expect((await p.call(v.next, 'POST', `/jobs/${jobId}/actions/cancel`)).status).toBe(404)
    for (const who of [p.customer, p.owner]) expect((await p.call(who, 'GET', `/jobs/${jobId}`)).body.id).toBe(jobId)
  }
  p.node.agent.connect()
  await eventually(() => p.job(removed.jobId).state === 'succeeded')
})

test('what was done with the volumes of the owner before is not shown to the next owner of the server', async () => {
  using p = await world()
  const v = await begin(p)
  const detached = await v.call(p.customer, 'POST', `/volumes/${v.volumeId}/actions/detach`)
  p.turnClock(60_000)
  expect((await v.give(v.a)).status).toBe(200)
  const timeline = async (who: Who) => JSON.stringify(await v.call(who, 'GET', `/servers/${v.a}/timeline`))
  expect([await v.titlesSeenBy(v.next), (await v.call(v.next, 'GET', '/jobs')).total]).toEqual([[], 0])
  expect(await timeline(v.next)).not.toContain('ledgers')
  expect((await v.call(v.next, 'GET', `/jobs/${detached.jobId}`)).code).toBe('job_not_found')
  expect((await v.call(v.next, 'GET', `/search?q=ledgers`)).data).toEqual([])
  // Staff follow all of it, and the next owner what is done from now on.
  expect(await v.titlesSeenBy(p.owner)).toContain('Create volume ledgers for web01')
  expect(await timeline(p.owner)).toContain('ledgers')
  expect((await v.call(v.next, 'POST', `/servers/${v.a}/actions/power`, { action: 'restart' })).status).toBe(202)
  expect(await v.titlesSeenBy(v.next)).toHaveLength(1)
})

test('the owner of a volume follows the job that deletes it when its server has ended', async () => {
  using p = await world()
  const v = await begin(p)
  await v.call(p.owner, 'DELETE', `/servers/${v.a}?immediately=true`)
  const { jobId } = await v.call(p.customer, 'DELETE', `/volumes/${v.volumeId}`)
  expect((await v.call(p.customer, 'GET', `/jobs/${jobId}`)).state).toBe('succeeded')
  expect(await v.titlesSeenBy(p.customer)).toContain('Delete volume ledgers')
  expect((await v.call(v.next, 'GET', `/jobs/${jobId}`)).code).toBe('job_not_found')
})

test('the port of a volume that moves away stays its own until that has ended', async () => {
  using p = await world()
  const v = await begin(p)
  for (const name of ['2', '3', '4', '5', '6'])
    await v.call(p.customer, 'POST', `/servers/${v.a}/volumes`, { name, sizeGb: 1 })
  const { volumeId: seventh } = await v.call(p.customer, 'POST', `/servers/${v.b}/volumes`, { name: '7', sizeGb: 1 })
  await v.call(p.customer, 'POST', `/volumes/${seventh}/actions/detach`)
  p.arm({ failpoints: (at) => void (at === 'move_volume/attach:before' && p.node.agent.disconnect()) })
  const { body } = await p.call(p.customer, 'POST', `/volumes/${v.volumeId}/actions/attach`, { serverId: v.b })
  await eventually(() => !p.controller.hub.connected(p.node.id))
  const attach = () => p.call(p.customer, 'POST', `/volumes/${seventh}/actions/attach`, { serverId: v.a })
  expect((await attach()).body.error?.code).toBe('limit_reached')
  expect((await p.call(p.customer, 'GET', `/volumes/${seventh}`)).body).toMatchObject({ jobId: null, server: null })
  p.arm({})
  p.node.agent.connect()
  await eventually(() => p.job(body.jobId).state === 'succeeded')
  expect((await attach()).status).toBe(202)
  await p.settle()
  expect([v.has(v.a), v.has(v.b)]).toEqual([6, 1])
})
