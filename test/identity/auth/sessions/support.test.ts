// A member of staff in somebody's account: what that may do, what it may not, how it shows, and how it ends.
import { describe, expect, test } from 'bun:test'
import { operations } from '../../../../src/app/features.ts'
import { isAllowedInSupportSession } from '../../../../src/kernel/api/operation.ts'
import { type Who, type World, world } from '../../../support/world/panel.ts'

const code = ({ status, body }: { status: number; body: any }) => `${status} ${body.error?.code ?? ''}`.trim()
const reason = 'Ticket 4711'
const open = (p: World, who: Who, id = p.customer.id) =>
  p.call(who, 'POST', `/customers/${id}/support-session`, { reason })

/** Opens one; what the browser is left with. */
async function inside(p: World, permissions?: any): Promise<{ staff: Who & { id: string }; inIt: Who }> {
  const staff = p.staff(permissions, 'Sam')
  const reply = await open(p, staff)
  expect(code(reply)).toBe('201')
  const cookie = reply.headers.get('Set-Cookie')!.split(/[=;]/)[1]!
  const { csrf } = p.db.$client
    .query<{ csrf: string }, [string]>('SELECT csrf FROM sessions WHERE account_id = ?')
    .get(staff.id)!
  return { staff, inIt: { cookie, csrf } }
}

/** Fields that are answered only once. */
const SHOWN_ONCE = /^(?!has)(.*password|token$|.*secret$|.*codes$|(url|link|uri)$)/i
const fieldsOf = (schema: any): string[] =>
  typeof schema !== 'object' || schema === null
    ? []
    : [
        // A secret is a text: whether there is one may be known.
        ...Object.entries<any>(schema.properties ?? {}).flatMap(([name, { type }]) =>
          type === 'boolean' ? [] : [name],
        ),
        ...Object.values(schema.properties ?? {}).flatMap(fieldsOf),
        ...fieldsOf(schema.items),
        ...(schema.anyOf ?? []).flatMap(fieldsOf),
      ]

