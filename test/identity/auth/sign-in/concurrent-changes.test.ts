// Calls that are under way while a password changes, and how many may be.
import { describe, expect, test } from 'bun:test'
import { accountById } from '../../../../src/identity/account-records/queries.ts'
import { makeLink } from '../../../../src/identity/auth/links/links.ts'
import { hashPassword, passwordFits } from '../../../../src/identity/auth/passwords/hash.ts'
import { write } from '../../../../src/kernel/db/open.ts'
import { password, person, signIn } from '../../../support/second-factor.ts'
import { type Panel, panel } from '../../../support/world/panel.ts'

const other = 'a second set of words'
const sessionsOf = (p: Panel, id: string) =>
  p.db.$client.query<{ id: string }, [string]>('SELECT id FROM sessions WHERE account_id = ?').all(id)
const linkFor = (p: Panel, id: string) =>
  write(p.db, (tx) => makeLink(tx, { purpose: 'reset', account: accountById(tx, id)!, now: p.now() }))
    .path.split('/')
    .pop()!

describe('S19: what began with the old password opens nothing once there is a new one', () => {
  /** Holds the first verification of a password back until `release`, so that the change overtakes it for certain. */
  async function holdingFirstCheck(work: (release: () => void) => Promise<void>) {
    const verify = Bun.password.verify
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let isFirst = true
    Bun.password.verify = (async (...given: Parameters<typeof verify>) => {
      const held = isFirst
      isFirst = false
      const fits = await verify(...given)
      if (held) await released
      return fits
    }) as typeof verify
    try {
      await work(release)
    } finally {
      release()
      Bun.password.verify = verify
    }
  }
  test('a sign-in', async () => {
    using p = await panel()
    const cal = person(p)
    await holdingFirstCheck(async (release) => {
      const late = signIn(p, cal.email)
      const changed = await p.call(undefined, 'POST', '/passwords', { token: linkFor(p, cal.id), password: other })
      expect(changed.status).toBe(201)
      release()
      const answer = await late
      expect([answer.status, answer.body.error?.code]).toEqual([401, 'sign_in_failed'])
      expect(answer.headers.get('Set-Cookie')).toBeNull()
    })
    // The session of the person who changed it.
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
      await holdingFirstCheck(async (release) => {
        const late = p.call(cal, method, path, body)
        const mails = p.mailed().length
        const changed = await p.call(cal, 'PUT', '/account/password', { current: password, password: other })
        expect(changed.status).toBe(200)
        release()
        const { status, headers } = await late
        expect([status, headers.get('Set-Cookie')]).toEqual([path.endsWith('confirm') ? 401 : 422, null])
        expect(p.mailed().length).toBe(mails + 1)
      })
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
  test('serves known addresses first, and counts no failure for a call that was never checked', async () => {
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
