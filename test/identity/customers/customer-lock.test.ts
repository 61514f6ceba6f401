// Staff change a customer's details and lock it against new orders.
import { describe, expect, test } from 'bun:test'
import { type World, world } from '../../support/world/panel.ts'

const show = async (p: World, id = p.customer.id) => (await p.call(p.owner, 'GET', `/customers/${id}`)).body
const change = (p: World, body: object, who = p.owner as any, id = p.customer.id) =>
  p.call(who, 'PATCH', `/customers/${id}`, body)
const act = (p: World, action: string, body?: object, who = p.owner as any) =>
  p.call(who, 'POST', `/customers/${p.customer.id}/actions/${action}`, body)
const code = ({ status, body }: { status: number; body: any }) => `${status} ${body.error?.code ?? ''}`.trim()
/** A page as staff see it. */
const shown = async (p: World, path: string, who: { cookie?: string } = p.owner) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
  ).text()

describe('changing a customer', () => {
  test('changes what is sent and nothing else, with one audit line', async () => {
    using p = await world()
    const before = await show(p)
    const lines = p.auditLines().length
    const { status, body } = await change(p, { name: 'Caroline', email: 'Caroline@Example.com' })
    expect([status, body]).toEqual([200, { ...before, name: 'Caroline', email: 'caroline@example.com' }])
    expect(await show(p)).toEqual(body)
    expect(p.auditLines().slice(lines)).toMatchObject([
      { operation: 'customers.update', target: p.customer.id, actorId: p.owner.id, details: { name: 'Caroline' } },
    ])
    expect((await change(p, { organization: 'Engines', externalId: 'c-1' })).body).toEqual({
      ...body,
      organization: 'Engines',
      externalId: 'c-1',
    })
    expect((await change(p, { organization: '', externalId: null })).body).toEqual(body)
    expect((await change(p, {})).body).toEqual(body)
  })
  test('to what it has already is no conflict with itself', async () => {
    using p = await world()
    await change(p, { email: 'cal@example.com', externalId: 'c-1' })
    expect(code(await change(p, { email: 'CAL@example.com', externalId: 'c-1' }))).toBe('200')
  })
  test('is refused where another has it or it is none, and nothing happens', async () => {
    using p = await world()
    const taken = { name: 'Ada', email: 'taken@customer.test', externalId: 'taken-1' }
    await p.admin('POST', '/admin/customers', taken)
    p.db.$client.run("UPDATE accounts SET email = 'ada@staff.test' WHERE id = ?", [p.owner.id])
    const before = p.fingerprint()
    for (const [body, expected] of [
      [{ email: taken.email }, '409 email_taken'],
      [{ name: 'Never', email: 'TAKEN@Customer.Test' }, '409 email_taken'],
      [{ email: 'ada@staff.test' }, '409 email_taken'],
      [{ externalId: taken.externalId }, '409 external_id_taken'],
      [{ name: 'Never', externalId: taken.externalId }, '409 external_id_taken'],
      [{ email: 'none' }, '422 validation_failed'],
      [{ name: '' }, '422 validation_failed'],
      [{ name: null }, '422 validation_failed'],
      [{ email: null }, '422 validation_failed'],
      [{ externalId: '' }, '422 validation_failed'],
      [{ kind: 'staff' }, '422 validation_failed'],
      [{ lockedAt: null }, '422 validation_failed'],
    ] as const)
      expect(`${JSON.stringify(body)} ${code(await change(p, body))}`).toBe(`${JSON.stringify(body)} ${expected}`)
    expect(p.fingerprint()).toBe(before)
  })
  test('is for staff who may, and never for the accounts of staff', async () => {
    using p = await world()
    expect(code(await change(p, { name: 'X' }, p.customer))).toBe('403 forbidden')
    const refused = await change(p, { name: 'X' }, p.staff(['customers.read']))
    expect(code(refused)).toBe('403 forbidden')
    // A person reads the missing right in words.
    expect(refused.body.error.message).toContain('“Create and change customers”')
    expect(refused.body.error.message).not.toContain('customers.write')
    expect(code(await change(p, { name: 'X' }, p.token(p.owner.id, ['customers:read'])))).toBe('403 missing_scope')
    expect(code(await change(p, { name: 'X' }, p.owner, p.staff().id))).toBe('404 customer_not_found')
  })
})

describe('a locked customer', () => {
  test('is refused orders and power actions until it is unlocked, and what it has goes on', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const locked = await act(p, 'lock', { reason: 'Payments were charged back' })
    expect(locked).toMatchObject({ status: 200, body: { id: p.customer.id, lockReason: 'Payments were charged back' } })
    expect(Date.parse(locked.body.lockedAt)).toBeGreaterThan(0)
    expect(code(await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'web02' }))).toBe(
      '409 account_locked',
    )
    const power = { action: 'shutdown' }
    expect(code(await p.call(p.customer, 'POST', `/servers/${serverId}/actions/power`, power))).toBe(
      '409 account_locked',
    )
    expect((await p.admin('GET', `/servers/${serverId}`)).status).toBe('running')
    expect(code(await p.call(p.owner, 'POST', `/servers/${serverId}/actions/power`, power))).toBe('202')
    await p.settle()
    expect((await act(p, 'unlock')).body).toMatchObject({ lockedAt: null, lockReason: null })
    expect(code(await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'web02' }))).toBe('201')
    await p.settle()
  })
  test('is not locked twice, nor unlocked twice; the first reason stays', async () => {
    using p = await world()
    expect(code(await act(p, 'unlock'))).toBe('409 already_done')
    await act(p, 'lock', { reason: 'First' })
    const before = p.fingerprint()
    expect(code(await act(p, 'lock', { reason: 'Second' }))).toBe('409 already_done')
    expect(p.fingerprint()).toBe(before)
    expect(await show(p)).toMatchObject({ lockReason: 'First' })
  })
  test('needs a reason of one line', async () => {
    using p = await world()
    const before = p.fingerprint()
    for (const body of [{}, { reason: '' }, { reason: 'a\nb' }, { reason: 'x'.repeat(501) }, { reason: null }])
      expect(code(await act(p, 'lock', body))).toBe('422 validation_failed')
    expect(p.fingerprint()).toBe(before)
  })
  test('is locked by staff who may', async () => {
    using p = await world()
    for (const action of ['lock', 'unlock']) {
      const body = action === 'lock' ? { reason: 'x' } : undefined
      expect(code(await act(p, action, body, p.customer))).toBe('403 forbidden')
      expect(code(await act(p, action, body, p.staff(['customers.read'])))).toBe('403 forbidden')
    }
  })
  test('says so on its page, with the reason as text, and offers what can be done now', async () => {
    using p = await world()
    const path = `/admin/customers/${p.customer.id}`
    const open = await shown(p, path)
    expect(open).toContain('data-call="customers.update"')
    expect(open).toContain('data-call="customers.lock"')
    expect(open).not.toContain('customers.unlock')
    await act(p, 'lock', { reason: 'Owes <b>much</b>' })
    const locked = await shown(p, path)
    expect(locked).toContain('nothing can be ordered for Cal')
    expect(locked).toContain('Owes &lt;b>much&lt;/b>')
    expect(locked).toContain('data-call="customers.unlock"')
    expect(locked).not.toContain('customers.lock')
    expect(locked).not.toContain('href="/admin/servers/new?')
    const reader = await shown(p, path, p.staff(['customers.read']))
    expect(reader).toContain('nothing can be ordered for Cal')
    for (const op of ['customers.update', 'customers.unlock']) expect(reader).not.toContain(op)
  })
})
