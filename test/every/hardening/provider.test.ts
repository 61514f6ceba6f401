// A customer of a reseller is the reseller's: no answer to it and no event for it names the reseller's account, by its
// id or by its e-mail address.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accountById } from '../../../src/identity/account-records/queries.ts'
import { mayCall } from '../../../src/kernel/api/operation.ts'
import { actorOf, type Everything, everyId, everything } from '../../support/world/everything.ts'
import type { Who } from '../../support/world/panel.ts'
import { operations } from '../toy-feature/every-feature.ts'

let p: Everything
let customer: { id: string } & Who
let names: readonly string[]
let ids: readonly string[]
beforeAll(async () => {
  p = await everything()
  customer = p.resold
  const { id, email } = accountById(p.db, p.people.reseller.id)!
  names = [id, email!]
  // Events of the customer, and what the reseller did with its things.
  const webhook = { url: 'https://hooks.example.com/resold', events: ['*'] }
  await p.call(customer, 'POST', '/webhooks', webhook)
  const { data } = (await p.call(customer, 'GET', '/servers')).body
  for (const { id: server } of data) await p.call(p.people.reseller, 'PATCH', `/servers/${server}`, { name: 'Renamed' })
  for (const { id: server } of data.slice(0, 1)) await p.call(p.people.reseller, 'DELETE', `/servers/${server}`)
  await p.settle()
  ids = everyId(p)
  // Everything of this customer, which is not among the first rows of every table.
  ids = [...new Set([...ids, ...data.map((one: { id: string }) => one.id)])]
}, 60_000)
afterAll(() => p.close())

const reads = operations.filter(
  (op) => op.method === 'GET' && op.access !== 'anyone' && op.access.customer && !op.localOnly,
)
describe('no answer to a customer of a reseller names the reseller:', () => {
  for (const op of reads)
    test(op.id, async () => {
      const actor = actorOf(p, 'customer', customer.id)
      if (!mayCall(op, actor)) return
      const targets = op.on ? ids.filter((id) => op.on!.find(p.db, actor, id) !== undefined) : ['x']
      for (const target of targets) {
        const { status, body } = await p.call(customer, 'GET', op.path.replace(/\{\w+\}/, target))
        const text = typeof body === 'string' ? body : JSON.stringify(body)
        for (const name of names) expect([target, status, text.includes(name)]).toEqual([target, status, false])
      }
    })
})

test('no event that is delivered to a customer of a reseller names the reseller', () => {
  const rows = p.db.$client
    .query<{ text: string }, [string]>(`SELECT e.type || ' ' || e.data AS text FROM events e WHERE e.customer_id = ?`)
    .all(customer.id)
  expect(rows.length).toBeGreaterThan(2)
  for (const { text } of rows)
    for (const name of names) expect([text.split(' ')[0], text.includes(name)]).toEqual([text.split(' ')[0], false])
})
