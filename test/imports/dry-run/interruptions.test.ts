// Dry runs that are cut off, and nodes and hypervisors that do not answer, or answer wrongly.
import { describe, expect, test } from 'bun:test'
import { CommandFailed } from '../../../src/kernel/jobs/failures.ts'
import { hypervisor, pack, server } from '../panel-in-memory.ts'
import { put } from '../world.ts'
import { checked, type Decided, decided, dryRun, KVM_1, look, results, shown, totals, wordsOf } from './world.ts'

const many = (n: number) => ({
  packages: [pack('1', { memoryMb: 256, diskGb: 20 })],
  servers: Array.from({ length: n }, (_, i) => server(i + 1)),
})
/** Counts the questions about servers that reach nodes, and may break one off. */
function watched(p: Decided, at: (n: number) => unknown = () => {}) {
  const { hub } = p.controller
  const send = hub.send
  const asked: string[] = []
  hub.send = async (key, command) => {
    if (command.name === 'source-servers.look') {
      asked.push(...(command.input as { servers: { domain: string }[] }).servers.map(({ domain }) => domain))
      await at(asked.length)
    }
    return send(key, command)
  }
  return asked
}
const begin = (p: Decided) => p.admin('POST', `/admin/migrations/${p.id}/actions/dry-run`)
/** The result of each server, without the times at which it was looked at. */
const outcome = async (p: Decided) =>
  (await shown(p)).map(({ sourceId, state, check }) => [sourceId, state, check?.result, check?.node?.name])

describe('a controller that is killed', () => {
  test('goes on where it was: what has been answered is not asked again', async () => {
    using p = await decided(many(40), { nodes: ['fra-02'] })
    await dryRun(p)
    const undisturbed = await outcome(p)
    await begin(p)
    let isCut = false
    const before = watched(p, (n) => {
      if (n < 30 || isCut) return
      isCut = true
      return new Promise(() => {})
    })
    p.controller.app.dryRuns.turn(p.controller.hub, p.db, p.controller.app)
    for (let i = 0; i < 200 && !isCut; i++) await Bun.sleep(5)
    await Bun.sleep(50)
    const answered = (await shown(p)).filter(({ check }) => check?.result === 'ready').length
    await p.crash()
    put(p)
    const after = watched(p)
    expect((await checked(p, p.id)).status).toBe('ready')
    expect(before.length).toBeGreaterThanOrEqual(30)
    expect(answered).toBeGreaterThan(0)
    expect(after).toHaveLength(40 - answered)
    expect(await outcome(p)).toEqual(undisturbed)
  })

  test('in any phase ends as one that was not', async () => {
    using p = await decided(many(12), { servers: { v3: { definition: { firmware: 'uefi' } }, v4: null } })
    await dryRun(p)
    const undisturbed = await outcome(p)
    for (const phase of ['clearing', 'comparing', 'checking']) {
      await begin(p)
      const { app, hub } = p.controller
      const changes: string[] = []
      const send = hub.send
      hub.send = (key, command) => (command.name.startsWith('source-') ? new Promise(() => {}) : send(key, command))
      app.dryRuns.turn(hub, p.db, app)
      for (let i = 0; i < 100; i++) {
        const row = p.db.$client.query('SELECT check_phase AS phase FROM imports').get() as { phase: string }
        changes.push(row.phase)
        if (row.phase === phase) break
        await Bun.sleep(1)
      }
      await p.crash()
      put(p)
      await checked(p, p.id)
      expect(await outcome(p)).toEqual(undisturbed)
    }
  })
})

test('an agent that dies in the middle is asked again when it is back', async () => {
  using p = await decided(many(45))
  await begin(p)
  let isCut = false
  watched(p, () => {
    if (isCut) return
    isCut = true
    setTimeout(() => p.node.agent.restart(), 5)
  })
  p.sources.describe(KVM_1, { lets: 'everyone', ms: 20 })
  expect((await checked(p, p.id)).status).toBe('ready')
  expect((await totals(p)).servers).toMatchObject({ ready: 45 })
})

test('a dry run that is cancelled with its import leaves nothing', async () => {
  using p = await decided(many(30))
  await begin(p)
  watched(p, () => new Promise(() => {}))
  const { app, hub } = p.controller
  app.dryRuns.turn(hub, p.db, app)
  await Bun.sleep(50)
  await p.admin('POST', `/admin/migrations/${p.id}/actions/cancel`)
  app.dryRuns.turn(hub, p.db, app)
  app.importReadings.turn(p.db, app)
  await app.importReadings.settled()
  for (const table of ['import_checks', 'import_findings', 'import_hosts', 'import_logins', 'imports'])
    expect(p.db.$client.query(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 })
})

test('a node that goes away and does not come back is named, and its servers wait for it', async () => {
  using p = await decided(many(3))
  await begin(p)
  watched(p, async () => {
    p.node.agent.disconnect()
    p.turnClock(10 * 60_000)
    throw new CommandFailed('node_away', 'The node is not connected.')
  })
  expect((await checked(p, p.id)).status).toBe('mapping')
  expect(await results(p)).toEqual(Array(3).fill(['to_fix', 'node_away']))
  expect(await wordsOf(p, '1')).toEqual(['fra-01 is not connected, and it would do the work'])
  // No node is there to place on.
  await dryRun(p)
  expect(await results(p)).toEqual(Array(3).fill(['to_fix', 'no_room']))
  expect(await wordsOf(p, '1')).toEqual(['no node takes it: No node in Frankfurt can take it: fra-01 not connected'])
})

