// The sentences of the specification about servers that move, but for those about what is done after.
import { describe, expect, test } from 'bun:test'
import { tellGuests } from '../../../src/compute/readdressing/switch.ts'
import { world } from '../../support/world/panel.ts'
import { decide, dryRun } from '../dry-run/world.ts'
import { owner, range, server, v4, v6 } from '../panel-in-memory.ts'
import { begin, discovered, refused } from '../world.ts'
import { addMigrating, powerAtSource } from './migrating.ts'
import { dispatch, KVM_1, macOf, move, moveAll, moves, onNodes, ready, start } from './world.ts'

const one = { servers: [server(1)] }
const addressesOf = (p: Awaited<ReturnType<typeof ready>>, workloadId: string) =>
  p.db.$client
    .query<{ address: string }, [string]>('SELECT address FROM addresses WHERE workload_id = ? ORDER BY version')
    .all(workloadId)
    .map(({ address }) => address)
const runRow = <R>(p: { db: { $client: any } }, sql: string): R => p.db.$client.query(sql).get() as R

describe('Point 6', () => {
  test(
    'Server shuts down on the source, the disk is pulled over SSH, it starts on the node with the same MAC and ' +
      'addresses',
    async () => {
      using p = await ready(one)
      await start(p)
      expect((await moveAll(p)).status).toBe('verifying')
      const moved = await move(p, 'server1.source.test')
      expect([moved.state, moved['whereItRuns'], moved['node'].name]).toEqual(['moved', 'here', 'fra-01'])
      expect(p.sources.moving.eventsAt(KVM_1)).toEqual(['stop v1'])
      expect(await onNodes(p)).toEqual({ running: 1, vms: 1, volumes: 1 })
      expect(runRow(p, 'SELECT mac FROM workloads')).toEqual({ mac: macOf(1) })
      expect(addressesOf(p, moved['workloadId'])).toEqual(['198.51.100.11'])
    },
  )
  test('Server stays on the same hypervisor', async () => {
    const p = await world()
    const { serverId } = addMigrating(p, 'adopt')
    await p.controller.app.importDispatcher.turn(p.db, p.controller.app)
    await p.settle()
    const row = runRow<any>(p, `SELECT state, node_id AS node, job_id AS job FROM import_moves`)
    expect([row.state, row.node, serverId.slice(0, 4)]).toEqual(['moved', p.node.id, 'ims_'])
    expect(await onNodes(p)).toEqual({ running: 1, vms: 1, volumes: 1 })
    expect(await powerAtSource(p, 'adopt')).toBe('absent')
    p.close()
  })
  test(
    "The disk is renamed into the node's storage (logical-volume rename, ZFS rename or file rename) and the server " +
      'restarts once',
    async () => {
      const p = await world()
      addMigrating(p, 'adopt')
      await p.controller.app.importDispatcher.turn(p.db, p.controller.app)
      await p.settle()
      const sources = p.node.agent.host.sourceHosts as unknown as Awaited<ReturnType<typeof ready>>['sources']
      expect(sources.moving.eventsAt('own')).toEqual(['stop v41', 'undefine v41'])
      const [vm] = (await p.node.agent.host.hypervisor.look()).ours
      expect(vm?.power).toBe('running')
      p.close()
    },
  )
})

