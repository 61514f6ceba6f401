// What everybody may know of what was done to what is theirs.
import { describe, expect, test } from 'bun:test'
import { type Who, type World, world } from '../support/panel.ts'

const activity = async (p: World, who: Who, path = '/account/activity') =>
  (await p.call(who, 'GET', `${path}?limit=200`)).body.data as any[]
async function sold(options = {}) {
  const p = await world(options)
  const { serverId } = await p.call(p.owner, 'POST', '/admin/servers', p.order).then((r) => r.body)
  await p.settle()
  return Object.assign(p, { serverId })
}
const signIn = (p: World, id: string) => {
  const { email } = p.db.$client.query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?').get(id)!
  return p.call(undefined, 'POST', '/sessions', { email, password: 'not this one' })
}

describe('own activity', () => {
  test("tells a customer what they did, and what the provider's people did, without who or from where", async () => {
    using p = await sold()
    await p.call(p.customer, 'POST', `/servers/${p.serverId}/actions/power`, { action: 'shutdown' })
    await p.call(p.owner, 'POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'Canary reason' })
    await p.admin('POST', `/customers/${p.customer.id}/actions/unlock`)
    const lines = await activity(p, p.customer)
    expect(lines.map((l) => [l.operation, l.who.name, l.who.you, l.from])).toEqual([
      ['customers.unlock', 'System', false, null],
      ['customers.lock', 'Staff', false, null],
      ['servers.power', 'Cal', true, '127.0.0.1'],
      ['servers.create', 'Staff', false, null],
    ])
    expect(lines[2]).toMatchObject({ target: p.serverId, targetName: 'web01', via: { type: 'page' } })
    for (const secret of ['Ada', 'Canary reason', p.owner.id]) expect(JSON.stringify(lines)).not.toContain(secret)
  })
  test('tells of refused sign-ins to the account, with the address, as nobody in particular', async () => {
    using p = await sold()
    await signIn(p, p.customer.id)
    const [line] = await activity(p, p.customer)
    expect(line).toMatchObject({
      operation: 'sessions.create',
      result: 'sign_in_failed',
      who: { name: 'Somebody', you: false },
      from: '127.0.0.1',
    })
  })
  test('tells of a server that is gone, too', async () => {
    using p = await sold()
    await p.admin('DELETE', `/servers/${p.serverId}`)
    await p.settle()
    expect((await activity(p, p.customer)).map((l) => l.operation)).toEqual(['servers.terminate', 'servers.create'])
  })
  test('is nobody else’s: another customer, and another reseller, see nothing of it', async () => {
    using p = await sold()
    expect(await activity(p, p.account('customer', 'Mallory'))).toEqual([])
    expect(await activity(p, p.account('reseller', 'Eve'))).toEqual([])
  })
  test("tells a reseller of its customers' servers, by the customers' names", async () => {
    using p = await sold()
    const reseller = p.account('reseller', 'Reed')
    p.db.$client.run('UPDATE accounts SET reseller_id = ? WHERE id = ?', [reseller.id, p.customer.id])
    p.db.$client.run('UPDATE servers SET reseller_id = ?', [reseller.id])
    await p.call(p.customer, 'POST', `/servers/${p.serverId}/actions/power`, { action: 'shutdown' })
    expect((await activity(p, reseller)).map((l) => [l.operation, l.who.name])).toEqual([
      ['servers.power', 'Cal'],
      ['servers.create', 'Staff'],
    ])
  })
  test('tells staff of themselves, by name and address', async () => {
    using p = await sold()
    expect((await activity(p, p.owner)).map((l) => [l.operation, l.who.you, l.from])).toEqual([['servers.create', true, '127.0.0.1']])
    expect(await activity(p, p.staff())).toEqual([])
  })
})

describe("a server's activity", () => {
  test('is for who sees the server', async () => {
    using p = await sold()
    const path = `/servers/${p.serverId}/activity`
    expect((await activity(p, p.customer, path)).map((l) => [l.operation, l.who.name])).toEqual([['servers.create', 'Staff']])
    expect((await activity(p, p.owner, path)).map((l) => [l.operation, l.who.name])).toEqual([['servers.create', 'Ada']])
    expect((await p.call(p.account('customer', 'Mallory'), 'GET', path)).body.error.code).toBe('server_not_found')
  })
  test('stands on its page, the last ten', async () => {
    using p = await sold()
    const page = await p.controller.app.fetch(
      new Request(`http://localhost/servers/${p.serverId}`, { headers: { Cookie: `__Host-panel=${p.customer.cookie}` } }),
    )
    const text = await page.text()
    expect(text).toContain('id="done"')
    expect(text).toContain('Staff<small>')
    expect(text).not.toContain('/admin/audit')
  })
})
