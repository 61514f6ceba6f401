import { describe, expect, test } from 'bun:test'
import { operations } from '../../../../src/app/features.ts'
import { codeOf, cookiesOf, password, person, withApp } from '../../../support/second-factor.ts'
import { type Panel, type Who, world } from '../../../support/world/panel.ts'

const minute = 60_000
const confirm = (p: Panel, who: Who, body: unknown) => p.call(who, 'POST', '/sessions/current/confirm', body)
const addToken = (p: Panel, who: Who) => p.call(who, 'POST', '/account/tokens', { name: 'T', scopes: ['account:read'] })
/** The same session under its new value. */
const after = (who: Who, answer: Awaited<ReturnType<typeof confirm>>): Who => ({
  ...who,
  cookie: cookiesOf(answer)['__Host-panel']!,
})

test('S21 what must not be given away by an unlocked screen is marked', () => {
  const marked = operations.filter((op) => op.requiresRecentAuth).map((op) => op.id)
  for (const id of [
    'tokens.create',
    'tokens.rotate',
    'staff.create',
    'totp.begin',
    'totp.confirm',
    'totp.remove',
    'recovery-codes.create',
    'passkeys.begin',
    'passkeys.create',
    'passkeys.remove',
    'servers.terminate',
    'servers.reinstall',
    'sessions.end-others',
    'nodes.remove',
    'support.open',
  ])
    expect(marked).toContain(id)
})

describe('S21 ten minutes after somebody showed who they are', () => {
  test('each of these is refused, and nothing happens; a token is not asked', async () => {
    const p = await world()
    using _ = p
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const ada = person(p, 'staff')
    const token = (await addToken(p, ada)).body.id
    p.turnClock(10 * minute + 1)
    const ids: Record<string, string> = { server: serverId, node: p.node.id, token }
    for (const op of operations.filter((o) => o.requiresRecentAuth && o.access !== 'anyone' && o.access.staff)) {
      const path = op.path.replace(/\{\w+\}/, ids[op.on?.name ?? ''] ?? 'x')
      // Where only one field asks for it, that field is there.
      const options = Object.fromEntries(
        (op.requiresRecentAuth === true ? [] : op.requiresRecentAuth!).map((name) => [name, 'x@y.test']),
      )
      const before = p.fingerprint()
      const { status, body } = await p.call(
        ada,
        op.method,
        path,
        op.body ? { ...(op.example as object), ...options } : undefined,
      )
      expect([op.id, status, body.error.code]).toEqual([op.id, 403, 'confirmation_required'])
      expect(p.fingerprint()).toBe(before)
    }
    expect((await p.call(p.token(ada.id), 'POST', `/servers/${serverId}/actions/terminate`)).body.error?.code).not.toBe(
      'confirmation_required',
    )
  })
  test('the password, or a code, makes the same call go through, under a new cookie and the same page', async () => {
    const p = await world()
    using _ = p
    for (const proof of ['password', 'code'] as const) {
      const cal = person(p)
      const { secret } = await withApp(p, cal)
      p.turnClock(10 * minute)
      expect((await addToken(p, cal)).body.error.code).toBe('confirmation_required')
      const answer = await confirm(p, cal, proof === 'password' ? { password } : { code: codeOf(p, secret) })
      expect(answer.status).toBe(200)
      const fresh = after(cal, answer)
      expect(fresh.cookie).not.toBe(cal.cookie!)
      expect((await addToken(p, cal)).status).toBe(401)
      expect((await addToken(p, fresh)).status).toBe(201)
    }
  })
})

describe('S21 showing who one is', () => {
  test('with what is wrong is refused, audited, and confirms nothing', async () => {
    const p = await world()
    using _ = p
    const cal = person(p)
    await withApp(p, cal)
    p.turnClock(10 * minute)
    const lines = p.auditLines().length
    for (const body of [
      { password: 'wrong' },
      { code: '000000' },
      { passkey: { id: 'AQ', response: { clientDataJSON: 'e30' } } },
    ]) {
      const answer = await confirm(p, cal, body)
      expect([answer.status, answer.body.error.code, answer.headers.get('Set-Cookie')]).toEqual([
        401,
        'sign_in_failed',
        null,
      ])
    }
    expect(p.auditLines().slice(lines)).toMatchObject(
      [1, 2, 3].map(() => ({
        operation: 'sessions.confirm',
        result: 'sign_in_failed',
        actorId: cal.id,
        details: null,
      })),
    )
    expect((await addToken(p, cal)).body.error.code).toBe('confirmation_required')
  })
  test('takes exactly one proof', async () => {
    const p = await world()
    using _ = p
    const cal = person(p)
    for (const body of [{}, { password, code: '123456' }])
      expect((await confirm(p, cal, body)).body.error.code).toBe('validation_failed')
  })
  test('is slowed for this session after five failures, and for no other', async () => {
    const p = await world()
    using _ = p
    const cal = person(p)
    const other = person(p)
    for (let i = 0; i < 5; i++) expect((await confirm(p, cal, { password: 'wrong' })).status).toBe(401)
    expect((await confirm(p, cal, { password })).body.error.code).toBe('rate_limited')
    expect((await confirm(p, other, { password })).status).toBe(200)
    p.turnClock(16_000)
    expect((await confirm(p, cal, { password })).status).toBe(200)
  })
  test('a code is used up by it', async () => {
    const p = await world()
    using _ = p
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const code = codeOf(p, secret)
    const answer = await confirm(p, cal, { code })
    expect(answer.status).toBe(200)
    expect((await confirm(p, after(cal, answer), { code })).status).toBe(401)
  })
  test('is not for tokens', async () => {
    const p = await world()
    using _ = p
    const cal = person(p)
    expect((await confirm(p, p.token(cal.id), { password })).body.error.code).toBe('token_not_allowed')
  })
})
