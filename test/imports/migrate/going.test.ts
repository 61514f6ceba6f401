// An import while its servers move: its limits, its pauses, and its end.
import { expect, test } from 'bun:test'
import { decide, dryRun } from '../dry-run/world.ts'
import { server } from '../panel-in-memory.ts'
import { begin, discovered } from '../world.ts'
import { act, dispatch, KVM_1, move, moveAll, moves, onNodes, progress, ready, start } from './world.ts'

const many = (n: number, hypervisorId = '1', from = 1) =>
  Array.from({ length: n }, (_, i) => server(from + i, { hypervisorId }))
const atWork = (p: Parameters<typeof moves>[0]) => moves(p, '&state=moving')
/** Passes of copies take longer than a test looks at them. */
const slow = (numbers: readonly number[]) => Object.fromEntries(numbers.map((n) => [n, { moving: { ms: 400 } }]))

test('So many servers leave one hypervisor at once as the import says', async () => {
  using p = await ready({ servers: many(5) }, { special: slow([1, 2, 3, 4, 5]) })
  await start(p, { perHypervisor: 3, perNode: 10 })
  await dispatch(p)
  await dispatch(p)
  expect(await atWork(p)).toHaveLength(3)
  expect((await progress(p)).servers).toMatchObject({ total: 5, waiting: 2, moving: 3 })
  await moveAll(p)
  expect((await progress(p)).servers).toMatchObject({ moved: 5, failed: 0 })
})

test('So many servers come to one node at once as the import says', async () => {
  using p = await ready({ servers: many(5) }, { special: slow([1, 2, 3, 4, 5]) })
  await start(p, { perHypervisor: 10, perNode: 2 })
  await dispatch(p)
  await dispatch(p)
  expect(await atWork(p)).toHaveLength(2)
  await moveAll(p)
  expect(await onNodes(p)).toEqual({ running: 5, vms: 5, volumes: 5 })
})

test('Servers begin within the window alone, and those at work come to their end', async () => {
  using p = await ready({ servers: many(2) })
  // The clock of the panel stands at 08:00 UTC.
  await start(p, { window: { from: '22:00', to: '05:00', timeZone: 'Europe/Berlin' } })
  await dispatch(p)
  expect(await atWork(p)).toEqual([])
  expect((await progress(p)).isWaitingForWindow).toBe(true)
  await p.admin('PATCH', `/admin/migrations/${p.id}/limits`, {
    window: { from: '08:30', to: '10:00', timeZone: 'Europe/Berlin' },
  })
  expect((await moveAll(p)).status).toBe('verifying')
})

test('A paused import begins nothing, and goes on when it is told to', async () => {
  using p = await ready({ servers: many(3) })
  await start(p, { perHypervisor: 1 })
  await dispatch(p)
  await act(p, 'pause')
  await p.settle()
  await dispatch(p)
  await p.settle()
  expect((await progress(p)).servers).toMatchObject({ moved: 1, waiting: 2, moving: 0 })
  expect((await act(p, 'continue')).pausedAt).toBeNull()
  await moveAll(p)
  expect((await progress(p)).servers).toMatchObject({ moved: 3 })
})

test('After a stop the servers at work come to their end, and the others stay on the source', async () => {
  using p = await ready({ servers: many(3) })
  await start(p, { perHypervisor: 1 })
  await dispatch(p)
  await act(p, 'stop-after')
  expect((await moveAll(p)).status).toBe('verifying')
  expect((await progress(p)).servers).toMatchObject({ moved: 1, waiting: 2, failed: 0 })
  expect(p.sources.moving.eventsAt(KVM_1)).toHaveLength(1)
  // One of them is asked for alone; the other one stays.
  const [, , last] = await moves(p)
  await p.admin('POST', `/admin/migration-servers/${last!.serverId}/actions/retry`, {})
  expect((await moveAll(p)).status).toBe('verifying')
  expect((await progress(p)).servers).toMatchObject({ moved: 2, waiting: 1 })
  expect((await move(p, last!.hostname)).state).toBe('moved')
})

