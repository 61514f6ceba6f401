// Lists of servers are put together from records that were rendered before, and one server is answered from them too.
// Both say the same as a record that is rendered anew, whatever changes in the database, in memory or in the reader.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openDb, write } from '../../../src/kernel/db/open.ts'
import { RenderedRows } from '../../../src/kernel/db/rendered.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { panel, type Who, type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

let p: World
let id: string
beforeAll(async () => {
  p = await world()
  id = (await p.admin('POST', '/admin/servers', p.order)).serverId
  await p.settle()
  // While the node is away, the job of the suspension stays open.
  p.node.agent.disconnect()
  await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'overdue' })
  p.db.$client.run('PRAGMA foreign_keys = OFF')
  p.db.$client.run('PRAGMA ignore_check_constraints = ON')
})
afterAll(() => p.close())

const recordOf = async (who: Who) => (await p.call(who, 'GET', `/servers/${id}`)).body
/** The record without what was rendered before, which stays as it was. */
const anew = async (who: Who) => {
  const kept = p.controller.app.renderedRows
  p.controller.app.renderedRows = new RenderedRows(10)
  const record = await recordOf(who)
  p.controller.app.renderedRows = kept
  return record
}
const listed = async (who: Who, path = '/servers') =>
  (await p.call(who, 'GET', path)).body.data.find((one: any) => one.id === id)

/** Columns that say something else in the row, and what it is. */
const other = (value: unknown, column: string): unknown => {
  if (column === 'lifecycle') return 'failed'
  if (column === 'state') return 'succeeded'
  if (column === 'power') return 'running'
  if (column === 'os') return 'windows'
  if (column === 'restart_policy') return 'never'
  if (column.startsWith('suspend')) return value === null ? (column.endsWith('_at') ? 1 : 'x') : null
  if (column === 'lost_at' || column === 'purge_at') return value === null ? 1 : null
  return typeof value === 'number' ? value + 1000 : value === null ? null : `${value}x`
}
/** Rows on which the record of the server depends. References are left alone: a row without its counterpart is none. */
const rows: Record<string, string> = {
  workloads: 'id = $id',
  servers: 'id = $id',
  server_guests: 'server_id = $id',
  addresses: 'workload_id = $id',
  jobs: "holds = $id AND state IN ('queued', 'running', 'undoing')",
  accounts: 'id = (SELECT owner_id FROM workloads WHERE id = $id)',
  nodes: 'id = (SELECT node_id FROM workloads WHERE id = $id)',
  locations: 'id = (SELECT location_id FROM workloads WHERE id = $id)',
  packages: 'id = (SELECT package_id FROM servers WHERE id = $id)',
  images: 'id = (SELECT image_id FROM servers WHERE id = $id)',
  pools: 'id IN (SELECT pool_id FROM addresses WHERE workload_id = $id)',
}
/** Columns that the gate, the sign-in or the runner needs as they are, none of which a record shows. */
const leftAlone = /^(id|.*_id|kind|holds|pending_seed|facts|preferences|allowance|input|public_key)$/

