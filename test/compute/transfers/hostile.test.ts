// A node that lies about a move harms neither the other node nor the servers of others.
import { describe, expect, test } from 'bun:test'
import { measuredRate } from '../../../src/compute/transfers/queries.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { move, nodeNamed, open, order, where } from './world.ts'

type Frame = { type: string; key: string; output?: any }
type Hub = {
  message(socket: { data: { nodeId: string } }, data: string): void
  waiting: Map<string, { nodeCommand: { name: string; nodeId: string } }>
}
const hubOf = (p: World) => p.controller.hub as unknown as Hub

/** The node answers this command with what `lie` makes of its answer. */
function lies(p: World, nodeId: string, name: string, lie: (output: any) => unknown) {
  const hub = hubOf(p)
  const honest = hub.message.bind(hub)
  let times = 0
  hub.message = (socket, data) => {
    const frame = JSON.parse(data) as Frame
    const { nodeCommand } = hub.waiting.get(frame.key) ?? {}
    if (socket.data.nodeId !== nodeId || frame.type !== 'done' || nodeCommand?.name !== name)
      return honest(socket, data)
    times++
    honest(socket, JSON.stringify({ ...frame, output: lie(frame.output) }))
  }
  return () => times
}
const errorOf = async (p: World, transferId: string) => (await p.admin('GET', `/admin/transfers/${transferId}`)).error
const isHome = { status: 'running', stays: ['home on fra-01'], running: 1, openJobs: [] }
const { MAX_SAFE_INTEGER: MOST } = Number

for (const [side, name, words, lie, body] of [
  ['source', 'transfer.mirror', 'a number below zero', () => ({ copiedBytes: -1, totalBytes: 1 })],
  ['source', 'transfer.mirror', 'no number', () => ({ copiedBytes: null, totalBytes: 'NaN' })],
  ['source', 'transfer.copy', 'a number that is too large', () => ({ copiedBytes: 1e300, totalBytes: 1 })],
  [
    'source',
    'transfer.key',
    'a key with a line of its own',
    (out: any) => ({ publicKey: `${out.publicKey}\nssh-rsa AAAA` }),
  ],
  ['source', 'transfer.key', 'a key with options', (out: any) => ({ publicKey: `command="sh" ${out.publicKey}` })],
  [
    'target',
    'transfer.receive',
    'a host key with a line of its own',
    (out: any) => ({ ...out, hostKeys: [`${out.hostKeys[0]}\n* ssh-rsa AAAA`] }),
  ],
  ['target', 'transfer.receive', 'no host key', (out: any) => ({ ...out, hostKeys: [] })],
  ['target', 'transfer.receive', 'a user that is an option', (out: any) => ({ ...out, user: '-oProxyCommand=sh' })],
  ['target', 'transfer.receive', 'a port that is none', (out: any) => ({ ...out, port: 1e9 })],
  [
    'source',
    'transfer.checksum',
    'a checksum that matches nothing',
    (out: any) => ({ disks: out.disks.map((disk: object) => ({ ...disk, checksum: '0'.repeat(64) })) }),
    { mode: 'cold' },
  ],
  ['target', 'transfer.checksum', 'the checksum of no disk', () => ({ disks: [] }), { mode: 'cold' }],
  [
    'target',
    'transfer.checksum',
    'a path',
    (out: any) => ({ disks: out.disks.map((disk: object) => ({ ...disk, checksum: '../../etc/shadow' })) }),
    { mode: 'cold' },
  ],
] as const)
  test(`a ${side} that answers ${name} with ${words} fails the move, and the server runs where it was`, async () => {
    using p = await open()
    const id = await order(p)
    const times = lies(p, side === 'source' ? p.node.id : nodeNamed(p, 'fra-02'), name, lie)
    const { transferId } = await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), mode: 'near_live', ...body })
    await p.settle()
    expect(times()).toBeGreaterThan(0)
    const state = await where(p, id)
    expect(state).toMatchObject({ ...isHome, events: ['transfer.started', 'transfer.failed'] })
    expect(state.onNodes['fra-02']).toBe('nothing')
    expect(await errorOf(p, transferId)).toBeString()
  })

