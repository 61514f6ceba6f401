import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Panel, panel, type Who } from '../../support/world/panel.ts'

let p: Panel
let owner: { id: string } & Who
beforeAll(async () => {
  p = await panel()
  owner = p.staff()
})
afterAll(() => p.close())

let count = 0
const add = (more: object = {}) =>
  p.call(owner, 'POST', '/admin/customers', { name: 'Cal', email: `c${++count}@customer.test`, ...more })
const find = async (query: string) =>
  (await p.call(owner, 'GET', `/admin/customers?${query}`)).body.data.map((c: any) => c.id)

describe('adding a customer', () => {
  test('answers it, and tells of it once', async () => {
    const before = p.events().length
    const { status, body } = await add({
      name: 'Ada',
      email: 'Ada@Example.com',
      organization: 'Engines',
      externalId: 'client-1842',
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: body.id,
      kind: 'customer',
      email: 'ada@example.com',
      name: 'Ada',
      organization: 'Engines',
      externalId: 'client-1842',
      resellerId: null,
      resellerName: null,
      hasPassword: false,
      secondFactor: false,
      seenAt: null,
      lockedAt: null,
      lockReason: null,
      createdAt: body.createdAt,
      servers: 0,
      allowance: { vcpus: 0, memoryMb: 0, diskGb: 0, trafficGb: 0, ipv4: 0 },
      gpuLimit: 0,
    })
    expect(p.events().slice(before)).toEqual(['customer.created'])
    const event = p.db.$client
      .query<{ data: string; customer_id: string }, []>(
        'SELECT data, customer_id FROM events ORDER BY rowid DESC LIMIT 1',
      )
      .get()!
    expect([JSON.parse(event.data), event.customer_id]).toEqual([
      { customer: { id: body.id, email: 'ada@example.com', name: 'Ada', externalId: 'client-1842' } },
      body.id,
    ])
  })
  test('with several wrong fields is refused for all of them at once, the address among them', async () => {
    const before = p.fingerprint()
    const { status, body } = await add({ name: '', email: 'nobody', externalId: 'x'.repeat(101) })
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    expect(body.error.details.fields).toEqual([
      { field: 'name', message: 'must not be empty.' },
      { field: 'email', message: 'must be an e-mail address.' },
      { field: 'externalId', message: expect.any(String) },
    ])
    expect(p.fingerprint()).toBe(before)
  })
  for (const [what, more, expected] of [
    ['an e-mail address that another has', { email: 'taken@customer.test' }, '409 email_taken'],
    ['it in other letters', { email: 'TAKEN@Customer.Test' }, '409 email_taken'],
    ['that of a member of staff', { email: 'staff@staff.test' }, '409 email_taken'],
    ['an external id that another has', { externalId: 'taken-1' }, '409 external_id_taken'],
    ['no address', { email: 'taken' }, '422 validation_failed'],
    ['an address with a line break', { email: 'a@b.test\r\nBcc: c@d.test' }, '422 validation_failed'],
    ['an empty name', { name: '' }, '422 validation_failed'],
    ['an external id of nothing', { externalId: '' }, '422 validation_failed'],
    ['a kind', { kind: 'staff' }, '422 validation_failed'],
  ] as const)
    test(`with ${what} is refused, and nothing happens`, async () => {
      if (!p.db.$client.query("SELECT 1 FROM accounts WHERE external_id = 'taken-1'").get()) {
        await add({ email: 'taken@customer.test', externalId: 'taken-1' })
        p.db.$client.run("UPDATE accounts SET email = 'staff@staff.test' WHERE id = ?", [p.staff().id])
      }
      const before = p.fingerprint()
      const { status, body } = await add(more)
      expect(`${status} ${body.error?.code}`).toBe(expected)
      expect(p.fingerprint()).toBe(before)
    })
  test('without an external id is possible for as many as there are', async () => {
    for (const externalId of [null, null, undefined, undefined]) expect((await add({ externalId })).status).toBe(201)
  })
})

