import { describe, expect, test } from 'bun:test'
import { accountById } from '../../../../src/identity/account-records/queries.ts'
import { makeLink } from '../../../../src/identity/auth/links/links.ts'
import { endSessionsOf } from '../../../../src/identity/auth/sessions/sessions.ts'
import { takeEffect } from '../../../../src/identity/weakenings/wait.ts'
import type { ApiError } from '../../../../src/kernel/api/errors.ts'
import { write } from '../../../../src/kernel/db/open.ts'
import {
  codeOf,
  cookiesOf,
  finish,
  password,
  pending,
  pendingIn,
  person,
  signIn,
  whoOf,
  withApp,
} from '../../../support/second-factor.ts'
import { type Panel, panel, type Who } from '../../../support/world/panel.ts'
import { allPermissions } from '../../../support/world/rights.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const sessions = (p: Panel) => (p.db.$client.query('SELECT count(*) AS n FROM sessions').get() as { n: number }).n
const alive = async (p: Panel, who: Who) => (await p.call(who, 'GET', '/account/sessions')).status === 200

/** Refused, and no session came of it. */
async function refused(p: Panel, work: () => ReturnType<typeof finish>, code = 'sign_in_failed') {
  const before = sessions(p)
  const answer = await work()
  expect([answer.status, answer.body.error?.code]).toEqual([code === 'rate_limited' ? 429 : 401, code])
  expect(cookiesOf(answer)).toEqual({})
  expect(sessions(p)).toBe(before)
  return answer
}

describe('S18 signing in with an authenticator app', () => {
  test('the right password opens no session but asks for the second factor; the code then opens one', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const before = sessions(p)
    const first = await signIn(p, cal.email)
    expect([first.status, first.body]).toEqual([
      201,
      { accountId: cal.id, kind: 'customer', home: '/login/2fa', secondFactor: ['totp', 'recovery'] },
    ])
    expect(Object.keys(cookiesOf(first))).toEqual(['__Host-panel-second'])
    expect(first.headers.getSetCookie()[0]).toMatch(/; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/)
    expect(sessions(p)).toBe(before)
    const Cookie = `__Host-panel-second=${cookiesOf(first)['__Host-panel-second']}`
    expect((await p.call(undefined, 'GET', '/account/sessions', undefined, { Cookie })).status).toBe(401)

    const second = await finish(p, { code: codeOf(p, secret) }, { Cookie })
    expect([second.status, second.body]).toEqual([201, { accountId: cal.id, kind: 'customer', home: '/' }])
    expect(cookiesOf(second)['__Host-panel-second']).toBe('')
    expect(await alive(p, whoOf(p, second))).toBe(true)
    expect(p.auditLines().slice(-2)).toMatchObject([
      { operation: 'sessions.create', result: 'second_factor_required', actorId: cal.id, details: { password: '***' } },
      { operation: 'sessions.second-factor', result: 'done', actorId: cal.id, details: { code: '***' } },
    ])
  })
  test('is said to who asks with the cookie of that browser, and to nobody else', async () => {
    using p = await panel()
    const cal = person(p)
    await withApp(p, cal)
    const mine = await pending(p, cal.email)
    expect((await p.call(undefined, 'GET', '/sessions/second-factor', undefined, mine)).body.secondFactor).toEqual([
      'totp',
      'recovery',
    ])
    expect((await p.call(undefined, 'GET', '/sessions/second-factor')).body).toEqual({ secondFactor: [], until: null })
  })
  test('a code of the step before or after is taken, of two steps away not', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    for (const [away, status] of [
      [-2, 401],
      [2, 401],
      [-1, 201],
      [1, 201],
    ] as const)
      expect([away, (await finish(p, { code: codeOf(p, secret, away) }, await pending(p, cal.email))).status]).toEqual([
        away,
        status,
      ])
  })
  test('a code is good once, and none before it is good any more', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const [earlier, code] = [codeOf(p, secret, -1), codeOf(p, secret)]
    expect((await finish(p, { code }, await pending(p, cal.email))).status).toBe(201)
    for (const used of [code, earlier])
      await refused(p, async () => finish(p, { code: used }, await pending(p, cal.email)))
  })
  test('of two at once with one code, one gets in', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const [a, b] = [await pending(p, cal.email), await pending(p, cal.email)]
    const code = codeOf(p, secret)
    const answers = await Promise.all([finish(p, { code }, a), finish(p, { code }, b)])
    expect(answers.map((x) => x.status).toSorted()).toEqual([201, 401])
  })
})