describe('a change of any column that a record shows is seen in the list and in the record at once', () => {
  let seen = 0
  for (const [table, where] of Object.entries(rows))
    test(table, async () => {
      const { $client } = p.db
      const found = $client.query<Record<string, any>, any>(`SELECT rowid AS at, * FROM ${table} WHERE ${where}`)
      const all = found.all({ id } as any)
      expect(all).not.toEqual([])
      for (const { at, ...row } of all)
        for (const [column, value] of Object.entries(row)) {
          if (leftAlone.test(column) || (table === 'workloads' && column === 'version')) continue
          const before = await listed(p.owner)
          $client.run(`UPDATE ${table} SET "${column}" = ? WHERE rowid = ?`, [other(value, column) as any, at])
          const [now, record] = [await listed(p.owner), await recordOf(p.owner)]
          expect([column, now]).toEqual([column, await anew(p.owner)])
          expect([column, record]).toEqual([column, now])
          if (!Bun.deepEquals(before, now)) seen++
          $client.run(`UPDATE ${table} SET "${column}" = ? WHERE rowid = ?`, [value, at])
          expect([column, await listed(p.owner)]).toEqual([column, before])
        }
    })
  test('and a good many of them show', () => expect(seen).toBeGreaterThan(20))

  test('a node that comes and goes', async () => {
    expect((await listed(p.owner)).nodeConnected).toBe(false)
    p.node.agent.connect()
    expect((await listed(p.owner)).nodeConnected).toBe(true)
    expect((await listed(p.owner)).nodeSeenAt).toBeNull()
    p.node.agent.disconnect()
    expect((await listed(p.owner)).nodeConnected).toBe(false)
    const { nodeSeenAt } = await listed(p.owner)
    expect(Math.abs(Date.parse(nodeSeenAt) - p.now())).toBeLessThan(60_000)
    p.node.agent.connect()
    p.turnClock(600_000)
    p.node.agent.disconnect()
    await eventually(async () => (await listed(p.owner)).nodeSeenAt > nodeSeenAt)
    expect(Date.parse((await listed(p.owner)).nodeSeenAt)).toBeGreaterThan(Date.parse(nodeSeenAt))
  })
  test('an address that is taken and given back', async () => {
    const { $client } = p.db
    const free = $client
      .query<any, any>('SELECT id FROM addresses WHERE workload_id IS NULL AND reserved_for IS NULL')
      .get()
    const before = await listed(p.owner)
    $client.run('UPDATE addresses SET workload_id = ? WHERE id = ?', [id, free.id])
    expect((await listed(p.owner)).addresses.length).toBe(before.addresses.length + 1)
    $client.run('UPDATE addresses SET workload_id = NULL WHERE id = ?', [free.id])
    expect(await listed(p.owner)).toEqual(before)
  })
})

test('everybody finds in the list what they find in the record, whoever asked before', async () => {
  const [viewer, operator] = [p.account('customer', 'Vi'), p.account('customer', 'Op')]
  await share(p, p.customer, viewer, 'view')
  await share(p, p.customer, operator, 'operate')
  const clerk = p.staff(['servers.see_all'])
  const everybody = [p.owner, p.customer, clerk, viewer, operator, p.token(p.customer.id, ['servers:read'])]
  const found = []
  for (const who of [...everybody, ...everybody.toReversed()]) {
    found.push(await listed(who))
    expect(found.at(-1)).toEqual(await anew(who))
    expect(await recordOf(who)).toEqual(found.at(-1))
  }
  expect(new Set(found.map((one) => JSON.stringify(one))).size).toBeGreaterThan(4)
})

test('the total of the whole list is the number of its servers, whatever becomes of them', async () => {
  using other = await world()
  const totals = async () => {
    const { total, data } = (await other.call(other.owner, 'GET', '/admin/servers')).body
    expect(total).toBe(data.length)
    return total
  }
  expect(await totals()).toBe(0)
  const ids = []
  for (const hostname of ['a', 'b', 'c'])
    ids.push((await other.admin('POST', '/admin/servers', { ...other.order, hostname })).serverId)
  expect(await totals()).toBe(3)
  await other.settle()
  await other.admin('DELETE', `/servers/${ids[1]}`)
  await other.settle()
  expect(await totals()).toBe(2)
  const { $client } = other.db
  $client.run('UPDATE workloads SET terminated_at = 1, lifecycle = ? WHERE id = ?', ['terminated', ids[0]])
  expect(await totals()).toBe(1)
  $client.run('UPDATE workloads SET terminated_at = NULL, lifecycle = ? WHERE id = ?', ['active', ids[0]])
  expect(await totals()).toBe(2)
  $client.run('PRAGMA foreign_keys = OFF')
  $client.run('DELETE FROM servers WHERE id = ?', [ids[0]])
  $client.run('DELETE FROM workloads WHERE id = ?', [ids[0]])
  expect(await totals()).toBe(1)
})

