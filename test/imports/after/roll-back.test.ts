// Rolling a server back: it runs at its source again, nothing of it is here, and it never ran at both.
import { describe, expect, test } from 'bun:test'
import { events } from '../../../src/kernel/jobs/tables.ts'
import { KVM_1 } from '../dry-run/world.ts'
import { refused } from '../world.ts'
import { at, checkTurn, type Moved, moved } from './world.ts'

const HOSTNAME = 'server1.source.test'
const rollBack = (p: Moved) => p.admin('POST', at(p, 'actions/roll-back'), { hostname: HOSTNAME })
/** Everything of it, here and at its source. */
async function whereabouts(p: Moved, way: 'copy' | 'adopt' = 'copy'): Promise<Record<string, unknown>> {
  const { host } = p.node.agent
  const at = way === 'adopt' ? null : { address: KVM_1, port: 22, hostKey: null }
  const { server } = await p.sources.moving.find({ host: at, domain: 'v1' })
  const [move] = p.db.$client.query('SELECT state, where_it_runs FROM import_moves').all() as any[]
  return {
    here: await host.hypervisor.power(p.workloadId),
    there: server.state,
    volumes: (await host.storage.list()).length,
    rules: host.state.portRules().length,
    status: p.server(p.workloadId).lifecycle,
    held: (p.db.$client.query('SELECT count(*) AS n FROM workloads WHERE released_at IS NULL').get() as any).n,
    move: `${move.state}, runs ${move.where_it_runs}`,
  }
}
const back = {
  ...{ here: 'absent', there: 'running', volumes: 0, rules: 0, status: 'terminated', held: 0 },
  move: 'rolled_back, runs source',
}
const stayed = {
  ...{ here: 'running', there: 'off', volumes: 1, rules: 1, status: 'active', held: 1 },
  move: 'moved, runs here',
}
const stateOf = async (p: Moved) => (await p.admin('GET', `/admin/migration-servers/${p.serverId}`)).state