describe('S18 a step out of order is refused', () => {
  test('the second without the first, with any cookie that is none', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const cookies: Record<string, string>[] = [
      {},
      { Cookie: '__Host-panel-second=x' },
      { Cookie: '__Host-panel-second=' },
      { Cookie: `__Host-panel=${'x'.repeat(43)}` },
    ]
    for (const headers of cookies) await refused(p, () => finish(p, { code: codeOf(p, secret) }, headers))
    expect(p.auditLines().at(-1)).toMatchObject({
      operation: 'sessions.second-factor',
      result: 'sign_in_failed',
      actorId: '',
    })
  })
  test('the second after a wrong password', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const first = await refused(p, () => signIn(p, cal.email, 'wrong password here'))
    await refused(p, () => finish(p, { code: codeOf(p, secret) }, { Cookie: first.headers.get('Set-Cookie') ?? '' }))
  })
  test("with one account's code in the browser that showed another's password", async () => {
    using p = await panel()
    const [cal, mal] = [person(p), person(p)]
    const { secret } = await withApp(p, cal)
    await withApp(p, mal)
    const mine = await pending(p, mal.email)
    await refused(p, () => finish(p, { code: codeOf(p, secret) }, mine))
    const own = await finish(p, { code: codeOf(p, secret) }, await pending(p, cal.email))
    expect(own.body.accountId).toBe(cal.id)
  })
  test('after ten minutes', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const late = await pending(p, cal.email)
    p.turnClock(10 * minute)
    await refused(p, () => finish(p, { code: codeOf(p, secret) }, late))
  })
  test('after it has led to a session', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const mine = await pending(p, cal.email)
    expect((await finish(p, { code: codeOf(p, secret) }, mine)).status).toBe(201)
    p.turnClock(minute)
    await refused(p, () => finish(p, { code: codeOf(p, secret) }, mine))
  })
  test('after the account was disabled, or its sessions were ended', async () => {
    using p = await panel()
    const ada = person(p, 'staff')
    const { secret } = await withApp(p, ada)
    const [one, two] = [await pending(p, ada.email), await pending(p, ada.email)]
    p.db.$client.run('UPDATE accounts SET disabled_at = 1 WHERE id = ?', [ada.id])
    await refused(p, () => finish(p, { code: codeOf(p, secret) }, one))
    p.db.$client.run('UPDATE accounts SET disabled_at = NULL WHERE id = ?', [ada.id])
    write(p.db, (tx) => endSessionsOf(tx, ada.id))
    p.turnClock(minute)
    await refused(p, () => finish(p, { code: codeOf(p, secret) }, two))
  })
  test('after five tries, also with the right code, until the password was shown again', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const mine = await pending(p, cal.email)
    // As if nobody had failed before, so that what refuses is the number of tries.
    const forget = () => p.controller.app.signInThrottle.forget(`second elsewhere ${cal.id}`)
    for (let i = 0; i < 5; i++) {
      forget()
      await refused(p, () => finish(p, { code: '000000' }, mine))
    }
    forget()
    const last = await refused(p, () => finish(p, { code: codeOf(p, secret) }, mine))
    expect(last.body.error.message).toContain('Start again')
    expect((await finish(p, { code: codeOf(p, secret) }, await pending(p, cal.email))).status).toBe(201)
  })
  test('five tries are five when they come at once', async () => {
    using p = await panel()
    const cal = person(p)
    await withApp(p, cal)
    const mine = await pending(p, cal.email)
    const answers = await Promise.all(Array.from({ length: 12 }, () => finish(p, { code: '000000' }, mine)))
    expect(answers.every((a) => a.status === 401 || a.status === 429)).toBe(true)
    expect(
      (p.db.$client.query('SELECT attempts FROM sign_in_challenges').get() as { attempts: number }).attempts,
    ).toBeLessThanOrEqual(5)
  })
  test('with no proof, or two', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret, recoveryCodes } = await withApp(p, cal)
    const mine = await pending(p, cal.email)
    for (const body of [{}, { code: codeOf(p, secret), recoveryCode: recoveryCodes[0] }]) {
      const { status, body: answer } = await finish(p, body, mine)
      expect([status, answer.error.code]).toEqual([422, 'validation_failed'])
    }
  })
  test('every refused second factor is in the audit log, without what was sent', async () => {
    using p = await panel()
    const cal = person(p)
    await withApp(p, cal)
    const mine = await pending(p, cal.email)
    const before = p.auditLines().length
    await refused(p, () => finish(p, { code: '735519' }, mine))
    await refused(p, () => finish(p, { recoveryCode: 'planted-canary' }, mine))
    const lines = p.auditLines().slice(before)
    expect(lines).toMatchObject(
      [1, 2].map(() => ({
        operation: 'sessions.second-factor',
        result: 'sign_in_failed',
        actorId: cal.id,
        target: cal.id,
      })),
    )
    expect(JSON.stringify(lines)).not.toMatch(/735519|canary/)
  })
})

