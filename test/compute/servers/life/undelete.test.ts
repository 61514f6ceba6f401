// A terminated server can be brought back until its window ends: once, as it was, and checked like an order.
import { describe, expect, test } from 'bun:test'
import { purgeDue } from '../../../../src/compute/servers/life/terminate.ts'
import { hour } from '../../../../src/kernel/db/clock.ts'
import { invariants } from '../../../support/crash-matrix/invariants.ts'
import { ledgerFaults } from '../../../support/ledger.ts'
import { type Who, type World, world } from '../../../support/world/panel.ts'

const order = async (p: World, more: object = {}): Promise<string> => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ...more })
  await p.settle()
  return serverId
}
async function terminated(p: World, more: object = {}): Promise<string> {
  const id = await order(p, more)
  await p.admin('DELETE', `/servers/${id}`)
  await p.settle()
  return id
}
/** By a token: a session ends while the clock is turned. */
const undelete = (p: World, id: string, who: Who = p.token(p.owner.id)) =>
  p.call(who, 'POST', `/servers/${id}/actions/undelete`)
const setTo = (p: World, name: string, value: number | boolean | null) =>
  p.admin('PUT', '/admin/settings/values', { name, value })
const purgeAfter = async (p: World, hours: number) => {
  p.turnClock(hours * hour)
  purgeDue(p.db, p.controller.app)
  await p.settle()
}
const waiting = { imageId: undefined, hostname: undefined, access: undefined }
const heldMemory = (p: World) =>
  (p.db.$client.query('SELECT memory_mb AS mb FROM node_held').get() as { mb: number } | null)?.mb ?? 0

describe('while the window is open', () => {
  test('the server has ended for billing, and its disk and address are held', async () => {
    using p = await world()
    const id = await terminated(p)
    const { status, terminatedAt, purgeAt, allowed } = await p.admin('GET', `/servers/${id}`)
    expect(status).toBe('terminated')
    expect(Date.parse(purgeAt) - Date.parse(terminatedAt)).toBe(24 * hour)
    expect(allowed).toEqual(['undelete'])
    expect(await invariants(p, id)).toMatchObject({ power: 'stopped', volumes: 1, addresses: 1, held: 1 })
    expect((await p.admin('GET', '/admin/servers?recoverable=true')).data.map((s: any) => s.id)).toEqual([id])
    expect((await p.admin('GET', '/admin/servers')).total).toBe(0)
    expect(ledgerFaults(p.db)).toEqual([])
  })
  test('its memory is free for others', async () => {
    using p = await world()
    const id = await order(p)
    expect(heldMemory(p)).toBe(2048)
    await p.admin('DELETE', `/servers/${id}`)
    await p.settle()
    expect(heldMemory(p)).toBe(0)
    await undelete(p, id)
    expect(heldMemory(p)).toBe(2048)
  })
  test('it comes back as it was, and usage begins anew', async () => {
    using p = await world()
    const id = await terminated(p)
    const before = p.server(id)
    p.turnClock(hour)
    expect((await undelete(p, id)).status).toBe(202)
    await p.settle()
    expect(p.server(id)).toMatchObject({
      status: 'running',
      hostname: before.hostname,
      diskGeneration: before.diskGeneration,
      terminatedAt: null,
      purgeAt: null,
    })
    expect(p.events().slice(-2)).toEqual(['server.terminated', 'server.undeleted'])
    expect(ledgerFaults(p.db)).toEqual([])
    const states = p.db.$client.query('SELECT until IS NULL AS open FROM usage_intervals ORDER BY id').all()
    expect(states.filter((s: any) => s.open)).toHaveLength(1)
    expect(states.length).toBeGreaterThan(1)
  })
  test('one that was stopped stays off, and one that was suspended stays suspended', async () => {
    using p = await world()
    const off = await order(p)
    await p.admin('POST', `/servers/${off}/actions/power`, { action: 'off' })
    await p.settle()
    await p.admin('DELETE', `/servers/${off}`)
    await p.settle()
    expect((await undelete(p, off)).body.jobId).toBeNull()
    expect(p.server(off).status).toBe('stopped')
    await p.admin('POST', `/servers/${off}/actions/suspend`, { reason: 'overdue' })
    await p.settle()
    await p.admin('DELETE', `/servers/${off}`)
    await undelete(p, off)
    await p.settle()
    expect(p.server(off).status).toBe('suspended')
  })
  test('one that waits for its setup waits again; its node is not asked', async () => {
    using p = await world()
    const id = await order(p, waiting)
    expect((await p.call(p.owner, 'DELETE', `/servers/${id}`)).body.jobId).toBeNull()
    expect((await undelete(p, id)).body.jobId).toBeNull()
    expect(p.server(id).status).toBe('pending_setup')
    await p.admin('DELETE', `/servers/${id}`)
    await purgeAfter(p, 25)
    expect(p.server(id).releasedAt).not.toBeNull()
    expect((await invariants(p, id)).addresses).toBe(0)
  })
  test('one that was terminated during its installation has failed, and can be reinstalled', async () => {
    using p = await world()
    p.arm({ failpoints: (at) => void (at === 'install/define:noted' && p.node.agent.disconnect()) })
    const { serverId: id } = await p.admin('POST', '/admin/servers', p.order)
    for (let i = 0; p.controller.hub.connected(p.node.id) && i < 1000; i++) await Bun.sleep(1)
    await p.admin('DELETE', `/servers/${id}`)
    p.node.agent.connect()
    for (let n = 0; n < 5; n++) await Promise.all([p.settle(), Bun.sleep(2)])
    await undelete(p, id)
    await p.settle()
    expect(p.server(id).status).toBe('failed')
    const again = await p.call(p.owner, 'POST', `/servers/${id}/actions/reinstall`, {
      imageId: p.image,
      access: { mode: 'password' },
    })
    expect(again.status).toBe(202)
    await p.settle()
    expect(p.server(id).status).toBe('running')
  })
  test('the owner sees it read only with the end of the window, and strangers do not', async () => {
    using p = await world()
    const id = await terminated(p)
    const seen = await p.call(p.customer, 'GET', `/servers/${id}`)
    expect([seen.status, seen.body.status, seen.body.allowed]).toEqual([200, 'terminated', []])
    expect(seen.body.purgeAt).not.toBeNull()
    expect((await p.call(p.account('customer', 'Eve'), 'GET', `/servers/${id}`)).status).toBe(404)
    expect((await p.call(p.customer, 'GET', '/servers')).body.total).toBe(0)
    expect((await p.call(p.customer, 'POST', `/servers/${id}/actions/power`, { action: 'start' })).status).toBe(404)
    const before = p.fingerprint(['audit', 'sessions'])
    expect((await undelete(p, id, p.customer)).body.error.code).toBe('forbidden')
    expect(p.fingerprint(['audit', 'sessions'])).toBe(before)
    await purgeAfter(p, 25)
    expect((await p.call(p.token(p.customer.id), 'GET', `/servers/${id}`)).status).toBe(404)
  })
  test('a setting lets owners bring it back themselves', async () => {
    using p = await world()
    const id = await terminated(p)
    await setTo(p, 'servers.owners_undelete', true)
    expect((await p.call(p.customer, 'GET', `/servers/${id}`)).body.allowed).toEqual(['undelete'])
    expect((await undelete(p, id, p.customer)).status).toBe(202)
  })
})

