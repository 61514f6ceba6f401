// A second kind of workload needs no change in placement, addresses, quotas, team access, node reports, jobs or the
// crash matrix.
import { describe, expect, test } from 'bun:test'
import { crashMatrix } from '../../support/crash-matrix/crash-matrix.ts'
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import { type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'
import { starting, stopping } from './box/actions.ts'
import { building, removing } from './box/box.ts'
import { boxesFeature } from './box/feature.ts'

const open = () => world({ features: [boxesFeature] })
const wanted = (p: World, more: object = {}) => ({
  ownerId: p.customer.id,
  nodeGroupId: p.location,
  imageId: p.image,
  memoryMb: 1024,
  ...more,
})
const order = async (p: World, more: object = {}): Promise<string> => {
  const { boxId } = await p.admin('POST', '/admin/boxes', wanted(p, more))
  await p.settle()
  return boxId
}
const nodeOf = (p: World) => p.admin('GET', `/admin/nodes/${p.node.id}`)

describe('a box', () => {
  test('is placed, holds memory, disk and an address, and has an id of its own kind', async () => {
    using p = await open()
    const id = await order(p)
    expect(id).toMatch(/^box_/)
    expect(await p.admin('GET', `/boxes/${id}`)).toEqual({ id, status: 'running', addresses: ['203.0.113.10'] })
    expect(await nodeOf(p)).toMatchObject({ heldMemoryMb: 1024, heldDiskGb: 10 })
    const { data } = await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)
    expect(data[0]).toMatchObject({ state: 'held', workload: { id, kind: 'box', hostname: 'box1' } })
  })
  test('takes the place that a server then has not', async () => {
    using p = await open()
    await order(p, { memoryMb: 65_536 - 1024 })
    const { status, body } = await p.call(p.owner, 'POST', '/admin/servers', p.order)
    expect([status, body.error.code]).toEqual([409, 'no_capacity'])
    expect((await p.call(p.owner, 'POST', '/admin/boxes', wanted(p, { memoryMb: 1025 }))).body.error.code).toBe(
      'no_capacity',
    )
    await order(p, { memoryMb: 1024 })
  })
  test('counts its resources in the quotas of a reseller, and is no server there', async () => {
    using p = await open()
    const reseller = p.account('reseller', 'Rex')
    await order(p, { ownerId: p.account('customer', 'Rita', reseller.id).id })
    const { used } = await p.admin('GET', `/resellers/${reseller.id}`)
    expect(used).toMatchObject({ servers: 0, vcpus: 1, memoryMb: 1024, diskGb: 10, ipv4: 1, gpus: 1 })
  })
  test('is seen by its owner and by those with whom it is shared, and by nobody else', async () => {
    using p = await open()
    const id = await order(p)
    const [friend, stranger] = [p.account('customer', 'Fay'), p.account('customer', 'Stan')]
    const status = async (who: typeof friend) => (await p.call(who, 'GET', `/boxes/${id}`)).status
    expect([await status(p.customer), await status(friend), await status(stranger)]).toEqual([200, 404, 404])
    await share(p, p.customer, friend, 'view', id)
    expect([await status(p.customer), await status(friend), await status(stranger)]).toEqual([200, 200, 404])
    await p.admin('DELETE', `/boxes/${id}`)
    await p.settle()
    expect([await status(p.customer), await status(friend)]).toEqual([404, 404])
    expect(p.db.$client.query('SELECT count(*) AS n FROM team_members').get()).toEqual({ n: 0 })
  })
  test('is no server under the paths of servers', async () => {
    using p = await open()
    const id = await order(p)
    expect((await p.call(p.owner, 'GET', `/servers/${id}`)).status).toBe(404)
    expect((await p.call(p.owner, 'GET', '/admin/servers')).body.total).toBe(0)
    expect((await p.call(p.owner, 'POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })).status).toBe(404)
  })
  test('has jobs that its owner sees', async () => {
    using p = await open()
    await order(p)
    const { data } = await p.admin('GET', '/jobs')
    expect(data).toMatchObject([{ kind: 'build-box', state: 'succeeded', serverId: null }])
    expect((await p.call(p.customer, 'GET', `/jobs/${data[0].id}`)).status).toBe(200)
    expect((await p.call(p.account('customer', 'Stan'), 'GET', `/jobs/${data[0].id}`)).status).toBe(404)
  })
  test(
    'is known in the reports of its node: its power is taken in, what is missing is shown, and it is no ' + 'orphan',
    async () => {
      using p = await open()
      const id = await order(p)
      const { reports } = p.controller
      reports.take(p.node.id, { type: 'power', workload: id, power: 'stopped', at: 0, reason: 'guest' })
      reports.take(p.node.id, {
        type: 'inventory',
        vms: [{ workload: id, power: 'stopped' }],
        volumes: [],
        foreign: [],
      })
      await p.reported()
      expect((await p.admin('GET', `/boxes/${id}`)).status).toBe('stopped')
      expect((await nodeOf(p)).found).toEqual([
        { kind: 'missing_volume', workloadId: id, words: 'The disk of box1 is not on this node.' },
      ])
    },
  )
  test('keeps its node from being removed, in words of its kind', async () => {
    using p = await open()
    for (const _ of [1, 2]) await order(p)
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const { body } = await p.call(p.owner, 'DELETE', `/admin/nodes/${p.node.id}`)
    expect(body.error).toMatchObject({
      code: 'in_use',
      message: 'fra-01 holds 1 server and 2 boxes. Move or terminate them first.',
    })
  })
})

const start =
  (method: string, path: (id: string) => string, body?: (p: World) => object): Scenario['start'] =>
  async (p, id) => {
    const { jobId, boxId } = await p.admin(method, path(id), body?.(p))
    return { jobId, serverId: boxId }
  }
const there = { vms: 1, volumes: 1, seeds: 0, rules: 1, addresses: 1, held: 1, openJobs: 0, events: [] }
const gone = { power: 'absent', vms: 0, volumes: 0, seeds: 0, rules: 0, openJobs: 0, events: [] }

const overdue = () => ({ reason: 'overdue' })
async function suspended(p: World) {
  const id = await order(p)
  await p.admin('POST', `/boxes/${id}/suspend`, overdue())
  await p.settle()
  return id
}

crashMatrix({
  open,
  sagas: [building, removing, stopping, starting],
  scenarios: [
    {
      name: 'building a box',
      kind: 'build-box',
      before: async () => '',
      start: start('POST', () => '/admin/boxes', wanted),
      succeeds: { ...there, status: 'running', power: 'running' },
      fails: { ...gone, status: 'failed', addresses: 1, held: 1 },
    },
    {
      name: 'removing a box',
      kind: 'remove-box',
      before: order,
      start: start('DELETE', (id) => `/boxes/${id}`),
      succeeds: { ...gone, status: 'terminated', addresses: 0, held: 0 },
    },
    {
      name: 'suspending a box',
      kind: 'suspend-box',
      before: order,
      start: start('POST', (id) => `/boxes/${id}/suspend`, overdue),
      succeeds: { ...there, status: 'suspended', power: 'stopped' },
    },
    {
      name: 'unsuspending a box',
      kind: 'unsuspend-box',
      before: suspended,
      start: start('POST', (id) => `/boxes/${id}/unsuspend`),
      succeeds: { ...there, status: 'running', power: 'running' },
    },
  ],
})
