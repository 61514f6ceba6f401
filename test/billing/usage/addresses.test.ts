// The usage of extra and floating addresses through everything that gives and takes them.
import { describe, expect, test } from 'bun:test'
import { migrations } from '../../../migrations/index.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { addressLedgerFaults } from '../../support/ledger.ts'
import { type World, world } from '../../support/world/panel.ts'

const hour = 3_600_000
type Line = Record<string, any>
/** In a world it is 2027-01-15T08:00Z when it begins. */
const report = async (p: World, who: { id: string } = p.owner, query = ''): Promise<Line[]> =>
  // With a token, since a session would not live as long.
  (await p.call({ ...who, ...p.token(who.id) }, 'GET', `/reports/usage/addresses?month=2027-01${query}`)).body.data
/** Hours, of which the calls themselves take no noticeable part. */
const hoursOf = (lines: readonly Line[]) => lines.map(({ seconds }) => Math.round(seconds / 36) / 100)
const order = async (p: World, hostname: string, more: object = {}): Promise<string> => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, ...more })
  await p.settle()
  return serverId
}
const addTo = async (p: World, serverId: string): Promise<{ id: string; address: string }> => {
  const { address } = await p.admin('POST', `/servers/${serverId}/ips`, { version: 4 })
  await p.settle()
  return address
}
const take = async (p: World, serverId: string, addressId: string) => {
  await p.admin('DELETE', `/servers/${serverId}/ips/${addressId}`)
  await p.settle()
}
const reserve = (p: World) => p.admin('POST', `/customers/${p.customer.id}/floating-ips`, { locationId: p.location })
const mustFit = (p: World) => expect(addressLedgerFaults(p.db)).toEqual([])

describe('an extra address', () => {
  test('counts from the call that adds it until it is free again; the primary one is no line', async () => {
    using p = await world()
    const id = await order(p, 'web01', { billingServiceId: 'whmcs:7' })
    expect(await report(p)).toEqual([])
    p.turnClock(hour)
    const { id: addressId, address } = await addTo(p, id)
    mustFit(p)
    p.turnClock(2 * hour)
    await take(p, id, addressId)
    mustFit(p)
    p.turnClock(5 * hour)
    const lines = await report(p)
    expect(hoursOf(lines)).toEqual([2])
    expect(lines[0]).toMatchObject({
      addressId,
      address,
      version: 4,
      kind: 'extra',
      floatingIpId: null,
      owner: { id: p.customer.id },
      serverId: id,
      billingServiceId: 'whmcs:7',
    })
    const { from, to, seconds, days } = lines[0]!
    expect(seconds).toBe((Date.parse(to) - Date.parse(from)) / 1000)
    expect(days).toBeCloseTo(seconds / 86_400, 3)
  })

  test('that goes to the next server is a line of each', async () => {
    using p = await world()
    const [a, b] = [await order(p, 'web01'), await order(p, 'web02')]
    const first = await addTo(p, a)
    p.turnClock(hour)
    await take(p, a, first.id)
    p.turnClock(hour)
    expect((await addTo(p, b)).id).toBe(first.id)
    p.turnClock(3 * hour)
    const lines = (await report(p)).map((line) => [line['serverId'], ...hoursOf([line])])
    expect(new Map(lines as [string, number][])).toEqual(
      new Map([
        [a, 1],
        [b, 3],
      ]),
    )
    mustFit(p)
  })

  test("is nobody's usage from the termination on, and counts anew when its server comes back", async () => {
    using p = await world()
    const id = await order(p, 'web01')
    await addTo(p, id)
    p.turnClock(hour)
    await p.admin('DELETE', `/servers/${id}`)
    await p.settle()
    mustFit(p)
    p.turnClock(4 * hour)
    expect(hoursOf(await report(p))).toEqual([1])
    await p.admin('POST', `/servers/${id}/actions/undelete`)
    await p.settle()
    mustFit(p)
    p.turnClock(2 * hour)
    expect(hoursOf(await report(p))).toEqual([3])
    await p.admin('DELETE', `/servers/${id}?immediately=true`)
    await p.settle()
    p.turnClock(9 * hour)
    expect(hoursOf(await report(p))).toEqual([3])
    mustFit(p)
  })

  test('is a line of each owner, and each sees its own', async () => {
    using p = await world()
    const [rita, otto] = [p.account('reseller', 'Rita'), p.account('customer', 'Otto')]
    const hera = p.account('customer', 'Hera', rita.id)
    const id = await order(p, 'web01')
    await addTo(p, id)
    p.turnClock(hour)
    write(
      p.db,
      ({ $client }) =>
        void $client.run('UPDATE workloads SET owner_id = ?, reseller_id = ? WHERE id = ?', [hera.id, rita.id, id]),
    )
    mustFit(p)
    p.turnClock(2 * hour)
    const seen = async (who: { id: string }) => (await report(p, who)).map((l) => [l['owner'].name, ...hoursOf([l])])
    expect((await seen(p.owner)).toSorted()).toEqual([
      ['Cal', 1],
      ['Hera', 2],
    ])
    expect(await seen(p.customer)).toEqual([['Cal', 1]])
    expect(await seen(hera)).toEqual([['Hera', 2]])
    expect(await seen(rita)).toEqual([['Hera', 2]])
    expect(await seen(otto)).toEqual([])
    expect((await report(p, hera))[0]!['resellerId']).toBeNull()
    expect((await report(p, p.owner, `&resellerId=${rita.id}`)).map((l) => l['resellerId'])).toEqual([rita.id])
    expect((await report(p, p.owner, `&ownerId=${p.customer.id}`)).length).toBe(1)
  })
})

