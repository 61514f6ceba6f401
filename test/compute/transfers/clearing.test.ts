// A node that is cleared late has what others may need by then: it deletes only what the server left.
import { expect, test } from 'bun:test'
import { parseCommand } from '../../../agent/commands/index.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { move, nodeNamed, open, where } from './world.ts'

test('a volume that changed its server meanwhile does not come to the node that still has its old copy', async () => {
  using p = await open()
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
  const to = nodeNamed(p, 'fra-02')
  const order = async (nodeId: string, hostname: string): Promise<string> => {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, nodeId, hostname })
    await p.settle()
    return serverId
  }
  const one = await order(p.node.id, 'web01')
  const other = await order(to, 'web02')
  const { volumeId } = await p.admin('POST', `/servers/${one}/volumes`, { name: 'data', sizeGb: 10 })
  await p.settle()
  p.arm({
    failpoints: (moment) => {
      if (moment === 'clear_move/end:before') p.node.agent.disconnect()
    },
  })
  // The job that clears waits for its node all the while.
  const done = async ({ jobId }: { jobId: string }) => {
    await eventually(() => p.job(jobId).state === 'succeeded')
    expect(p.job(jobId)).toMatchObject({ state: 'succeeded' })
  }
  await done(await move(p, one))
  await done(await p.admin('POST', `/volumes/${volumeId}/actions/detach`))
  await done(await p.admin('POST', `/volumes/${volumeId}/actions/attach`, { serverId: other }))
  const refused = await p.call(p.owner, 'POST', `/admin/servers/${other}/actions/move`, { nodeId: p.node.id })
  expect(refused.status).toBe(409)

  p.arm({})
  p.node.agent.connect()
  for (let i = 0; i < 3; i++) await p.settle()
  const disksOn = async (nodeId: string) => (await p.agents.get(nodeId)!.host.storage.volumes()).volumes.length
  expect(await disksOn(p.node.id)).toBe(0)
  expect(await disksOn(to)).toBe(3)
  expect((await where(p, one)).openJobs).toEqual([])

  // Cleared, the node takes it again, and keeps it.
  await move(p, other, { nodeId: p.node.id })
  await p.settle()
  expect([await disksOn(p.node.id), await disksOn(to)]).toEqual([2, 1])
  expect((await p.admin('GET', `/servers/${other}`)).status).toBe('running')
})

for (const mode of ['near_live', 'cold', 'live'])
  test(`until it is cleared a node starts nothing that has left it, whoever asks, ${mode}`, async () => {
    using p = await open()
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, nodeId: p.node.id })
    await p.settle()
    p.arm({
      failpoints: (moment) => {
        if (moment === 'clear_move/remove:before') p.node.agent.disconnect()
      },
    })
    await move(p, serverId, { nodeId: nodeNamed(p, 'fra-02'), mode })
    const clearing = p.db.$client.query("SELECT 1 FROM jobs WHERE kind = 'clear_move' AND state = 'running'")
    await eventually(() => clearing.get() !== null)
    // As a controller would with a database from before the move.
    const start = (nodeId: string) =>
      parseCommand('vm.start', { workload: serverId })
        .work(p.agents.get(nodeId)!.host)
        .then(
          () => 'done',
          (error: { code?: string }) => error.code,
        )
    expect(await start(p.node.id)).toBe('not_owned')
    const powers = () =>
      Promise.all([p.node.id, nodeNamed(p, 'fra-02')].map((id) => p.agents.get(id)!.host.hypervisor.power(serverId)))
    expect(await powers()).toEqual([mode === 'live' ? 'absent' : 'stopped', 'running'])
    p.arm({})
    p.node.agent.connect()
    await p.settle()
    expect(await powers()).toEqual(['absent', 'running'])
    expect(p.agents.get(p.node.id)!.host.state.transfers()).toEqual([])
  })