describe('Point 7', () => {
  test('Keep the addresses: a new pool for the range is added when its first server moves', async () => {
    using p = await ready()
    const pools = async () => (await p.admin('GET', '/admin/ip-pools')).data.map(({ name }: any) => name)
    await start(p)
    expect(await pools()).not.toContain('range-1')
    await moveAll(p)
    expect(await pools()).toContain('range-1')
    expect((await moves(p)).map(({ state }) => state)).toEqual(['moved', 'moved'])
  })
  test(
    'Give copies new addresses: each copy gets IPv4 addresses from the pools of the node it lands on; source IPv6 ' +
      'addresses are dropped.',
    async () => {
      const servers = [server(1, { addresses: [v4('198.51.100.11'), v6('2001:db8::11')] })]
      const ranges = [
        range('1', '198.51.100.0/24'),
        range('2', '2001:db8::/64', { version: 6, first: null, last: null }),
      ]
      using p = await ready({ servers, ranges }, { ranges: 'new' })
      await start(p)
      await moveAll(p)
      const { workloadId, state } = await move(p, 'server1.source.test').then((m) => m as any)
      expect(state).toBe('moved')
      const own = addressesOf(p, workloadId)
      expect(own).toHaveLength(1)
      expect(own[0]).toStartWith('203.0.113.')
      // After start the node switches the address inside the guest: it is told until its agent answers.
      const told = runRow<any>(p, 'SELECT leave, state, ends_at AS ends FROM guest_switches')
      expect([JSON.parse(told.leave).toSorted(), told.ends]).toEqual([['198.51.100.11', '2001:db8::11'], null])
    },
  )
  test(
    'With Email customers on, owners are emailed the new addresses. After start the node switches the address inside ' +
      'the guest through the guest agent (qemu-guest-agent). If the guest has no agent, the import says so and the ' +
      'node keeps retrying until one answers.',
    async () => {
      using p = await ready(one, { ranges: 'new' })
      await start(p, { emailsOwners: true })
      await moveAll(p)
      const { workloadId, serverId } = (await move(p, 'server1.source.test')) as any
      const [address] = addressesOf(p, workloadId)
      const mails = p.mailed().filter(({ subject }) => subject === 'server1.source.test has moved')
      expect([mails.length, mails[0]!.to]).toEqual([1, 'owner1@source.test'])
      expect(JSON.stringify(mails[0])).toContain(`Its new addresses: ${address}`)
      const guest = p.node.agent.host.guestAgent as any
      const turn = async () => {
        await tellGuests(p.controller)
        await p.settle()
        p.turnClock(700_000)
      }
      guest.behave(workloadId, 'silent')
      for (const _ of [1, 2, 3]) await turn()
      const waiting = runRow<any>(p, 'SELECT state, error, tries FROM guest_switches')
      expect(waiting).toEqual({ state: 'waiting', error: 'No guest agent answers.', tries: 3 })
      const { app, hub } = p.controller
      app.importVerifications.turn(hub, p.db, app)
      await app.importVerifications.settled()
      const { data } = await p.admin('GET', `/admin/migrations/${p.id}/verification/servers`)
      const check = data[0].checks.find(({ code }: any) => code === 'addresses')
      expect([data[0].id, check.result]).toEqual([serverId, 'open'])
      expect(check.words).toContain('guest agent')
      guest.behave(workloadId, 'well')
      await turn()
      expect(runRow<any>(p, 'SELECT state FROM guest_switches')).toEqual({ state: 'done' })
      expect(guest.addresses(workloadId)).toEqual([`${address}/24`])
    },
  )
  test('Part of your pool: offered only when the range falls inside one of the own pools; addresses stay', async () => {
    const servers = [server(1, { addresses: [v4('203.0.113.15')] }), server(2)]
    const inside = range('2', '203.0.113.0/24', { first: '203.0.113.12', last: '203.0.113.20' })
    using p = await ready({ servers, ranges: [range('1', '198.51.100.0/24'), inside] })
    const rows = (await p.admin('GET', `/admin/migrations/${p.id}/mapping/ranges`)).data
    const isOffered = (sourceId: string) =>
      rows.find((row: any) => row.sourceId === sourceId).offers.find(({ choice }: any) => choice === 'pool').isOffered
    expect([isOffered('1'), isOffered('2'), rows[1].choice]).toEqual([false, true, 'pool'])
    const pools = async () => (await p.admin('GET', '/admin/ip-pools')).data.map(({ name }: any) => name).toSorted()
    await start(p)
    await moveAll(p)
    const { workloadId } = (await move(p, 'server1.source.test')) as any
    expect(addressesOf(p, workloadId)).toEqual(['203.0.113.15'])
    // Only the other range has got a pool of its own.
    expect(await pools()).toEqual(['range-1', 'v4'])
  })
  test('Adopted servers always keep their addresses.', async () => {
    const p = await world()
    const { id } = addMigrating(p, 'adopt')
    p.db.$client.run("UPDATE import_ranges SET choice = 'new' WHERE import_id = ?", [id])
    await p.controller.app.importDispatcher.turn(p.db, p.controller.app)
    await p.settle()
    expect(runRow(p, 'SELECT address FROM addresses WHERE workload_id IS NOT NULL')).toEqual({
      address: '198.51.100.41',
    })
    p.close()
  })
  test('Leave out of this import: servers with addresses in the range stay on the source.', async () => {
    const servers = [server(1), server(2, { addresses: [v4('198.51.101.12')] })]
    const ranges = [range('1', '198.51.100.0/24'), range('2', '198.51.101.0/24')]
    using p = await ready({ servers, ranges }, { before: { ranges: [{ sourceId: '2', choice: 'leave_out' }] } })
    await start(p)
    await moveAll(p)
    expect((await moves(p)).map(({ hostname, state }) => [hostname, state])).toEqual([['server1.source.test', 'moved']])
    expect(p.sources.moving.eventsAt(KVM_1)).toEqual(['stop v1'])
  })
})

