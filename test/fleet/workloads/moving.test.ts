// A workload on two nodes: what it holds counts on each once, and both may report of it.
import { describe, expect, test } from 'bun:test'
import { closeStay, openArriving, switchHome } from '../../../src/fleet/workloads/stays/stays.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { crashMatrix } from '../../support/crash-matrix/crash-matrix.ts'
import { stayFaults } from '../../support/nodes/stays.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { type World, world } from '../../support/world/panel.ts'
import { boxesFeature } from './box/feature.ts'
import { clearing, moving } from './box/move.ts'

async function open() {
  const p = await world({ features: [boxesFeature] })
  const other = p.addNode(p.location, 'fra-02')
  await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id, other.id] })
  return p
}
const firewall = { enabled: true, acceptClosedSsh: true }
const otherOf = (p: World) => [...p.agents.keys()].find((id) => id !== p.node.id)!
async function order(p: World): Promise<string> {
  const body = { ownerId: p.customer.id, nodeGroupId: p.location, imageId: p.image, memoryMb: 1024 }
  const { boxId } = await p.admin('POST', '/admin/boxes', body)
  await p.settle()
  return boxId
}
const move = (p: World, id: string, nodeId = otherOf(p)) =>
  p.admin('POST', `/boxes/${id}/actions/move`, { nodeId, imageId: p.image })

/** The stays, and what each node has of the box: `home on fra-02; fra-01 0 0 0; fra-02 1 1 1`. */
async function where(p: World, id: string) {
  const { $client } = p.db
  const names = new Map(
    $client
      .query<{ id: string; name: string }, []>('SELECT id, name FROM nodes')
      .all()
      .map(({ id, name }) => [id, name]),
  )
  const stays = $client
    .query<{ role: string; node: string }, [string]>(
      'SELECT role, node_id AS node FROM workload_stays WHERE workload_id = ? ORDER BY role',
    )
    .all(id)
    .map(({ role, node }) => `${role} on ${names.get(node)}`)
  const onNodes = [...p.agents].map(async ([nodeId, { host }]) => {
    const { ours } = await host.hypervisor.look()
    const disks = (await host.storage.list()).length
    const powers = ours.map(({ power }) => power).join() || 'none'
    return `${names.get(nodeId)} ${powers} ${disks} ${host.state.portRules().length}`
  })
  const held = $client
    .query<{ node: string; n: number; mb: number; gb: number }, []>(
      'SELECT node_id AS node, workloads AS n, memory_mb AS mb, disk_gb AS gb FROM node_held WHERE workloads > 0',
    )
    .all()
    .map(({ node, n, mb, gb }) => `${names.get(node)} holds ${n} ${mb} ${gb}`)
  const faults = stayFaults(p.db)
  if (faults.length) throw new Error(faults.join('\n'))
  return { stays, onNodes: await Promise.all(onNodes), held }
}

describe('a box that moves', () => {
  test('is held on both nodes meanwhile, and on its new home alone afterwards', async () => {
    using p = await open()
    const id = await order(p)
    const [from, to] = [p.node.id, otherOf(p)]
    p.arm({
      failpoints: (moment) => {
        if (moment === 'move-box/open:noted') p.agents.get(to)!.disconnect()
      },
    })
    await move(p, id)
    await eventually(async () => (await where(p, id)).stays.length === 2)
    p.arm({})
    expect(await where(p, id)).toMatchObject({
      stays: ['arriving on fra-02', 'home on fra-01'],
      held: expect.arrayContaining(['fra-01 holds 1 1024 10', 'fra-02 holds 1 1024 10']),
    })
    // Both may report of it, and only its home says whether it runs.
    p.controller.reports.take(to, { type: 'power', workload: id, power: 'stopped', at: 0, reason: 'guest' })
    await p.reported()
    expect((await p.admin('GET', `/boxes/${id}`)).status).toBe('running')
    p.agents.get(to)!.connect()
    await p.settle()
    expect(await where(p, id)).toMatchObject({ stays: ['home on fra-02'], held: ['fra-02 holds 1 1024 10'] })
    expect((await p.admin('GET', `/boxes/${id}`)).status).toBe('running')
    for (const nodeId of [from, to]) expect((await p.admin('GET', `/admin/nodes/${nodeId}`)).misconduct).toEqual([])
    await move(p, id, from)
    await p.settle()
    expect(await where(p, id)).toMatchObject({ stays: ['home on fra-01'], held: ['fra-01 holds 1 1024 10'] })
    await p.admin('DELETE', `/boxes/${id}`)
    await p.settle()
    expect(await where(p, id)).toMatchObject({ stays: [], held: [] })
  })
})

