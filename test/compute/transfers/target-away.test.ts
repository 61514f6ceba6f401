// The node to which a server moves dies. Whatever else is done to the server meanwhile does not wait for that node, and
// what the move left there is deleted when it is back.
import { expect, test } from 'bun:test'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { withEverything } from './scenarios.ts'
import { move, nodeNamed, open, order, where } from './world.ts'

const there = 'running, 1 disks, 1 rules, 0 floating, 0 transfers'
const gone = 'nothing'
const nowhere = { 'fra-01': gone, 'fra-02': gone, 'fra-03': gone }
const target = (p: World) => p.agents.get(nodeNamed(p, 'fra-02'))!
const settled = async (p: World) => {
  for (let i = 0; i < 4; i++) await p.settle()
}

/** Its next node goes away at this moment of the move. */
async function losing(p: World, moment: string, id: string) {
  let isAway = false
  p.arm({
    failpoints: (at) => {
      if (at !== moment || isAway) return
      isAway = true
      target(p).disconnect()
    },
  })
  const { jobId, transferId } = await move(p, id)
  await eventually(() => isAway)
  expect(isAway).toBe(true)
  return { jobId, transferId }
}
const suspend = (p: World, id: string) => p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'unpaid' })
const terminate = (p: World, id: string) => p.admin('DELETE', `/servers/${id}?immediately=true`)
const hasUndoLeft = (p: World) => p.db.$client.query('SELECT 1 FROM jobs WHERE undo_node_id IS NOT NULL').get() !== null
async function isBack(p: World) {
  target(p).connect()
  await eventually(() => !hasUndoLeft(p))
  await settled(p)
}

// With its disks half made there, with all of it there, and while it is off on both nodes.
for (const moment of ['move/receive:noted', 'move/mirror:before', 'move/hand-over:before']) {
  test(`a suspension acts at once, with the next node away at ${moment}`, async () => {
    using p = await open()
    const id = await order(p)
    const { transferId } = await losing(p, moment, id)
    const { jobId } = await suspend(p, id)
    await eventually(() => p.job(jobId).state === 'succeeded')
    await settled(p)
    expect(p.job(jobId).state).toBe('succeeded')
    expect(await where(p, id)).toMatchObject({
      status: 'suspended',
      running: 0,
      stays: ['home on fra-01', 'leaving on fra-02'],
      openJobs: ['move'],
      transfers: ['live cancelled'],
    })
    expect(await p.admin('GET', `/admin/transfers/${transferId}`)).toMatchObject({ cancellable: false })
    await p.crash({ nodesComeBack: false })
    p.agents.get(p.node.id)!.connect()
    await p.admin('POST', `/servers/${id}/actions/unsuspend`)
    await eventually(() => p.server(id).power === 'running')
    await settled(p)
    expect(await where(p, id)).toMatchObject({ status: 'running', running: 1, openJobs: ['move'] })
    await isBack(p)
    expect(await where(p, id)).toMatchObject({
      status: 'running',
      stays: ['home on fra-01'],
      onNodes: { ...nowhere, 'fra-01': there },
      held: ['fra-01 holds 1 2048 20'],
      openJobs: [],
    })
  })
  test(`a termination deletes it at once, with the next node away at ${moment}`, async () => {
    using p = await open()
    const id = await order(p)
    await losing(p, moment, id)
    await terminate(p, id)
    await eventually(async () => (await where(p, id)).onNodes['fra-01'] === gone)
    await settled(p)
    expect(await where(p, id)).toMatchObject({
      status: 'terminated',
      stays: ['leaving on fra-02'],
      held: ['fra-02 holds 1 2048 20'],
      openJobs: ['move'],
    })
    expect(p.db.$client.query('SELECT 1 FROM addresses WHERE workload_id = ?').get(id)).toBeNull()
    await isBack(p)
    expect(await where(p, id)).toMatchObject({ stays: [], onNodes: nowhere, held: [], openJobs: [] })
  })
}

