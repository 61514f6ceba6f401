import { expect, test } from 'bun:test'
import { presets } from '../../../src/identity/tokens/presets.ts'
import type { Scope } from '../../../src/kernel/api/access.ts'
import { shop } from '../../identity/resellers/shop.ts'
import { world } from '../../support/world/panel.ts'

test('a billing system learns whose its token is, and that it may do everything it needs', async () => {
  using p = await world()
  const { status, body } = await p.call(p.token(p.owner.id, presets.billing), 'GET', '/billing/connection')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    product: 'Berth',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    account: { id: p.owner.id, name: 'Ada', kind: 'staff' },
    calledWith: { name: 'test', expiresAt: null },
    preset: 'billing',
    missingScopes: [],
  })
})

test('it learns which scopes its token lacks', async () => {
  using p = await world()
  const some = presets.billing.filter((scope) => scope !== 'servers:resize' && scope !== 'customers:write')
  const { body } = await p.call(p.token(p.owner.id, some), 'GET', '/billing/connection')
  expect(body.missingScopes.toSorted()).toEqual(['customers:write', 'servers:resize'])
  const none = await p.call(p.token(p.owner.id, ['audit:read'] as Scope[]), 'GET', '/billing/connection')
  expect([none.status, none.body.error.code]).toEqual([403, 'missing_scope'])
})

test("a reseller's token is compared with the preset of resellers", async () => {
  using p = await shop()
  const { body } = await p.call(p.token(p.rita.id, presets['reseller-billing']), 'GET', '/billing/connection')
  expect(body).toMatchObject({ account: { kind: 'reseller' }, preset: 'reseller-billing', missingScopes: [] })
})
