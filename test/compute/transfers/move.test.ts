import { describe, expect, test } from 'bun:test'
import type { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import { OFF_AWAY_MS } from '../../../src/compute/transfers/job/moving.ts'
import { beginWaiting } from '../../../src/compute/transfers/job/waiting.ts'
import { minute } from '../../../src/kernel/db/clock.ts'
import { AWAY_MS } from '../../../src/kernel/jobs/runner/away.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import type { World } from '../../support/world/panel.ts'
import { withEverything } from './scenarios.ts'
import { move, nodeNamed, open, order, where } from './world.ts'

const gone = 'nothing'
const there = 'running, 1 disks, 1 rules, 0 floating, 0 transfers'

for (const mode of ['live', 'near_live'] as const)
  test(`a running server is moved ${mode}, and runs on its new node alone`, async () => {
    using p = await open()
    const id = await order(p)
    // Where nothing keeps it from moving with its memory, that is chosen.
    const started = await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), ...(mode !== 'live' && { mode }) })
    expect(started).toMatchObject({ serverId: id, mode, notLive: null, to: { name: 'fra-02' } })
    await p.settle()
    expect(p.job(started.jobId)).toMatchObject({ state: 'succeeded', errorMessage: null })
    expect(await where(p, id)).toEqual({
      status: 'running',
      stays: ['home on fra-02'],
      onNodes: { 'fra-01': gone, 'fra-02': there, 'fra-03': gone },
      held: ['fra-02 holds 1 2048 20'],
      running: 1,
      transfers: [`${mode} finished`],
      events: ['transfer.started', 'transfer.finished'],
      openJobs: [],
    })
    const transfer = await p.admin('GET', `/admin/transfers/${started.transferId}`)
    expect(transfer).toMatchObject({ state: 'finished', from: { name: 'fra-01' }, to: { name: 'fra-02' }, error: null })
    if (mode === 'near_live') expect(transfer.downtimeMs).toBeGreaterThan(0)
    else expect(transfer.downtimeMs).toBeWithin(0, 60_000)
    expect(transfer.bytesCopied).toBe(transfer.bytesTotal)
    await move(p, id, { nodeId: p.node.id })
    await p.settle()
    expect((await where(p, id)).stays).toEqual(['home on fra-01'])
    expect(nodeNamed(p, 'fra-01')).toBe(p.node.id)
  })

/** The job comes to this moment, and its next node goes away; `meanwhile` happens, and the node comes back. */
async function at(p: World, moment: string, meanwhile: (transferId: string) => Promise<unknown>, body: object = {}) {
  const id = await order(p)
  const to = p.agents.get(nodeNamed(p, 'fra-02'))!
  let isThere = false
  p.arm({
    failpoints: (now) => {
      if (now !== moment || isThere) return
      isThere = true
      to.disconnect()
    },
  })
  const { jobId, transferId } = await move(p, id, { nodeId: nodeNamed(p, 'fra-02'), ...body })
  await eventually(async () => isThere)
  expect(isThere).toBe(true)
  await meanwhile(transferId)
  to.connect()
  for (let i = 0; i < 5; i++) await p.settle()
  // A node that was away has something left to undo.
  p.controller.runner.sweep()
  await p.settle()
  return { id, jobId, transferId, state: await where(p, id) }
}
const home = (node: 'fra-01' | 'fra-02', words: string, running: number) => ({
  stays: [`home on ${node}`],
  onNodes: { 'fra-01': gone, 'fra-02': gone, 'fra-03': gone, [node]: words },
  running,
  openJobs: [],
})
const off = there.replace('running', 'stopped')

for (const moment of [...['receive:before', 'define:noted', 'mirror:before', 'stop:noted', 'read-there:before']])
  test(`cancelled at ${moment}, a server runs on where it was`, async () => {
    using p = await open()
    const { transferId, state } = await at(
      p,
      `move/${moment}`,
      (transferId) => p.admin('POST', `/admin/transfers/${transferId}/actions/cancel`, { reason: 'wrong node' }),
      moment === 'stop:noted' || moment === 'read-there:before' ? { mode: 'cold' } : {},
    )
    expect(state).toMatchObject({ ...home('fra-01', there, 1), status: 'running' })
    expect(await p.admin('GET', `/admin/transfers/${transferId}`)).toMatchObject({ state: 'cancelled' })
    expect(state.events).toEqual(['transfer.started', 'transfer.failed'])
  })

