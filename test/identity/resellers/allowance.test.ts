// The allowance: resources that a customer bought beside its packages, as billing reports them.
import { expect, test } from 'bun:test'
import { world } from '../../support/world/panel.ts'
import { code, shop } from './shop.ts'

test("an allowance is set whole, shows with the customer, and is nobody else's to set", async () => {
  using p = await world()
  const path = `/customers/${p.customer.id}/allowance`
  const of = async () => (await p.call(p.owner, 'GET', `/customers/${p.customer.id}`)).body.allowance
  const none = { vcpus: 0, memoryMb: 0, diskGb: 0, trafficGb: 0, ipv4: 0 }
  expect(await of()).toEqual(none)
  expect((await p.call(p.owner, 'PUT', path, { vcpus: 2, ipv4: 1 })).body).toEqual({ ...none, vcpus: 2, ipv4: 1 })
  expect(await of()).toEqual({ ...none, vcpus: 2, ipv4: 1 })
  await p.call(p.owner, 'PUT', path, { diskGb: 40 })
  expect(await of()).toEqual({ ...none, diskGb: 40 })
  const eve = p.account('reseller', 'Eve')
  const before = p.fingerprint()
  for (const body of [{ vcpus: -1 }, { vcpus: 1.5 }, { memoryMb: 1e12 }, { gpus: 1 }])
    expect((await p.call(p.owner, 'PUT', path, body)).status).toBe(422)
  expect((await p.call(p.customer, 'PUT', path, { vcpus: 9 })).status).toBe(403)
  expect((await p.call(eve, 'PUT', path, { vcpus: 9 })).status).toBe(404)
  expect(p.fingerprint()).toBe(before)
  expect(await of()).toEqual({ ...none, diskGb: 40 })
})

test('grows for nobody of a suspended reseller, and may shrink', async () => {
  using p = await shop()
  const path = `/customers/${p.client.id}/allowance`
  await p.call(p.rita, 'PUT', path, { vcpus: 4, diskGb: 40 })
  await p.admin('POST', `/resellers/${p.rita.id}/actions/suspend`, { reason: 'unpaid' })
  const before = p.fingerprint()
  for (const who of [p.rita, p.owner])
    expect(code(await p.call(who, 'PUT', path, { vcpus: 1, diskGb: 41 }))).toBe('409 reseller_suspended')
  expect(p.fingerprint()).toBe(before)
  expect(code(await p.call(p.rita, 'PUT', path, { vcpus: 1, diskGb: 40 }))).toBe('200')
})
