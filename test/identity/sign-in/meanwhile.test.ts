// What is under way while a password changes, and how many may be under way.
import { describe, expect, test } from 'bun:test'
import { accountById } from '../../../src/identity/accounts/model.ts'
import { makeLink } from '../../../src/identity/auth/links/links.ts'
import { hashPassword, passwordFits } from '../../../src/identity/auth/passwords/hash.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { type Panel, panel, type Who } from '../../support/panel.ts'
import { password, person, signIn } from '../../support/second-factor.ts'

const other = 'a second set of words'
const sessionsOf = (p: Panel, id: string) =>
  p.db.$client.query<{ id: string }, [string]>('SELECT id FROM sessions WHERE account_id = ?').all(id)
const linkFor = (p: Panel, id: string) =>
  write(p.db, (tx) => makeLink(tx, { purpose: 'reset', account: accountById(tx, id)!, now: p.now() }))
    .path.split('/')
    .pop()!

describe('S19: what began with the old password opens nothing once there is a new one', () => {
  /** Argon2 takes its turns: four at once. Who comes first is done first, so a change that began earlier ends earlier. */
  async function meanwhile(p: Panel, who: Who & { id: string }, begin: () => ReturnType<Panel['call']>) {
    const reset = p.call(undefined, 'POST', '/passwords', { token: linkFor(p, who.id), password: other })
    const [changed, answer] = await Promise.all([reset, begin()])
    expect(changed.status).toBe(201)
    return answer
  }
  test('a sign-in', async () => {
    using p = await panel()
    const cal = person(p)
    // The check itself is made slow, so that the change overtakes it for certain.
    const slow = Bun.password.verify
    Bun.password.verify = (async (...given: Parameters<typeof slow>) => {
      const fits = await slow(...given)
      await Bun.sleep(400)
      return fits
    }) as typeof slow
    try {
      const answer = await meanwhile(p, cal, () => signIn(p, cal.email))
      expect([answer.status, answer.body.error?.code]).toEqual([401, 'sign_in_failed'])
      expect(answer.headers.get('Set-Cookie')).toBeNull()
    } finally {
      Bun.password.verify = slow
    }
    // Only the one of whoever changed it.
    expect(sessionsOf(p, cal.id).length).toBe(1)
    expect(p.auditLines().at(-1)).toMatchObject({
      operation: 'sessions.create',
      result: 'sign_in_failed',
      target: cal.id,
    })
  })
  for (const [what, method, path, body] of [
    ['a confirmation', 'POST', '/sessions/current/confirm', { password }],
    ['another password', 'PUT', '/account/password', { current: password, password: 'a third set of words' }],
    ['another address', 'PUT', '/account/email', { email: 'eve@example.com', password }],
  ] as const)
    test(`${what}, also of the session that goes on`, async () => {
      using p = await panel()
      const cal = person(p)
      const slow = Bun.password.verify
      let first = true
      Bun.password.verify = (async (...given: Parameters<typeof slow>) => {
        const wait = first
        first = false
        const fits = await slow(...given)
        if (wait) await Bun.sleep(600)
        return fits
      }) as typeof slow
      try {
        const late = p.call(cal, method, path, body)
        const mails = p.mailed().length
        expect((await p.call(cal, 'PUT', '/account/password', { current: password, password: other })).status).toBe(200)
        const { status, headers } = await late
        expect([status, headers.get('Set-Cookie')]).toEqual([path.endsWith('confirm') ? 401 : 422, null])
        expect(p.mailed().length).toBe(mails + 1)
      } finally {
        Bun.password.verify = slow
      }
      expect((await signIn(p, cal.email, other)).status).toBe(201)
      expect(sessionsOf(p, cal.id).length).toBe(2)
    })
})

describe('S17: a flood of sign-ins', () => {
  test('waits in a queue that has an end; who comes then is told when to come again', async () => {
    const hash = await hashPassword(password)
    const codes = await Promise.all(
      Array.from({ length: 70 }, () =>
        passwordFits(password, hash, false).then(String, (error) => `${error.code} ${error.details.retryAfterSeconds}`),
      ),
    )
    expect(codes.filter((c) => c === 'true').length).toBe(54)
    expect(codes.filter((c) => c === 'rate_limited 5').length).toBe(16)
  })
  test('lets those go first who come from where they were before, and counts nobody as guessing who was not looked at', async () => {
    const hash = await hashPassword(password)
    const order: string[] = []
    const strangers = Array.from({ length: 30 }, () =>
      passwordFits(password, hash, false).then(() => order.push('stranger')),
    )
    await passwordFits(password, hash, true).then(() => order.push('known'))
    await Promise.all(strangers)
    expect(order.indexOf('known')).toBeLessThan(10)
    using p = await panel()
    const cal = person(p)
    const flood = Array.from({ length: 70 }, () => passwordFits(password, hash, false).catch(() => false))
    for (let i = 0; i < 8; i++) {
      const { status, headers } = await signIn(p, cal.email)
      if (i === 0) expect([status, headers.get('Retry-After')]).toEqual([429, '5'])
    }
    await Promise.all(flood)
    expect((await signIn(p, cal.email)).status).toBe(201)
  })
})
