import { describe, expect, test } from 'bun:test'
import type { Inventory, Power } from '../../../agent/protocol/wire.ts'
import { compare } from '../../../src/fleet/nodes/report.ts'
import type { OnNode } from '../../../src/fleet/workloads/stays/queries.ts'
import type { Lifecycle } from '../../../src/fleet/workloads/tables.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { journalOf } from '../../support/journal.ts'
import { type World, world } from '../../support/world/panel.ts'

const GIB = 1024 ** 3
const id = (n: number) => `srv_${String(n).padStart(26, '0')}`
const server = (n: number, lifecycle: Lifecycle, suspendedAt: number | null = null, more: Partial<OnNode> = {}) => {
  const diskGeneration = lifecycle === 'active' ? 1 : null
  const row = { id: id(n), hostname: `web${n}`, role: 'home', lifecycle, suspendedAt, diskGeneration, spareDiskGb: 0 }
  return { ...row, ...more } as OnNode
}
/** A volume is the number of its workload; with a fraction it is a second disk of it. */
const found = (vms: [number, Power][], volumes: number[], foreign: string[] = []): Inventory => ({
  type: 'inventory',
  vms: vms.map(([n, power]) => ({ workload: id(n), power })),
  volumes: volumes.map((n) => ({
    workload: id(Math.floor(n)),
    generation: n % 1 ? 2 : 1,
    pool: 'local',
    format: 'qcow2',
  })),
  foreign,
})
const kinds = (expected: OnNode[], inventory: Inventory, busy: number[] = []) =>
  compare(expected, inventory, new Set(busy.map(id))).map((d) =>
    `${d.kind} ${d.workloadId === null ? '' : Number(d.workloadId.slice(4))}`.trim(),
  )

describe('what is on a node against what should be', () => {
  for (const [what, expected, inventory, busy, differences] of [
    ['nothing on either side', [], found([], []), [], []],
    ['a running server as it should be', [server(1, 'active')], found([[1, 'running']], [1]), [], []],
    [
      'a stopped one that runs: its power is reported, not a difference',
      [server(1, 'active')],
      found([[1, 'running']], [1]),
      [],
      [],
    ],
    [
      'a server of which nothing is there',
      [server(1, 'active')],
      found([], []),
      [],
      ['missing_volume 1', 'missing_vm 1'],
    ],
    ['a server whose disk is gone', [server(1, 'active')], found([[1, 'stopped']], []), [], ['missing_volume 1']],
    ['a server that is not defined', [server(1, 'active')], found([], [1]), [], ['missing_vm 1']],
    ['a suspended one that runs', [server(1, 'active', 1)], found([[1, 'running']], [1]), [], ['power 1']],
    ['a suspended one that stands', [server(1, 'active', 1)], found([[1, 'stopped']], [1]), [], []],
    [
      'one suspended before it was set up, of which nothing can be there',
      [server(1, 'pending_setup', 1)],
      found([], []),
      [],
      [],
    ],
    ['one suspended after its installation failed', [server(1, 'failed', 1)], found([], []), [], []],
    [
      'a suspended one without an installed system that runs',
      [server(1, 'failed', 1)],
      found([[1, 'running']], [1]),
      [],
      ['unused_volume 1', 'power 1'],
    ],
    ['one whose termination is not through', [server(1, 'terminated')], found([[1, 'running']], [1]), [], []],
    ['one waiting for its setup', [server(1, 'pending_setup')], found([], []), [], []],
    ['one whose installation failed', [server(1, 'failed')], found([], []), [], []],
    ['one that is being installed', [server(1, 'provisioning')], found([], [1]), [], []],
    ['one that a job works on', [server(1, 'active')], found([], []), [1], []],
    ['an orphan machine with its disk: one difference, not two', [], found([[9, 'running']], [9]), [], ['orphan_vm 9']],
    ['an orphan disk', [], found([], [9]), [], ['orphan_volume 9']],
    ['a second disk not in use', [server(1, 'active')], found([[1, 'running']], [1, 1.5]), [], ['unused_volume 1']],
    [
      'a second disk that a job is about to delete',
      [server(1, 'active', null, { spareDiskGb: 20 })],
      found([[1, 'running']], [1, 1.5]),
      [],
      [],
    ],
    [
      'only a disk of another generation than the one in use',
      [server(1, 'active')],
      found([[1, 'running']], [1.5]),
      [],
      ['missing_volume 1', 'unused_volume 1'],
    ],
    [
      'a server that arrives, with what is there already',
      [server(1, 'active', null, { role: 'arriving' })],
      found([[1, 'paused']], [1]),
      [1],
      [],
    ],
    [
      'a server that leaves, of which nothing is left',
      [server(1, 'active', null, { role: 'leaving' })],
      found([], []),
      [],
      [],
    ],
    [
      'the remains of a server that is at home elsewhere, with no job that deletes them',
      [server(1, 'active', null, { role: 'leaving' })],
      found([[1, 'stopped']], [1]),
      [],
      ['unused_volume 1'],
    ],
    [
      'a server that runs where it is not at home',
      [server(1, 'active', null, { role: 'leaving' })],
      found([[1, 'running']], []),
      [],
      ['power 1'],
    ],
    ['a disk left by a failed installation', [server(1, 'failed')], found([], [1]), [], ['unused_volume 1']],
    ['machines that are not ours', [], found([], [], ['win11', 'router']), [], ['foreign', 'foreign']],
    [
      'all at once',
      [server(1, 'active'), server(2, 'active', 1)],
      found(
        [
          [2, 'running'],
          [9, 'stopped'],
        ],
        [2, 8],
        ['x'],
      ),
      [],
      ['missing_volume 1', 'missing_vm 1', 'power 2', 'orphan_vm 9', 'orphan_volume 8', 'foreign'],
    ],
  ] as const)
    test(what, () => expect(kinds([...expected], inventory, [...busy])).toEqual([...differences]))
})

