// A server that changes its owner: the new one has it as it was, and nobody of before keeps anything of it.
import { describe, expect, test } from 'bun:test'
import { ledgerFaults } from '../../../support/ledger.ts'
import { type Who, type World, world } from '../../../support/world/panel.ts'
import { share } from '../../../support/world/team.ts'

async function sold() {
  const p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const nora = p.account('customer', 'Nora')
  return Object.assign(p, { serverId: serverId as string, nora })
}
const change = (p: World & { serverId: string }, ownerId: string, who: Who = p.owner) =>
  p.call(who, 'POST', `/servers/${p.serverId}/actions/change-owner`, { ownerId })
const reads = async (p: World & { serverId: string }, who: Who) =>
  (await p.call(who, 'GET', `/servers/${p.serverId}`)).status

test('the new owner has it with its addresses; the former one and the team have it no more', async () => {
  using p = await sold()
  const mate = p.account('customer', 'Mia')
  await share(p, p.customer, mate, 'manage')
  const before = await p.admin('GET', `/servers/${p.serverId}`)
  expect((await change(p, p.nora.id)).status).toBe(200)
  expect([await reads(p, p.nora), await reads(p, p.customer), await reads(p, mate)]).toEqual([200, 404, 404])
  const after = await p.admin('GET', `/servers/${p.serverId}`)
  expect(after).toMatchObject({ status: 'running', ipv4: before.ipv4, hostname: before.hostname })
  expect(after.owner.id).toBe(p.nora.id)
})

test('usage splits at that moment, and an event for staff names both', async () => {
  using p = await sold()
  p.turnClock(60_000)
  await change(p, p.nora.id)
  const owners = p.db.$client
    .query('SELECT owner_id AS id, until IS NULL AS open FROM usage_intervals ORDER BY id')
    .all()
  expect(owners.filter((one: any) => one.open)).toEqual([{ id: p.nora.id, open: 1 }])
  expect(owners.some((one: any) => one.id === p.customer.id)).toBe(true)
  expect(ledgerFaults(p.db)).toEqual([])
  const told = p.db.$client
    .query<{ data: string }, []>("SELECT data FROM events WHERE type = 'server.owner_changed'")
    .all()
    .map(({ data }) => JSON.parse(data))
  expect(told.map((data) => [data.customer.id, data.previousOwner.id])).toEqual([[p.nora.id, p.customer.id]])
  const notices = p.db.$client.query('SELECT account_id AS id, kind FROM notices ORDER BY kind').all()
  expect(notices).toContainEqual({ id: p.customer.id, kind: 'server_left' })
  expect(notices).toContainEqual({ id: p.nora.id, kind: 'server_received' })
})

test('to the customer of a reseller it counts in the quota, and its billing identifier ends', async () => {
  using p = await sold()
  const rita = p.account('reseller', 'Rita')
  const clara = p.account('customer', 'Clara', rita.id)
  await p.admin('PATCH', `/servers/${p.serverId}/billing`, { billingServiceId: 'whmcs:1' })
  await p.admin('PATCH', `/resellers/${rita.id}`, { quotas: { servers: 0 } })
  expect((await change(p, clara.id)).body.error.code).toBe('quota_exceeded')
  await p.admin('PATCH', `/resellers/${rita.id}`, { quotas: { servers: 1 } })
  expect((await change(p, clara.id)).status).toBe(200)
  expect(await reads(p, rita)).toBe(200)
  expect((await p.admin('GET', `/servers/${p.serverId}`)).billingServiceId).toBeNull()
  // Within one reseller nothing is taken from its quota again.
  expect((await change(p, p.account('customer', 'Cleo', rita.id).id)).status).toBe(200)
})

describe('is refused, and nothing happens', () => {
  type Sold = Awaited<ReturnType<typeof sold>>
  const refusals: Record<string, (p: Sold) => Promise<unknown> | unknown> = {
    hostname_taken: async (p) => {
      await p.admin('POST', '/admin/servers', { ...p.order, ownerId: p.nora.id })
      await p.settle()
    },
    account_locked: (p) => p.admin('POST', `/customers/${p.nora.id}/actions/lock`, { reason: 'fraud' }),
    server_terminated: async (p) => {
      await p.admin('DELETE', `/servers/${p.serverId}`)
      await p.settle()
    },
    server_busy: (p) => {
      p.node.agent.disconnect()
      return p.admin('POST', `/servers/${p.serverId}/actions/reinstall`, {
        imageId: p.image,
        access: { mode: 'password' },
      })
    },
    already_done: (p) => change(p, p.nora.id),
    in_use: (p) =>
      p.db.$client.run("UPDATE addresses SET holder_id = 'fip_1' WHERE workload_id = ? AND version = 4", [p.serverId]),
  }
  for (const [code, make] of Object.entries(refusals))
    test(code, async () => {
      using p = await sold()
      await make(p)
      // A job that waits for its node is noted as waiting meanwhile.
      const before = p.fingerprint(['audit', 'sessions', 'jobs', 'job_log', 'job_steps'])
      expect((await change(p, p.nora.id)).body.error?.code).toBe(code)
      expect(p.fingerprint(['audit', 'sessions', 'jobs', 'job_log', 'job_steps'])).toBe(before)
    })
  test('by anybody but staff who change customers', async () => {
    using p = await sold()
    const without = p.staff(['servers.see_all', 'servers.settings'])
    expect((await change(p, p.nora.id, without)).status).toBe(403)
    expect((await change(p, p.nora.id, p.customer)).status).toBe(403)
    expect((await change(p, p.owner.id)).body.error.code).toBe('validation_failed')
  })
})
