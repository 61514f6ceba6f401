// One node that lies, floods, or sends what the database refuses, beside nodes that are honest.
import { describe, expect, test } from 'bun:test'
import type { Power } from '../../../agent/protocol/wire.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { journalOf } from '../../support/journal.ts'
import { type World, world } from '../../support/world/panel.ts'

type Hub = { sockets: Map<string, any>; message(socket: any, data: string | Buffer): void }
const hubOf = (p: World) => p.controller.hub as unknown as Hub
const say = (p: World, nodeId: string, frame: unknown) => {
  const hub = hubOf(p)
  hub.message(hub.sockets.get(nodeId), typeof frame === 'string' ? frame : JSON.stringify(frame))
}
const power = (workload: string, to: Power) => ({ type: 'power', workload, power: to, at: 0, reason: '' })
const waiting = (p: World) => (p.controller.reports as unknown as { waiting: Map<string, unknown> }).waiting
async function settled(p: World) {
  do await Bun.sleep(2)
  while (waiting(p).size)
}
async function built(p: World, more: object = {}) {
  const { serverId, jobId } = await p.admin('POST', '/admin/servers', { ...p.order, ...more })
  return { serverId: serverId as string, jobId: jobId as string }
}
/** A second node of the location, with the first one's addresses. */
function second(p: World) {
  const node = p.addNode(p.location, 'fra-02')
  p.db.$client.run('INSERT INTO pool_nodes SELECT pool_id, ? FROM pool_nodes WHERE node_id = ?', [node.id, p.node.id])
  return node
}
const jobs = (p: World) =>
  p.db.$client
    .query<{ id: string; state: string; nodeId: string }, []>(
      'SELECT id, state, node_id AS nodeId FROM jobs ORDER BY id',
    )
    .all()
/** Makes the database refuse this change, as it refuses a value that it cannot take. */
const refuse = (p: World, name: string, on: string, when: string) =>
  p.db.$client.run(`CREATE TRIGGER ${name} BEFORE ${on} WHEN ${when} BEGIN SELECT raise(ABORT, 'refused'); END`)
const misconduct = async (p: World, nodeId: string) =>
  (await p.admin('GET', `/admin/nodes/${nodeId}`)).misconduct.map(({ what }: { what: string }) => what)
const audited = (p: World) =>
  p.db.$client
    .query<{ target: string; details: string; result: string }, []>(
      "SELECT target, details, result FROM audit WHERE operation = 'nodes.misconduct'",
    )
    .all()
    .map(({ details, ...line }) => ({ ...line, ...JSON.parse(details) }))

