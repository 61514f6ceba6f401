// A billing system's identifier leads to one living workload of its provider, whatever asks for a second one: a lost
// answer, a second click, activations side by side.
import { describe, expect, test } from 'bun:test'
import { presets } from '../../src/identity/tokens/presets.ts'
import { code, shop } from '../identity/resellers/shop.ts'
import { gpuWorld } from '../support/nodes/instances.ts'
import { type Reply, type Who, type World, world } from '../support/world/panel.ts'

const taken = '409 billing_service_id_taken'
const detailsOf = ({ body }: Reply) => body.error.details
const order = (p: World, hostname: string, more: object = {}, who: Who = p.owner, key?: string) =>
  p.call(
    who,
    'POST',
    '/admin/servers',
    { ...p.order, hostname, billingServiceId: 'whmcs:a:17', ...more },
    key ? { 'Idempotency-Key': key } : {},
  )
const called = (p: World, id: string, billingServiceId: string | null, who: Who = p.owner) =>
  p.call(who, 'PATCH', `/servers/${id}/billing`, { billingServiceId })
const service = async (p: World, id: string, who: Who = p.owner, more = '') => {
  const { billingServiceId: _, ...rest } = (await p.call(who, 'GET', `/billing/service?billingServiceId=${id}${more}`))
    .body
  return rest
}

describe('a second order for a service', () => {
  test('is refused with the id of the first, also one that is only checked', async () => {
    using p = await world()
    const { serverId } = (await order(p, 'web01')).body
    await p.settle()
    const billing = p.token(p.owner.id, presets.billing)
    const before = p.fingerprint(['audit', 'tokens'])
    const refused = await order(p, 'web02', {}, billing)
    expect([code(refused), detailsOf(refused)]).toEqual([taken, { serverId }])
    const checked = await p.call(billing, 'POST', '/admin/servers?dryRun=true', {
      ...p.order,
      hostname: 'web02',
      billingServiceId: 'whmcs:a:17',
    })
    expect([code(checked), detailsOf(checked)]).toEqual([taken, { serverId }])
    // The same hostname too, and no node: what leads to the first server is said before what an order lacks.
    expect(code(await order(p, 'web01'))).toBe(taken)
    expect(p.fingerprint(['audit', 'tokens'])).toBe(before)
    expect(code(await order(p, 'web02', { billingServiceId: 'whmcs:b:17' }))).toBe('201')
    expect(code(await order(p, 'web03', { billingServiceId: '' }))).toBe('201')
    expect(code(await order(p, 'web04', { billingServiceId: null }))).toBe('201')
  })

  test('names no server to staff who do not see servers', async () => {
    using p = await world()
    await order(p, 'web01')
    const seller = p.staff(['servers.create', 'customers.read'])
    const refused = await order(p, 'web02', {}, seller)
    expect([code(refused), detailsOf(refused)]).toEqual([taken, undefined])
    expect(refused.body.error.message).not.toContain('web01')
  })

  test('of three activations side by side makes one server; a replay has its password', async () => {
    using p = await world()
    const three = await Promise.all([1, 2, 3].map((n) => order(p, `web0${n}`)))
    expect(three.map(code).toSorted()).toEqual(['201', taken, taken])
    const again = await Promise.all(
      [1, 2, 3].map(() => order(p, 'db01', { billingServiceId: 'whmcs:a:18' }, p.owner, 'whmcs:a:18/0')),
    )
    expect(again.map(code)).toEqual(['201', '201', '201'])
    expect(new Set(again.map(({ body }) => `${body.serverId} ${body.rootPassword}`)).size).toBe(1)
    p.turnClock(3600_000)
    const late = await order(p, 'db01', { billingServiceId: 'whmcs:a:18' }, p.token(p.owner.id), 'whmcs:a:18/0')
    expect([late.body.rootPassword, late.body.rootPassword.length > 10]).toEqual([again[0]!.body.rootPassword, true])
    expect(p.db.$client.query('SELECT count(*) AS n FROM servers').get()).toEqual({ n: 2 })
  })
})

test('an identifier is free again when its server is terminated, and a service tells how many it had', async () => {
  using p = await world()
  expect(await service(p, 'whmcs:a:17')).toEqual({ serverId: null, instanceId: null, workloadsEver: 0 })
  const first = (await order(p, 'web01')).body.serverId as string
  await p.settle()
  expect(await service(p, 'whmcs:a:17')).toEqual({ serverId: first, instanceId: null, workloadsEver: 1 })
  await p.admin('DELETE', `/servers/${first}`)
  expect(await service(p, 'whmcs:a:17')).toEqual({ serverId: null, instanceId: null, workloadsEver: 1 })
  const second = (await order(p, 'web01')).body.serverId as string
  expect(await service(p, 'whmcs:a:17')).toEqual({ serverId: second, instanceId: null, workloadsEver: 2 })
  // The number never goes down: a key that was used is not used again.
  p.turnClock(1000)
  await called(p, second, null)
  expect(await service(p, 'whmcs:a:17')).toEqual({ serverId: null, instanceId: null, workloadsEver: 2 })
  const unnamed = await p.call(p.owner, 'GET', '/billing/service')
  expect(code(unnamed)).toBe('400 invalid_request')
})

