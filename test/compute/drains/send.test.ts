import { expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import type { World } from '../../support/world/panel.ts'
import { nodeNamed } from '../transfers/world.ts'
import { drainOf, open, ordered, played, states, turn } from './world.ts'

const act = (p: World, id: string, action: string, body: object) =>
  p.call(p.owner, 'POST', `/admin/drains/${id}/actions/${action}`, body)
const homeOf = (p: World, id: string) =>
  (p.db.$client.query('SELECT n.name FROM workloads w JOIN nodes n ON n.id = w.node_id WHERE w.id = ?').get(id) as any)
    .name

/** A drain that paused because its first server could not be received; answers that one. */
async function stuck(p: World) {
  for (const hostname of ['web00', 'web01', 'web02']) await ordered(p, hostname)
  p.node.agent.fault({ command: 'transfer.begin-migration', mode: 'fail', times: 1 })
  const { id } = await drainOf(p, { onFailure: 'pause', atOnce: 1 })
  const paused = await played(p, id)
  const failed = paused.servers.find(({ state }: any) => state === 'failed')
  return { id, paused, failed }
}

test('a server that failed says where its move stopped, how it is, and which nodes take it', async () => {
  using p = await open()
  const { paused, failed } = await stuck(p)
  const { failure } = failed
  expect(failure).toMatchObject({ running: true, wasOff: false, isLeftThere: false })
  const { n, of, title } = failure.phase
  expect([n <= of, of > 4, title.length > 4]).toEqual([true, true, true])
  expect(failure.nodes.map(({ name }: any) => name).toSorted()).toEqual(['fra-02', 'fra-03'])
  expect(failure.nodes[0].freeDiskGb).toBeGreaterThan(0)
  expect(paused.targets.map(({ name }: any) => name).toSorted()).toEqual(['fra-02', 'fra-03'])
  expect(paused.servers.filter(({ state }: any) => state === 'waiting').every((one: any) => !one.failure)).toBe(true)
})

test('a server that failed, and one that waits, go to the nodes that a person has chosen', async () => {
  using p = await open()
  const { id, paused, failed } = await stuck(p)
  const waiting = paused.servers.filter(({ state }: any) => state === 'waiting')
  const third = nodeNamed(p, 'fra-03')
  for (const one of [failed, ...waiting])
    expect((await act(p, id, 'send', { serverId: one.id, nodeId: third })).status).toBe(200)
  const sent = await p.admin('GET', `/admin/drains/${id}`)
  expect(states(sent)).toEqual({ waiting: 3 })
  expect(sent.servers.map(({ chosenNode, to }: any) => [chosenNode.name, to.name])).toEqual(
    Array(3).fill(['fra-03', 'fra-03']),
  )
  await act(p, id, 'resume', {})
  expect(states(await played(p, id))).toEqual({ moved: 3 })
  expect([failed, ...waiting].map((one) => homeOf(p, one.id))).toEqual(['fra-03', 'fra-03', 'fra-03'])
  const ended = await act(p, id, 'send', { serverId: failed.id, nodeId: third })
  expect([ended.status, ended.body.error.code]).toEqual([409, 'drain_ended'])
})

test('a chosen node that does not fit fails that server, and placement chooses again where that is asked', async () => {
  using p = await open()
  const { id, failed } = await stuck(p)
  const third = nodeNamed(p, 'fra-03')
  await act(p, id, 'send', { serverId: failed.id, nodeId: third })
  await p.admin('PATCH', `/admin/nodes/${third}`, { open: false })
  await act(p, id, 'resume', {})
  const paused = await played(p, id)
  const again = paused.servers.find((one: any) => one.id === failed.id)
  expect(again).toMatchObject({ state: 'failed', failure: { phase: expect.anything() } })
  expect(again.reason).toContain('fra-03 closed')
  await act(p, id, 'send', { serverId: failed.id, nodeId: null })
  await act(p, id, 'resume', {})
  expect(states(await played(p, id))).toEqual({ moved: 3 })
  expect(homeOf(p, failed.id)).toBe('fra-02')
})

test('a server that is left is tried no more, and says who left it; the others go on', async () => {
  using p = await open()
  const { id, failed } = await stuck(p)
  await act(p, id, 'leave', { serverId: failed.id })
  await act(p, id, 'resume', {})
  const drain = await played(p, id)
  expect(states(drain)).toEqual({ left: 1, moved: 2 })
  expect(drain.servers.find((one: any) => one.id === failed.id).reason).toContain('left it here.')
  expect(homeOf(p, failed.id)).toBe('fra-01')
})

test('a node is not chosen for one that has moved, for its own node, or for servers that come back', async () => {
  using p = await open()
  const { id, failed } = await stuck(p)
  const third = nodeNamed(p, 'fra-03')
  await act(p, id, 'leave', { serverId: failed.id })
  const refused = async (drainId: string, action: string, body: object) => {
    const before = p.fingerprint(['audit'])
    const { status, body: answer } = await act(p, drainId, action, body)
    expect(p.fingerprint(['audit'])).toBe(before)
    return [status, answer.error.code]
  }
  const wrong = [422, 'validation_failed']
  expect(await refused(id, 'send', { serverId: failed.id, nodeId: third })).toEqual(wrong)
  expect(await refused(id, 'leave', { serverId: failed.id })).toEqual(wrong)
  const [, { id: waiting }] = (await p.admin('GET', `/admin/drains/${id}`)).servers
  expect(await refused(id, 'send', { serverId: waiting, nodeId: p.node.id })).toEqual(wrong)
  expect(await refused(id, 'send', { serverId: waiting, nodeId: 'nod_nothing' })).toEqual(wrong)
  await act(p, id, 'resume', {})
  await played(p, id)
  const { drain } = await p.admin('POST', `/admin/nodes/${p.node.id}/actions/end-maintenance`, { bringBack: true })
  const [first] = (await p.admin('GET', `/admin/drains/${drain.id}`)).servers
  expect(await refused(drain.id, 'send', { serverId: first.id, nodeId: third })).toEqual(wrong)
  await turn(p)
})

test('the plan is a spreadsheet with a line for each server', async () => {
  using p = await open()
  await ordered(p, 'web01')
  const held = await ordered(p, 'git01')
  await p.admin('POST', `/servers/${held}/snapshots`, { name: 'before' })
  await p.settle()
  const { body } = await p.call(p.owner, 'GET', `/admin/nodes/${p.node.id}/drain-plan.csv`)
  const rows: Record<string, string>[] = parse(body, { bom: true, columns: true })
  const plan = await p.admin('GET', `/admin/nodes/${p.node.id}/drain-plan`)
  expect(rows.map(({ hostname, to, mode, reason }) => ({ hostname, to, mode, reason }))).toEqual(
    plan.servers.map((one: any) => ({
      hostname: one.hostname,
      to: one.to?.name ?? '',
      mode: one.mode ?? '',
      reason: one.reason ?? '',
    })),
  )
  expect(rows.map(({ hostname }) => hostname).toSorted()).toEqual(['git01', 'web01'])
})