describe('S18 recovery codes', () => {
  test('are ten of 80 bits, kept as digests, each good once, in any letters', async () => {
    using p = await panel()
    const cal = person(p)
    const { recoveryCodes } = await withApp(p, cal)
    expect(new Set(recoveryCodes).size).toBe(10)
    for (const text of recoveryCodes) expect(text).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/)
    const stored = JSON.stringify([p.db.$client.query('SELECT * FROM recovery_codes').all(), p.auditLines()])
    for (const text of recoveryCodes) expect(stored).not.toContain(text)
    const typed = ` ${recoveryCodes[0]!.toUpperCase().replaceAll('-', ' ')} `
    expect((await finish(p, { recoveryCode: typed }, await pending(p, cal.email))).status).toBe(201)
    await refused(p, async () => finish(p, { recoveryCode: recoveryCodes[0] }, await pending(p, cal.email)))
    expect((await finish(p, { recoveryCode: recoveryCodes[1] }, await pending(p, cal.email))).status).toBe(201)
    expect((await p.call(cal, 'GET', '/account/second-factor')).body.recoveryCodesLeft).toBe(8)
  })
  test("are the account's own", async () => {
    using p = await panel()
    const [cal, mal] = [person(p), person(p)]
    const { recoveryCodes } = await withApp(p, cal)
    await withApp(p, mal)
    await refused(p, async () => finish(p, { recoveryCode: recoveryCodes[0] }, await pending(p, mal.email)))
  })
  test('end when new ones are made', async () => {
    using p = await panel()
    const cal = person(p)
    const { recoveryCodes } = await withApp(p, cal)
    const fresh = (await p.call(cal, 'POST', '/account/recovery-codes')).body.recoveryCodes
    await refused(p, async () => finish(p, { recoveryCode: recoveryCodes[0] }, await pending(p, cal.email)))
    expect((await finish(p, { recoveryCode: fresh[0] }, await pending(p, cal.email))).status).toBe(201)
  })
  test('are not made where there is no second factor, and go with the last one', async () => {
    using p = await panel()
    const cal = person(p)
    expect((await p.call(cal, 'POST', '/account/recovery-codes')).body.error.code).toBe('not_possible')
    await withApp(p, cal)
    expect((await p.call(cal, 'DELETE', '/account/totp')).status).toBe(200)
    expect(p.db.$client.query('SELECT * FROM recovery_codes').all()).toEqual([])
    expect((await signIn(p, cal.email)).body.home).toBe('/')
  })
})