test('a terminated server is brought back with its identifier, or refused while another has it', async () => {
  using p = await world()
  const first = (await order(p, 'web01')).body.serverId as string
  await p.settle()
  const undelete = () => p.call(p.owner, 'POST', `/servers/${first}/actions/undelete`)
  await p.admin('DELETE', `/servers/${first}`)
  expect(code(await undelete())).toBe('202')
  expect((await p.admin('GET', `/servers/${first}`)).billingServiceId).toBe('whmcs:a:17')
  await p.settle()
  await p.admin('DELETE', `/servers/${first}`)
  const second = (await order(p, 'web02')).body.serverId as string
  await p.settle()
  const before = p.fingerprint(['audit', 'jobs', 'job_log', 'job_steps'])
  const refused = await undelete()
  expect([code(refused), detailsOf(refused)]).toEqual([taken, { serverId: second }])
  expect(p.fingerprint(['audit', 'jobs', 'job_log', 'job_steps'])).toBe(before)
  // The next step that the refusal names: the terminated one gets another identifier.
  expect(code(await called(p, first, 'whmcs:a:17-old'))).toBe('200')
  expect(code(await undelete())).toBe('202')
})

test('a server and a GPU instance of one provider have no identifier together', async () => {
  using p = await gpuWorld()
  const instance = (more: object = {}) =>
    p.call(p.owner, 'POST', '/admin/gpu-instances', { ...p.instanceOrder, billingServiceId: 'whmcs:a:17', ...more })
  const { instanceId } = (await instance()).body
  expect(detailsOf(await order(p, 'web01'))).toEqual({ instanceId })
  const { serverId } = (await order(p, 'web01', { billingServiceId: 'whmcs:a:18' })).body
  expect(detailsOf(await instance({ billingServiceId: 'whmcs:a:18' }))).toEqual({ serverId })
  expect(detailsOf(await called(p, serverId, 'whmcs:a:17'))).toEqual({ instanceId })
  const change = (billingServiceId: string) =>
    p.call(p.owner, 'PATCH', `/gpu-instances/${instanceId}/billing`, { billingServiceId })
  expect(detailsOf(await change('whmcs:a:18'))).toEqual({ serverId })
  expect(code(await change('whmcs:a:17'))).toBe('200')
  expect(await service(p, 'whmcs:a:17')).toEqual({ serverId: null, instanceId, workloadsEver: 1 })
})

describe('every provider has identifiers of its own', () => {
  test("the house and two resellers call theirs alike; a reseller's own server is the house's", async () => {
    using p = await shop()
    const rival = p.account('reseller', 'Ron')
    await p.change({ packageIds: [p.pack], locationIds: [p.location] }, rival.id)
    const his = p.account('customer', 'Cyrus', rival.id)
    const named = { billingServiceId: 'whmcs:a:17' }
    const theirs = await p.buy(named)
    expect(code(theirs)).toBe('201')
    expect(code(await p.buy({ ...named, ownerId: his.id }, rival))).toBe('201')
    const house = await p.sell({ ...named, ownerId: p.customer.id })
    expect(code(house)).toBe('201')
    expect(detailsOf(await p.buy(named))).toEqual({ serverId: theirs.body.serverId })
    expect(detailsOf(await p.sell({ ...named, ownerId: p.rita.id }))).toEqual({ serverId: house.body.serverId })
    const seen = async (who: Who, more = '') => (await service(p, 'whmcs:a:17', who, more)).serverId
    expect(await seen(p.rita)).toBe(theirs.body.serverId)
    expect(await seen(p.rita, `&resellerId=${rival.id}`)).toBe(theirs.body.serverId)
    expect(await seen(p.owner)).toBe(house.body.serverId)
    expect(await seen(p.owner, `&resellerId=${p.rita.id}`)).toBe(theirs.body.serverId)
  })

  test('a server that changes its provider loses its identifier, from a reseller to its customer too', async () => {
    using p = await shop()
    const sold = (await p.sell({ ownerId: p.rita.id, billingServiceId: 'whmcs:a:17' })).body.serverId as string
    await p.buy({ billingServiceId: 'whmcs:a:17' })
    const move = (ownerId: string) => p.call(p.owner, 'POST', `/servers/${sold}/actions/change-owner`, { ownerId })
    expect(code(await move(p.client.id))).toBe('200')
    expect((await p.admin('GET', `/servers/${sold}`)).billingServiceId).toBeNull()
    await called(p, sold, 'whmcs:a:19')
    expect(code(await move(p.account('customer', 'Cleo', p.rita.id).id))).toBe('200')
    expect((await p.admin('GET', `/servers/${sold}`)).billingServiceId).toBe('whmcs:a:19')
  })
})