test('a company pages through all of its servers, each once and as its record says', async () => {
  const company = await panel({ seeded: { servers: 120, customers: 7, nodes: 3, tokens: 1, freeAddresses: 5 } })
  const owner = company.staff()
  const seen: any[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await company.call(owner, 'GET', `/admin/servers?limit=50${cursor && `&cursor=${cursor}`}`)
    expect(body.total).toBe(120)
    seen.push(...body.data)
    cursor = body.nextCursor
  }
  expect(seen.map(({ id }) => id)).toEqual(company.seeded!.servers.toSorted().reverse())
  for (const one of seen.filter((_, i) => i % 17 === 0))
    expect(one).toEqual((await company.call(owner, 'GET', `/servers/${one.id}`)).body)
  company.close()
})

describe('rendered rows', () => {
  const db = openDb(':memory:')
  afterAll(() => db.$client.close())
  test('are rendered once for each version and kind of reader', () => {
    const rendered = new RenderedRows(10)
    let made = 0
    const text = (id: string, version: number, reader = 'staff') =>
      rendered.row(db, id, version, () => 0).json(reader, () => ({ n: ++made })).text
    expect([text('a', 1), text('a', 1), text('b', 1), text('a', 2), text('a', 2)]).toEqual(
      [1, 1, 2, 3, 3].map((n) => `{"n":${n}}`),
    )
    expect([text('a', 2, 'owner'), text('a', 2), text('a', 2, 'owner')]).toEqual([4, 3, 4].map((n) => `{"n":${n}}`))
  })
  test('read the facts that decide once for each version', () => {
    const rendered = new RenderedRows(10)
    const nodeOf = (version: number, node: string) => rendered.row(db, 'a', version, () => ({ node })).facts.node
    expect([nodeOf(1, 'first'), nodeOf(1, 'other'), nodeOf(2, 'second')]).toEqual(['first', 'first', 'second'])
  })
  test('of one row are a few at most, however many kinds of readers there are', () => {
    const row = new RenderedRows(10).row(db, 'a', 1, () => 0)
    const made: string[] = []
    const read = (reader: string) => row.json(reader, () => made.push(reader))
    for (let n = 0; n < 21; n++) read(`reader ${n}`)
    read('reader 20')
    expect(made).toHaveLength(21)
    read('reader 0')
    expect(made).toHaveLength(22)
  })
  test('are as many as are allowed; the one used longest ago goes first', () => {
    const rendered = new RenderedRows(2)
    const made: string[] = []
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) rendered.row(db, key, 1, () => made.push(key))
    expect(made).toEqual(['a', 'b', 'c', 'b'])
  })
  test('are put together to a page once, until its keys or the total are others', () => {
    const rendered = new RenderedRows(500)
    let put = 0
    const page = (name: string, keys: string, total = 2) =>
      rendered.page(db, name, { keys, total }, () => ({ put: ++put })).put
    expect(page('p', 'a1 b1')).toBe(1)
    expect(page('p', 'a1 b1')).toBe(1)
    expect(page('other', 'a1 b1')).toBe(2)
    expect(page('p', 'a1')).toBe(3)
    expect(page('p', 'a1 b2')).toBe(4)
    expect(page('p', 'a1 b2', 3)).toBe(5)
    expect(page('p', 'a1 b2', 3)).toBe(5)
    // The one used longest ago goes first.
    for (let n = 0; n < 199; n++) page(`page ${n}`, 'a1')
    expect(page('p', 'a1 b2', 3)).toBe(5)
    expect(page('page 0', 'a1')).toBe(6)
    page('one more', 'a1')
    const before = put
    expect(page('page 1', 'a1')).toBe(before + 1)
  })
  test('are not kept from a transaction, which may be rolled back', () => {
    const rendered = new RenderedRows(10)
    const text = (value: string) => rendered.row(db, 'a', 1, () => 0).json('staff', () => value).text
    write(db, () => void text('of the transaction'))
    expect(text('of the row')).toBe('"of the row"')
    const page = (of: string) => rendered.page(db, 'p', { keys: 'a1', total: 1 }, () => ({ of })).of
    write(db, () => void page('the transaction'))
    expect(page('the rows')).toBe('the rows')
  })
})
