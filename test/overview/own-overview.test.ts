import { describe, expect, test } from 'bun:test'
import { day } from '../../src/kernel/db/clock.ts'
import { type Who, type World, world } from '../support/panel.ts'
import { share } from '../support/team.ts'

const overview = async (p: World, who: Who = p.customer) => (await p.call(who, 'GET', '/overview')).body
const rows = async (p: World, who?: Who) => (await overview(p, who)).attention.map((a: any) => `${a.level} ${a.what}`) as string[]
const ticks = async (p: World) => (await overview(p)).checklist.filter((s: any) => s.done).map((s: any) => s.title) as string[]
async function ordered(p: World, more: object = {}): Promise<string> {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ...more })
  await p.settle()
  return serverId
}
async function waiting(p: World): Promise<string> {
  const { imageId: _, hostname: __, access: ___, ...rest } = p.order
  return (await p.admin('POST', '/admin/servers', rest)).serverId
}

describe('what needs a customer’s attention', () => {
  test('is nothing when all is well, and nothing of other customers', async () => {
    using p = await world()
    await ordered(p)
    p.node.agent.fault({ command: 'domain.start', mode: 'fail', times: 1 })
    const stranger = p.account('customer', 'Mallory')
    await ordered(p, { ownerId: stranger.id })
    expect(await rows(p)).toEqual([])
    expect(await rows(p, stranger)).toEqual(['bad The installation of web01 failed.'])
    expect((await overview(p)).servers).toEqual({ running: 1 })
  })
  test('is a server that waits for its setup, until it is set up', async () => {
    using p = await world()
    const id = await waiting(p)
    const { attention } = await overview(p)
    expect(attention).toMatchObject([{ level: 'warn', action: 'Set it up', href: `/servers/${id}#setup` }])
    await p.call(p.customer, 'POST', `/servers/${id}/actions/setup`, { imageId: p.image, hostname: 'web01', access: { mode: 'password' } })
    await p.settle()
    expect(await rows(p)).toEqual([])
  })
  test('is a server that is suspended, without the reason, which is the provider’s', async () => {
    using p = await world()
    const id = await ordered(p)
    await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'Invoice 2041' })
    await p.settle()
    expect(await rows(p)).toEqual(['bad web01 is suspended.'])
    expect(JSON.stringify(await overview(p))).not.toContain('2041')
    await p.admin('POST', `/servers/${id}/actions/unsuspend`)
    await p.settle()
    expect(await rows(p)).toEqual([])
  })
  test('is a job that failed, until the next one goes well or a week has passed', async () => {
    using p = await world()
    const id = await ordered(p)
    const power = async (action: string) => {
      await p.call(p.customer, 'POST', `/servers/${id}/actions/power`, { action })
      await p.settle()
    }
    p.node.agent.fault({ command: 'domain.stop', mode: 'fail', times: 1 })
    await power('shutdown')
    expect(await rows(p)).toEqual(['bad Shut down web01: failed.'])
    await power('shutdown')
    expect(await rows(p)).toEqual([])
    p.node.agent.fault({ command: 'domain.start', mode: 'fail', times: 1 })
    await power('start')
    expect((await rows(p)).length).toBe(1)
    p.turnClock(6 * day)
    const later = p.token(p.customer.id)
    expect((await rows(p, later)).length).toBe(1)
    p.turnClock(day)
    expect(await rows(p, later)).toEqual([])
  })
  test('is a node that is away, in one row for all servers on it and without its name', async () => {
    using p = await world()
    await ordered(p)
    await ordered(p, { hostname: 'web02' })
    p.node.agent.disconnect()
    p.turnClock(31_000)
    const answer = await overview(p)
    expect(answer.attention).toMatchObject([{ level: 'bad', action: 'Show servers', href: '/servers' }])
    expect(answer.attention[0].what).toStartWith('2 servers cannot be reached')
    expect(JSON.stringify(answer)).not.toContain('fra-01')
    p.node.agent.connect()
    expect(await rows(p)).toEqual([])
  })
  test('is a lock of the account, with the provider’s words', async () => {
    using p = await world()
    await p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'Three invoices are overdue.' })
    const { attention } = await overview(p)
    expect(attention).toMatchObject([{ level: 'bad', what: 'Your account is locked.', href: '/account' }])
    expect(attention[0].effect).toContain('Three invoices are overdue.')
  })
  test('is a token that ends within two weeks; told to its holder, not to support nor to tokens', async () => {
    using p = await world()
    const made = async (name: string, days: number) =>
      (
        await p.call(p.customer, 'POST', '/account/tokens', {
          name,
          scopes: ['account:read'],
          expiresAt: new Date(p.now() + days * day).toISOString(),
        })
      ).body
    const { token } = await made('Monitoring', 13)
    await made('Billing', 15)
    const [row] = (await overview(p)).attention
    expect(row).toMatchObject({ level: 'warn', href: '/account/api' })
    expect(row.what).toStartWith('The token Monitoring expires on ')
    expect((await rows(p)).length).toBe(1)
    expect(await rows(p, { token })).toEqual([])
    const opened = await p.call(p.owner, 'POST', `/customers/${p.customer.id}/support-session`, { reason: 'Ticket 1' })
    expect(await rows(p, { cookie: opened.headers.get('Set-Cookie')!.split(/[=;]/)[1]! })).toEqual([])
  })
  test('is also that of servers which somebody shares', async () => {
    using p = await world()
    const friend = p.account('customer', 'Bo')
    await waiting(p)
    expect(await rows(p, friend)).toEqual([])
    await share(p, p.customer, friend, 'view')
    expect((await rows(p, friend)).length).toBe(1)
  })
  test('is not asked for by staff or resellers, who have pages of their own', async () => {
    using p = await world()
    for (const who of [p.owner, p.account('reseller', 'Rita')])
      expect((await p.call(who, 'GET', '/overview')).body.error.code).toBe('forbidden')
  })
})

test('the first steps tick as things come to be', async () => {
  using p = await world()
  expect(await ticks(p)).toEqual([])
  await p.call(p.customer, 'POST', `/customers/${p.customer.id}/ssh-keys`, {
    publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl test',
  })
  expect(await ticks(p)).toEqual(['SSH key'])
  const id = await waiting(p)
  const step = (await overview(p)).checklist.find((s: any) => s.title === 'First server')
  expect(step).toMatchObject({ done: false, href: `/servers/${id}#setup` })
  await p.call(p.customer, 'POST', `/servers/${id}/actions/setup`, { imageId: p.image, hostname: 'web01', access: { mode: 'password' } })
  await p.settle()
  expect(await ticks(p)).toEqual(['SSH key', 'First server'])
  p.db.$client.run("UPDATE accounts SET password_hash = 'x' WHERE id = ?", [p.customer.id])
  p.db.$client.run("INSERT INTO totp (account_id, secret, last_step, created_at, confirmed_at) VALUES (?, 'x', 0, 1, 1)", [p.customer.id])
  expect(await ticks(p)).toEqual(['Password', 'SSH key', 'First server', 'Second factor'])
})