test('past its point of no return a move is not cancelled any more', async () => {
  using p = await open()
  const { state } = await at(p, 'move/give:before', async (transferId) => {
    const refused = await p.call(p.owner, 'POST', `/admin/transfers/${transferId}/actions/cancel`, {})
    expect([refused.status, refused.body.error.code]).toEqual([409, 'job_not_cancellable'])
    const shown = await p.admin('GET', `/admin/transfers/${transferId}`)
    expect(shown).toMatchObject({ state: 'switching', cancellable: false })
  })
  expect(state).toMatchObject({ ...home('fra-02', there, 1), status: 'running' })
})

for (const [moment, node] of [
  ['define:before', 'fra-01'],
  ['receive:noted', 'fra-01'],
  ['hand-over:before', 'fra-01'],
  ['hand-over:noted', 'fra-02'],
  ['give:before', 'fra-02'],
  ['close:before', 'fra-02'],
] as const) {
  test(`a suspension at ${moment} wins`, async () => {
    using p = await open()
    const { id, state } = await at(p, `move/${moment}`, () => {
      const { id } = p.db.$client.query<{ id: string }, []>('SELECT id FROM servers').get()!
      return p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'unpaid' })
    })
    expect(state).toMatchObject({ ...home(node, off, 0), status: 'suspended' })
    await p.admin('POST', `/servers/${id}/actions/unsuspend`)
    await p.settle()
    expect(await where(p, id)).toMatchObject({ ...home(node, there, 1), status: 'running' })
  })
  test(`a termination at ${moment} wins, and leaves nothing on either node`, async () => {
    using p = await open()
    const { state } = await at(p, `move/${moment}`, () => {
      const { id } = p.db.$client.query<{ id: string }, []>('SELECT id FROM servers').get()!
      return p.admin('DELETE', `/servers/${id}?immediately=true`)
    })
    expect(state).toMatchObject({
      status: 'terminated',
      stays: [],
      onNodes: { 'fra-01': gone, 'fra-02': gone, 'fra-03': gone },
      held: [],
      running: 0,
      openJobs: [],
    })
  })
}

test('a server that waits for its setup moves at once, and nothing is copied', async () => {
  using p = await open()
  const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
  const { serverId } = await p.admin('POST', '/admin/servers', { ...waiting, nodeId: p.node.id })
  const moved = await move(p, serverId)
  expect(moved).toMatchObject({ jobId: null, mode: 'reassigned', bytes: 0, expectedDowntimeMs: 0 })
  expect(await where(p, serverId)).toMatchObject({
    status: 'pending_setup',
    stays: ['home on fra-02'],
    held: ['fra-02 holds 1 2048 20'],
    transfers: ['reassigned finished'],
    events: ['transfer.started', 'transfer.finished'],
  })
  expect((await p.admin('GET', `/admin/transfers/${moved.transferId}`)).downtimeMs).toBe(0)
  await p.admin('POST', `/servers/${serverId}/actions/setup`, {
    ...{ imageId: p.image, hostname: 'web01', access: { mode: 'password' } },
  })
  await p.settle()
  expect(await where(p, serverId)).toMatchObject({ ...home('fra-02', there, 1), status: 'running' })
})

test('a suspended server is copied, and stays off', async () => {
  using p = await open()
  const id = await order(p)
  await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'unpaid' })
  await p.settle()
  expect(await move(p, id)).toMatchObject({ mode: 'cold', expectedDowntimeMs: 0 })
  await p.settle()
  expect(await where(p, id)).toMatchObject({ ...home('fra-02', off, 0), status: 'suspended' })
})

