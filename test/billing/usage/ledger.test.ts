// The ledger says of every server what it was, from when to when: written with each change, never computed afterwards.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { write } from '../../../src/kernel/db/open.ts'
import { ledgerFaults } from '../../support/ledger.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
beforeAll(async () => {
  p = await world()
})
afterAll(() => p.close())

type Interval = {
  state: string
  since: number
  until: number | null
  ownerId: string
  product: string
  hostname: string
}
const intervals = (id: string) =>
  p.db.$client
    .query<Interval, [string]>(
      `SELECT state, since, until, owner_id AS ownerId, product_name AS product, hostname
       FROM usage_intervals WHERE workload_id = ? ORDER BY since`,
    )
    .all(id)
const states = (id: string) => intervals(id).map(({ state }) => state)
const row = (id: string) =>
  p.db.$client.query<Record<string, any>, [string]>('SELECT * FROM workloads WHERE id = ?').get(id)!

let next = 0
const ordered = async (more: object = {}) => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: `web${++next}`, ...more })
  await p.settle()
  return serverId as string
}

describe('the ledger of usage', () => {
  test('begins with the order, to the millisecond', async () => {
    const id = await ordered()
    expect(states(id)).toEqual(['provisioning', 'active'])
    const [first, second] = intervals(id)
    expect(first!.since).toBe(row(id)['created_at'])
    expect(second!.since).toBe(first!.until!)
    expect(second!.until).toBeNull()
  })
  test('a server that waits for its setup counts as that', async () => {
    const { imageId: _, hostname: __, access: ___, ...rest } = p.order
    const { serverId } = await p.admin('POST', '/admin/servers', rest)
    expect(states(serverId)).toEqual(['pending_setup'])
    await p.admin('DELETE', `/servers/${serverId}`)
    expect(intervals(serverId)).toMatchObject([{ state: 'pending_setup', until: row(serverId)['terminated_at'] }])
  })
  test('a suspension and its end, and the termination, count from the moment that the row says', async () => {
    const id = await ordered()
    p.turnClock(3_600_000)
    await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
    const suspendedAt = row(id)['suspended_at']
    await p.settle()
    p.turnClock(86_400_000)
    await p.admin('POST', `/servers/${id}/actions/unsuspend`)
    await p.settle()
    p.turnClock(1000)
    await p.admin('DELETE', `/servers/${id}`)
    await p.settle()
    expect(states(id)).toEqual(['provisioning', 'active', 'suspended', 'active'])
    const all = intervals(id)
    expect(all[2]!.since).toBe(suspendedAt)
    expect(all[2]!.until! - all[2]!.since).toBeGreaterThanOrEqual(86_400_000)
    expect(all.at(-1)!.until).toBe(row(id)['terminated_at'])
    expect(all.slice(1).map(({ since }) => since)).toEqual(all.slice(0, -1).map(({ until }) => until!))
  })
  test('a rename of the package splits the interval: the time before it keeps the old name', async () => {
    const pack = (await p.admin('POST', '/admin/packages', { name: 'Old', vcpus: 1, memoryMb: 512, diskGb: 5 })).id
    const id = await ordered({ packageId: pack })
    p.turnClock(1000)
    await p.admin('PATCH', `/admin/packages/${pack}`, { name: 'New', billingProductId: 'shop:7' })
    expect(intervals(id).map(({ product }) => product)).toEqual(['Old', 'Old', 'New'])
    await p.admin('PATCH', `/admin/packages/${pack}`, { name: 'New', memoryMb: 1024 })
    expect(intervals(id)).toHaveLength(3)
  })
  test('another owner, package or hostname begins an interval, whatever code writes it', async () => {
    const id = await ordered()
    const other = p.account('customer', 'Otto')
    const pack = (await p.admin('POST', '/admin/packages', { name: 'Big', vcpus: 1, memoryMb: 512, diskGb: 5 })).id
    for (const sql of [
      `UPDATE workloads SET owner_id = '${other.id}' WHERE id = ?`,
      `UPDATE servers SET package_id = '${pack}' WHERE id = ?`,
      `UPDATE workloads SET hostname = 'renamed' WHERE id = ?`,
      `UPDATE workloads SET billing_service_id = 'service-1' WHERE id = ?`,
    ]) {
      p.turnClock(1000)
      write(p.db, (tx) => void tx.$client.query(sql).run(id))
    }
    expect(intervals(id).slice(1)).toMatchObject([
      { ownerId: p.customer.id, product: 'KVM 2G' },
      { ownerId: other.id, product: 'KVM 2G' },
      { ownerId: other.id, product: 'Big' },
      { ownerId: other.id, product: 'Big', hostname: 'renamed' },
      { ownerId: other.id, product: 'Big', hostname: 'renamed' },
    ])
    expect(ledgerFaults(p.db)).toEqual([])
  })
  test('what is billed in no other way begins no interval', async () => {
    const id = await ordered()
    const before = intervals(id)
    await p.admin('PATCH', `/servers/${id}/name`, { name: 'Shop' })
    await p.admin('POST', `/servers/${id}/actions/power`, { action: 'off' })
    await p.settle()
    expect(intervals(id)).toEqual(before)
  })
  test('two changes in one transaction are one, and a change that is taken back is none', async () => {
    const id = await ordered()
    const before = intervals(id)
    write(p.db, ({ $client }) => {
      $client.run(`UPDATE workloads SET hostname = 'x' WHERE id = '${id}'`)
      $client.run(`UPDATE workloads SET hostname = '${before[0]!.hostname}' WHERE id = '${id}'`)
    })
    expect(() =>
      write(p.db, ({ $client }) => {
        $client.run(`UPDATE workloads SET hostname = 'x' WHERE id = '${id}'`)
        throw new Error('taken back')
      }),
    ).toThrow('taken back')
    expect(intervals(id)).toEqual(before)
  })
  test('a host clock that is set back makes no interval of a negative length', async () => {
    const id = await ordered()
    p.setWallClock(-3_600_000)
    await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
    await p.settle()
    p.setWallClock(3_600_000)
    expect(states(id)).toEqual(['provisioning', 'active', 'suspended'])
    for (const { since, until } of intervals(id)) expect(until ?? Infinity).toBeGreaterThan(since)
  })
  test('goes to disk with the change itself: after a crash both are there', async () => {
    const id = await ordered()
    await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
    await p.crash()
    await p.settle()
    expect(states(id)).toEqual(['provisioning', 'active', 'suspended'])
    expect(ledgerFaults(p.db)).toEqual([])
  })
  test('the database refuses an overlap, and any change of a closed interval', async () => {
    const id = await ordered()
    const run = (sql: string) => () => p.db.$client.run(sql)
    const columns = 'workload_id, kind, owner_id, hostname, state, since'
    const values = `'${id}', 'server', '${p.customer.id}', 'x', 'active'`
    const { since } = intervals(id)[0]!
    expect(run(`INSERT INTO usage_intervals (${columns}) VALUES (${values}, ${since})`)).toThrow('overlap')
    expect(run(`UPDATE usage_intervals SET owner_id = 'x' WHERE until IS NOT NULL`)).toThrow('never changes')
    expect(run('DELETE FROM usage_intervals WHERE until IS NOT NULL')).toThrow('never deleted')
  })
  test('a server that comes back after its termination begins anew, and the time between is nobody’s', async () => {
    const id = await ordered()
    await p.admin('DELETE', `/servers/${id}`)
    await p.settle()
    const { terminated_at: terminatedAt } = row(id)
    p.turnClock(60_000)
    write(
      p.db,
      ({ $client }) =>
        void $client.run(`UPDATE workloads SET lifecycle = 'active', terminated_at = NULL WHERE id = '${id}'`),
    )
    const [before, after] = intervals(id).slice(-2)
    expect(before!.until).toBe(terminatedAt)
    expect(after!.since).toBeGreaterThanOrEqual(terminatedAt + 60_000)
  })
})
