// The monthly check of finance: every difference between their list and the servers, and nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gpuWorld, orderInstance } from '../../support/nodes/instances.ts'
import { type World, world } from '../../support/world/panel.ts'

let p: World
const ids: Record<string, string> = {}
beforeAll(async () => {
  p = await world()
  await p.admin('PATCH', `/admin/packages/${p.pack}`, { billingProductId: 'shop:1' })
  await p.admin('PATCH', `/customers/${p.customer.id}`, { externalId: 'client-1' })
  for (const name of ['same', 'suspended', 'product', 'owner', 'forgotten', 'gone']) {
    const order = { ...p.order, hostname: name, billingServiceId: `s-${name}` }
    ids[name] = (await p.admin('POST', '/admin/servers', order)).serverId
    await p.settle()
  }
  await p.admin('POST', `/servers/${ids['suspended']}/actions/suspend`, { reason: 'overdue' })
  await p.admin('DELETE', `/servers/${ids['gone']}`)
  await p.settle()
}, 20_000)
afterAll(() => p.close())

const whole = { ownerExternalId: 'client-1', billingProductId: 'shop:1', state: 'active' }
const list = () => [
  { billingServiceId: 's-same', ...whole },
  { billingServiceId: 's-suspended', ...whole },
  { serverId: ids['product'], ...whole, billingProductId: 'shop:2' },
  { billingServiceId: 's-owner', ...whole, ownerExternalId: 'client-9' },
  { billingServiceId: 's-gone', ...whole },
  { billingServiceId: 's-never', ...whole },
  { billingServiceId: 's-cancelled', ...whole, state: 'terminated' },
  { serverId: ids['same'], state: 'active' },
]
const check = (body: object, who: object = p.owner) => p.call(who, 'POST', '/usage/reconciliation', body)
const kinds = (body: any) => body.differences.map((d: any) => [d.kind, d.line, d.hostname])
const expected = [
  ['other_state', 2, 'suspended'],
  ['other_product', 3, 'product'],
  ['other_owner', 4, 'owner'],
  ['missing_here', 5, null],
  ['missing_here', 6, null],
  ['listed_twice', 8, 'same'],
  ['missing_there', null, 'forgotten'],
]

describe('a reconciliation', () => {
  test('answers every difference, with both values and in words', async () => {
    const { status, body } = await check({ services: list() })
    expect([status, body.listed, body.servers]).toEqual([200, 8, 5])
    expect(kinds(body)).toEqual(expected)
    const [state, product, owner, gone, never] = body.differences
    expect([state.there, state.here]).toEqual(['active', 'suspended'])
    expect([product.there, product.here]).toEqual(['shop:2', 'shop:1'])
    expect(owner.words).toBe('The owner of owner is client-9 in the list and client-1 here.')
    expect(gone.words).toContain('was terminated here at 20')
    expect(never.words).toBe('s-never is in the list and there is no such server or GPU instance here.')
  })
  test('takes the same list as CSV, whatever its separator', async () => {
    for (const separator of [',', ';', '\t']) {
      const columns = ['serverId', 'billingServiceId', 'ownerExternalId', 'billingProductId', 'state']
      const rows = list().map((one: any) => columns.map((column) => one[column] ?? '').join(separator))
      const { body } = await check({ csv: [columns.join(separator), ...rows].join('\r\n') })
      expect(kinds(body)).toEqual(expected)
    }
  })
  test('finds nothing where both are the same, and compares only what the list says', async () => {
    const names = ['same', 'suspended', 'product', 'owner', 'forgotten']
    const services = names.map((name) => ({ billingServiceId: `s-${name}` }))
    expect((await check({ services })).body).toEqual({ listed: 5, servers: 5, instances: 0, differences: [] })
  })
  test('of a reseller is about its own and its customers’ servers', async () => {
    const reseller = p.account('reseller', 'Rita')
    expect((await check({ services: [] }, reseller)).body).toEqual({
      listed: 0,
      servers: 0,
      instances: 0,
      differences: [],
    })
    const { body } = await check({ services: [{ billingServiceId: 's-gone' }] }, reseller)
    expect(body.differences[0].words).toBe('s-gone is in the list and there is no such server or GPU instance here.')
  })
  test('changes nothing', async () => {
    const before = p.fingerprint(['audit', 'sessions'])
    await check({ services: list() })
    expect(p.fingerprint(['audit', 'sessions'])).toBe(before)
  })
  test('takes 20,000 lines as CSV in one call, and more values than another call', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `service-${i},shop:1,active`)
    const csv = `billingServiceId,billingProductId,state\n${lines.join('\n')}`
    const { status, body } = await check({ csv })
    expect([status, body.listed, body.differences.length]).toEqual([200, 20_000, 20_005])
    const services = Array.from({ length: 6000 }, (_, i) => ({ billingServiceId: `s${i}`, state: 'active' }))
    expect((await check({ services })).body.listed).toBe(6000)
  })
  test('refuses what is no list', async () => {
    for (const body of [
      {},
      { services: [], csv: '' },
      { services: [{ state: 'active' }] },
      { services: [{ billingServiceId: 'x', state: 'paid' }] },
      { csv: 'billingServiceId,colour\na,red' },
      { csv: 'billingServiceId,state\na,paid' },
      { csv: 'billingServiceId,state\na' },
      { csv: ' \n' },
    ])
      expect(await check(body)).toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
    expect((await check({ services: [] }, p.customer)).status).toBe(403)
  })
})

test('GPU instances are compared as servers are, by their offers, identifiers and suspension', async () => {
  using p = await gpuWorld({ cards: 4, offer: { billingProductId: 'shop:80' } })
  const check = async (services: object[]) =>
    (await p.call(p.owner, 'POST', '/usage/reconciliation', { services })).body as {
      instances: number
      servers: number
      differences: { kind: string; instanceId: string | null; serverId: string | null; words: string }[]
    }
  const same = await orderInstance(p, { billingServiceId: 'g-same', name: 'same' })
  const suspended = await orderInstance(p, { billingServiceId: 'g-suspended' })
  const forgotten = await orderInstance(p)
  const gone = await orderInstance(p, { billingServiceId: 'g-gone' })
  await p.admin('POST', `/admin/gpu-instances/${suspended}/suspend`, { reason: 'overdue' })
  await p.admin('DELETE', `/admin/gpu-instances/${gone}`)
  await p.settle()

  const whole = { billingProductId: 'shop:80', state: 'active' }
  const found = await check([
    { billingServiceId: 'g-same', ...whole },
    { billingServiceId: 'g-suspended', ...whole },
    { billingServiceId: 'g-gone', ...whole },
    { instanceId: same, billingProductId: 'shop:81' },
  ])
  expect(found).toMatchObject({ servers: 0, instances: 3 })
  expect(found.differences.map(({ kind, instanceId }) => [kind, instanceId])).toEqual([
    ['other_state', suspended],
    ['missing_here', null],
    ['listed_twice', same],
    ['other_product', same],
    ['missing_there', forgotten],
  ])
  expect(found.differences.every(({ serverId }) => serverId === null)).toBe(true)
  expect(found.differences[1]!.words).toStartWith('g-gone is in the list and was terminated here at 20')
  expect(await check([{ instanceId: same }, { instanceId: suspended }, { instanceId: forgotten }])).toMatchObject({
    differences: [],
  })
})