test('volumes, floating addresses and private networks come along', async () => {
  using p = await open()
  const id = await withEverything(p)
  await move(p, id)
  await p.settle()
  const [to, from] = ['fra-02', 'fra-01'].map((name) => p.agents.get(nodeNamed(p, name))!.host)
  const hypervisor = (host: typeof to) => host!.hypervisor as FakeHypervisor
  expect([to!.state.privateNetworks().length, hypervisor(to).nics(id).length]).toEqual([1, 1])
  expect([from!.state.privateNetworks(), from!.state.floating(id)]).toEqual([[], []])
  const [volume] = (await p.admin('GET', '/volumes')).data
  expect(volume).toMatchObject({ state: 'attached', server: { id }, jobId: null })
  expect(hypervisor(to).volumes(id)).toHaveLength(1)
  await p.admin('POST', `/volumes/${volume.id}/actions/detach`)
  await p.settle()
  expect((await p.admin('GET', '/volumes')).data[0].state).toBe('detached')
  const [floating] = (await p.admin('GET', '/floating-ips')).data
  expect(floating).toMatchObject({ server: { id }, jobId: null })
})

test('while it moves, neither a volume nor a floating address leaves it', async () => {
  using p = await open()
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { volumeGb: 50 })
  const codes: string[] = []
  const id = await withEverything(p)
  const to = p.agents.get(nodeNamed(p, 'fra-02'))!
  to.disconnect()
  await expect(move(p, id)).rejects.toThrow(/reconnecting/)
  to.connect()
  p.arm({ failpoints: (moment) => void (moment === 'move/receive:before' && to.disconnect()) })
  await move(p, id)
  await eventually(async () => !p.controller.hub.connected(nodeNamed(p, 'fra-02')))
  const [volume] = (await p.admin('GET', '/volumes')).data
  const [floating] = (await p.admin('GET', '/floating-ips')).data
  for (const path of [
    `/volumes/${volume.id}/actions/detach`,
    `/floating-ips/${floating.id}/actions/unassign`,
    `/admin/servers/${id}/actions/move`,
  ])
    codes.push((await p.call(p.owner, 'POST', path, path.endsWith('move') ? {} : undefined)).body.error?.code)
  expect(codes).toEqual(['volume_busy', 'floating_ip_busy', 'floating_ip_busy'])
  p.arm({})
  to.connect()
  for (let i = 0; i < 5; i++) await p.settle()
  expect((await where(p, id)).stays).toEqual(['home on fra-02'])
})

test('a third move of a node waits until one of two has ended', async () => {
  using p = await open()
  const ids: string[] = []
  for (const hostname of ['web01', 'web02', 'web03']) {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId: p.node.id })
    await p.settle()
    ids.push(serverId)
  }
  const started: { jobId: string; transferId: string }[] = []
  for (const id of ids) started.push(await move(p, id))
  expect(started.map(({ jobId }) => p.job(jobId).heldAt === null)).toEqual([true, true, false])
  expect((await p.admin('GET', `/admin/transfers/${started[2]!.transferId}`)).step).toMatch(/Waiting until other moves/)
  beginWaiting(p.db)
  expect(p.job(started[2]!.jobId).heldAt).not.toBeNull()
  await p.settle()
  beginWaiting(p.db)
  await p.settle()
  for (const { jobId } of started) expect(p.job(jobId).state).toBe('succeeded')
})

/** A job waits for a node that is away. */
const waits = (p: World) => p.db.$client.query('SELECT 1 FROM jobs WHERE waiting_since IS NOT NULL').get() !== null

for (const [mode, running, limitMs] of [
  ['live', 1, AWAY_MS],
  ['near_live', 0, OFF_AWAY_MS],
] as const) {
  test(`it stays where its next node is away ${limitMs / minute} minutes before the pivot, ${mode}`, async () => {
    using p = await open()
    const { jobId, state } = await at(
      p,
      'move/hand-over:before',
      async () => {
        const stays = ['arriving on fra-02', 'home on fra-01']
        await eventually(async () => waits(p))
        expect(await where(p, id0(p))).toMatchObject({ running, stays, openJobs: ['move'] })
        p.turnClock(limitMs / 2)
        p.controller.runner.sweep()
        expect(await where(p, id0(p))).toMatchObject({ running, stays, openJobs: ['move'] })
        p.turnClock(limitMs / 2)
        p.controller.runner.sweep()
        await p.settle()
        expect(await where(p, id0(p))).toMatchObject({ running: 1, stays: ['home on fra-01', 'leaving on fra-02'] })
      },
      { mode },
    )
    expect(p.job(jobId).errorCode).toBe('node_unreachable')
    expect(state).toMatchObject({ ...home('fra-01', there, 1), status: 'running', transfers: [`${mode} failed`] })
  })
  test(`where its next node is back in time at the point of no return, the move goes on, ${mode}`, async () => {
    using p = await open()
    const { jobId, state } = await at(p, 'move/hand-over:before', () => eventually(async () => waits(p)), { mode })
    expect(p.job(jobId)).toMatchObject({ state: 'succeeded', waitingSince: null })
    expect(state).toMatchObject({ ...home('fra-02', there, 1), status: 'running', transfers: [`${mode} finished`] })
  })
}