describe('a source that copies more than there is', () => {
  test('has a record of no more than its disks, and makes no estimate of others', async () => {
    using p = await open()
    const id = await order(p)
    for (const name of ['transfer.mirror', 'transfer.copy'])
      lies(p, p.node.id, name, () => ({ copiedBytes: MOST, totalBytes: MOST }))
    const { transferId, bytes } = await move(p, id, { mode: 'near_live' })
    await p.settle()
    const shown = await p.admin('GET', `/admin/transfers/${transferId}`)
    expect(shown).toMatchObject({ state: 'finished', bytesTotal: bytes })
    expect(shown.bytesCopied).toBeLessThanOrEqual(8 * bytes)
    p.db.$client.run('UPDATE transfers SET copy_ms = 1')
    expect(measuredRate(p.db)).toBe(12.5e9)
    expect((await where(p, id)).running).toBe(1)
  })

  test('shows progress within its disks, and never that of another', async () => {
    using p = await open()
    const id = await order(p)
    const to = nodeNamed(p, 'fra-02')
    p.node.agent.fault({ command: 'transfer.mirror', mode: 'hang' })
    const { transferId, bytes } = await move(p, id, { mode: 'near_live' })
    const keyOf = () => [...hubOf(p).waiting].find(([, { nodeCommand }]) => nodeCommand.name === 'transfer.mirror')?.[0]
    await eventually(() => keyOf() !== undefined)
    const key = keyOf()!
    const tell = (nodeId: string, percent: unknown, copied: unknown) =>
      p.agents.get(nodeId)!.say({ type: 'progress', key, percent, copied })
    const shown = () => p.admin('GET', `/admin/transfers/${transferId}`)
    tell(p.node.id, 50, { copiedBytes: 1000, totalBytes: 2000 })
    expect(await shown()).toMatchObject({ bytesCopied: 1000, bytesTotal: 2000 })
    // The target speaks of a command that is the source's, and values that are none are nonsense.
    tell(to, 99, { copiedBytes: 1, totalBytes: 1 })
    for (const copiedBytes of [-1, 1e300, 'x', null, 1.5]) tell(p.node.id, 50, { copiedBytes, totalBytes: 2000 })
    expect(await shown()).toMatchObject({ bytesCopied: 1000, bytesTotal: 2000 })
    tell(p.node.id, 50, { copiedBytes: MOST, totalBytes: MOST })
    expect(await shown()).toMatchObject({ bytesCopied: bytes, bytesTotal: bytes })
    tell(p.node.id, 50, { copiedBytes: 10, totalBytes: 2000 })
    const back = await shown()
    expect(back).toMatchObject({ bytesCopied: 10, bytesTotal: 2000 })
    expect(back.bytesPerSecond ?? 0).toBeGreaterThanOrEqual(0)
    expect(back.secondsLeft ?? 0).toBeGreaterThanOrEqual(0)
    const { misconduct } = await p.admin('GET', `/admin/nodes/${p.node.id}`)
    expect(misconduct.map(({ what }: { what: string }) => what)).toHaveLength(1)
    expect((await p.admin('GET', `/servers/${id}`)).status).toBe('running')
  })
})

describe('a node that says what it does not have', () => {
  /** At this moment the node reports the power of the server; answers what its owner reads then. */
  async function said(p: World, moment: string, nodeId: string, power: 'running' | 'stopped') {
    const id = await order(p)
    let isThere = false
    p.arm({
      failpoints: (now) => {
        if (now !== `move/${moment}` || isThere) return
        isThere = true
        p.controller.reports.take(nodeId, { type: 'power', workload: id, power, at: p.now(), reason: 'guest' })
      },
    })
    await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), mode: 'near_live' })
    await p.settle()
    await p.reported()
    expect(isThere).toBe(true)
    return where(p, id)
  }

  test('a target that reports it running before the pivot neither has it nor ends the move', async () => {
    using p = await open()
    expect(await said(p, 'mirror:before', nodeNamed(p, 'fra-02'), 'running')).toMatchObject({
      ...{ status: 'running', stays: ['home on fra-02'], running: 1, openJobs: [], transfers: ['near_live finished'] },
    })
  })
  test('a target that reports it stopped before the pivot does not stop it', async () => {
    using p = await open()
    expect(await said(p, 'mirror:before', nodeNamed(p, 'fra-02'), 'stopped')).toMatchObject({
      ...{ status: 'running', stays: ['home on fra-02'], running: 1, openJobs: [] },
    })
  })
  test('a source that reports it stopped or running after the pivot changes nothing', async () => {
    for (const power of ['running', 'stopped'] as const) {
      using p = await open()
      expect(await said(p, 'close:before', p.node.id, power)).toMatchObject({
        ...{ status: 'running', stays: ['home on fra-02'], running: 1, openJobs: [] },
      })
    }
  })
})
