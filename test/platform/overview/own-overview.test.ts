import { describe, expect, test } from 'bun:test'
import { day } from '../../../src/kernel/db/clock.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

const overview = async (p: World, who: Who = p.customer) => (await p.call(who, 'GET', '/overview')).body
const rows = async (p: World, who?: Who) =>
  (await overview(p, who)).attention.map((a: any) => `${a.level} ${a.what}`) as string[]
const ticks = async (p: World) =>
  (await overview(p)).checklist.filter((s: any) => s.done).map((s: any) => s.title) as string[]
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
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
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
    await p.call(p.customer, 'POST', `/servers/${id}/actions/setup`, {
      imageId: p.image,
      hostname: 'web01',
      access: { mode: 'password' },
    })
    await p.settle()
    expect(await rows(p)).toEqual([])
  })
  test('is a server that is suspended, with the reason for its owner alone', async () => {
    using p = await world()
    const id = await ordered(p)
    await p.admin('POST', `/servers/${id}/actions/suspend`, { reason: 'Invoice 2041' })
    await p.settle()
    expect(await rows(p)).toEqual(['bad web01 is suspended.'])
    expect(JSON.stringify(await overview(p))).toContain(
      'It is switched off and cannot be started. Reason: Invoice 2041.',
    )
    const guest = p.account('customer', 'Gus')
    await share(p, p.customer, guest, 'view')
    const seen = JSON.stringify(await overview(p, guest))
    expect(seen).toContain('Ask your provider about it.')
    expect(seen).not.toContain('2041')
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
    p.node.agent.fault({ command: 'vm.stop', mode: 'fail', times: 1 })
    await power('shutdown')
    expect(await rows(p)).toEqual(['bad Shut down web01: failed.'])
    await power('shutdown')
    expect(await rows(p)).toEqual([])
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
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
  test('is not asked for by staff, who have a page of their own', async () => {
    using p = await world()
    expect((await p.call(p.owner, 'GET', '/overview')).body.error.code).toBe('forbidden')
  })
  test('is nothing about servers to a token that may not read them', async () => {
    using p = await world()
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
    await ordered(p)
    expect(await rows(p, p.token(p.customer.id, ['account:read', 'servers:read']))).toEqual([
      'bad The installation of web01 failed.',
    ])
    const { attention, servers, checklist } = await overview(p, p.token(p.customer.id, ['account:read']))
    expect([attention, servers, checklist]).toEqual([[], {}, []])
  })
})

describe('a token that ends', () => {
  const kinds = {
    staff: async (p: World) => [p.staff(['servers.see_all']), '/admin/overview'] as const,
    reseller: async (p: World) => [p.account('reseller', 'Rex'), '/overview'] as const,
    customer: async (p: World) => [p.customer, '/overview'] as const,
  }
  for (const [kind, make] of Object.entries(kinds))
    test(`is told to ${kind} two weeks before, and for a month after when it was in use`, async () => {
      using p = await world()
      const [who, path] = await make(p)
      const described = async () =>
        ((await p.call(who, 'GET', path)).body.attention as any[])
          .filter((a) => a.href === '/account/api')
          .map((a) => a.what)
      const made = async (name: string, days: number) =>
        (
          await p.call(who, 'POST', '/account/tokens', {
            name,
            scopes: ['account:read'],
            expiresAt: new Date(p.now() + days * day).toISOString(),
          })
        ).body
      const { token } = await made('Billing', 20)
      await made('Unused', 20)
      expect(await described()).toEqual([])
      const clock = (days: number) => {
        p.turnClock(days * day)
        p.db.$client.run('UPDATE sessions SET seen_at = ?, created_at = ?, confirmed_at = ?', [
          p.now(),
          p.now(),
          p.now(),
        ])
      }
      clock(7)
      expect((await described()).map((what: string) => what.split(' expires')[0])).toEqual([
        'The token Billing',
        'The token Unused',
      ])
      expect((await p.call({ token }, 'GET', '/account')).status).toBe(200)
      clock(14)
      expect((await p.call({ token }, 'GET', '/account')).status).toBe(401)
      expect(await described()).toEqual([expect.stringMatching(/^The token Billing expired on .*still in use\.$/)])
      clock(28)
      expect((await described()).length).toBe(1)
      clock(3)
      expect(await described()).toEqual([])
    })
})

