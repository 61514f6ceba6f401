// Two billing systems number their services alike: what a reseller names never counts as a service of the house.
import { expect, test } from 'bun:test'
import { presets } from '../../../src/identity/tokens/presets.ts'
import { gpuWorld, orderInstance } from '../../support/nodes/instances.ts'
import { receiver } from '../../support/services/receiver.ts'
import { code, shop } from './shop.ts'

test("S51: a reseller's identifier leads the billing system of the house to nothing", async () => {
  using p = await shop()
  const billing = p.token(p.owner.id, presets.billing)
  const { body: theirs } = await p.buy({ billingServiceId: 'whmcs:17' })
  const found = async (query: string, who: object = billing) =>
    (await p.call(who, 'GET', `/admin/servers?${query}`)).body.data.map((s: { id: string }) => s.id)
  expect(await found('billingServiceId=whmcs:17')).toEqual([])
  expect(await found(`billingServiceId=whmcs:17&resellerId=${p.rita.id}`)).toEqual([theirs.serverId])
  const own = await p.call(p.rita, 'GET', '/servers?billingServiceId=whmcs:17')
  expect(own.body.data.map((s: { id: string }) => s.id)).toEqual([theirs.serverId])
  const list = { services: [{ billingServiceId: 'whmcs:17', state: 'active' }] }
  const { differences } = (await p.call(billing, 'POST', '/usage/reconciliation', list)).body
  expect(differences).toContainEqual(
    expect.objectContaining({ kind: 'missing_here', billingServiceId: 'whmcs:17', serverId: null }),
  )
  const ours = await p.admin('POST', '/admin/servers', {
    ...p.bare,
    ownerId: p.customer.id,
    billingServiceId: 'whmcs:17',
  })
  expect(await found('billingServiceId=whmcs:17')).toEqual([ours.serverId])
})

test("S51: events of a GPU instance carry a reseller's identifier to the reseller alone", async () => {
  using p = await gpuWorld()
  const rita = p.account('reseller', 'Rita')
  const clara = p.account('customer', 'Clara', rita.id)
  await p.admin('PATCH', `/resellers/${rita.id}`, { locationIds: [p.location] })
  const id = await orderInstance(p, { ownerId: clara.id, billingServiceId: 'whmcs:17' })
  const seen = async (who: object) =>
    (await p.call(who, 'GET', '/events?type=gpu_instance.created')).body.data.map(
      ({ data }: { data: { gpuInstance: object } }) => data.gpuInstance,
    )
  expect(await seen(p.owner)).toMatchObject([{ id, billingServiceId: null }])
  expect(await seen(rita)).toMatchObject([{ id, billingServiceId: 'whmcs:17' }])
})

test('S51: a reseller names no service for a server of its own, which the house bills', async () => {
  using p = await shop()
  const { body } = await p.buy({ ownerId: p.rita.id })
  const before = p.fingerprint()
  expect(code(await p.buy({ ownerId: p.rita.id, billingServiceId: 'whmcs:18' }))).toBe('422 validation_failed')
  const change = (given: string | null) =>
    p.call(p.rita, 'PATCH', `/servers/${body.serverId}/billing`, { billingServiceId: given })
  expect(code(await change('whmcs:18'))).toBe('422 validation_failed')
  expect(p.fingerprint()).toBe(before)
  expect((await p.admin('PATCH', `/servers/${body.serverId}/billing`, { billingServiceId: 'whmcs:18' })).id).toBe(
    body.serverId,
  )
})

test("S51: events carry a reseller's identifier to the reseller alone", async () => {
  const at = await receiver()
  using p = await shop()
  Object.assign(p.controller.app.webhookTransport, at.transport)
  for (const who of [p.owner, p.rita])
    await p.call(who, 'POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['server.created'] })
  await p.buy({ billingServiceId: 'whmcs:17' })
  await p.controller.deliveries.settle()
  expect(at.received.map(({ body }) => JSON.parse(body).data.server.billingServiceId).toSorted()).toEqual([
    null,
    'whmcs:17',
  ])
  const seen = async (who: object) =>
    (await p.call(who, 'GET', '/events?type=server.created')).body.data[0].data.server.billingServiceId
  expect([await seen(p.owner), await seen(p.rita)]).toEqual([null, 'whmcs:17'])
})
