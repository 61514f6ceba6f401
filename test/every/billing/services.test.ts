// A billing system's identifier is of one living workload of a provider: over every operation that sets one.
import { describe, expect, test } from 'bun:test'
import { callerOf, everyId, everything, exampleOf, targetsOf } from '../../support/world/everything.ts'
import { operations } from '../toy-feature/every-feature.ts'

const setting = operations.filter(
  ({ body }) => body && Object.hasOwn((body as { properties?: object }).properties ?? {}, 'billingServiceId'),
)

describe('an operation that sets a billingServiceId', () => {
  test('is an order or a change', () =>
    expect(setting.map((op) => op.id)).toEqual(
      expect.arrayContaining(['servers.create', 'reseller.create-server', 'servers.set-billing-service']),
    ))

  for (const op of setting)
    test(`${op.id}: refuses one that another workload of the provider has`, async () => {
      using p = await everything()
      const [ids, taken] = [everyId(p), 'whmcs:a:17']
      const who = p.people[callerOf(op)]
      const resold = callerOf(op) === 'reseller'
      const [owner, provider] = resold ? [p.resold, p.people.reseller.id] : [p.customer, null]
      const { serverId: holder } = await p.admin('POST', '/admin/servers', {
        ...p.order,
        hostname: 'taken01',
        ownerId: owner.id,
        billingServiceId: taken,
      })
      const target = targetsOf(p, op, ids).find((id) => {
        const row = p.db.$client
          .query<{ resellerId: string | null }, [string]>(
            'SELECT reseller_id AS resellerId FROM workloads WHERE id = ? AND terminated_at IS NULL',
          )
          .get(id)
        return row?.resellerId === provider
      })
      await p.settle()
      const before = p.fingerprint(['audit'])
      const path = op.path.replace('{id}', target ?? '')
      const refused = await p.call(who, op.method, path, { ...exampleOf(p, op, ids), billingServiceId: taken })
      expect([refused.status, refused.body.error?.code]).toEqual([409, 'billing_service_id_taken'])
      expect(refused.body.error.details).toEqual({ serverId: holder })
      expect(p.fingerprint(['audit'])).toBe(before)
    })
})