describe('S18 adding an authenticator app', () => {
  test('shows its secret once, encrypted from then on, and changes nothing until a code was shown', async () => {
    using p = await panel()
    const cal = person(p)
    const { status, body } = await p.call(cal, 'POST', '/account/totp')
    expect(status).toBe(201)
    expect(body.secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(body.uri).toContain(`secret=${body.secret}`)
    expect(body.qr).toStartWith('<svg')
    expect(JSON.stringify([p.db.$client.query('SELECT * FROM totp').all(), p.auditLines()])).not.toContain(body.secret)
    expect((await signIn(p, cal.email)).body.secondFactor).toBeUndefined()
    const before = p.fingerprint()
    expect(
      (await p.call(cal, 'POST', '/account/totp/actions/confirm', { code: '000000' })).body.error.details.fields[0]
        .field,
    ).toBe('code')
    expect(p.fingerprint()).toBe(before)
    expect((await p.call(cal, 'POST', '/account/totp/actions/confirm', { code: codeOf(p, body.secret) })).status).toBe(
      200,
    )
    expect((await signIn(p, cal.email)).body.secondFactor).toEqual(['totp', 'recovery'])
  })
  test('begun again replaces what was begun; a second app is refused, and nothing happens', async () => {
    using p = await panel()
    const cal = person(p)
    const first = (await p.call(cal, 'POST', '/account/totp')).body.secret
    await withApp(p, cal)
    const before = p.fingerprint()
    expect((await p.call(cal, 'POST', '/account/totp')).body.error.code).toBe('not_possible')
    expect(
      (await p.call(cal, 'POST', '/account/totp/actions/confirm', { code: codeOf(p, first) })).body.error.code,
    ).toBe('not_possible')
    expect(p.fingerprint()).toBe(before)
  })
  test('S19 ends the other sessions, and so does taking it away', async () => {
    using p = await panel()
    const cal = person(p)
    const other = whoOf(p, await signIn(p, cal.email))
    const { secret } = await withApp(p, cal)
    expect([await alive(p, cal), await alive(p, other)]).toEqual([true, false])
    const again = whoOf(p, await finish(p, { code: codeOf(p, secret) }, await pending(p, cal.email)))
    expect((await p.call(cal, 'DELETE', '/account/totp')).status).toBe(200)
    expect([await alive(p, cal), await alive(p, again)]).toEqual([true, false])
  })
  test('is for a person: not for a token, not for System', async () => {
    using p = await panel()
    const cal = person(p)
    for (const [method, path] of [
      ['POST', '/account/totp'],
      ['DELETE', '/account/totp'],
      ['POST', '/account/recovery-codes'],
      ['POST', '/account/passkeys/actions/begin'],
      ['GET', '/account/second-factor'],
      ['GET', '/account/sessions'],
      ['DELETE', '/account/sessions'],
    ] as const)
      expect((await p.call(p.token(cal.id), method, path)).body.error.code).toBe('token_not_allowed')
    await expect(p.admin('POST', '/account/totp')).rejects.toThrow('forbidden')
  })
})

describe('S17 repeated wrong proofs for one account', () => {
  test('waits after the fifth failure, twice as long after each, up to 15 minutes', async () => {
    using p = await panel()
    const cal = person(p)
    const waits: number[] = []
    for (let i = 0; i < 13; i++) {
      p.turnClock(minute)
      const { status } = await signIn(p, cal.email, 'wrong')
      expect(status).toBe(401)
      const next = await signIn(p, cal.email, 'wrong')
      if (next.status === 429) {
        const seconds = Number(next.headers.get('Retry-After'))
        waits.push(seconds)
        p.turnClock(seconds * 1000)
      } else if (i >= 2) expect(next.status).toBe(429)
    }
    expect(waits.slice(0, 8).map((s) => Math.round(s / 15) * 15)).toEqual([15, 30, 60, 120, 240, 480, 900, 900])
  })
  test('is slowed with the same words for an address without an account', async () => {
    using p = await panel()
    const cal = person(p)
    const answers = async (email: string) => {
      const all = []
      for (let i = 0; i < 7; i++) {
        const { status, body, headers } = await signIn(p, email, 'wrong')
        all.push([status, body.error.message, headers.get('Retry-After')])
      }
      return all
    }
    const [known, unknown] = [await answers(cal.email), await answers('nobody@person.test')]
    expect(known).toEqual(unknown)
    expect(known.at(-1)![0]).toBe(429)
  })
  test('does not touch open sessions, nor the password where the owner signed in before', async () => {
    using p = await panel()
    const cal = person(p)
    // The owner was here; the strangers are elsewhere.
    expect((await signIn(p, cal.email)).status).toBe(201)
    const { signInThrottle } = p.controller.app
    const strangers = `elsewhere ${cal.email}`
    for (let i = 0; i < 5; i++) signInThrottle.take(strangers, '')
    expect(() => signInThrottle.take(strangers, '')).toThrow('Try again')
    expect(await alive(p, cal)).toBe(true)
    expect((await signIn(p, cal.email)).status).toBe(201)
    // And the owner who forgot it is slowed for himself.
    for (let i = 0; i < 5; i++) expect((await signIn(p, cal.email, 'wrong')).status).toBe(401)
    const { status, body } = await signIn(p, cal.email)
    expect([status, body.error.code]).toEqual([429, 'rate_limited'])
  })
  test('is as slow for codes as for passwords, and knocking while waiting prolongs nothing', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const [one, two] = [await pending(p, cal.email), await pending(p, cal.email)]
    for (let i = 0; i < 5; i++) await refused(p, () => finish(p, { code: '000000' }, i < 3 ? one : two))
    const { headers } = await refused(p, () => finish(p, { code: codeOf(p, secret) }, two), 'rate_limited')
    const seconds = Number(headers.get('Retry-After'))
    for (let i = 0; i < 5; i++) await refused(p, () => finish(p, { code: codeOf(p, secret) }, two), 'rate_limited')
    p.turnClock(seconds * 1000)
    expect((await finish(p, { code: codeOf(p, secret) }, two)).status).toBe(201)
  })
  test('all day from elsewhere locks out no owner at a new address who has an authenticator app', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    // A stranger takes every try there is, a whole day; counted as a sign-in counts it, without a hundred hashes.
    const { signInThrottle } = p.controller.app
    for (let end = p.now() + 24 * 60 * minute; p.now() < end; )
      try {
        signInThrottle.take(`elsewhere ${cal.email}`, '')
      } catch (error) {
        p.turnClock(((error as ApiError).details['retryAfterSeconds'] as number) * 1000)
      }
    await refused(p, () => signIn(p, cal.email, 'wrong'))
    // With the password in hand the owner has to wait, a quarter of an hour at most; not with a link from the mailbox.
    const wait = await refused(p, () => signIn(p, cal.email), 'rate_limited')
    expect(Number(wait.headers.get('Retry-After'))).toBeLessThanOrEqual(15 * 60)
    const account = accountById(p.db, cal.id)!
    const link = write(p.db, (tx) => makeLink(tx, { purpose: 'reset', account, now: p.now() }))
      .path.split('/')
      .pop()!
    const first = await p.call(undefined, 'POST', '/passwords', { token: link, password: 'a second set of words' })
    expect([first.status, first.body.secondFactor]).toEqual([201, ['totp', 'recovery']])
    await refused(p, () => finish(p, { code: '000000' }, pendingIn(first)))
    expect((await finish(p, { code: codeOf(p, secret) }, pendingIn(first))).status).toBe(201)
  })
  test('and then stops, and the right password and code let the owner in after the wait that was said', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    for (let i = 0; i < 12; i++) {
      const { status, headers } = await signIn(p, cal.email, 'wrong')
      if (status === 429) p.turnClock(Number(headers.get('Retry-After')) * 1000)
    }
    await refused(p, () => signIn(p, cal.email, 'wrong'))
    const { headers } = await refused(p, () => signIn(p, cal.email), 'rate_limited')
    p.turnClock(Number(headers.get('Retry-After')) * 1000)
    expect((await finish(p, { code: codeOf(p, secret) }, await pending(p, cal.email))).status).toBe(201)
  })
  test('shares the limit of 20 a minute from one address', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret } = await withApp(p, cal)
    const mine = await pending(p, cal.email)
    for (let i = 0; i < 19; i++) await signIn(p, `nobody${i}@person.test`, 'wrong')
    await refused(p, () => finish(p, { code: codeOf(p, secret) }, mine), 'rate_limited')
  })
})

