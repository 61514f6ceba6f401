// The reports of usage: who sees which lines, whatever became of the servers since.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { write } from '../../../src/kernel/db/open.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
type Caller = { id: string; token?: string }
// Tokens, since a session would not live as long.
let [staff, customer, reseller, hers, other] = [
  { id: '' },
  { id: '' },
  { id: '' },
  { id: '' },
  { id: '' },
] as Caller[] as [Caller, Caller, Caller, Caller, Caller]
/** In `p`, it is 2027-01-15T08:00Z when the world begins. */
const day = 86_400_000
let [own, ofReseller, moved] = ['', '', '']
beforeAll(async () => {
  p = await world()
  const withToken = ({ id }: { id: string }) => ({ id, ...p.token(id) })
  staff = withToken(p.owner)
  customer = withToken(p.customer)
  reseller = withToken(p.account('reseller', 'Rita'))
  hers = withToken(p.account('customer', 'Hera', reseller.id))
  other = withToken(p.account('customer', 'Otto'))
  await p.admin('PATCH', `/resellers/${reseller.id}`, { packageIds: [p.pack], locationIds: [p.location] })
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { billingProductId: 'shop:1' })
  const order = async (hostname: string, ownerId: string) => {
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname, ownerId })
    await p.settle()
    return serverId as string
  }
  own = await order('own', p.customer.id)
  ofReseller = await order('of-reseller', hers.id)
  moved = await order('moved', p.customer.id)
  p.turnClock(2 * day)
  write(p.db, ({ $client }) => void $client.run('UPDATE workloads SET owner_id = ? WHERE id = ?', [other.id, moved]))
  await p.admin('POST', `/servers/${own}/actions/suspend`, { reason: 'overdue' })
  await p.settle()
  p.turnClock(day)
  await p.admin('DELETE', `/servers/${own}`)
  await p.settle()
  // The report of January is read in February.
  p.turnClock(30 * day)
})
afterAll(() => p.close())

const report = async (who: object, path = '/reports/usage?month=2027-01') => (await p.call(who, 'GET', path)).body
const lineOf = async (who: object, id: string) => (await report(who)).data.find((l: any) => l.serverId === id)

describe('the report of a month', () => {
  test('has a line for each server and owner, terminated servers included', async () => {
    const { data, total, nextCursor } = await report(staff)
    expect([data.length, total, nextCursor]).toEqual([4, 4, null])
    const line = await lineOf(staff, own)
    expect(line).toMatchObject({
      hostname: 'own',
      owner: { id: customer.id, name: 'Cal' },
      package: { id: p.pack, name: 'KVM 2G', billingProductId: 'shop:1' },
    })
    expect(line.days).toBeCloseTo(3, 2)
    expect(line.secondsByState.suspended).toBeCloseTo(day / 1000, 0)
    const sum = Object.values<number>(line.secondsByState).reduce((a, b) => a + b)
    expect(Math.round(sum * 1000)).toBe(Math.round(line.seconds * 1000))
  })
  test('divides a server between its owners, to the millisecond', async () => {
    const lines = (await report(staff)).data.filter((l: any) => l.serverId === moved)
    const [mine, theirs] = [customer.id, other.id].map((id) => lines.find((l: any) => l.owner.id === id))
    expect(mine.days).toBeCloseTo(2, 2)
    expect(mine.to).toBe(theirs.from)
    expect(theirs.to).toBe('2027-02-01T00:00:00.000Z')
    const all = Date.parse(theirs.to) - Date.parse(mine.from)
    expect(Math.round((mine.seconds + theirs.seconds) * 1000)).toBe(all)
  })
  test('shows everybody what was theirs at the time, and nothing else', async () => {
    const ids = async (who: object) => (await report(who)).data.map((l: any) => l.serverId).toSorted()
    expect(await ids(customer)).toEqual([own, moved].toSorted())
    expect(await ids(other)).toEqual([moved])
    expect(await ids(hers)).toEqual([ofReseller])
    expect(await ids(reseller)).toEqual([ofReseller])
    expect(await ids(p.staff(['reports.read']))).toHaveLength(4)
    expect(await p.call(p.staff(['nodes.read']), 'GET', '/reports/usage')).toMatchObject({ status: 403 })
    // A filter opens nothing.
    expect((await report(other, `/reports/usage?month=2027-01&ownerId=${hers.id}`)).data).toEqual([])
  })
  test('of a token is for billing with customers:read, and for nobody without', async () => {
    const read = p.token(staff.id, ['customers:read'])
    expect((await report(read)).total).toBe(4)
    expect(await p.call(p.token(staff.id, ['servers:read']), 'GET', '/reports/usage')).toMatchObject({
      status: 403,
      body: { error: { code: 'missing_scope' } },
    })
  })
  test('is empty for a month without servers, and refuses what is no month', async () => {
    for (const month of ['2026-12', '2031-01'])
      expect(await report(staff, `/reports/usage?month=${month}`)).toMatchObject({ data: [], total: 0 })
    for (const month of ['2027-13', '2027', '', '2027-1', 'x'])
      expect(await p.call(staff, 'GET', `/reports/usage?month=${month}`)).toMatchObject({ status: 400 })
  })
  test('comes in pages that add up to the whole', async () => {
    const found = []
    let cursor = ''
    do {
      const page = await report(staff, `/reports/usage?month=2027-01&limit=1${cursor && `&cursor=${cursor}`}`)
      found.push(...page.data)
      cursor = page.nextCursor
    } while (cursor)
    expect(found).toEqual((await report(staff)).data)
  })
})

