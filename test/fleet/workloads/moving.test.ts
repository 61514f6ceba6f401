// A workload on two nodes: what it holds counts on each once, and both may report of it.
import { describe, expect, test } from 'bun:test'
import { stayFaults } from '../../support/nodes/stays.ts'
import { crashMatrix } from '../../support/world/crash-matrix.ts'
import { type World, world } from '../../support/world/panel.ts'
import { boxesFeature } from './box-feature.ts'
import { clearing, moving } from './box-move.ts'

async function open() {
  const p = await world({ features: [boxesFeature] })
  const other = p.addNode(p.location, 'fra-02')
  await p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id, other.id] })
  return p
}
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
    await Bun.sleep(100)
    p.arm({})
    expect(await where(p, id)).toMatchObject({
      stays: ['arriving on fra-02', 'home on fra-01'],
      held: expect.arrayContaining(['fra-01 holds 1 1024 10', 'fra-02 holds 1 1024 10']),
    })
    // Both may report of it, and only its home says whether it runs.
    p.controller.reports.take(to, { type: 'power', workload: id, power: 'stopped', at: 0, reason: 'guest' })
    await Bun.sleep(100)
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