describe('S18 a role that demands a second factor', () => {
  async function demanding() {
    const p = await panel()
    const ada = person(p, 'staff')
    const role = (p.db.$client.query('SELECT role_id FROM accounts WHERE id = ?').get(ada.id) as any).role_id
    p.db.$client.run('UPDATE roles SET second_factor = 1, is_owner = 0, permissions = ? WHERE id = ?', [
      JSON.stringify(allPermissions),
      role,
    ])
    return { p, ada }
  }
  test('leaves only its setting up until there is one', async () => {
    const { p, ada } = await demanding()
    using _ = p
    for (const [method, path, body] of [
      ['GET', '/admin/servers', undefined],
      ['POST', '/admin/node-groups', { name: 'X' }],
      ['POST', '/account/tokens', { name: 'T', scopes: ['servers:read'] }],
    ] as const) {
      const before = p.fingerprint()
      const answer = await p.call(ada, method, path, body)
      expect([answer.status, answer.body.error.code]).toEqual([403, 'second_factor_required'])
      expect(p.fingerprint()).toBe(before)
    }
    for (const path of ['/account/second-factor', '/account/sessions'])
      expect((await p.call(ada, 'GET', path)).status).toBe(200)
    await withApp(p, ada)
    expect((await p.call(ada, 'GET', '/admin/servers')).status).toBe(200)
  })
  test('binds people, never their API tokens: programs run on', async () => {
    const { p, ada } = await demanding()
    using _ = p
    const token = p.token(ada.id)
    expect((await p.call(ada, 'GET', '/admin/servers')).body.error.code).toBe('second_factor_required')
    expect((await p.call(token, 'GET', '/admin/servers')).status).toBe(200)
    expect((await p.call(token, 'POST', '/admin/node-groups', { name: 'By a program' })).status).toBe(201)
  })
  test('lets leave', async () => {
    const { p, ada } = await demanding()
    using _ = p
    expect((await p.call(ada, 'DELETE', '/sessions/current')).status).toBe(200)
  })
  test('leads every page to where one is set up', async () => {
    const { p, ada } = await demanding()
    using _ = p
    const open = (path: string) =>
      p.controller.router.fetch(
        new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${ada.cookie}` } }),
      )
    const answer = await open('/admin/servers')
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/account/security'])
    expect((await open('/account/security')).status).toBe(200)
  })
  test('is not forgotten when the last factor is taken away', async () => {
    const { p, ada } = await demanding()
    using _ = p
    await withApp(p, ada)
    expect((await p.call(ada, 'DELETE', '/account/totp')).status).toBe(200)
    expect((await p.call(ada, 'GET', '/admin/servers')).body.error.code).toBe('second_factor_required')
  })
})

describe('S50 owners', () => {
  const code = ({ status, body }: { status: number; body: any }) => `${status} ${body.error?.code ?? ''}`.trim()
  const attention = async (p: Panel, who: Who) =>
    (await p.call(who, 'GET', '/admin/overview')).body.attention
      .map(({ what }: { what: string }) => what)
      .filter((what: string) => what.includes('second factor'))

  test(
    'have seven days for a second factor, which Needs attention asks for by its day; then they can only set one ' +
      'up',
    async () => {
      using p = await panel()
      const ada = person(p, 'staff')
      const support = p.staff(['servers.see_all'])
      const token = p.token(ada.id)
      expect(await attention(p, ada)).toEqual(['Add a second factor by 22 Jan 2027.'])
      p.turnClock(6 * day + hour)
      const later = p.signIn(ada.id)
      expect(await attention(p, later)).toEqual(['Add a second factor by 22 Jan 2027.'])
      expect((await p.call(later, 'GET', '/account/second-factor')).body).toMatchObject({ required: false })
      p.turnClock(day)
      const late = p.signIn(ada.id)
      expect(code(await p.call(late, 'GET', '/admin/servers'))).toBe('403 second_factor_required')
      expect((await p.call(late, 'GET', '/account/second-factor')).body).toMatchObject({ required: true })
      expect(code(await p.call(token, 'GET', '/admin/servers'))).toBe('200')
      expect(code(await p.call(p.signIn(support.id), 'GET', '/admin/servers'))).toBe('200')
      await withApp(p, late)
      expect(code(await p.call(late, 'GET', '/admin/servers'))).toBe('200')
      expect(await attention(p, late)).toEqual([])
    },
  )
  test('are given seven days from when they become one', async () => {
    using p = await panel()
    const ada = p.staff()
    const bo = p.staff(['servers.see_all'])
    await withApp(p, ada)
    p.turnClock(30 * day)
    const owner = p.signIn(ada.id)
    expect(code(await p.call(owner, 'PATCH', `/admin/staff/${bo.id}`, { role: 'Owner' }))).toBe('200')
    p.turnClock(6 * day)
    expect(code(await p.call(p.signIn(bo.id), 'GET', '/admin/servers'))).toBe('200')
    p.turnClock(day + hour)
    expect(code(await p.call(p.signIn(bo.id), 'GET', '/admin/servers'))).toBe('403 second_factor_required')
  })
  test('can turn the requirement off, recently confirmed; the audit log has it, and owners are mailed', async () => {
    using p = await panel()
    const [ada, bo, staff] = [p.staff(), p.staff(), p.staff(['staff.write'])]
    await p.admin('PUT', '/admin/settings/mail', { host: '127.0.0.1', port: 9, plain: true, from: 'p@berth.test' })
    const { data } = (await p.call(ada, 'GET', '/admin/roles')).body
    const role = data.find(({ isOwner }: { isOwner: boolean }) => isOwner)
    expect(role.secondFactor).toBe(true)
    const off = (who: Who) => p.call(who, 'PATCH', `/admin/roles/${role.id}`, { secondFactor: false })
    const before = p.fingerprint(['tokens'])
    expect(code(await off(staff))).toBe('403 forbidden')
    expect(code(await off(p.token(ada.id)))).toBe('403 token_not_allowed')
    expect(p.fingerprint(['tokens'])).toBe(before)
    expect(code(await off(ada))).toBe('200')
    expect(p.auditLines().at(-1)).toMatchObject({ operation: 'roles.update', details: { secondFactor: false } })
    const told = p.mailed().filter(({ text }) => text.includes('A protection is to be weakened: Second factor of the'))
    expect(told.length).toBe(2)
    p.turnClock(8 * day)
    takeEffect(p.db, p.controller.app)
    expect(code(await p.call(p.signIn(bo.id), 'GET', '/admin/servers'))).toBe('200')
    const late = p.signIn(ada.id)
    p.turnClock(11 * minute)
    expect(code(await p.call(late, 'PATCH', `/admin/roles/${role.id}`, { secondFactor: true }))).toBe(
      '403 confirmation_required',
    )
  })
})

test('S33 what signing in asks for stays out of the audit log, the tables and the idempotency rows', async () => {
  using p = await panel()
  const cal = person(p)
  const { secret, recoveryCodes } = await withApp(p, cal)
  await finish(p, { code: codeOf(p, secret) }, await pending(p, cal.email))
  await finish(p, { recoveryCode: recoveryCodes[0] }, await pending(p, cal.email))
  await p.call(cal, 'POST', '/sessions/current/confirm', { password })
  const everything = (
    p.db.$client.query("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[]
  )
    .map(({ name }) => JSON.stringify(p.db.$client.query(`SELECT * FROM ${name}`).all()))
    .join('\n')
  for (const canary of [password, secret, ...recoveryCodes]) expect(everything).not.toContain(canary)
})
