// Nodes that go away or die while servers leave a node or come back to it. No server is ever lost, nor runs twice.
import { expect, test } from 'bun:test'
import { advanceDrains } from '../../../src/compute/drains/advance.ts'
import { minute } from '../../../src/kernel/db/clock.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { nodeNamed, where } from '../transfers/world.ts'
import { drainOf, homes, open, ordered, played, states, turn } from './world.ts'

/** Calls `then` once, when a move comes to this moment. */
function at(p: World, moment: string, then: () => void) {
  let isDone = false
  p.arm({
    failpoints: (now) => {
      if (isDone || now !== moment) return
      isDone = true
      then()
    },
  })
  return () => isDone
}
const agentOf = (p: World, nodeId: string) => p.agents.get(nodeId)!
const goAway = (p: World, nodeIds: readonly string[]) => {
  for (const id of nodeIds) agentOf(p, id).disconnect()
}
const runningOn = async (p: World, id: string) => (await where(p, id)).running

/** A server that a drain has moved from fra-01 to another node, and that node. */
async function away() {
  const p = await open()
  const id = await ordered(p, 'web01')
  await played(p, (await drainOf(p)).id)
  const { nodeId } = p.server(id)
  expect(nodeId).not.toBe(p.node.id)
  return Object.assign(p, { id, other: nodeId })
}
const bringBack = async (p: World): Promise<string> =>
  (await p.admin('POST', `/admin/nodes/${p.node.id}/actions/end-maintenance`, { bringBack: true })).drain.id

for (const moment of ['move/receive:before', 'move/mirror:before', 'move/hand-over:before', 'move/start:before'])
  test(`at ${moment} a server that comes back waits for both nodes that are away, and comes when they do`, async () => {
    using p = await away()
    const cut = at(p, moment, () => goAway(p, [p.node.id, p.other]))
    const back = await bringBack(p)
    advanceDrains(p.db, p.controller.app)
    await eventually(() => cut())
    for (let i = 0; i < 3; i++) {
      advanceDrains(p.db, p.controller.app)
      p.controller.runner.sweep()
    }
    expect((await p.admin('GET', `/admin/drains/${back}`)).counts).toMatchObject({ moving: 1, failed: 0 })
    p.arm({})
    for (const id of [p.node.id, p.other]) agentOf(p, id).connect()
    expect(states(await played(p, back))).toEqual({ moved: 1 })
    expect([p.server(p.id).nodeId, await runningOn(p, p.id)]).toEqual([p.node.id, 1])
  })

test('it stays where it is when both nodes are away for too long, and can be brought back afterwards', async () => {
  using p = await away()
  const cut = at(p, 'move/mirror:before', () => goAway(p, [p.node.id, p.other]))
  const back = await bringBack(p)
  advanceDrains(p.db, p.controller.app)
  await eventually(() => cut())
  p.arm({})
  p.controller.runner.sweep()
  p.turnClock(16 * minute)
  p.controller.runner.sweep()
  await eventually(() => p.db.$client.query("SELECT 1 FROM transfers WHERE state = 'failed'").get() !== null)
  expect([p.server(p.id).nodeId, await runningOn(p, p.id)]).toEqual([p.other, 1])
  for (const id of [p.node.id, p.other]) agentOf(p, id).connect()
  p.controller.runner.sweep()
  await p.settle()
  expect(states(await played(p, back))).toEqual({ failed: 1 })
  expect([p.server(p.id).status, await homes(p)]).toMatchObject(['running', { 'fra-01': 0 }])
  await p.admin('POST', `/admin/servers/${p.id}/actions/move`, { nodeId: p.node.id })
  await p.settle()
  expect([p.server(p.id).nodeId, await runningOn(p, p.id)]).toEqual([p.node.id, 1])
})

test('a server that a drain brings to a node which dies runs on, and goes elsewhere when asked to', async () => {
  using p = await open()
  const id = await ordered(p, 'web01')
  let died = ''
  const cut = at(p, 'move/mirror:before', () => {
    died = p.db.$client.query<{ id: string }, []>('SELECT to_node_id AS id FROM transfers').get()!.id
    agentOf(p, died).disconnect()
  })
  const drain = await drainOf(p)
  advanceDrains(p.db, p.controller.app)
  await eventually(() => cut())
  const { name } = await p.admin('GET', `/admin/nodes/${died}`)
  const lost = await p.admin('POST', `/admin/nodes/${died}/actions/declare-lost`, { name })
  expect(lost.count).toBe(0)
  p.controller.runner.sweep()
  await p.settle()
  await turn(p)
  const [server] = (await p.admin('GET', `/admin/drains/${drain.id}`)).servers
  expect([server.state, p.server(id).nodeId, p.server(id).status]).toEqual(['failed', p.node.id, 'running'])
  await p.admin('POST', `/admin/servers/${id}/actions/move`, { nodeId: null })
  await p.settle()
  expect([p.server(id).nodeId, await homes(p)]).toMatchObject([
    ['fra-02', 'fra-03'].map((one) => nodeNamed(p, one)).find((one) => one !== died)!,
    { 'fra-01': 0, [name]: 0 },
  ])
})