describe('Point 8', () => {
  const customer = (p: Awaited<ReturnType<typeof ready>>) =>
    p.admin('POST', '/admin/customers', { name: 'Late', email: 'owner1@source.test' })
  test(
    'Accounts are re-checked at the dry run and at start; a conflict that appeared since refuses start and waits for ' +
      'the choice.',
    async () => {
      using p = await ready()
      await customer(p)
      const { status, body } = await p.call(p.owner, 'POST', `/admin/migrations/${p.id}/actions/start`, {})
      expect([status, body.error.code]).toEqual([409, 'import_conflicts'])
      const after = await p.admin('GET', `/admin/migrations/${p.id}`)
      expect([after.status, after.left.owners.rows]).toEqual(['mapping', 1])
      expect(await moves(p)).toEqual([])
      expect(p.sources.moving.eventsAt(KVM_1)).toEqual([])
    },
  )
  test(
    'A server whose owner gets an account during the run fails instead of joining it and stays on ' + 'the source.',
    async () => {
      const servers = [server(1), server(2, { ownerId: '2', ownerEmail: 'owner2@source.test' })]
      using p = await ready({ servers, owners: [owner('1'), owner('2')] })
      await start(p, { perHypervisor: 1 })
      await dispatch(p)
      await p.admin('POST', '/admin/customers', { name: 'Late', email: 'owner2@source.test' })
      await moveAll(p)
      const [first, second] = [await move(p, 'server1.source.test'), await move(p, 'server2.source.test')]
      expect([first.state, second.state, second['whereItRuns']]).toEqual(['moved', 'failed', 'source'])
      expect(second['failure'].code).toBe('owner_conflict')
      expect(p.sources.moving.eventsAt(KVM_1)).toEqual(['stop v1'])
      expect(await onNodes(p)).toEqual({ running: 1, vms: 1, volumes: 1 })
    },
  )
  test('servers only go into an existing account that the operator chose.', async () => {
    using p = await ready(one, {
      async first(q) {
        await q.admin('POST', '/admin/customers', { name: 'Here before', email: 'owner1@source.test' })
      },
      before: { owners: [{ sourceId: '1', choice: 'merge' }] },
    })
    await start(p)
    await moveAll(p)
    const { ownerId } = runRow<any>(p, 'SELECT owner_id AS ownerId FROM workloads')
    expect((await p.admin('GET', `/customers/${ownerId}`)).name).toBe('Here before')
  })
  test(
    'For a staff member the servers never go into the staff account itself: they go into that person’s own client ' +
      'area, or are imported separately; those of unknown owners go into one account that nobody reads.',
    async () => {
      let staff = { id: '', email: '' }
      const servers = [server(1), server(2, { ownerId: null, ownerEmail: null })]
      using p = await ready(
        { servers },
        {
          async first(q) {
            const { id } = q.staff(['servers.power'])
            staff = { id, email: 'owner1@source.test' }
            q.db.$client.run('UPDATE accounts SET email = ? WHERE id = ?', [staff.email, id])
          },
          before: {
            owners: [
              { sourceId: '1', choice: 'client_area' },
              { sourceId: 'unknown', choice: 'one_account' },
            ],
          },
        },
      )
      await start(p, { emailsOwners: true })
      await moveAll(p)
      const ownerOf = async (hostname: string) => {
        const { workloadId } = (await move(p, hostname)) as any
        const { ownerId } = p.db.$client
          .query('SELECT owner_id AS ownerId FROM workloads WHERE id = ?')
          .get(workloadId) as { ownerId: string }
        return p.db.$client.query('SELECT id, kind, email FROM accounts WHERE id = ?').get(ownerId) as any
      }
      const [first, second] = [await ownerOf('server1.source.test'), await ownerOf('server2.source.test')]
      expect(first.id).not.toBe(staff.id)
      expect([first.kind, first.email]).toEqual(['customer', 'owner1+client@source.test'])
      expect([second.kind, second.email]).toEqual(['customer', 'imports@panel.source.test'])
      expect(p.mailed().map(({ to, subject }) => [to, subject])).toEqual([
        ['owner1+client@source.test', 'server1.source.test has moved'],
      ])
    },
  )
  test(
    'import as a separate account (a plus-tagged variant of the address with a tag for the ' + 'source kind).',
    async () => {
      using p = await ready(one, {
        async first(q) {
          await q.admin('POST', '/admin/customers', { name: 'Here before', email: 'owner1@source.test' })
        },
        before: { owners: [{ sourceId: '1', choice: 'separate' }] },
      })
      await start(p)
      await moveAll(p)
      const { ownerId } = runRow<any>(p, 'SELECT owner_id AS ownerId FROM workloads')
      expect((await p.admin('GET', `/customers/${ownerId}`)).email).toBe('owner1+solusvm2@source.test')
    },
  )
})