// ---------------------------------------------------------------- through the real hub
const say = (p: World, nodeId: string, frame: unknown) => {
  const hub = p.controller.hub as unknown as { sockets: Map<string, any>; message(socket: any, text: string): void }
  hub.message(hub.sockets.get(nodeId), JSON.stringify(frame))
}
const beat = (p: World, more: object = {}) => ({
  type: 'heartbeat',
  at: p.now(),
  cpuPercent: 12,
  load1: 0.5,
  memoryFreeMb: 1000,
  pools: [{ name: 'local', kind: 'file', path: '/x', totalBytes: 5e11, freeBytes: 4e11 }],
  workloads: [],
  ...more,
})
const guest = (server: string, power: Power) => ({ id: server, power, cpuMs: 0, rxBytes: 0, txBytes: 0 })
/** Waits until the reports that a busy controller puts off are written. */
async function settled(p: World) {
  const { waiting } = p.controller.reports as unknown as { waiting: Map<string, unknown> }
  do await Bun.sleep(2)
  while (waiting.size)
}

async function built(p: World) {
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return serverId as string
}

describe('a node that reports', () => {
  test('power makes running and stopped of it, and nothing else', async () => {
    using p = await world()
    const serverId = await built(p)
    for (const [power, status] of [
      ['stopped', 'stopped'],
      ['running', 'running'],
      ['crashed', 'stopped'],
      ['paused', 'running'],
      ['absent', 'stopped'],
      ['running', 'running'],
    ] as const) {
      say(p, p.node.id, { type: 'power', workload: serverId, power, at: p.now(), reason: 'guest' })
      await settled(p)
      expect([p.server(serverId).power, p.server(serverId).status]).toEqual([power, status])
    }
    await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'overdue' })
    await p.settle()
    say(p, p.node.id, { type: 'power', workload: serverId, power: 'running', at: p.now(), reason: 'by hand' })
    await settled(p)
    expect([p.server(serverId).power, p.server(serverId).status]).toEqual(['running', 'suspended'])
    expect(p.events()).toEqual(['server.created', 'server.provisioned', 'server.suspended'])
  })
  test('power by its heartbeat has the same effect', async () => {
    using p = await world()
    const serverId = await built(p)
    p.turnClock(2000)
    say(p, p.node.id, beat(p, { workloads: [guest(serverId, 'stopped')] }))
    await settled(p)
    expect(p.server(serverId).status).toBe('stopped')
  })
  test('a heartbeat that was gathered before a job ended does not overturn what the job did', async () => {
    using p = await world()
    const serverId = await built(p)
    say(p, p.node.id, beat(p, { workloads: [guest(serverId, 'stopped')] }))
    await settled(p)
    expect(p.server(serverId)).toMatchObject({ status: 'running', wantedPower: 'running' })
    // It is so, says the next one.
    p.turnClock(10_000)
    say(p, p.node.id, beat(p, { workloads: [guest(serverId, 'stopped')] }))
    await settled(p)
    expect(p.server(serverId)).toMatchObject({ status: 'stopped', wantedPower: 'stopped' })
  })
  test(
    'a crash keeps it once, in the activity and, when it stays off or crashes again, under Needs ' + 'attention',
    async () => {
      using p = await world()
      const serverId = await built(p)
      const other = p.addNode(p.location, 'fra-02')
      await settled(p)
      const crash = (at: number, outcome: string, cause = 'ended') => ({
        ...{ type: 'crash', workload: serverId, at, cause, outcome, detail: cause === 'ended' ? '' : 'no /x/disk' },
      })
      const lines = () => p.auditLines().filter(({ operation }) => operation === 'workloads.crashed')
      const shown = async (who: typeof p.customer, path = '/overview') =>
        (await p.call(who, 'GET', path)).body.attention.filter(({ what }: any) => what.includes('unexpectedly'))
      say(p, other.id, crash(p.now(), 'left_off'))
      await settled(p)
      expect([lines(), await shown(p.owner, '/admin/overview')]).toEqual([[], []])

      const first = crash(p.now() - 5000, 'restarts')
      for (const frame of [first, first, { ...first, cause: 'shutdown' }]) say(p, p.node.id, frame)
      await settled(p)
      expect(lines()).toMatchObject([{ target: serverId, result: 'done', actorName: 'System' }])
      expect(await shown(p.owner, '/admin/overview')).toEqual([])

      say(p, p.node.id, crash(p.now() - 4000, 'restarts'))
      await settled(p)
      expect(await shown(p.owner, '/admin/overview')).toMatchObject([
        { level: 'warn', what: 'web01 ended unexpectedly 2 times in 24 hours.', href: `/admin/servers/${serverId}` },
      ])
      say(p, p.node.id, crash(p.now() - 3000, 'left_off', 'not_started'))
      await settled(p)
      const [forStaff] = await shown(p.owner, '/admin/overview')
      expect(forStaff).toMatchObject({ level: 'bad', effect: expect.stringContaining('no /x/disk') })
      const [forOwner] = await shown(p.customer)
      expect(forOwner).toMatchObject({ level: 'bad', what: 'web01 ended unexpectedly 3 times in 24 hours.' })
      expect(JSON.stringify([forOwner, lines()])).not.toContain('/x/disk')
      p.turnClock(24 * 3_600_000)
      expect(await shown(p.signIn(p.owner.id), '/admin/overview')).toEqual([])
    },
  )
  test('of a server that stands on another node changes nothing, however it says it', async () => {
    using p = await world()
    const serverId = await built(p)
    const other = p.addNode(p.location, 'fra-02')
    await settled(p)
    const servers = JSON.stringify(p.db.$client.query('SELECT * FROM workloads').all())
    const differences = () => p.db.$client.query('SELECT differences FROM nodes WHERE id = ?').get(p.node.id)
    const before = differences()
    say(p, other.id, { type: 'power', workload: serverId, power: 'stopped', at: p.now(), reason: 'forged' })
    say(p, other.id, beat(p, { workloads: [guest(serverId, 'crashed')] }))
    say(p, other.id, { type: 'inventory', vms: [{ workload: serverId, power: 'running' }], volumes: [], foreign: [] })
    say(p, other.id, { type: 'power', workload: newId('srv'), power: 'stopped', at: p.now(), reason: 'never was' })
    await settled(p)
    expect(JSON.stringify(p.db.$client.query('SELECT * FROM workloads').all())).toBe(servers)
    expect(differences()).toEqual(before)
    expect((await p.admin('GET', `/admin/nodes/${other.id}`)).found).toMatchObject([
      { kind: 'orphan_vm', workloadId: serverId },
    ])
    // The true node is still heard.
    say(p, p.node.id, { type: 'power', workload: serverId, power: 'stopped', at: p.now(), reason: 'guest' })
    await settled(p)
    expect(p.server(serverId).status).toBe('stopped')
  })
  test('while a job is at work says the power, and changes nothing of what is wanted', async () => {
    using p = await world()
    const serverId = await built(p)
    p.node.agent.disconnect()
    await p.admin('POST', `/servers/${serverId}/actions/power`, { action: 'off' })
    p.controller.reports.take(p.node.id, { type: 'power', workload: serverId, power: 'stopped', at: 0, reason: '' })
    await settled(p)
    expect(p.server(serverId)).toMatchObject({ power: 'stopped', status: 'stopped', wantedPower: 'running' })
    p.node.agent.connect()
    p.controller.runner.sweep()
    await p.settle()
    expect(p.server(serverId)).toMatchObject({ power: 'stopped', status: 'stopped', wantedPower: 'stopped' })
  })
  test('a disk that something else fills is shown, and takes no order that would not fit', async () => {
    using p = await world()
    const pools = (freeBytes: number) => [{ name: 'local', kind: 'file', path: '/x', totalBytes: 100 * GIB, freeBytes }]
    const report = async (freeBytes: number) => {
      say(p, p.node.id, beat(p, { pools: pools(freeBytes) }))
      await settled(p)
      return (await p.admin('GET', `/admin/nodes/${p.node.id}`)).freeDiskGb
    }
    const warnings = async () =>
      (await p.call(p.owner, 'GET', '/admin/overview')).body.attention
        .filter(({ what }: any) => /almost full/.test(what))
        .map(({ level, what }: any) => `${level}: ${what}`)
    // Nothing is promised: the file system's 90 GB without 5 of reserve.
    expect(await report(90 * GIB)).toBe(85)
    expect(await warnings()).toEqual([])
    expect(await report(12 * GIB)).toBe(7)
    expect(await warnings()).toEqual([expect.stringMatching(/^warn: .* 12 GiB of 100 GiB left\.$/)])
    expect(await report(2 * GIB)).toBe(0)
    expect(await warnings()).toEqual([expect.stringMatching(/^bad: .* 2 GiB of 100 GiB left\.$/)])
    const before = p.fingerprint()
    const refused = await p.call(p.owner, 'POST', '/admin/servers', p.order)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'no_capacity'])
    expect(refused.body.error.message).toContain('no disk left')
    expect(p.fingerprint()).toBe(before)
    expect(await report(90 * GIB)).toBe(85)
    expect((await p.call(p.owner, 'POST', '/admin/servers', p.order)).status).toBe(201)
    // A promise counts before anything is written.
    const { diskGb } = await p.admin('GET', `/servers/${(await p.admin('GET', '/admin/servers')).data[0].id}`)
    expect(await report(100 * GIB)).toBe(Math.min(95, 100 - diskGb))
  })
  test('how its clock differs, its load and its pools', async () => {
    using p = await world()
    say(p, p.node.id, beat(p, { at: p.now() + 90_000 }))
    await settled(p)
    const node = await p.admin('GET', `/admin/nodes/${p.node.id}`)
    expect(Math.round(node.skewMs / 1000)).toBe(90)
    expect(node.load).toMatchObject({ cpuPercent: 12, load1: 0.5, memoryFreeMb: 1000 })
    expect(node.diskGb).toBe(Math.floor(5e11 / 1024 ** 3))
    p.node.agent.disconnect()
    await settled(p)
    expect(await p.admin('GET', `/admin/nodes/${p.node.id}`)).toMatchObject({
      load: { cpuPercent: 12, at: node.load.at },
      connected: false,
    })
  })
  test('an orphan is shown, to staff only, and never deleted', async () => {
    using p = await world()
    const orphan = newId('srv')
    const inventory = {
      type: 'inventory',
      vms: [{ workload: orphan, power: 'running' }],
      volumes: [{ workload: orphan, generation: 0, pool: 'local', format: 'qcow2' }],
      foreign: ['win11'],
    }
    for (let i = 0; i < 3; i++) say(p, p.node.id, inventory)
    await settled(p)
    const node = await p.admin('GET', `/admin/nodes/${p.node.id}`)
    expect(node.found.map((d: any) => d.kind)).toEqual(['orphan_vm', 'foreign'])
    expect(node.differences).toBe(2)
    expect(p.db.$client.query('SELECT count(*) AS n FROM jobs').get()).toEqual({ n: 0 })
    say(p, p.node.id, { ...inventory, vms: [], volumes: [], foreign: [] })
    await settled(p)
    expect((await p.admin('GET', `/admin/nodes/${p.node.id}`)).found).toEqual([])
  })
  test('new facts is believed in them', async () => {
    using p = await world()
    const before = await p.admin('GET', `/admin/nodes/${p.node.id}`)
    say(p, p.node.id, {
      type: 'facts',
      facts: { ...before.facts, agentVersion: '9.9.9', memoryMb: 1234, cpu: { model: 'New', threads: 3 } },
    })
    await settled(p)
    expect(await p.admin('GET', `/admin/nodes/${p.node.id}`)).toMatchObject({
      agentVersion: '9.9.9',
      agentOutdated: true,
      memoryMb: 1234,
      threads: 3,
      name: before.name,
    })
  })
  test('a thousand times at once is taken in whole, and the last word of each counts', async () => {
    using p = await world()
    const serverId = await built(p)
    for (let i = 0; i < 1001; i++)
      say(p, p.node.id, {
        type: 'power',
        workload: serverId,
        power: i % 2 ? 'running' : 'stopped',
        at: p.now(),
        reason: '',
      })
    await settled(p)
    expect(p.server(serverId).status).toBe('stopped')
  })
})