const lose = (p: World, name: string) => {
  p.agents.get(nodeNamed(p, name))!.disconnect()
  return p.admin('POST', `/admin/nodes/${nodeNamed(p, name)}/actions/declare-lost`, { name })
}
const lostIn = (p: World) =>
  p.db.$client
    .query<{ data: string }, []>("SELECT data FROM events WHERE type = 'node.lost' ORDER BY seq")
    .all()
    .map(({ data }) => JSON.parse(data).workloads.map(({ hostname }: { hostname: string }) => hostname))
for (const names of [
  ['fra-01', 'fra-02'],
  ['fra-02', 'fra-01'],
])
  test(`where ${names.join(' and then ')} are lost past the pivot, the move ends, and billing hears once`, async () => {
    using p = await open()
    const { jobId, state } = await at(p, 'move/give:before', async () => {
      for (const name of names) await lose(p, name)
      await p.settle()
    })
    expect(p.job(jobId).state).toBe('succeeded')
    expect(state).toMatchObject({ status: 'failed', transfers: ['live failed'], openJobs: [] })
    expect(lostIn(p)).toEqual([[], ['web01']])
  })

describe('a server whose next node is lost past the point of no return', () => {
  const lost = (p: World) => at(p, 'move/give:before', () => lose(p, 'fra-02'))
  test('comes back as it was, and billing hears nothing of a loss', async () => {
    using p = await open()
    const { jobId, state } = await lost(p)
    expect(p.job(jobId).state).toBe('succeeded')
    expect(state).toMatchObject({ status: 'running', stays: ['home on fra-01'], transfers: ['live failed'] })
    expect([lostIn(p), p.server(id0(p)).failure]).toEqual([[[]], null])
  })
  test('comes back suspended, and off, when it was suspended meanwhile', async () => {
    using p = await open()
    const suspendAndLose = async () => {
      await p.admin('POST', `/servers/${id0(p)}/actions/suspend`, { reason: 'overdue' })
      await lose(p, 'fra-02')
    }
    const { state } = await at(p, 'move/give:before', suspendAndLose, { mode: 'near_live' })
    expect(state).toMatchObject({ status: 'suspended', stays: ['home on fra-01'], running: 0, openJobs: [] })
    expect(p.server(id0(p))).toMatchObject({ failure: null, suspendReason: 'overdue' })
  })
  test('comes back off when it was off', async () => {
    using p = await open()
    const id = await order(p)
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
    await p.settle()
    let isLost = false
    p.arm({
      failpoints: (moment) => {
        if (isLost || moment !== 'move/give:before') return
        isLost = true
        p.agents.get(nodeNamed(p, 'fra-02'))!.disconnect()
      },
    })
    await move(p, id)
    await eventually(() => isLost)
    await lose(p, 'fra-02')
    for (let i = 0; i < 5; i++) await p.settle()
    expect(await where(p, id)).toMatchObject({ status: 'stopped', stays: ['home on fra-01'], running: 0, openJobs: [] })
    expect(lostIn(p)).toEqual([[]])
  })
})