describe('a log frame with a time that the database cannot take', () => {
  test('costs neither the job of its node nor those of others', async () => {
    using p = await world()
    const other = second(p)
    p.node.agent.fault({ command: 'vm.await', mode: 'hang' })
    const attacker = await built(p, { nodeId: p.node.id })
    for (let i = 0; i < 8; i++) await built(p, { nodeId: other.id, hostname: `web${i}` })
    for (let i = 0; i < 300; i++) {
      const key = [...(p.controller.hub as unknown as { waiting: Map<string, unknown> }).waiting.keys()].find((k) =>
        k.startsWith(attacker.jobId),
      )
      if (key) for (const at of [1e300, 1e18, -1]) say(p, p.node.id, { type: 'log', key, level: 'info', text: 'x', at })
      if (jobs(p).filter(({ nodeId, state }) => nodeId === other.id && state === 'succeeded').length === 8) break
      await Bun.sleep(5)
    }
    expect(jobs(p).map(({ nodeId, state }) => (nodeId === other.id ? state : 'the attacker'))).toEqual([
      'the attacker',
      ...Array.from({ length: 8 }, () => 'succeeded'),
    ])
    expect((await misconduct(p, p.node.id))[0]).toMatch(/^fra-01 sent what this controller does not understand/)
    expect(await misconduct(p, other.id)).toEqual([])
  })
  test('and lines that it refuses for any other reason stop no job, and are told once a minute', async () => {
    using p = await world()
    const { jobId } = await built(p)
    refuse(p, 'no_lines', 'INSERT ON job_log', `NEW.job_id = '${jobId}'`)
    const journal = await journalOf(async () => {
      await built(p, { hostname: 'web02' })
      await p.settle()
    })
    expect(jobs(p).map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
    const lines = (id: string) =>
      p.db.$client.query<{ n: number }, [string]>('SELECT count(*) AS n FROM job_log WHERE job_id = ?').get(id)!.n
    expect(lines(jobs(p)[1]!.id)).toBeGreaterThan(5)
    expect(lines(jobId)).toBeLessThan(lines(jobs(p)[1]!.id))
    expect(journal.filter(({ message }) => message === 'lines of a job could not be kept').length).toBe(1)
  })
})

describe('S52: a report that the database refuses', () => {
  test('costs only its node, and is stored when that has passed', async () => {
    using p = await world()
    const other = second(p)
    const [mine, theirs] = [await built(p, { nodeId: p.node.id }), await built(p, { nodeId: other.id, hostname: 'b' })]
    await p.settle()
    refuse(p, 'no_node', 'UPDATE ON nodes', `NEW.id = '${p.node.id}'`)
    const beat = (workload: string, to: Power) => ({
      type: 'heartbeat',
      at: p.now(),
      cpuPercent: 1,
      load1: 1,
      memoryFreeMb: 1,
      pools: [],
      workloads: [{ id: workload, power: to, cpuMs: 0, rxBytes: 0, txBytes: 0 }],
    })
    p.turnClock(2000)
    say(p, p.node.id, beat(mine.serverId, 'stopped'))
    say(p, other.id, beat(theirs.serverId, 'stopped'))
    await settled(p)
    expect([p.server(mine.serverId).status, p.server(theirs.serverId).status]).toEqual(['running', 'stopped'])
    expect(await misconduct(p, p.node.id)).toEqual(['Reports of fra-01 could not be stored, 1 time.'])
    p.db.$client.run('DROP TRIGGER no_node')
    // The same heartbeat again: memory did not take the refused one for stored.
    say(p, p.node.id, beat(mine.serverId, 'stopped'))
    await settled(p)
    expect(p.server(mine.serverId).status).toBe('stopped')
  })
  test('leaves nothing of itself behind: what it said beside it is not stored either', async () => {
    using p = await world()
    const { serverId } = await built(p)
    await p.settle()
    const stored = () => p.db.$client.query('SELECT * FROM nodes WHERE id = ?').get(p.node.id)
    refuse(p, 'no_workload', 'UPDATE ON workloads', `NEW.id = '${serverId}'`)
    const before = stored()
    p.turnClock(2000)
    say(p, p.node.id, {
      type: 'heartbeat',
      at: p.now(),
      cpuPercent: 1,
      load1: 1,
      memoryFreeMb: 1,
      pools: [{ name: 'local', kind: 'file', path: '/pool', totalBytes: 1e12, freeBytes: 1 }],
      workloads: [{ id: serverId, power: 'stopped', cpuMs: 0, rxBytes: 0, txBytes: 0 }],
    })
    await settled(p)
    expect(stored()).toEqual(before)
    expect(await misconduct(p, p.node.id)).toEqual(['Reports of fra-01 could not be stored, 1 time.'])
  })
})

describe('reports without end', () => {
  test('keep one place in the queue, and the last word counts', async () => {
    using p = await world()
    const { serverId } = await built(p)
    await p.settle()
    let most = 0
    for (let i = 0; i < 4000; i++) {
      say(p, p.node.id, power(serverId, i % 2 ? 'running' : 'stopped'))
      say(p, p.node.id, { type: 'inventory', vms: [], volumes: [], foreign: [`x${i}`] })
      most = Math.max(most, waiting(p).size)
    }
    expect(most).toBe(1)
    say(p, p.node.id, power(serverId, 'stopped'))
    await settled(p)
    expect(p.server(serverId).status).toBe('stopped')
    const { found } = await p.admin('GET', `/admin/nodes/${p.node.id}`)
    expect(found.some(({ words }: { words: string }) => words.includes('x3999'))).toBe(true)
  })
})

describe('S37: a node that reports on a server of another node', () => {
  test('changes nothing, is audited once with the server, and is shown to staff', async () => {
    using p = await world()
    const { serverId } = await built(p)
    await p.settle()
    const other = second(p)
    await settled(p)
    const before = p.server(serverId)
    const journal = await journalOf(async () => {
      for (let i = 0; i < 15; i++) {
        say(p, other.id, power(serverId, 'stopped'))
        await settled(p)
      }
    })
    expect(p.server(serverId)).toEqual(before)
    expect(audited(p)).toEqual([
      {
        target: other.id,
        result: 'refused',
        offence: 'not_its_workload',
        times: 1,
        workloads: 1,
        workloadId: serverId,
      },
    ])
    expect(journal.filter(({ message }) => message.includes('on other nodes')).length).toBe(1)
    const [what] = await misconduct(p, other.id)
    expect(what).toMatch(/^fra-02 reported on servers that are on other nodes, \d+ times\.$/)
    const { attention } = await p.admin('GET', '/admin/overview')
    expect(attention).toContainEqual(expect.objectContaining({ what, level: 'bad', href: `/admin/nodes/${other.id}` }))
    expect(await misconduct(p, p.node.id)).toEqual([])
    p.turnClock(25 * 3600_000)
    expect(await misconduct(p, other.id)).toEqual([])
  })
  test('and one that reports what never was here is an orphan, no misconduct', async () => {
    using p = await world()
    say(p, p.node.id, power(newId('srv'), 'running'))
    await settled(p)
    expect([audited(p), await misconduct(p, p.node.id)]).toEqual([[], []])
  })
})

test('S53: a node that floods is cut off: journal, audit, Needs attention and its page say so, each once', async () => {
  using p = await world()
  const other = second(p)
  const socket = hubOf(p).sockets.get(p.node.id)
  const journal = await journalOf(async () => {
    for (let i = 0; i < 20_000; i++) hubOf(p).message(socket, '{"type":"shell"}')
    await Bun.sleep(0)
  })
  expect([p.controller.hub.connected(p.node.id), p.controller.hub.connected(other.id)]).toEqual([false, true])
  expect(journal.map(({ message }) => message)).toEqual([
    'a node sent frames that are none',
    'a node sent more than a node may, and its connection was closed',
    'node disconnected',
  ])
  expect(audited(p).map(({ offence }) => offence)).toEqual(['nonsense', 'too_much'])
  expect((await misconduct(p, p.node.id)).toSorted()).toEqual([
    'fra-01 sent more than a node may, and was disconnected 1 time.',
    expect.stringMatching(/^fra-01 sent what this controller does not understand, \d+ times\.$/),
  ])
})