describe('removing a node', () => {
  test('that holds servers is refused with their number, and nothing happens', async () => {
    using p = await world()
    await built(p)
    const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
    await p.admin('POST', '/admin/servers', waiting)
    const before = p.fingerprint()
    const { status, body } = await p.call(p.owner, 'DELETE', `/admin/nodes/${p.node.id}`)
    expect([status, body.error]).toMatchObject([
      409,
      { code: 'in_use', message: 'fra-01 holds 2 servers. Move or terminate them first.' },
    ])
    expect(p.fingerprint()).toBe(before)
    expect(p.controller.hub.connected(p.node.id)).toBe(true)
  })
  test('that holds none lets go of its pools and takes no order any more', async () => {
    using p = await world()
    const serverId = await built(p)
    await p.admin('DELETE', `/servers/${serverId}?immediately=true`)
    await p.settle()
    expect((await p.call(p.owner, 'DELETE', `/admin/nodes/${p.node.id}`)).status).toBe(200)
    await Bun.sleep(5)
    expect((await p.admin('GET', `/admin/ip-pools/${p.pool}`)).nodes).toEqual([])
    expect((await p.call(p.owner, 'POST', '/admin/servers', p.order)).body.error.code).toBe('no_capacity')
    expect((await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, nodeId: p.node.id })).body.error.code).toBe(
      'validation_failed',
    )
    expect(
      (await p.call(p.owner, 'PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [p.node.id] })).body.error.code,
    ).toBe('validation_failed')
  })
})

test('the journal names a node that comes or goes as people call it, and where a job failed', async () => {
  using p = await world()
  const about = { nodeId: p.node.id, node: 'fra-01' }
  const journal = await journalOf(async () => {
    p.node.agent.disconnect()
    p.node.agent.connect()
    p.node.agent.fault({ command: 'volume.create', mode: 'fail' })
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
  })
  expect(journal.slice(0, 2)).toMatchObject([
    { level: 'warning', message: 'node disconnected', ...about },
    { level: 'info', message: 'node connected', ...about },
  ])
  expect(journal.at(-1)).toMatchObject({
    level: 'error',
    message: 'a job failed',
    kind: 'install',
    ...about,
    subjectId: expect.stringMatching(/^srv_/),
  })
})