describe('bringing back is refused like an order', () => {
  const refusals: Record<string, (p: World, id: string) => Promise<unknown>> = {
    hostname_taken: (p) => order(p),
    account_locked: (p) => p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'fraud' }),
    no_capacity: async (p) => p.db.$client.run('UPDATE nodes SET memory_mb = 1024'),
    node_lost: async (p) => p.db.$client.run('UPDATE nodes SET lost_at = 1'),
    quota_exceeded: async (p, id) => {
      const rita = p.account('reseller', 'Rita')
      p.db.$client.run('UPDATE accounts SET reseller_id = ? WHERE id = ?', [rita.id, p.customer.id])
      p.db.$client.run('UPDATE workloads SET reseller_id = ? WHERE id = ?', [rita.id, id])
      await p.admin('PATCH', `/resellers/${rita.id}`, { quotas: { servers: 0 } })
    },
    server_terminated: (p) => purgeAfter(p, 25),
  }
  for (const [code, make] of Object.entries(refusals))
    test(code, async () => {
      using p = await world()
      const id = await terminated(p)
      await make(p, id)
      await p.settle()
      const billing = p.token(p.owner.id)
      const before = p.fingerprint(['audit'])
      const answer = await undelete(p, id, billing)
      expect([answer.status, answer.body.error?.code]).toEqual([409, code])
      expect(p.fingerprint(['audit'])).toBe(before)
      expect(p.server(id).status).toBe('terminated')
    })
})