describe('finding a customer', () => {
  test('by its external id or e-mail address gives that one or none', async () => {
    const { body } = await add({ email: 'find@customer.test', externalId: 'find-1' })
    expect(await find('externalId=find-1')).toEqual([body.id])
    expect(await find('email=find%40customer.test')).toEqual([body.id])
    expect(await find('externalId=find')).toEqual([])
    expect(await find('externalId=FIND-1')).toEqual([])
    expect(await find('email=find%40customer.tes')).toEqual([])
    expect(await find('email=find%40customer.test&externalId=other')).toEqual([])
  })
  test('by its e-mail address in any letters, since addresses are one in any letters', async () => {
    const { body } = await add({ email: 'Mixed@Customer.test' })
    expect(await find('email=MIXED%40customer.TEST')).toEqual([body.id])
  })
  test('by a part of its name, organization or address, in any letters', async () => {
    const { body } = await add({ name: 'Grace Hopper', organization: 'Navy 7', email: 'gh@fleet.test' })
    for (const q of ['hopper', 'GRACE', 'navy', 'fleet.test', 'ce%20Ho'])
      expect(await find(`q=${q}`)).toEqual([body.id])
    expect(await find('q=xyzzy')).toEqual([])
  })
  test('treats signs of patterns and of SQL as nothing special', async () => {
    for (const q of ["'%20OR%201=1%20--", 'zz%25', '"', '%5C'])
      expect((await p.call(owner, 'GET', `/admin/customers?q=${q}`)).status).toBe(200)
    expect(await find("q='%20OR%201=1%20--")).toEqual([])
    expect(await find("externalId='%20OR%20''='")).toEqual([])
  })
  test('never shows staff, and one of another reseller or customer is not there', async () => {
    const kinds = (await p.call(owner, 'GET', '/admin/customers?limit=200')).body.data.map((c: any) => c.kind)
    expect(kinds).not.toContain('staff')
    const [reseller, other] = [p.account('reseller', 'R'), p.account('reseller', 'S')]
    const theirs = p.account('customer', 'T', reseller.id)
    expect((await p.call(reseller, 'GET', `/customers/${theirs.id}`)).body.name).toBe('T')
    expect((await p.call(other, 'GET', `/customers/${theirs.id}`)).body.error.code).toBe('customer_not_found')
    expect((await p.call(theirs, 'GET', `/customers/${reseller.id}`)).body.error.code).toBe('customer_not_found')
    expect((await p.call(theirs, 'GET', `/customers/${theirs.id}`)).body.id).toBe(theirs.id)
    expect((await p.call(owner, 'GET', `/customers/${owner.id}`)).body.error.code).toBe('customer_not_found')
  })
})

describe('who asks for an external id', () => {
  test('finds the one of their own customers that has it, never one that a reseller gave it', async () => {
    const [rita, otto] = [p.account('reseller', 'Rita'), p.account('reseller', 'Otto')]
    const theirs = async (who: Who, externalId: string) =>
      (
        await p.call(who, 'POST', '/reseller/customers', {
          name: 'Evil',
          email: `e${++count}@customer.test`,
          externalId,
        })
      ).body.id
    const own = (await add({ externalId: 'c-1' })).body.id
    const [ritas, ottos] = [await theirs(rita, 'c-1'), await theirs(otto, 'c-1')]
    await theirs(rita, 'c-2')
    expect(await find('externalId=c-1')).toEqual([own])
    expect(await find('externalId=c-2')).toEqual([])
    expect(await find(`externalId=c-1&resellerId=${rita.id}`)).toEqual([ritas])
    expect(await find(`externalId=c-1&resellerId=${otto.id}`)).toEqual([ottos])
    expect((await p.call(otto, 'GET', '/reseller/customers?externalId=c-1')).body.data.map((c: any) => c.id)).toEqual([
      ottos,
    ])
  })
  test('that is empty is told so, instead of being shown everybody', async () => {
    const { status, body } = await p.call(owner, 'GET', '/admin/customers?externalId=')
    expect([status, body.error.message]).toEqual([
      400,
      'The query parameter externalId must not be empty; leave it out to ask for everything.',
    ])
  })
})