describe('a server that arrives on a second node', () => {
  async function arriving() {
    const p = await open()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const to = otherOf(p)
    write(p.db, (tx) => openArriving(tx, serverId, { nodeId: to, pool: 'local', spareDiskGb: 0 }, p.now()))
    return Object.assign(p, { id: serverId as string, to })
  }
  test('has its firewall on both nodes, and it is in force where its home is', async () => {
    using p = await arriving()
    const inForce = async (): Promise<boolean> => (await p.admin('GET', `/servers/${p.id}/firewall`)).inForce
    const early = () => p.agents.get(p.to)!.host.state.earlyPolicy(p.id)?.firewall
    p.agents.get(p.to)!.disconnect()
    await p.admin('PATCH', `/servers/${p.id}/firewall`, firewall)
    await eventually(inForce)
    expect(await inForce()).toBe(true)
    write(p.db, (tx) => switchHome(tx, p.id, { nodeId: p.to, locationId: p.location }))
    expect(await inForce()).toBe(false)
    p.agents.get(p.to)!.connect()
    await eventually(inForce)
    expect(early()).toBeDefined()
  })
  test('loses nothing with that node, which gives back what it held', async () => {
    using p = await arriving()
    p.agents.get(p.to)!.disconnect()
    const refused = await p.call(p.owner, 'DELETE', `/admin/nodes/${p.to}`)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'fra-02 holds 1 server. Move or terminate them first.',
    ])
    const lost = await p.admin('POST', `/admin/nodes/${p.to}/actions/declare-lost`, { name: 'fra-02' })
    expect(lost).toEqual({ workloads: [], count: 0 })
    expect(p.server(p.id).status).toBe('running')
    expect(await where(p, p.id)).toMatchObject({ stays: ['home on fra-01'], held: ['fra-01 holds 1 2048 20'] })
  })
  test('fails with its home, and is gone from the second node when that is removed', async () => {
    using p = await arriving()
    p.agents.get(p.node.id)!.disconnect()
    const lost = await p.admin('POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
    expect(lost.count).toBe(1)
    expect(p.server(p.id).status).toBe('failed')
    const removed = await p.admin('POST', `/admin/nodes/${p.to}/actions/remove-with-workloads`, { name: 'fra-02' })
    expect(removed).toMatchObject({ count: 0, removed: true })
    expect(await where(p, p.id)).toMatchObject({ stays: ['home on fra-01'] })
  })
  test('is told to its owner where either node is maintained', async () => {
    using p = await arriving()
    const body = { audience: 'customers', text: 'Work tonight.', nodeId: p.to }
    await p.admin('POST', '/admin/announcements', body)
    const seen = async () => (await p.call(p.customer, 'GET', '/announcements')).body.data.length
    expect(await seen()).toBe(1)
    write(p.db, (tx) => closeStay(tx, p.id, p.to, p.now()))
    expect(await seen()).toBe(0)
  })
  test('crashed on its former home as that tells later; one where it arrives changes nothing', async () => {
    using p = await arriving()
    const crash = (nodeId: string, at: number) =>
      p.controller.reports.take(nodeId, {
        type: 'crash',
        workload: p.id,
        at,
        cause: 'ended',
        detail: 'it broke',
        outcome: 'restarts',
      } as never)
    const kept = () => p.db.$client.query('SELECT count(*) AS n FROM workload_crashes').get()
    crash(p.to, p.now() - 1000)
    await p.reported()
    expect(kept()).toEqual({ n: 0 })
    write(p.db, (tx) => {
      switchHome(tx, p.id, { nodeId: p.to, locationId: p.location })
      closeStay(tx, p.id, p.node.id, p.now())
    })
    crash(p.node.id, p.now() - 2000)
    await p.reported()
    expect(kept()).toEqual({ n: 1 })
    for (const id of [p.to, p.node.id]) expect((await p.admin('GET', `/admin/nodes/${id}`)).misconduct).toEqual([])
  })
})

const at = (node: 'fra-01' | 'fra-02') => ({
  stays: [`home on ${node}`],
  onNodes: ['fra-01', 'fra-02'].map((name) => (name === node ? `${name} running 1 1` : `${name} none 0 0`)),
  held: [`${node} holds 1 1024 10`],
})
const onlyCounting = (node: 'fra-01' | 'fra-02') => ({
  ...at(node),
  onNodes: expect.arrayContaining([`${node} running 1 1`]),
})
crashMatrix({
  open,
  sagas: [moving, clearing],
  measure: where,
  scenarios: [
    {
      name: 'moving a box',
      kind: 'move-box',
      before: order,
      start: async (p, id) => {
        const { jobId, boxId } = await move(p, id)
        return { jobId, serverId: boxId }
      },
      succeeds: at('fra-02') as never,
      fails: at('fra-01') as never,
      lost: {
        // A node that is lost still has what it had, and counts no more.
        nodeId: (isPast) => (isPast ? onlyCounting('fra-02') : {}) as never,
        otherNodeId: (isPast) => (isPast ? {} : onlyCounting('fra-01')) as never,
      },
    },
  ],
})