test('a hypervisor that does not answer stops only its own servers', async () => {
  const servers = [server(1), server(2, { hypervisorId: '2' })]
  using p = await decided({ hypervisors: [hypervisor('1'), hypervisor('2')], servers })
  for (const [fails, code] of [
    ['source_unreachable', 'hypervisor_unreachable'],
    ['source_ssh_too_old', 'ssh_too_old'],
    ['source_invalid', 'look_failed'],
    ['source_no_libvirt', 'libvirt_silent'],
  ] as const) {
    p.sources.describe(KVM_1, { lets: 'everyone', fails })
    expect((await dryRun(p)).status).toBe('ready')
    expect(await results(p)).toEqual([['to_fix', code], ['ready']])
  }
})

test('a hypervisor whose name leads nowhere is said to be unreachable', async () => {
  using p = await decided({ hypervisors: [hypervisor('1', { address: 'gone.source.test', addresses: [] })] })
  await dryRun(p)
  expect(await results(p)).toEqual(Array(2).fill(['to_fix', 'hypervisor_unreachable']))
})

test('an agent that knows no imports is told to be updated', async () => {
  using p = await decided()
  p.controller.hub.can = (_node, name) => !name.startsWith('source-')
  await dryRun(p)
  expect(await results(p)).toEqual(Array(2).fill(['to_fix', 'agent_outdated']))
})

describe('answers of a hostile node', () => {
  type Answer = (servers: { domain: string }[], usual: any) => unknown
  /** The node answers so, through the real check of answers. */
  async function answering(p: Decided, answer: Answer) {
    const handle = p.node.agent.host.sourceHosts
    const usual = handle.servers.bind(handle)
    handle.servers = (async (host: never, servers: { domain: string }[]) =>
      answer(servers, await usual(host, servers as never))) as never
    await dryRun(p)
    handle.servers = usual
  }
  const hostKey = `ssh-ed25519 ${'A'.repeat(68)}`
  for (const [words, answer, code] of [
    ['nothing', () => ({}), 'look_failed'],
    ['fewer servers', (_: unknown, usual: any) => ({ ...usual, servers: usual.servers.slice(1) }), 'look_failed'],
    ['no servers', () => ({ hostKey, servers: [] }), 'look_failed'],
    [
      'others',
      (_: unknown, usual: any) => ({
        ...usual,
        servers: usual.servers.map((one: object, n: number) => ({ ...one, domain: `other${n}` })),
      }),
      'look_failed',
    ],
    [
      'a disk of no size',
      (_: unknown, usual: any) => {
        for (const one of usual.servers) one.definition.drives[0].virtualBytes = null
        return usual
      },
      'disk_unreadable',
    ],
    [
      'a disk of more bytes than there are',
      (_: unknown, usual: any) => {
        for (const one of usual.servers) one.definition.drives[0].virtualBytes = Number.MAX_SAFE_INTEGER
        return usual
      },
      'disk_too_large',
    ],
    [
      'no number of drives',
      (_: unknown, usual: any) => {
        for (const one of usual.servers) one.definition.driveCount = -1
        return usual
      },
      'look_failed',
    ],
  ] as const)
    test(`that tell ${words} make no server ready`, async () => {
      using p = await decided(many(2))
      await answering(p, answer as Answer)
      const found = await results(p)
      expect(found[0]).toEqual(['to_fix', code])
      expect(found.flat()).not.toContain('stays')
    })

  test('that make no sense about one server cost only that server', async () => {
    using p = await decided(many(40))
    const { hub } = p.controller
    const send = hub.send
    let n = 0
    hub.send = async (key, command) => {
      const { servers = [] } = command.input as { servers?: { domain: string }[] }
      n++
      if (servers.some(({ domain }) => domain === 'v17')) throw new CommandFailed('bad_answer', 'It makes no sense.')
      return send(key, command)
    }
    expect((await dryRun(p)).status).toBe('ready')
    expect(await totals(p)).toMatchObject({ servers: { ready: 39, toFix: 1 } })
    expect((await shown(p, '&finding=look_failed')).map(({ sourceId }) => sourceId)).toEqual(['17'])
    expect(n).toBeLessThan(16)
  })

  test('servers are matched by their domains, not by their order', async () => {
    using p = await decided(many(2), { servers: { v2: { definition: { firmware: 'uefi' } } } })
    await answering(p, (_, usual) => ({ ...usual, servers: usual.servers.toReversed() }))
    expect(await results(p)).toEqual([['ready'], ['stays', 'uefi']])
  })
})

test('one hypervisor is asked no more than so many questions at once', async () => {
  using p = await decided(many(240), { nodes: ['fra-02', 'fra-03'] })
  p.db.$client.run("INSERT OR REPLACE INTO settings (name, value) VALUES ('imports.sessions', '2')")
  const { hub } = p.controller
  const send = hub.send
  let now = 0
  let most = 0
  hub.send = async (key, command) => {
    if (!command.name.startsWith('source-')) return send(key, command)
    most = Math.max(most, ++now)
    await Bun.sleep(2)
    return send(key, command).finally(() => now--)
  }
  await look(p)
  most = 0
  await dryRun(p)
  expect(most).toBe(2)
})