describe("what needs a reseller's attention", () => {
  async function resold() {
    const p = await world()
    const rex = p.account('reseller', 'Rex')
    await p.admin('PATCH', `/resellers/${rex.id}`, { packageIds: [p.pack], locationIds: [p.location] })
    const rita = p.account('customer', 'Rita', rex.id)
    return Object.assign(p, { rex, rita })
  }
  test('is said by the same sources, with links into its own area', async () => {
    using p = await resold()
    expect(await rows(p, p.rex)).toEqual([])
    const serverId = await ordered(p, { ownerId: p.rita.id })
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
    const failed = await ordered(p, { ownerId: p.rex.id, hostname: 'rex01' })
    expect((await overview(p, p.rex)).attention).toMatchObject([
      { level: 'bad', what: 'The installation of rex01 failed.', href: `/reseller/servers/${failed}` },
    ])
    p.node.agent.disconnect()
    p.turnClock(31_000)
    const [row] = (await overview(p, p.rex)).attention
    expect(row).toMatchObject({ level: 'bad', href: '/reseller/servers' })
    expect(row.what).toStartWith('2 servers cannot be reached')
    expect((await overview(p, p.rita)).attention).toMatchObject([
      { what: 'web01 cannot be reached by the panel.', href: `/servers/${serverId}` },
    ])
    expect((await overview(p, p.rex)).servers).toEqual({ running: 1, failed: 1 })
  })
  test('is what waits for the reseller, not what waits for its customers', async () => {
    using p = await resold()
    await p.admin('POST', '/admin/servers', {
      ...p.order,
      ownerId: p.rita.id,
      imageId: undefined,
      hostname: undefined,
      access: undefined,
    })
    expect(await rows(p, p.rex)).toEqual([])
    expect((await rows(p, p.rita)).length).toBe(1)
    await p.admin('POST', '/admin/servers', {
      ...p.order,
      ownerId: p.rex.id,
      imageId: undefined,
      hostname: undefined,
      access: undefined,
    })
    expect((await rows(p, p.rex)).length).toBe(1)
  })
  test('is its suspension, a quota near its end or used up, and a customer that is locked', async () => {
    using p = await resold()
    await p.admin('PATCH', `/resellers/${p.rex.id}`, { quotas: { customers: 1 } })
    await p.admin('POST', `/customers/${p.rita.id}/actions/lock`, { reason: 'Overdue.' })
    await p.admin('POST', `/resellers/${p.rex.id}/actions/suspend`, { reason: 'Contract ended' })
    const { attention } = await overview(p, p.rex)
    expect(attention.map((a: any) => [a.level, a.what, a.href])).toEqual([
      ['bad', 'Your reseller account is suspended.', null],
      ['bad', 'Customers: 1 of 1 used.', '/reseller#quotas'],
      ['warn', 'Rita is locked.', `/reseller/customers/${p.rita.id}`],
    ])
    expect(attention[0].effect).toContain('Contract ended')
    expect(await rows(p, p.rita)).toEqual(['bad Your account is locked.'])
  })
  test('the page says when it was looked, and has first steps', async () => {
    using p = await resold()
    const page = await p.controller.router.fetch(
      new Request('http://localhost/reseller', { headers: { Cookie: `__Host-panel=${p.rex.cookie}` } }),
    )
    const text = await page.text()
    expect(text).toContain('Nothing needs attention. Checked <time')
    expect((await overview(p, p.rex)).checklist.map((s: any) => `${s.title}: ${s.done}`)).toEqual([
      'Password: false',
      'Branding: false',
      'First customer: true',
      'Second factor: false',
    ])
    expect(text).toContain('id="checklist"')
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
  await p.call(p.customer, 'POST', `/servers/${id}/actions/setup`, {
    imageId: p.image,
    hostname: 'web01',
    access: { mode: 'password' },
  })
  await p.settle()
  expect(await ticks(p)).toEqual(['SSH key', 'First server'])
  p.db.$client.run("UPDATE accounts SET password_hash = 'x' WHERE id = ?", [p.customer.id])
  p.db.$client.run(
    "INSERT INTO totp (account_id, secret, last_step, created_at, confirmed_at) VALUES (?, 'x', 0, 1, 1)",
    [p.customer.id],
  )
  expect(await ticks(p)).toEqual(['Password', 'SSH key', 'First server', 'Second factor'])
})

test('the home page counts failed installations in words that fit their number', async () => {
  using p = await world()
  const cookie = `__Host-panel=${p.customer.cookie}`
  const home = async () =>
    (await p.controller.router.fetch(new Request('http://localhost/', { headers: { Cookie: cookie } }))).text()
  p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 2 })
  await ordered(p)
  const one = await home()
  expect(one).toContain('1 installation failed')
  await ordered(p, { hostname: 'web02' })
  expect(await home()).toContain('2 installations failed')
})