describe('S22: a support session', () => {
  test('needs the permission and a reason, and is never into staff', async () => {
    using p = await world()
    const [reader, staff] = [p.staff(['customers.read', 'servers.see_all']), p.staff(['support_session'])]
    const token = p.token(staff.id)
    const before = p.fingerprint()
    expect(code(await open(p, reader))).toBe('403 forbidden')
    const path = `/customers/${p.customer.id}/support-session`
    const empty = ['', ' ', ' \u00a0\u2003 ', '\u200b\u200d\ufeff', '\u00ad', '\u3164', '...', null, undefined]
    for (const reason of empty)
      expect([reason, code(await p.call(staff, 'POST', path, { reason }))]).toEqual([reason, '422 validation_failed'])
    expect(code(await open(p, staff, p.owner.id))).toBe('404 customer_not_found')
    expect(code(await open(p, token))).toBe('403 token_not_allowed')
    expect(() => p.admin('POST', `/customers/${p.customer.id}/support-session`, { reason })).toThrow('forbidden')
    expect(p.fingerprint()).toBe(before)
  })
  test('keeps its reason in the audit log as it was meant, without the spaces around it', async () => {
    using p = await world()
    const staff = p.staff(undefined, 'Sam')
    const path = `/customers/${p.customer.id}/support-session`
    expect((await p.call(staff, 'POST', path, { reason: '  Ticket 4711: 起動しない \u00a0' })).status).toBe(201)
    expect(p.auditLines().at(-1)!.details).toMatchObject({ reason: 'Ticket 4711: 起動しない' })
  })
  test('sees what the customer sees and nothing of the staff area, under a new cookie', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    const { staff, inIt } = await inside(p)
    expect((await p.call(inIt, 'GET', '/servers')).body.data.map((s: any) => [s.id, s.node])).toEqual([
      [serverId, null],
    ])
    expect(code(await p.call(inIt, 'GET', '/admin/servers'))).toBe('403 forbidden')
    expect(code(await p.call(staff, 'GET', '/servers'))).toBe('401 not_authenticated')
  })
  test("shows in the audit log and in jobs as both, and what was done in it is the staff member's doing", async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const { staff, inIt } = await inside(p)
    const { body } = await p.call(inIt, 'POST', `/servers/${serverId}/actions/power`, { action: 'restart' })
    await p.settle()
    expect(p.auditLines().slice(-2)).toMatchObject([
      { operation: 'support.open', actorId: staff.id, target: p.customer.id, via: 'page', details: { reason } },
      {
        operation: 'servers.power',
        actorId: staff.id,
        actorName: 'Sam as Cal',
        via: expect.stringMatching(/^support session ses_/),
      },
    ])
    const startedBy = async (who: Who) => (await p.call(who, 'GET', `/jobs/${body.jobId}`)).body.startedBy
    expect(await startedBy(p.owner)).toEqual({ type: 'person', id: staff.id, name: 'Sam as Cal' })
    // Customers do not read the name of the member of staff.
    expect(await startedBy(p.customer)).toEqual({ type: 'person', id: '', name: 'Staff' })
  })
  const forSomebody = operations.filter((op) => op.access !== 'anyone')
  test('may make no change but those that say so, and nothing happens', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Rita')
    const { inIt } = await inside(p)
    const staff = p.staff(undefined, 'Sue')
    const opened = await open(p, staff, reseller.id)
    const { csrf } = p.db.$client
      .query<{ csrf: string }, [string]>('SELECT csrf FROM sessions WHERE account_id = ?')
      .get(staff.id)!
    const inReseller = { cookie: opened.headers.get('Set-Cookie')!.split(/[=;]/)[1]!, csrf }
    const before = p.fingerprint()
    for (const op of forSomebody.filter((op) => !isAllowedInSupportSession(op)))
      for (const who of [inIt, inReseller]) {
        const reply = await p.call(
          who,
          op.method,
          op.path.replace(/\{\w+\}/, 'x'),
          op.method === 'GET' ? undefined : op.example,
        )
        expect(`${op.id}: ${code(reply)}`).toBe(`${op.id}: 403 support_session`)
      }
    expect(p.fingerprint()).toBe(before)
  })
  test('does not reach the holder’s identity, ways to sign in, other people’s access, or the list of it', () => {
    // S22, by hand: what is not in this list any more, or is open, is a decision and not a slip.
    const own = [
      'account.password account.email account.update',
      'totp.begin totp.confirm totp.remove second-factor.get recovery-codes.create',
      'passkeys.begin passkeys.create passkeys.rename passkeys.remove',
      'identities.begin-link identities.link identities.remove',
      'sessions.list sessions.end-one sessions.end-others sessions.confirm sessions.confirm-passkey',
      'tokens.list tokens.create tokens.rotate tokens.revoke',
      'ssh-keys.create ssh-keys.update ssh-keys.remove',
      'team.invite team.resend team.update team.remove team.accept team.leave',
      'servers.setup servers.reinstall servers.terminate reseller.create-server reseller.create-customer',
      'sign-in-links.create customers.update customers.invite customers.reset-second-factor support.open',
    ].flatMap((line) => line.split(' '))
    expect(own.filter((id) => !forSomebody.some((op) => op.id === id))).toEqual([])
    expect(forSomebody.filter((op) => own.includes(op.id) && isAllowedInSupportSession(op)).map((op) => op.id)).toEqual(
      [],
    )
  })
  test('may make these changes, and a new one only when somebody wrote it here', () =>
    expect(
      forSomebody
        .filter((op) => op.method !== 'GET' && isAllowedInSupportSession(op))
        .map((op) => op.id)
        .toSorted(),
    ).toEqual([
      'customers.lock',
      'customers.unlock',
      'gpu-instances.power',
      'gpu-instances.rename',
      'gpu-instances.suspend',
      'gpu-instances.unsuspend',
      'servers.power',
      'servers.rename',
      'servers.suspend',
      'servers.unsuspend',
      'sessions.end',
      'support.close',
    ]))
  test('is answered nothing that is shown once, and reads nothing that needs its person', () => {
    // The URL of a webhook, an ISO or an image is what its owner typed, and is shown to them whenever they look. That
    // of a port of a GPU instance is public.
    const typed = (op: { path: string }, field: string) =>
      field === 'url' &&
      /^\/(webhook|isos|(customers\/\{id\}|admin)\/images|admin\/settings|admin\/updates|(admin\/)?gpu-instances)/.test(
        op.path,
      )
    for (const op of forSomebody.filter(isAllowedInSupportSession)) {
      const once = fieldsOf(op.response).filter((field) => SHOWN_ONCE.test(field) && !typed(op, field))
      expect([op.id, ...once]).toEqual([op.id])
      if (op.method === 'GET') expect([op.id, op.requiresSession]).toEqual([op.id, undefined])
    }
    // The pattern finds those that there are.
    const elsewhere = forSomebody.filter(
      (op) => !isAllowedInSupportSession(op) && fieldsOf(op.response).some((field) => SHOWN_ONCE.test(field)),
    )
    for (const id of [
      'tokens.create',
      'servers.reinstall',
      'reseller.create-server',
      'sign-in-links.create',
      'totp.begin',
      'recovery-codes.create',
    ])
      expect(elsewhere.map((op) => op.id)).toContain(id)
  })
  test('is not answered what the holder was answered, by their key', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const { inIt } = await inside(p)
    const stop = (who: Who) =>
      p.call(who, 'POST', `/servers/${serverId}/actions/power`, { action: 'off' }, { 'Idempotency-Key': 'off-1' })
    const held = await stop(p.customer)
    await p.settle()
    expect([held.status, (await stop(p.customer)).headers.get('Idempotency-Replayed')]).toEqual([202, 'true'])
    expect([code(await stop(inIt)), (await stop(inIt)).headers.get('Idempotency-Replayed')]).toEqual([
      '409 already_stopped',
      null,
    ])
    // Its own keys hold, for itself alone.
    const start = (who: Who) =>
      p.call(who, 'POST', `/servers/${serverId}/actions/power`, { action: 'start' }, { 'Idempotency-Key': 'on-1' })
    expect(code(await start(inIt))).toBe('202')
    await p.settle()
    expect((await start(inIt)).headers.get('Idempotency-Replayed')).toBe('true')
    expect(code(await start(p.customer))).toBe('409 already_running')
  })
  test('ends after 60 minutes, with the permission, or when it is left; then the own account is back', async () => {
    using p = await world()
    const whose = async (who: Who) => code(await p.call(who, 'GET', '/admin/overview'))
    const timed = await inside(p)
    expect(await whose(timed.inIt)).toBe('403 forbidden')
    for (let i = 0; i < 2; i++) {
      p.turnClock(29 * 60_000)
      expect(await whose(timed.inIt)).toBe('403 forbidden')
    }
    p.turnClock(3 * 60_000)
    expect(await whose(timed.inIt)).toBe('200')

    const cut = await inside(p, ['support_session', 'customers.read'])
    p.db.$client.run("UPDATE roles SET permissions = '[]' WHERE is_owner = 0")
    expect(await whose(cut.inIt)).toBe('200')

    const left = await inside(p)
    const reply = await p.call(left.inIt, 'DELETE', '/support-session')
    expect(code(reply)).toBe('200')
    expect(await whose(left.inIt)).toBe('401 not_authenticated')
    expect(await whose({ cookie: reply.headers.get('Set-Cookie')!.split(/[=;]/)[1]! })).toBe('200')
  })
  test('has a banner on every page, which leads out of it', async () => {
    using p = await world()
    const { inIt } = await inside(p)
    const page = await p.controller.router.fetch(
      new Request('http://localhost/', { headers: { Cookie: `__Host-panel=${inIt.cookie}` } }),
    )
    const text = await page.text()
    expect(text).toContain('Support session')
    expect(text).toContain('in the account of <strong>Cal</strong>')
    expect(text).toContain('/api/v1/support-session')
  })
})
