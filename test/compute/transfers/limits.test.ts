import { expect, test } from 'bun:test'
import type { FakeTransfers } from '../../../agent/drivers/transfer/fake.ts'
import { tellLimits } from '../../../src/compute/transfers/job/limits.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { move, nodeNamed, open, order } from './world.ts'

const change = (p: World, transferId: string, maxMbps: number | null) =>
  p.admin('PATCH', `/admin/transfers/${transferId}`, { maxMbps })
const tell = (p: World) => tellLimits({ db: p.db, hub: p.controller.hub })
const fake = (p: World) => p.node.agent.host.transfers as FakeTransfers
const told = (p: World) => [...fake(p).limits.values()]
const lines = (p: World) =>
  p.db.$client
    .query<{ operation: string; target: string; result: string }, []>(
      "SELECT operation, target, result FROM audit WHERE operation = 'transfers.update' ORDER BY rowid",
    )
    .all()

type Hub = { waiting: Map<string, { nodeCommand: { name: string } }> }
/** A move whose copy the node has begun, and does not end. */
async function copying(p: World, mode: 'live' | 'near_live' | 'cold') {
  const name = ({ live: 'begin-migration', near_live: 'mirror', cold: 'copy' } as const)[mode]
  p.node.agent.fault({ command: `transfer.${name}`, mode: 'hang' })
  const id = await order(p)
  const { transferId } = await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), mode, maxMbps: 80 })
  await eventually(() =>
    [...(p.controller.hub as unknown as Hub).waiting.values()].some(({ nodeCommand }) =>
      nodeCommand.name.endsWith(name),
    ),
  )
  return transferId as string
}

for (const mode of ['live', 'near_live', 'cold'] as const)
  test(`the limit of a ${mode} move is changed on its way, and its node hears it once`, async () => {
    using p = await open()
    const transferId = await copying(p, mode)
    expect(await change(p, transferId, 400)).toMatchObject({ maxMbps: 400, state: 'copying' })
    await tell(p)
    expect(told(p)).toEqual([400])
    expect(await change(p, transferId, null)).toMatchObject({ maxMbps: null })
    await tell(p)
    expect(told(p)).toEqual([null])
    fake(p).limits.clear()
    await tell(p)
    expect(told(p)).toEqual([])
    // The copy is ordered as it was at first when the agent starts again; the node knows better.
    p.node.agent.restart()
    expect(p.node.agent.host.state.limitOf(transferId, 80)).toBeNull()
    p.node.agent.fault()
    p.node.agent.restart()
    await p.settle()
    expect(await p.admin('GET', `/admin/transfers/${transferId}`)).toMatchObject({ state: 'finished', maxMbps: null })
    expect(p.node.agent.host.state.limitOf(transferId, 80)).toBe(80)
    expect(lines(p)).toEqual(Array(2).fill({ operation: 'transfers.update', target: transferId, result: 'done' }))
  })

test('while its node is away it is told nothing, and afterwards the last limit', async () => {
  using p = await open()
  const transferId = await copying(p, 'near_live')
  p.node.agent.disconnect()
  await change(p, transferId, 300)
  await tell(p)
  await change(p, transferId, 200)
  expect(told(p)).toEqual([])
  p.node.agent.connect()
  await tell(p)
  expect(told(p)).toEqual([200])
})

test('a move that waits for its time is planned with the limit that it has got', async () => {
  using p = await open()
  const id = await order(p)
  const startsAt = new Date(p.controller.app.clock() + 3_600_000).toISOString()
  const { transferId } = await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), maxMbps: 80, startsAt })
  expect(await change(p, transferId, 300)).toMatchObject({ maxMbps: 300, state: 'queued' })
  await tell(p)
  expect(told(p)).toEqual([])
  const { asked } = p.db.$client.query<{ asked: string }, []>('SELECT asked FROM transfers').get()!
  expect(JSON.parse(asked)).toMatchObject({ nodeId: nodeNamed(p, 'fra-02'), maxMbps: 300 })
})

test('no move goes faster than the setting allows', async () => {
  using p = await open()
  const transferId = await copying(p, 'near_live')
  await p.admin('PUT', '/admin/settings/values', { name: 'transfers.most_mbps', value: 100 })
  expect(await change(p, transferId, 400)).toMatchObject({ maxMbps: 100 })
  expect(await change(p, transferId, null)).toMatchObject({ maxMbps: 100 })
  await tell(p)
  expect(told(p)).toEqual([100])
})

test('the limit of a move that has ended, and a limit that is none, are refused', async () => {
  using p = await open()
  const id = await order(p)
  const { transferId } = await move(p, id, { nodeId: nodeNamed(p, 'fra-02') })
  await p.settle()
  const before = p.db.$client.query('SELECT * FROM transfers').all()
  const tried = async (body: object) => {
    const { status, body: said } = await p.call(p.owner, 'PATCH', `/admin/transfers/${transferId}`, body)
    return [status, said.error.code]
  }
  expect(await tried({ maxMbps: 100 })).toEqual([409, 'transfer_ended'])
  expect(await tried({ maxMbps: 0 })).toEqual([422, 'validation_failed'])
  expect(await tried({})).toEqual([422, 'validation_failed'])
  await tell(p)
  expect(told(p)).toEqual([])
  expect(p.db.$client.query('SELECT * FROM transfers').all()).toEqual(before)
})