describe('Roll back', () => {
  test('Roll back removes the copy and starts the original again.', async () => {
    using p = await moved()
    expect(await whereabouts(p)).toEqual(stayed)
    const { jobId } = await rollBack(p)
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ kind: 'import_roll_back', state: 'succeeded' })
    expect(await whereabouts(p)).toEqual(back)
    expect(p.sources.moving.eventsAt(KVM_1)).toEqual(['stop v1', 'start v1'])
    expect(await stateOf(p)).toBe('rolled_back')
  })

  test(
    'the import stores each domain definition before shutdown and re-creates it running after a failed copy or ' +
      'rollback',
    async () => {
      using p = await moved({ servers: { v1: { isPersistent: false } } })
      expect((await whereabouts(p)).there).toBe('absent')
      await rollBack(p)
      await p.settle()
      expect((await whereabouts(p)).there).toBe('running')
      expect(p.sources.moving.eventsAt(KVM_1)).toEqual(['stop v1', 'create v1'])
    },
  )

  test('The original definition is restored: an adopted server goes back with its own disk', async () => {
    using p = await moved({ way: 'adopt', servers: {} })
    expect((await whereabouts(p, 'adopt')).here).toBe('running')
    const { jobId } = await rollBack(p)
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ errorCode: null, state: 'succeeded' })
    expect(await whereabouts(p, 'adopt')).toEqual(back)
  })

  test('Rolling a server back returns its new addresses to the pool.', async () => {
    using p = await moved()
    const address = (await p.admin('GET', `/servers/${p.workloadId}`)).ipv4
    const free = () =>
      p.db.$client.query('SELECT workload_id, reserved_for FROM addresses WHERE address = ?').get(address)
    expect(free()).toMatchObject({ workload_id: p.workloadId })
    const cost = await p.admin('GET', at(p, 'roll-back'))
    expect(cost.oldAddresses).toEqual(['198.51.100.11'])
    await rollBack(p)
    await p.settle()
    expect(free()).toEqual({ workload_id: null, reserved_for: null })
  })

  test('an address that came over is not given to somebody else while its source uses it again', async () => {
    using p = await moved()
    const address = (await p.admin('GET', `/servers/${p.workloadId}`)).ipv4
    p.db.$client.run('UPDATE import_addresses SET address = ? WHERE server_id = ?', [address, p.serverId])
    await rollBack(p)
    await p.settle()
    expect(
      p.db.$client.query('SELECT workload_id, reserved_for FROM addresses WHERE address = ?').get(address),
    ).toEqual({ workload_id: null, reserved_for: expect.stringContaining(`${HOSTNAME} is at its source`) })
  })

  test('billing is told that it ended, and that an import did it', async () => {
    using p = await moved()
    await rollBack(p)
    await p.settle()
    const told = p.db
      .select()
      .from(events)
      .all()
      .filter(({ type }) => type === 'server.terminated')
    expect(told.map(({ data }) => data)).toMatchObject([
      { imported: true, server: { id: p.workloadId }, releasedAddresses: [expect.any(String)] },
    ])
  })

  test('what it costs is said first, and nothing is changed by asking', async () => {
    using p = await moved()
    p.turnClock(2 * 3600_000)
    const before = p.fingerprint()
    const cost = await p.admin('GET', at(p, 'roll-back'))
    expect(cost).toMatchObject({
      ...{ hostname: HOSTNAME, isPossible: true, reason: null, way: 'copy', starts: true, backups: 0, node: 'fra-01' },
      ...{ hypervisor: 'kvm-1', backupsKeptDays: 7, bytesWritten: null, oldAddresses: ['198.51.100.11'] },
      returnedAddresses: [expect.any(String)],
    })
    expect(Math.abs(p.now() - Date.parse(cost.since) - 2 * 3600_000)).toBeLessThan(1000)
    expect(p.fingerprint()).toBe(before)
  })

  test('only the typed name lets it begin', async () => {
    using p = await moved()
    const path = at(p, 'actions/roll-back')
    expect(await refused(p, 'POST', path, { hostname: 'server2.source.test' })).toEqual([422, 'validation_failed'])
    expect(await whereabouts(p)).toEqual(stayed)
  })

  test('weeks later it is possible still, and after the import is finished it is not', async () => {
    using p = await moved({ sourceIds: ['1', '2'] })
    p.turnClock(40 * 86_400_000)
    await rollBack(p)
    await p.settle()
    expect(await stateOf(p)).toBe('rolled_back')
    await p.admin('POST', `/admin/migrations/${p.id}/actions/finish`, { confirm: true })
    const other = p.made[1]!.serverId
    const before = p.fingerprint(['audit'])
    const late = p.admin('POST', at(p, 'actions/roll-back', other), { hostname: 'server2.source.test' })
    expect(late).rejects.toThrow('import_ended')
    await late.catch(() => {})
    expect(p.fingerprint(['audit'])).toBe(before)
  })

  test('a server that its source does not start runs here again, as before', async () => {
    using p = await moved({ servers: { v1: { moving: { doesNotStart: true } } } })
    const { jobId } = await rollBack(p)
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ state: 'failed' })
    expect(await whereabouts(p)).toEqual(stayed)
    const { lines } = await p.admin('GET', `/admin/migrations/${p.id}/log`)
    expect(lines.at(-1)).toMatchObject({ level: 'error', text: expect.stringContaining('and runs here') })
    expect(await stateOf(p)).toBe('moved')
  })

  test('one that was off at its source is off there again', async () => {
    using p = await moved({ wasRunning: false })
    await rollBack(p)
    await p.settle()
    expect(await whereabouts(p)).toEqual({ ...back, there: 'off' })
  })

  test('one that was terminated here by mistake starts at its source again', async () => {
    using p = await moved()
    await p.admin('DELETE', `/servers/${p.workloadId}?immediately=true`)
    await p.settle()
    expect(await whereabouts(p)).toMatchObject({ volumes: 0, held: 0, there: 'off' })
    await rollBack(p)
    await p.settle()
    expect(await whereabouts(p)).toEqual(back)
    expect(p.events().filter((type) => type === 'server.terminated')).toHaveLength(1)
  })

  test('in its undelete window too, and nobody brings it back here afterwards', async () => {
    using p = await moved()
    await p.admin('DELETE', `/servers/${p.workloadId}`)
    await p.settle()
    await rollBack(p)
    await p.settle()
    expect(await whereabouts(p)).toEqual(back)
    expect((await p.call(p.owner, 'POST', `/servers/${p.workloadId}/actions/undelete`)).status).toBeGreaterThan(399)
  })

  test('an adopted server that was installed anew has not its original disk any more, and runs on', async () => {
    using p = await moved({ way: 'adopt', servers: {} })
    await p.admin('POST', `/servers/${p.workloadId}/actions/reinstall`, {
      imageId: p.order.imageId,
      access: p.order.access,
    })
    await p.settle()
    const { jobId } = await rollBack(p)
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ state: 'failed', errorCode: 'volume_differs' })
    expect(await whereabouts(p, 'adopt')).toEqual({ ...stayed, there: 'absent' })
  })

  test('an adopted server with snapshots, or whose disk is deleted, is refused with the reason', async () => {
    using p = await moved({ way: 'adopt', servers: {} })
    await p.admin('POST', `/servers/${p.workloadId}/snapshots`, { name: 'before' })
    await p.settle()
    const path = at(p, 'actions/roll-back')
    expect(await refused(p, 'POST', path, { hostname: HOSTNAME })).toEqual([409, 'roll_back_not_possible'])
    expect((await p.admin('GET', at(p, 'roll-back'))).reason).toContain('has snapshots now')
    await p.admin('DELETE', `/servers/${p.workloadId}?immediately=true`)
    await p.settle()
    expect((await p.admin('GET', at(p, 'roll-back'))).reason).toContain('is deleted')
    expect(await refused(p, 'POST', path, { hostname: HOSTNAME })).toEqual([409, 'roll_back_not_possible'])
  })

  test('a server at which another job works is refused, and is not moved twice', async () => {
    using p = await moved()
    await rollBack(p)
    const again = await p.call(p.owner, 'POST', at(p, 'actions/roll-back'), { hostname: HOSTNAME })
    expect([again.status, again.body.error.code]).toEqual([409, 'import_server_not_moved'])
    await p.settle()
    expect(await refused(p, 'POST', at(p, 'actions/roll-back'), { hostname: HOSTNAME })).toEqual([
      ...[409, 'import_server_not_moved'],
    ])
  })

  test('a job that is cancelled before it starts at its source leaves it here', async () => {
    using p = await moved()
    p.agents.get(p.server(p.workloadId).nodeId)!.disconnect()
    const { jobId } = await rollBack(p)
    await p.admin('POST', `/jobs/${jobId}/actions/cancel`)
    p.agents.get(p.server(p.workloadId).nodeId)!.connect()
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ state: 'failed', errorCode: 'cancelled' })
    expect(await whereabouts(p)).toEqual(stayed)
  })

  test('a server that went back is not checked any more, and another import may take it', async () => {
    using p = await moved()
    await checkTurn(p)
    await rollBack(p)
    await p.settle()
    await checkTurn(p)
    expect(await p.admin('GET', `/admin/migrations/${p.id}/verification`)).toMatchObject({ moved: 0, rolledBack: 1 })
    expect(p.db.$client.query('SELECT checks, check_at FROM import_moves').get()).toEqual({
      checks: null,
      check_at: null,
    })
  })
})