describe('Point 12', () => {
  test('each server shows progress; a failed server may be retried safely.', async () => {
    using p = await ready(one, { special: { 1: { moving: { startsAtPercent: 40 } } } })
    await start(p)
    await moveAll(p)
    const failed = await move(p, 'server1.source.test')
    expect([failed.state, failed['whereItRuns'], failed['failure'].code]).toEqual([
      'failed',
      'source',
      'source_started',
    ])
    expect(failed['failure'].words).toBe(
      'The source’s own panel started it during the copy. Nothing was lost; the copy was removed.',
    )
    expect(await onNodes(p)).toEqual({ running: 0, vms: 0, volumes: 0 })
    await p.admin('POST', `/admin/migration-servers/${failed.serverId}/actions/retry`, { method: 'plain' })
    await moveAll(p)
    const moved = await move(p, 'server1.source.test')
    expect([moved.state, moved['whereItRuns'], moved['method']]).toEqual(['moved', 'here', 'plain'])
    expect(await onNodes(p)).toEqual({ running: 1, vms: 1, volumes: 1 })
    const progress = await p.admin('GET', `/admin/migrations/${p.id}/progress`)
    expect([progress.servers.moved, progress.servers.failed, progress.secondsLeft]).toEqual([1, 0, 0])
  })
  test(
    "Each server's copy or adoption is a job of kind Import, with a live log of every command run on the source " +
      'hypervisor; each retry is a new job. Discovery, mapping and dry run are not jobs.',
    async () => {
      using p = await ready(one, { special: { 1: { moving: { arrivesDifferent: true } } } })
      const jobs = () => p.db.$client.query('SELECT kind, title FROM jobs ORDER BY rowid').all()
      expect(jobs()).toEqual([])
      await start(p)
      await moveAll(p)
      const { serverId } = await move(p, 'server1.source.test')
      await p.admin('POST', `/admin/migration-servers/${serverId}/actions/retry`, {})
      await moveAll(p)
      const job = { kind: 'import', title: 'Import server1.source.test from kvm-1' }
      expect(jobs()).toEqual([job, job])
      const { jobIds } = await move(p, 'server1.source.test').then((m) => m as any)
      expect(jobIds).toHaveLength(2)
      expect(p.db.$client.query('SELECT count(DISTINCT job_id) AS n FROM job_log').get()).toEqual({ n: 2 })
    },
  )
})

describe('Point 17', () => {
  test('servers moved earlier are skipped with the note Already moved by an earlier import', async () => {
    using p = await ready(one)
    await start(p)
    await moveAll(p)
    const { workloadId } = (await move(p, 'server1.source.test')) as any
    p.other.listed.servers = [server(1), server(2)]
    const id = await begin(p)
    await discovered(p, id)
    const { data } = await p.admin('GET', `/admin/migrations/${id}/servers`)
    const states = Object.fromEntries(data.map((row: any) => [row.sourceId, [row.state, row.reason]]))
    expect(states['1']).toEqual(['already_moved', 'Already moved by an earlier import'])
    expect(states['2'][0]).not.toBe('already_moved')
    // The next import moves the other one, and leaves the first where it is.
    const q = Object.assign(Object.create(p), { id }) as typeof p
    // The account of before belongs to the owner.
    await p.admin('PATCH', `/admin/migrations/${id}/mapping`, { owners: [{ sourceId: '1', choice: 'merge' }] })
    await decide(q, id, p.location)
    await dryRun(q)
    await start(q)
    await moveAll(q)
    expect((await moves(q)).map(({ hostname, state }) => [hostname, state])).toEqual([['server2.source.test', 'moved']])
    expect(p.sources.moving.eventsAt(KVM_1)).toEqual(['stop v1', 'stop v2'])
    expect(await onNodes(p)).toEqual({ running: 2, vms: 2, volumes: 2 })
    const { data: after } = await p.admin('GET', `/admin/migrations/${id}/servers?state=already_moved`)
    expect(after.map((row: any) => row.workloadId)).toEqual([workloadId])
  })
})

test('A start, a pause and a stop are refused where nothing of it can be done, and change nothing', async () => {
  using p = await ready(one)
  const path = `/admin/migrations/${p.id}/actions`
  for (const action of ['pause', 'continue', 'stop-after'])
    expect(await refused(p, 'POST', `${path}/${action}`)).toEqual([409, 'import_not_migrating'])
  expect(await refused(p, 'PATCH', `/admin/migrations/${p.id}/limits`, { perNode: 3 })).toEqual([
    409,
    'import_not_migrating',
  ])
  await start(p)
  expect(await refused(p, 'POST', `${path}/start`)).toEqual([409, 'import_started'])
})