test('the disk that a server has left is not deleted once its new node is lost', async () => {
  using p = await open()
  const id = await order(p)
  const from = p.agents.get(p.node.id)!
  p.arm({ failpoints: (moment) => void (moment === 'clear_move/end:before' && from.disconnect()) })
  await move(p, id)
  await eventually(async () => !p.controller.hub.connected(p.node.id))
  p.arm({})
  await lose(p, 'fra-02')
  from.connect()
  for (let i = 0; i < 5; i++) await p.settle()
  const { onNodes, stays, openJobs } = await where(p, id)
  expect([onNodes['fra-01'], stays, openJobs]).toEqual([
    'absent, 1 disks, 0 rules, 0 floating, 0 transfers',
    ['home on fra-02'],
    [],
  ])
})
const id0 = (p: World) => p.db.$client.query<{ id: string }, []>('SELECT id FROM servers').get()!.id

describe('what would happen', () => {
  test('is said of every node, in the words of placement', async () => {
    using p = await open()
    const id = await order(p)
    const other = (await p.admin('POST', '/admin/node-groups', { name: 'Helsinki' })).id
    p.addNode(other, 'hel-01')
    p.addNode(p.location, 'fra-04', { memoryMb: 1024 })
    p.addNode(p.location, 'fra-05')
    await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-03')}`, { open: false })
    const before = p.fingerprint()
    const options = await p.admin('GET', `/admin/servers/${id}/move-options`)
    expect(options).toMatchObject({
      from: { name: 'fra-01' },
      notMovable: null,
      mode: 'live',
      notLive: null,
      bytes: 20 * 1024 ** 3,
      changes: ['It stands still for a moment; open consoles are closed.'],
      chosen: { name: 'fra-02' },
    })
    expect(options.nodes.map((one: any) => `${one.node.name} ${one.reason ?? 'possible'}`)).toEqual([
      'fra-02 possible',
      'fra-03 closed',
      'fra-04 no memory left',
      'fra-05 no pool with 203.0.113.10',
      'hel-01 in another location',
    ])
    const cold = await p.admin('GET', `/admin/servers/${id}/move-options?mode=cold&maxMbps=100`)
    expect(cold.mode).toBe('cold')
    expect(cold.expectedDowntimeMs).toBeGreaterThan(options.expectedDowntimeMs)
    const dry = await p.admin('POST', `/admin/servers/${id}/actions/move?dryRun=true`, {})
    expect(dry).toMatchObject({ jobId: null, transferId: null, to: { name: 'fra-02' }, mode: 'live' })
    expect(p.fingerprint()).toBe(before)
  })
  test('a node to which it cannot move with its memory says why, and it is moved otherwise', async () => {
    using p = await open()
    const id = await order(p)
    const says = (name: string, facts: object) =>
      p.db.$client.run('UPDATE nodes SET facts = json_patch(facts, ?) WHERE name = ?', [JSON.stringify(facts), name])
    const versions = (qemu: string, libvirt = '9.0.0') => ({ fake: false, versions: { qemu, libvirt } })
    const kvm = (model: string) => ({ virtualisation: { kind: 'kvm' }, cpu: { model } })
    const [one, other] = ['Intel Xeon Gold 6338', 'AMD EPYC 7763']
    says('fra-01', { ...kvm(one), ...versions('7.2.11') })
    const nodeId = nodeNamed(p, 'fra-02')
    const notLive: [object, string | null][] = [
      [{ ...kvm(one), ...versions('7.2.0') }, 'that node has an older QEMU, 7.2.0, and this one 7.2.11'],
      [{ ...kvm(one), ...versions('8.2.0', '8.9.0') }, 'that node has an older libvirt, 8.9.0, and this one 9.0.0'],
      [{ ...kvm(other), ...versions('8.2.0') }, `that node has another processor, ${other}`],
      [{ virtualisation: { kind: 'emulation' } }, 'that node has emulated processors, and this one KVM'],
      [{ ...kvm(one), ...versions('8.2.0') }, null],
    ]
    for (const [facts, words] of notLive) {
      says('fra-02', facts)
      const { nodes } = await p.admin('GET', `/admin/servers/${id}/move-options`)
      expect(nodes.find((node: any) => node.node.id === nodeId)).toMatchObject({
        ...{ possible: true, notLive: words, mode: words === null ? 'live' : 'near_live' },
      })
      const dry = await p.admin('POST', `/admin/servers/${id}/actions/move?dryRun=true`, { nodeId })
      expect([dry.mode, dry.notLive]).toEqual([words === null ? 'live' : 'near_live', words])
    }
    // Emulated processors are moved so only where that is asked for.
    for (const name of ['fra-01', 'fra-02'])
      says(name, { virtualisation: { kind: 'emulation' }, ...versions('7.2.11') })
    const dry = (mode: string) => p.admin('POST', `/admin/servers/${id}/actions/move?dryRun=true`, { nodeId, mode })
    expect([(await dry('auto')).mode, (await dry('live')).mode]).toEqual(['near_live', 'live'])
    expect((await dry('live')).notLive).toMatch(/^its processor is emulated/)
    const stoodStill = (await dry('live')).expectedDowntimeMs
    for (const name of ['fra-01', 'fra-02']) says(name, { ...kvm(one), ...versions('7.2.11') })
    // All of its memory is sent meanwhile.
    expect(stoodStill).toBeGreaterThanOrEqual((await dry('live')).expectedDowntimeMs + 1000)
    says('fra-01', { ...kvm(one), ...versions('7.2.11') })
    says('fra-02', { ...kvm(other), ...versions('8.2.0') })
    const refused = await p.call(p.owner, 'POST', `/admin/servers/${id}/actions/move`, { nodeId, mode: 'live' })
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      `web01 cannot move to fra-02 with its memory: that node has another processor, ${other}. Choose another mode.`,
    ])
    says('fra-03', { ...kvm(one), ...versions('7.2.11') })
    const live = await p.admin('POST', `/admin/servers/${id}/actions/move?dryRun=true`, { mode: 'live' })
    expect(live).toMatchObject({ mode: 'live', to: { name: 'fra-03' } })
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
    await p.settle()
    const off = await p.admin('POST', `/admin/servers/${id}/actions/move?dryRun=true`, { nodeId })
    expect([off.mode, off.notLive]).toEqual(['cold', 'it is off'])
  })
  test('is as long as the last copies without a limit took', async () => {
    using p = await open()
    const id = await order(p)
    const expected = async (mbps = '') =>
      (await p.admin('GET', `/admin/servers/${id}/move-options?mode=cold${mbps}`)).expectedSeconds
    await move(p, id)
    await p.settle()
    const usual = await expected()
    const was = (columns: string) => p.db.$client.run(`UPDATE transfers SET ${columns}`)
    was('bytes_copied = 20000000000, copy_ms = 1000000, max_mbps = 160')
    expect(await expected()).toBe(usual)
    was('max_mbps = NULL')
    // 20 MB a second.
    expect(await expected()).toBeWithin((20 * 1024 ** 3) / 20e6, (20 * 1024 ** 3) / 20e6 + 200)
    was('copy_ms = NULL')
    expect(await expected()).toBe(usual)
  })
  test('refusals say why, and change nothing', async () => {
    using p = await open()
    const id = await order(p)
    p.addNode(p.location, 'fra-05')
    const refusal = async (body: object) => {
      const before = p.fingerprint(['audit', 'brake_counts'])
      const { status, body: answer } = await p.call(p.owner, 'POST', `/admin/servers/${id}/actions/move`, body)
      expect(p.fingerprint(['audit', 'brake_counts'])).toBe(before)
      return `${status} ${answer.error.code}: ${answer.error.message}`
    }
    expect(await refusal({ nodeId: p.node.id })).toBe('409 already_done: web01 is on fra-01 already.')
    expect(await refusal({ nodeId: nodeNamed(p, 'fra-05') })).toBe(
      '409 no_addresses: web01 fits on no other node: fra-05 no pool with 203.0.113.10.',
    )
    await p.admin('PATCH', `/admin/nodes/${nodeNamed(p, 'fra-02')}`, { open: false })
    expect(await refusal({ nodeId: nodeNamed(p, 'fra-02') })).toBe(
      '409 no_capacity: web01 fits on no other node: fra-02 closed.',
    )
    await p.admin('POST', `/servers/${id}/snapshots`, { name: 'before' })
    await p.settle()
    const words = 'web01 has 1 snapshot, which cannot come along. Delete them first; a backup keeps the same state.'
    expect(await refusal({ nodeId: null })).toBe(`409 not_movable: ${words}`)
    expect((await p.admin('GET', `/admin/servers/${id}/move-options`)).notMovable).toBe(words)
  })
})