describe('a floating address', () => {
  test('counts from its reservation to its release, whether it points to a server or not', async () => {
    using p = await world()
    const id = await order(p, 'web01', { billingServiceId: 'whmcs:8' })
    const { id: fip, address } = await reserve(p)
    mustFit(p)
    p.turnClock(hour)
    const act = async (what: string, body?: object) => {
      await p.admin('POST', `/floating-ips/${fip}/actions/${what}`, body)
      await p.settle()
      mustFit(p)
    }
    await act('assign', { serverId: id })
    p.turnClock(hour)
    const [line, ...others] = await report(p)
    expect(others).toEqual([])
    expect(line).toMatchObject({
      address,
      kind: 'floating',
      floatingIpId: fip,
      serverId: id,
      billingServiceId: 'whmcs:8',
    })
    await act('unassign')
    p.turnClock(hour)
    await p.admin('DELETE', `/floating-ips/${fip}`)
    mustFit(p)
    p.turnClock(7 * hour)
    const lines = await report(p)
    expect(hoursOf(lines)).toEqual([3])
    expect(lines[0]).toMatchObject({ floatingIpId: fip, serverId: null, billingServiceId: null })
  })

  test("stays its owner's when the server ends to which it points", async () => {
    using p = await world()
    const id = await order(p, 'web01')
    const { id: fip } = await reserve(p)
    await p.admin('POST', `/floating-ips/${fip}/actions/assign`, { serverId: id })
    await p.settle()
    p.turnClock(hour)
    await p.admin('DELETE', `/servers/${id}?immediately=true`)
    await p.settle()
    mustFit(p)
    p.turnClock(hour)
    const lines = await report(p)
    expect([hoursOf(lines), lines[0]!['serverId']]).toEqual([[2], null])
  })
})

test('the report has pages, a spreadsheet with the same lines, and nothing in a month to come', async () => {
  using p = await world()
  const id = await order(p, 'web01')
  const addresses = [(await addTo(p, id)).address, (await addTo(p, id)).address, (await reserve(p)).address].toSorted()
  p.turnClock(hour)
  const staff = { ...p.owner, ...p.token(p.owner.id) }
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = `/reports/usage/addresses?limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    const { body } = await p.call(staff, 'GET', path)
    expect([body.total, body.data.length]).toEqual([3, 1])
    seen.push(body.data[0].address)
    cursor = body.nextCursor
  }
  expect(seen.toSorted()).toEqual(addresses)
  const { status, body: csv } = await p.call(staff, 'GET', '/reports/usage/addresses.csv')
  expect(status).toBe(200)
  const [, ...rows] = (csv as string).trim().split(/\r?\n/)
  expect(rows.map((row) => /203\.0\.113\.\d+/.exec(row)?.[0]).toSorted()).toEqual(addresses)
  expect((await p.call(staff, 'GET', '/reports/usage/addresses?month=2027-02')).body.data).toEqual([])
})

test('the line names the service by its last identifier', async () => {
  using p = await world()
  const id = await order(p, 'web01', { billingServiceId: 'whmcs:1' })
  await addTo(p, id)
  p.turnClock(hour)
  await p.admin('PATCH', `/servers/${id}/billing`, { billingServiceId: 'whmcs:2' })
  mustFit(p)
  p.turnClock(hour)
  const lines = await report(p)
  expect([hoursOf(lines), lines[0]!['billingServiceId']]).toEqual([[2], 'whmcs:2'])
})

test('the database refuses an overlap, and any change of a closed interval', async () => {
  using p = await world()
  const id = await order(p, 'web01')
  const { id: addressId } = await addTo(p, id)
  p.turnClock(hour)
  await take(p, id, addressId)
  const run = (sql: string) => () => write(p.db, ({ $client }) => void $client.run(sql))
  expect(run('UPDATE address_intervals SET until = until + 1')).toThrow('a closed interval of an address never changes')
  const columns = `address_id, address, prefix_length, version, kind, holder_id, workload_id, owner_id`
  expect(
    run(`INSERT INTO address_intervals (${columns}, since) SELECT ${columns}, until - 1 FROM address_intervals`),
  ).toThrow('intervals of an address must not overlap')
  mustFit(p)
})

test('in an older database extra addresses count from the migration on, floating ones from the beginning', async () => {
  using p = await world()
  await addTo(p, await order(p, 'web01'))
  await reserve(p)
  p.turnClock(2 * hour)
  const { sql } = migrations.find(({ name }) => name === '0068_address_usage')!
  write(p.db, ({ $client }) => {
    const made = [...sql.matchAll(/^CREATE (TABLE|TRIGGER|VIEW) (\w+)/gm)].toReversed()
    for (const [, type, name] of made) $client.run(`DROP ${type} IF EXISTS ${name}`)
    // 0085 has moved the identifier of the billing system to the workload.
    const moved = sql
      .replaceAll('coalesce(s.billing_service_id, g.billing_service_id)', 'w.billing_service_id')
      .replaceAll(/CREATE TRIGGER address_due_(server|gpu_instance) .*?END;\n/gs, '')
    $client.run(moved)
  })
  mustFit(p)
  p.turnClock(hour)
  expect((await report(p)).map((l) => `${l['kind']} ${hoursOf([l])}`).toSorted()).toEqual(['extra 1', 'floating 3'])
})