test('the accounts of a month add up to the lines, by package', async () => {
  const lines = (await report(staff)).data
  const { data, total } = await report(staff, '/reports/usage/accounts?month=2027-01')
  expect(total).toBe(3)
  for (const { account, servers, seconds, packages } of data) {
    const theirs = lines.filter((l: any) => l.owner.id === account.id)
    expect(servers).toBe(theirs.length)
    const sum = (list: any[]) => Math.round(list.reduce((ms, one) => ms + one.seconds * 1000, 0))
    expect(Math.round(seconds * 1000)).toBe(sum(theirs))
    expect(Math.round(seconds * 1000)).toBe(sum(packages))
  }
  expect((await report(reseller, '/reports/usage/accounts?month=2027-01')).data).toMatchObject([
    { account: { id: hers.id }, servers: 1, packages: [{ id: p.pack, servers: 1 }] },
  ])
})

test('the spreadsheet has one line for each line of the report, in the same words', async () => {
  const { status, body, headers } = await p.call(staff, 'GET', '/reports/usage.csv?month=2027-01')
  expect([status, headers.get('Content-Type')]).toEqual([200, 'text/csv; charset=utf-8'])
  const [head, ...lines] = body.trim().split('\n')
  expect(head).toStartWith('"serverId","hostname","ownerId"')
  expect(lines).toHaveLength(4)
  const line = await lineOf(staff, own)
  expect(lines.find((text: string) => text.includes(own))).toContain(`"${line.days}","${line.seconds}"`)
})

describe('the usage of one server', () => {
  const usage = (who: object, id: string, query = '') => p.call(who, 'GET', `/servers/${id}/usage${query}`)
  const january = '?from=2027-01-01&to=2027-02-01'
  test('lists every interval, and they add up to the line of the report', async () => {
    const { body } = await usage(staff, own, january)
    expect(body.intervals.map((i: any) => i.state)).toEqual(['provisioning', 'active', 'suspended'])
    const sum = body.intervals.reduce((ms: number, i: any) => ms + i.seconds * 1000, 0)
    const line = await lineOf(staff, own)
    expect(Math.round(sum)).toBe(Math.round(line.seconds * 1000))
    expect(body).toMatchObject({ allocatedSeconds: line.seconds, secondsByState: line.secondsByState })
  })
  test('lists its intervals to every owner for the time in which it was theirs, also terminated', async () => {
    const path = `/reports/usage/intervals?month=2027-01&serverId=`
    const intervals = async (who: object, id: string) => (await report(who, path + id)).data
    expect(await intervals(customer, own)).toEqual((await usage(staff, own, january)).body.intervals.toReversed())
    const mine = await intervals(customer, moved)
    expect(mine.map((i: any) => i.owner.id)).toEqual([customer.id, customer.id])
    expect(await intervals(hers, moved)).toEqual([])
    expect(await intervals(staff, moved)).toHaveLength(3)
  })
  test('adds up for its owners', async () => {
    const seconds = (await report(customer)).data.find((l: any) => l.serverId === moved).seconds
    const mine = { allocatedSeconds: seconds }
    const theirs = (await usage(other, moved, january)).body
    const all = (await usage(staff, moved, january)).body
    expect(theirs.intervals.every((i: any) => i.owner.id === other.id)).toBe(true)
    expect(Math.round((mine.allocatedSeconds + theirs.allocatedSeconds) * 1000)).toBe(
      Math.round(all.allocatedSeconds * 1000),
    )
  })
  test('of another account’s server is not found, as one that never was', async () => {
    const hidden = await usage(other, own)
    const absent = await usage(other, own.replace(/.{4}$/, '0000'))
    expect([hidden.status, absent.status]).toEqual([404, 404])
    expect({ ...hidden.body }).toEqual(absent.body)
  })
  test('refuses a period that ends before it begins, and a day that no calendar has', async () => {
    for (const query of ['?from=2027-02-01&to=2027-01-01', '?from=2027-02-31', '?to=tomorrow'])
      expect(await usage(staff, own, query)).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request' } },
      })
  })
})

test('the report of a month stays the same whatever happens to the server and its package later', async () => {
  const before = await report(staff)
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { name: 'Renamed', billingProductId: 'shop:2' })
  await p.admin('POST', `/servers/${moved}/actions/suspend`, { reason: 'overdue' })
  await p.settle()
  p.turnClock(400 * day)
  expect(await report(staff)).toEqual({ ...before })
  expect((await report(staff, '/reports/usage')).data[0].package).toMatchObject({ billingProductId: 'shop:2' })
})