test('The move of one server is read by its id, and a server that was never to be moved has none', async () => {
  using p = await ready({ servers: [...many(2), server(3, { virtualization: 'container' })] })
  await start(p)
  await moveAll(p)
  const second = await move(p, 'server2.source.test')
  expect(await p.admin('GET', `/admin/migration-servers/${second.serverId}/move`)).toEqual({ move: second })
  const { data } = await p.admin('GET', `/admin/migrations/${p.id}/servers?state=refused`)
  expect(await p.admin('GET', `/admin/migration-servers/${data[0].id}/move`)).toEqual({ move: null })
})

test('A server is cancelled on its way, and runs at its source as before', async () => {
  using p = await ready({ servers: many(1) }, { special: slow([1]) })
  await start(p)
  await dispatch(p)
  const { serverId } = await move(p, 'server1.source.test')
  await p.admin('POST', `/admin/migration-servers/${serverId}/actions/cancel`)
  await moveAll(p)
  const ended = await move(p, 'server1.source.test')
  expect([ended.state, ended['whereItRuns'], ended['failure'].code]).toEqual(['failed', 'source', 'cancelled'])
  expect(await onNodes(p)).toEqual({ running: 0, vms: 0, volumes: 0 })
  expect(p.db.$client.query('SELECT count(workload_id) AS n FROM addresses').get()).toEqual({ n: 0 })
})

test('Two imports for one hypervisor share its limit, and never move one server twice', async () => {
  using p = await ready({ servers: many(2) }, { special: slow([1, 2]) })
  const other = await begin(p)
  await discovered(p, other)
  await decide(p, other, p.location)
  const q = Object.assign(Object.create(p), { id: other }) as typeof p
  await dryRun(q)
  await start(p, { perHypervisor: 1 })
  await start(q, { perHypervisor: 1 })
  await dispatch(p)
  expect((await atWork(p)).length + (await atWork(q)).length).toBe(1)
  await moveAll(p)
  await moveAll(q)
  const states = [...(await moves(p)), ...(await moves(q))].map(({ state }) => state).toSorted()
  expect(states).toEqual(['failed', 'failed', 'moved', 'moved'])
  expect(await onNodes(p)).toEqual({ running: 2, vms: 2, volumes: 2 })
  expect(p.sources.moving.eventsAt(KVM_1).toSorted()).toEqual(['stop v1', 'stop v2'])
})

test('An address that something here has already is refused before its server is touched', async () => {
  using p = await ready({ servers: [server(1), server(2)] })
  await start(p, { perHypervisor: 1 })
  await dispatch(p)
  await p.settle()
  const { address } = p.db.$client
    .query<{ address: string }, []>("SELECT address FROM addresses WHERE address = '198.51.100.12'")
    .get()!
  p.db.$client.run(
    'UPDATE addresses SET workload_id = (SELECT id FROM workloads), reserved_for = NULL WHERE address = ?',
    [address],
  )
  await moveAll(p)
  const second = await move(p, 'server2.source.test')
  expect([second.state, second['failure'].code]).toEqual(['failed', 'address_in_use'])
  expect(p.sources.moving.eventsAt(KVM_1)).toEqual(['stop v1'])
})

test('A suspended server stays suspended, and one that was off stays off', async () => {
  const servers = [server(1, { isSuspended: true }), server(2, { state: 'stopped' })]
  using p = await ready({ servers }, { kind: 'virtualizor', special: { 2: { state: 'off', isPersistent: true } } })
  await start(p)
  await moveAll(p)
  const statusOf = async (name: string) =>
    (await p.admin('GET', `/servers/${(await move(p, name))['workloadId']}`)).status
  expect([await statusOf('server1.source.test'), await statusOf('server2.source.test')]).toEqual([
    'suspended',
    'stopped',
  ])
  expect(await onNodes(p)).toEqual({ running: 0, vms: 2, volumes: 2 })
})