test('its volume and its floating address are free at once, and no server brings that volume there', async () => {
  using p = await open()
  const id = await withEverything(p)
  const { transferId } = await losing(p, 'move/mirror:before', id)
  await p.admin('POST', `/admin/transfers/${transferId}/actions/cancel`, { reason: 'its node is dead' })
  await eventually(async () => (await p.admin('GET', '/volumes')).data[0].jobId === null)
  const [volume] = (await p.admin('GET', '/volumes')).data
  const [floating] = (await p.admin('GET', '/floating-ips')).data
  expect([volume.jobId, floating.jobId]).toEqual([null, null])
  const { jobId } = await p.admin('POST', `/volumes/${volume.id}/actions/detach`)
  await p.admin('POST', `/floating-ips/${floating.id}/actions/unassign`)
  await settled(p)
  expect(p.job(jobId).state).toBe('succeeded')
  const { serverId: other } = await p.admin('POST', '/admin/servers', {
    ...{ ...p.order, hostname: 'web02' },
    nodeId: p.node.id,
  })
  await settled(p)
  await p.admin('POST', `/volumes/${volume.id}/actions/attach`, { serverId: other })
  await settled(p)
  // Both would write the same disk there, whoever came first.
  p.arm({ failpoints: (at) => void (at === 'move/receive:undo answered' && target(p).disconnect()) })
  const words = 'has a copy from an earlier move, which waits for its deletion'
  const reason = async (server: string) =>
    (await p.admin('GET', `/admin/servers/${server}/move-options`)).nodes.find((one: any) => one.node.name === 'fra-02')
      .reason
  expect([await reason(id), await reason(other)]).toEqual([words, words])
  const before = p.fingerprint(['audit', 'brake_counts'])
  for (const server of [id, other]) {
    const { status, body } = await p.call(p.owner, 'POST', `/admin/servers/${server}/actions/move`, {
      nodeId: nodeNamed(p, 'fra-02'),
    })
    expect([status, body.error.code, body.error.message]).toEqual([409, 'no_capacity', expect.stringContaining(words)])
  }
  expect(p.fingerprint(['audit', 'brake_counts'])).toBe(before)
  p.arm({})
  await isBack(p)
  expect((await where(p, id)).onNodes['fra-02']).toBe(gone)
  for (const server of [id, other]) await move(p, server)
  await settled(p)
  expect([p.server(id).nodeId, p.server(other).nodeId]).toEqual([nodeNamed(p, 'fra-02'), nodeNamed(p, 'fra-02')])
  expect((await p.admin('GET', '/volumes')).data[0]).toMatchObject({ server: { id: other }, state: 'attached' })
})

test('it moves to a third node meanwhile, and what is left on the second one is deleted later', async () => {
  using p = await open()
  const id = await order(p)
  const { transferId } = await losing(p, 'move/mirror:before', id)
  await p.admin('POST', `/admin/transfers/${transferId}/actions/cancel`, {})
  await eventually(async () => (await p.admin('GET', `/admin/transfers/${transferId}`)).state === 'cancelled')
  await settled(p)
  await move(p, id, { nodeId: null })
  await settled(p)
  expect(await where(p, id)).toMatchObject({
    status: 'running',
    stays: ['home on fra-03', 'leaving on fra-02'],
    onNodes: { 'fra-01': gone, 'fra-03': there },
    running: 1,
  })
  await isBack(p)
  expect(await where(p, id)).toMatchObject({
    stays: ['home on fra-03'],
    onNodes: { ...nowhere, 'fra-03': there },
    openJobs: [],
  })
})

test('what it left on a node is forgotten when that node is declared lost', async () => {
  using p = await open()
  const id = await order(p)
  await losing(p, 'move/define:noted', id)
  await suspend(p, id)
  await eventually(() => hasUndoLeft(p))
  await p.admin('POST', `/admin/nodes/${nodeNamed(p, 'fra-02')}/actions/declare-lost`, { name: 'fra-02' })
  await eventually(() => !hasUndoLeft(p))
  expect(await where(p, id)).toMatchObject({ status: 'suspended', stays: ['home on fra-01'], openJobs: [] })
})