describe('when the window ends', () => {
  test('disk and addresses are given back, and not before', async () => {
    using p = await world()
    const id = await terminated(p)
    await purgeAfter(p, 23)
    expect(await invariants(p, id)).toMatchObject({ volumes: 1, addresses: 1, held: 1 })
    await purgeAfter(p, 2)
    expect(await invariants(p, id)).toMatchObject({ vms: 0, volumes: 0, rules: 0, addresses: 0, held: 0 })
    expect(p.events().filter((type) => type === 'server.terminated')).toHaveLength(1)
  })
  test('a return and the deletion have one winner', async () => {
    using p = await world()
    const id = await terminated(p)
    p.turnClock(25 * hour)
    // The window is over and no turn has come yet: the disk is there.
    expect((await undelete(p, id)).status).toBe(202)
    purgeDue(p.db, p.controller.app)
    await p.settle()
    expect(await invariants(p, id)).toMatchObject({ status: 'running', volumes: 1, addresses: 1 })
    await p.admin('DELETE', `/servers/${id}`)
    await p.settle()
    p.node.agent.disconnect()
    p.turnClock(25 * hour)
    purgeDue(p.db, p.controller.app)
    expect((await undelete(p, id)).body.error.code).toBe('server_terminated')
    p.node.agent.connect()
    for (let n = 0; n < 5; n++) await Promise.all([p.settle(), Bun.sleep(2)])
    expect(await invariants(p, id)).toMatchObject({ status: 'terminated', volumes: 0, addresses: 0, openJobs: 0 })
  })
  test('a window of 0 hours deletes at once, and a number beyond the limit is refused', async () => {
    using p = await world()
    await setTo(p, 'servers.undelete_hours', 0)
    const id = await terminated(p)
    expect(await invariants(p, id)).toMatchObject({ volumes: 0, addresses: 0, held: 0 })
    const wrong = await p.call(p.owner, 'PUT', '/admin/settings/values', { name: 'servers.undelete_hours', value: -1 })
    expect(wrong.body.error.code).toBe('validation_failed')
    await setTo(p, 'servers.undelete_hours', null)
    const { settings } = await p.admin('GET', '/admin/settings/values')
    expect(settings.find((s: any) => s.name === 'servers.undelete_hours')).toMatchObject({ value: 24, default: 24 })
  })
  test('immediately=true gives up a window that is open', async () => {
    using p = await world()
    const id = await terminated(p)
    expect((await p.call(p.owner, 'DELETE', `/servers/${id}?immediately=true`)).status).toBe(202)
    await p.settle()
    expect(await invariants(p, id)).toMatchObject({ volumes: 0, addresses: 0, held: 0 })
  })
  test('a node that holds such a disk is not removed by mistake', async () => {
    using p = await world()
    await terminated(p)
    const answer = await p.call(p.owner, 'DELETE', `/admin/nodes/${p.node.id}`)
    expect(answer.body.error.code).toBe('in_use')
    expect(answer.body.error.message).toContain('can still be brought back')
  })
})

describe('protection', () => {
  const protect = (p: World, id: string, is: boolean, who: Who = p.customer) =>
    p.call(who, 'PUT', `/servers/${id}/protection`, { protected: is })
  test('does not keep the provider from ending the server, in its window; the owner is told', async () => {
    using p = await world()
    const id = await order(p)
    expect((await protect(p, id, true)).body).toEqual({ serverId: id, protected: true })
    const billing = p.token(p.owner.id, ['servers:terminate'])
    expect((await p.call(billing, 'DELETE', `/servers/${id}`)).status).toBe(202)
    await p.settle()
    expect(p.server(id)).toMatchObject({ status: 'terminated', releasedAt: null })
    expect(await invariants(p, id)).toMatchObject({ volumes: 1, addresses: 1 })
    const told = p.db.$client.query("SELECT words FROM notices WHERE kind = 'server_terminated'").all()
    expect(JSON.stringify(told)).toContain('You had protected it')
    expect((await undelete(p, id)).status).toBe(202)
    await p.settle()
    expect(p.server(id)).toMatchObject({ status: 'running', protected: true })
  })
  test('keeps its window: nobody ends a protected server without it, or gives it up', async () => {
    using p = await world()
    const id = await order(p)
    await protect(p, id, true)
    const billing = p.token(p.owner.id, ['servers:terminate'])
    const now = () => p.call(billing, 'DELETE', `/servers/${id}?immediately=true`)
    const before = p.fingerprint(['audit'])
    expect((await now()).body.error.code).toBe('server_protected')
    expect(p.fingerprint(['audit'])).toBe(before)
    await p.call(billing, 'DELETE', `/servers/${id}`)
    await p.settle()
    expect((await now()).body.error.code).toBe('server_protected')
    expect(p.server(id).releasedAt).toBeNull()
    await purgeAfter(p, 25)
    expect(p.server(id).releasedAt).not.toBeNull()
  })
  test('of what a reseller has itself keeps its own tokens from ending it, and not those of the house', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Rex')
    await p.admin('PATCH', `/resellers/${reseller.id}`, { packageIds: [p.pack], locationIds: [p.location] })
    const client = p.account('customer', 'Rita', reseller.id)
    const [own, clients] = [await order(p, { ownerId: reseller.id }), await order(p, { ownerId: client.id })]
    await protect(p, own, true, reseller)
    await protect(p, clients, true, client)
    const token = p.token(reseller.id)
    expect((await p.call(token, 'DELETE', `/servers/${own}`)).body.error.code).toBe('server_protected')
    expect((await p.call(token, 'DELETE', `/servers/${clients}`)).status).toBe(202)
    expect((await p.call(p.token(p.owner.id), 'DELETE', `/servers/${own}`)).status).toBe(202)
  })
})
