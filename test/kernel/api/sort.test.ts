// Lists that can be sorted: each by everything that it declares, from the first page to the last and back.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Operation, queryOf } from '../../../src/kernel/api/operation.ts'
import { operations } from '../../every/toy-feature/every-feature.ts'
import { type Everything, everything } from '../../support/world/everything.ts'

let p: Everything
beforeAll(async () => {
  p = await everything()
})
afterAll(() => p.close())

const ordersOf = (op: Operation) => (queryOf(op)['sort'] as { enum?: string[] } | undefined)?.enum ?? []
const sorted = operations.filter((op) => op.pages && ordersOf(op).length > 0 && !op.path.includes('{'))
const askerOf = (op: Operation) => (op.access !== 'anyone' && op.access.staff ? p.owner : p.people.reseller)

async function walk(op: Operation, sort: string, limit: number) {
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const page = await p.call(askerOf(op), 'GET', `${op.path}?limit=${limit}&sort=${sort}${cursor}`)
    expect([op.id, sort, page.status]).toEqual([op.id, sort, 200])
    ids.push(...page.body.data.map((row: any) => row.id))
    if (page.body.nextCursor === null) return ids
    cursor = `&cursor=${page.body.nextCursor}`
  }
}

test('the lists that people sort can be sorted', () =>
  expect(sorted.map((op) => op.id).toSorted()).toEqual([
    'customers.list',
    'events.list',
    'gpu-images.list',
    'gpu-instances.list',
    'gpu-instances.list-all',
    'gpu-offers.list',
    'jobs.list',
    'nodes.list',
    'packages.list',
    'pools.list',
    'reseller.customers',
    'resellers.list',
    'servers.list',
    'servers.list-all',
  ]))

for (const op of sorted)
  test(`${op.id} has every row once, in whichever order and whatever the limit, and backwards in reverse`, async () => {
    const all = (await p.call(askerOf(op), 'GET', `${op.path}?limit=200`)).body.data.map((row: any) => row.id)
    for (const sort of ordersOf(op)) {
      const whole = await walk(op, sort, 200)
      expect(whole.toSorted()).toEqual(all.toSorted())
      expect([sort, await walk(op, sort, 1)]).toEqual([sort, whole])
      expect(await walk(op, sort.startsWith('-') ? sort.slice(1) : `-${sort}`, 2)).toEqual(whole.toReversed())
    }
  })

test('servers by name are in the order of their names, in capitals or not', async () => {
  for (const name of ['beta', 'Alpha', 'gamma'])
    await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: name.toLowerCase(), name })
  const names = async (sort: string) =>
    (await p.call(p.owner, 'GET', `/admin/servers?sort=${sort}`)).body.data.map((s: any) => s.name)
  const inOrder = await names('name')
  expect(inOrder).toEqual(inOrder.toSorted((a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)))
  expect(inOrder.indexOf('Alpha')).toBeLessThan(inOrder.indexOf('beta'))
})

test('a sort that is not declared is refused, and no text of it reaches a statement', async () => {
  for (const sort of ['', 'email', '--name', 'name,id', 'name; DROP TABLE servers', 'constructor', '__proto__'])
    expect([sort, (await p.call(p.owner, 'GET', `/admin/servers?sort=${encodeURIComponent(sort)}`)).status]).toEqual([
      sort,
      400,
    ])
})

test('a cursor of one order is refused in another', async () => {
  const { nextCursor } = (await p.call(p.owner, 'GET', '/admin/servers?limit=1&sort=name')).body
  for (const sort of ['', '&sort=-name', '&sort=owner'])
    expect((await p.call(p.owner, 'GET', `/admin/servers?limit=1&cursor=${nextCursor}${sort}`)).status).toBe(400)
})