describe("a reseller's own account", () => {
  test('is changed by who manages resellers; not by who may change customers, in no way', async () => {
    const rita = p.account('reseller', 'Rita')
    const clerk = p.staff(['customers.read', 'customers.write', 'support_session'])
    const token = p.token(clerk.id, ['customers:write'])
    const at = (path: string) => `/customers/${rita.id}${path}`
    const before = p.fingerprint()
    for (const who of [clerk, token])
      for (const [method, path, body] of [
        ['PATCH', at(''), { name: 'Mine' }],
        ['PATCH', at(''), { email: 'mine@evil.test' }],
        ['POST', at('/actions/lock'), { reason: 'x' }],
        ['PUT', at('/allowance'), { vcpus: 1 }],
        ['POST', at('/actions/invite'), undefined],
        ['POST', at('/sign-in-links'), undefined],
      ] as const) {
        const { status, body: answer } = await p.call(who, method, path, body)
        expect([path, status, answer.error.code]).toEqual([path, 403, 'forbidden'])
      }
    expect((await p.call(clerk, 'POST', at('/actions/reset-second-factor'), { reason: 'x' })).body.error.code).toBe(
      'forbidden',
    )
    expect(p.fingerprint()).toBe(before)
    expect((await p.call(clerk, 'GET', at(''))).status).toBe(200)
    expect((await p.call(clerk, 'POST', at('/support-session'), { reason: 'They asked' })).status).toBe(201)
    const page = async (who: Who) =>
      (
        await p.controller.router.fetch(
          new Request(`http://localhost/admin/customers/${rita.id}`, {
            headers: { Cookie: `__Host-panel=${who.cookie}` },
          }),
        )
      ).text()
    const other = p.staff(['customers.read', 'customers.write'])
    expect(await page(other)).not.toMatch(/hx-(patch|put|post|delete)="\/api\/v1\/customers/)
    expect(await page(owner)).toMatch(/hx-patch="\/api\/v1\/customers/)
    expect((await p.call(owner, 'PATCH', at(''), { name: 'Rita II' })).status).toBe(200)
    expect(
      (await p.call(p.staff(['resellers.write', 'customers.write']), 'PATCH', at(''), { name: 'Rita III' })).status,
    ).toBe(200)
  })
})

describe('the page of a customer', () => {
  test('says whose it is, how they sign in and when they were there', async () => {
    const rita = p.account('reseller', 'Rita Reseller')
    const dora = p.account('customer', 'Dora', rita.id)
    const read = async () => (await p.call(owner, 'GET', `/customers/${dora.id}`)).body
    const page = async () =>
      (
        await p.controller.router.fetch(
          new Request(`http://localhost/admin/customers/${dora.id}`, {
            headers: { Cookie: `__Host-panel=${owner.cookie}` },
          }),
        )
      ).text()
    expect(await read()).toMatchObject({
      resellerName: 'Rita Reseller',
      hasPassword: false,
      secondFactor: false,
      seenAt: expect.any(String),
    })
    expect(await page()).toContain('>Rita Reseller</a>')
    expect(await page()).toContain('No password yet')
    expect(await page()).not.toContain('Lost second factor')
    p.db.$client.run("UPDATE accounts SET password_hash = 'x' WHERE id = ?", [dora.id])
    p.db.$client.run(
      'INSERT INTO totp (account_id, secret, last_step, created_at, confirmed_at) VALUES (?, ?, 0, 1, 1)',
      [dora.id, 'x'],
    )
    expect(await read()).toMatchObject({ hasPassword: true, secondFactor: true })
    expect(await page()).toContain('With a password and a second factor')
    expect(await page()).toContain('Lost second factor')
    expect(await page()).not.toContain('Send invitation')
  })
})

describe("somebody else's e-mail address", () => {
  test('is changed in person only by who showed lately who they are; a name and a token are not asked', async () => {
    const cal = p.account('customer', 'Cal')
    const rita = p.account('reseller', 'Rita')
    const ada = p.staff()
    p.turnClock(10 * 60_000 + 1)
    const before = p.fingerprint()
    for (const path of [`/customers/${cal.id}`, `/resellers/${rita.id}`])
      expect((await p.call(ada, 'PATCH', path, { name: 'N', email: 'taken-over@evil.test' })).body.error.code).toBe(
        'confirmation_required',
      )
    expect(p.fingerprint()).toBe(before)
    expect((await p.call(ada, 'PATCH', `/customers/${cal.id}`, { name: 'N' })).status).toBe(200)
    expect(
      (await p.call(p.token(ada.id), 'PATCH', `/customers/${cal.id}`, { email: 'new@customer.test' })).status,
    ).toBe(200)
    expect((await p.call(p.staff(), 'PATCH', `/resellers/${rita.id}`, { email: 'new@reseller.test' })).status).toBe(200)
  })
})
