// A billing system asks before it makes its new client here: a refused order leaves no customer without a server.
import { describe, expect, test } from 'bun:test'
import { presets } from '../../src/identity/tokens/presets.ts'
import { code, shop } from '../identity/resellers/shop.ts'
import { gpuWorld } from '../support/nodes/instances.ts'
import { world } from '../support/world/panel.ts'

describe('a dry run for a customer who is still to be made', () => {
  test('is answered as a real order, and leaves neither customer nor mail', async () => {
    using p = await world()
    const billing = p.token(p.owner.id, presets.billing)
    const order = { ...p.order, ownerId: null }
    const before = p.fingerprint(['tokens'])
    const check = (more: object = {}) =>
      p.call(billing, 'POST', '/admin/servers?dryRun=true', { ...order, billingServiceId: 'whmcs:a:17', ...more })
    const accepted = await check()
    expect([code(accepted), accepted.body.serverId, accepted.body.ipv4]).toEqual(['200', null, '203.0.113.10'])
    expect(code(await check({ packageId: 'pkg_none' }))).toBe('422 validation_failed')
    expect(p.fingerprint(['tokens'])).toBe(before)
    await p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: false })
    expect(code(await check())).toBe('409 location_closed')
    const real = await p.call(billing, 'POST', '/admin/servers', order)
    expect([code(real), real.body.error.details.fields]).toEqual([
      '422 validation_failed',
      [{ field: 'ownerId', message: 'may be null only with dryRun=true. Name the customer.' }],
    ])
  })

  test("counts the reseller's quota of customers", async () => {
    using p = await shop({ customers: 2 })
    const bare = { ...p.bare, ownerId: null }
    const check = () => p.call(p.rita, 'POST', '/reseller/servers?dryRun=true', bare)
    expect(code(await check())).toBe('200')
    await p.join()
    expect(code(await check())).toBe('409 quota_exceeded')
  })

  test('is possible for a GPU instance too', async () => {
    using p = await gpuWorld()
    const order = { ...p.instanceOrder, ownerId: null }
    const before = p.fingerprint()
    expect(code(await p.call(p.owner, 'POST', '/admin/gpu-instances?dryRun=true', order))).toBe('200')
    expect(p.fingerprint()).toBe(before)
    expect(code(await p.call(p.owner, 'POST', '/admin/gpu-instances', order))).toBe('422 validation_failed')
  })
})

test('a name and a mail address that change in the billing system reach the customer by its token', async () => {
  using p = await world()
  const billing = p.token(p.owner.id, presets.billing)
  const made = await p.call(billing, 'POST', '/admin/customers', {
    name: 'Ada',
    email: 'ada@example.com',
    externalId: 'whmcs:a:4711',
  })
  const found = await p.call(billing, 'GET', '/admin/customers?externalId=whmcs:a:4711')
  expect(found.body.data.map(({ id }: { id: string }) => id)).toEqual([made.body.id])
  const changed = await p.call(billing, 'PATCH', `/customers/${made.body.id}`, {
    name: 'Ada Lovelace',
    email: 'ada.lovelace@example.com',
  })
  expect([changed.status, changed.body.name, changed.body.email]).toEqual([
    200,
    'Ada Lovelace',
    'ada.lovelace@example.com',
  ])
  const other = await p.call(billing, 'POST', '/admin/customers', { name: 'Bo', email: 'bo@example.com' })
  const taken = await p.call(billing, 'PATCH', `/customers/${other.body.id}`, { email: 'ada.lovelace@example.com' })
  expect(code(taken)).toBe('409 email_taken')
})