test('servers whose node is away count as unreachable, and none of them as running', async () => {
  using p = await world()
  const spare = p.addNode(p.location, 'fra-02')
  p.attach(p.pool, spare.id)
  for (const [hostname, nodeId] of [
    ['near', p.node.id],
    ['far1', spare.id],
    ['far2', spare.id],
  ])
    await p.admin('POST', '/admin/servers', { ...p.order, hostname, nodeId })
  await p.admin('POST', '/admin/servers', {
    ...p.order,
    imageId: undefined,
    hostname: undefined,
    access: undefined,
    nodeId: spare.id,
  })
  await p.settle()
  const counts = async (who: Who, path: string) => {
    const { servers, unreachable } = (await p.call(who, 'GET', path)).body
    return { servers, unreachable }
  }
  const servers = { running: 3, pending_setup: 1 }
  for (const [who, path] of [
    [p.customer, '/overview'],
    [p.owner, '/admin/overview'],
  ] as const) {
    expect(await counts(who, path)).toEqual({ servers, unreachable: {} })
    spare.agent.disconnect()
    expect(await counts(who, path)).toEqual({ servers, unreachable: { running: 2, pending_setup: 1 } })
    spare.agent.connect()
  }
  spare.agent.disconnect()
  const pageOf = async ({ cookie }: Who, path: string) =>
    (
      await p.controller.router.fetch(
        new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } }),
      )
    ).text()
  expect(await pageOf(p.customer, '/')).toContain('1 running · 2 unreachable · 1 waiting for setup')
  const overview = await pageOf(p.owner, '/admin')
  expect(overview).toContain('<span>Servers running</span><b>1<small> of 4</small></b>')
  expect(overview).toContain('1 of 2 nodes away')
  // A stranger's count has none of them.
  expect(await counts(p.account('customer', 'Eve'), '/overview')).toEqual({ servers: {}, unreachable: {} })
})

test('of announcements only warnings stand above the servers of the home page', async () => {
  using p = await world()
  for (const [text, level] of [
    ['Prices change in May', 'info'],
    ['The network is slow', 'warn'],
  ])
    await p.admin('POST', '/admin/announcements', { text, level, audience: 'everybody' })
  const headers = { Cookie: `__Host-panel=${p.customer.cookie}` }
  const text = await (await p.controller.router.fetch(new Request('http://localhost/', { headers }))).text()
  const places = ['The network is slow', 'id="servers"', 'Prices change in May'].map((words) => text.indexOf(words))
  expect(places.every((place) => place > 0)).toBe(true)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})

test('the home page shows attention, servers, first steps; half done these fold, finished they are gone', async () => {
  using p = await world()
  const home = async () => {
    const headers = { Cookie: `__Host-panel=${p.customer.cookie}` }
    return (await p.controller.router.fetch(new Request('http://localhost/', { headers }))).text()
  }
  const fold = (text: string) => text.match(/<details[^>]*id="checklist"[^>]*>/)?.[0]
  const places = (text: string) => ['attention', 'servers', 'checklist'].map((id) => text.indexOf(`id="${id}"`))
  await ordered(p)
  const first = await home()
  expect(places(first)).toEqual(places(first).toSorted((a, b) => a - b))
  expect(places(first).every((at) => at > 0)).toBe(true)
  expect(fold(first)).toMatch(/\sopen[\s=>]/)
  p.db.$client.run("UPDATE accounts SET password_hash = 'x' WHERE id = ?", [p.customer.id])
  expect(fold(await home())).toBeDefined()
  expect(fold(await home())).not.toMatch(/\sopen[\s=>]/)
  p.db.$client.run(
    "INSERT INTO totp (account_id, secret, last_step, created_at, confirmed_at) VALUES (?, 'x', 0, 1, 1)",
    [p.customer.id],
  )
  await p.call(p.customer, 'POST', `/customers/${p.customer.id}/ssh-keys`, {
    publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl test',
  })
  expect(await ticks(p)).toHaveLength(4)
  expect(fold(await home())).toBeUndefined()
})
