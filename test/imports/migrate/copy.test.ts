// Servers are copied from their hypervisors to nodes, with everything that is decided about them.
import { expect, test } from 'bun:test'
import type { SourceHost } from '../../../agent/protocol/values/source-hosts.ts'
import { guestOf } from '../../../src/compute/guest/queries.ts'
import { eventsOf, KVM_1, move, moveAll, moves, onNodes, ready, start } from './world.ts'

test('A server is shut down at its source once, and started here with its MAC and its address', async () => {
  using p = await ready()
  await start(p)
  expect((await moveAll(p)).status).toBe('verifying')
  const all = await moves(p)
  expect(all.map(({ state, whereItRuns }) => [state, whereItRuns])).toEqual([
    ['moved', 'here'],
    ['moved', 'here'],
  ])
  expect(await onNodes(p)).toEqual({ running: 2, vms: 2, volumes: 2 })
  expect(p.sources.moving.eventsAt(KVM_1).toSorted()).toEqual(['stop v1', 'stop v2'])
  const { ipv4, hostname } = await p.admin('GET', `/servers/${all[0]!['workloadId']}`).then((one) => ({
    ipv4: one.ipv4,
    hostname: one.hostname,
  }))
  expect([hostname, ipv4]).toEqual(['server1.source.test', '198.51.100.11'])
  const told = eventsOf(p).filter(({ type }) => type.startsWith('server.'))
  expect(told.map(({ type, data }) => [type, data['imported']])).toEqual([
    ['server.created', true],
    ['server.provisioned', true],
    ['server.created', true],
    ['server.provisioned', true],
  ])
})

test('Owners who are told hear when a server begins to move, and its addresses when it has moved', async () => {
  using p = await ready()
  await p.admin('PATCH', `/admin/migrations/${p.id}/messages`, { emailsOwners: true, before: { isOn: true } })
  await start(p)
  await moveAll(p)
  const subjects = p.mailed().map(({ subject }) => subject)
  expect(subjects.filter((one) => one.startsWith('We are about to move'))).toHaveLength(1)
  expect(subjects.filter((one) => one.endsWith('has moved')).toSorted()).toEqual([
    'server1.source.test has moved',
    'server2.source.test has moved',
  ])
  // An owner hears nothing else: of no new server, and new accounts are invited by a person.
  expect(subjects.filter((one) => /is ready$/.test(one))).toEqual([])
})

test('A start that comes late finds that its own panel has started it, and starts it not', async () => {
  using p = await ready()
  const { hub } = p.controller
  const send = hub.send
  const late: string[] = []
  hub.send = async (key, command) => {
    if (command.name === 'source-host.start-here' && late.length === 0) {
      const { host, domain } = command.input as { host: SourceHost; domain: string }
      late.push(domain)
      p.sources.moving.startsThere({ host, domain })
    }
    return send(key, command)
  }
  await start(p)
  await moveAll(p)
  const all = await moves(p)
  const [first] = all.filter(({ state }) => state === 'failed')
  expect(first).toMatchObject({ whereItRuns: 'source', failure: { code: 'source_started' } })
  expect(all.map(({ state }) => state).toSorted()).toEqual(['failed', 'moved'])
  expect(await onNodes(p)).toEqual({ running: 1, vms: 1, volumes: 1 })
})

test('A server that its own panel starts after its copy fails, and runs at its source alone', async () => {
  using p = await ready({}, { special: { 1: { moving: { startsAfterCopy: true } } } })
  await start(p)
  await moveAll(p)
  const [first, second] = [await move(p, 'server1.source.test'), await move(p, 'server2.source.test')]
  expect(first).toMatchObject({ state: 'failed', whereItRuns: 'source', failure: { code: 'source_started' } })
  expect(second).toMatchObject({ state: 'moved', whereItRuns: 'here' })
  expect(await onNodes(p)).toEqual({ running: 1, vms: 1, volumes: 1 })
})

test(
  "Each server's operating system is shown (what the source says, then what the guest agent reports once it runs on " +
    'the node); once the guest agent answers, the node reads the real one within about a minute.',
  async () => {
    using p = await ready()
    await start(p)
    await moveAll(p)
    const before = await move(p, 'server1.source.test')
    expect(before['osName']).toBe('Debian 12')
    const guest = p.node.agent.host.guestAgent as unknown as { behave(id: string, how: 'silent' | 'well'): void }
    const { app, hub } = p.controller
    const turn = () => app.guestWatch.turn({ db: p.db, app, hub })
    const shown = async () => (await move(p, 'server1.source.test'))['osName']
    guest.behave(before['workloadId'], 'silent')
    await turn()
    expect(await shown()).toBe('Debian 12')
    guest.behave(before['workloadId'], 'well')
    p.turnClock(60_000)
    await turn()
    const { osName, osVersion } = guestOf(p.db, before['workloadId'])!
    expect([await shown(), osName]).toEqual([`${osName} ${osVersion}`, expect.stringMatching(/./)])
  },
)
