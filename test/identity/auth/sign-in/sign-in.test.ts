import { describe, expect, spyOn, test } from 'bun:test'
import { registry } from '../../../../src/app/features.ts'
import { hashPassword } from '../../../../src/identity/auth/passwords/hash.ts'
import { setUpToken } from '../../../../src/identity/set-up/first-account.ts'
import type { ScheduleContext } from '../../../../src/kernel/feature.ts'
import { type Panel, panel, type Who } from '../../../support/world/panel.ts'

const password = 'seven green bicycles'
const hash = await hashPassword(password)
const [minute, hour] = [60_000, 3_600_000]

function known(p: Panel, kind: 'customer' | 'reseller' | 'staff', passwordHash: string | null = hash) {
  const who = kind === 'staff' ? p.staff() : p.account(kind, 'Cal')
  const email = `cal@${kind}.test`
  p.db.$client.run('UPDATE accounts SET email = ?, password_hash = ? WHERE id = ?', [email, passwordHash, who.id])
  return { ...who, email }
}
const signIn = (p: Panel, email: string, pass: string, headers: Record<string, string> = {}) =>
  p.call(undefined, 'POST', '/sessions', { email, password: pass }, headers)

/** The account that the response's cookie signs in. */
function cookieOf(p: Panel, headers: Headers): Who & { text: string } {
  const text = headers.get('Set-Cookie')!
  const cookie = /^__Host-panel=([^;]*)/.exec(text)![1]!
  const csrf =
    p.db.$client.query<{ csrf: string }, []>('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1').get()?.csrf ?? ''
  return { text, cookie, csrf }
}
const sessions = (p: Panel) => (p.db.$client.query('SELECT count(*) AS n FROM sessions').get() as { n: number }).n
const alive = async (p: Panel, who: Who) => (await p.call(who, 'GET', '/servers')).status === 200

describe('signing in', () => {
  test('with the right password answers where to go and a cookie that only this host and no script gets', async () => {
    using p = await panel()
    const cal = known(p, 'customer')
    const { status, body, headers } = await signIn(p, ' CAL@Customer.test ', password, { 'User-Agent': 'Browser' })
    expect([status, body]).toEqual([201, { accountId: cal.id, kind: 'customer', home: '/' }])
    const { text, ...who } = cookieOf(p, headers)
    expect(text).toMatch(/^__Host-panel=[\w-]{43}; Path=\/; Max-Age=1209600; Secure; HttpOnly; SameSite=Lax$/)
    expect(await alive(p, who)).toBe(true)
    const stored = JSON.stringify(p.db.$client.query('SELECT * FROM sessions').all())
    expect(stored).not.toContain(who.cookie!)
    expect(p.auditLines()).toMatchObject([
      { operation: 'sessions.create', result: 'done', details: { password: '***' } },
    ])
  })
  test('sends staff to their side', async () => {
    using p = await panel()
    known(p, 'staff')
    expect((await signIn(p, 'cal@staff.test', password)).body.home).toBe('/admin')
  })
  test(
    'with a wrong password, an unknown address or no password: the same bytes, no session, one audit ' + 'line',
    async () => {
      using p = await panel()
      const cal = known(p, 'customer')
      known(p, 'reseller', null)
      const before = sessions(p)
      const answers = [
        await signIn(p, cal.email, 'seven green bicycle'),
        await signIn(p, 'nobody@customer.test', password),
        await signIn(p, 'cal@reseller.test', password),
        await signIn(p, "' OR 1=1 --", password),
      ]
      expect(new Set(answers.map((a) => JSON.stringify(a.body))).size).toBe(1)
      for (const { status, body, headers } of answers)
        expect([status, body.error.code, headers.get('Set-Cookie')]).toEqual([401, 'sign_in_failed', null])
      expect(sessions(p)).toBe(before)
      const lines = p.auditLines()
      expect(lines.map((l) => [l.operation, l.result, l.from])).toEqual(
        answers.map(() => ['sessions.create', 'sign_in_failed', '127.0.0.1']),
      )
      expect([lines[0]!.target, lines[1]!.target]).toEqual([cal.id, null])
      expect(JSON.stringify(lines)).not.toContain('bicycle')
    },
  )
  test('costs an unknown address as much as a wrong password: one check of a hash, of one kind and cost', async () => {
    using p = await panel()
    const cal = known(p, 'customer')
    const none = known(p, 'reseller', null)
    const verify = spyOn(Bun.password, 'verify')
    try {
      const emails = [cal.email, 'nobody@customer.test', none.email]
      for (const email of emails) expect((await signIn(p, email, 'wrong')).status).toBe(401)
      const hashes = verify.mock.calls.map(([, checked]) => String(checked))
      expect(hashes).toHaveLength(emails.length)
      // `$argon2id$v=19$m=…,t=…,p=…$`, without salt and hash.
      const costs = hashes.map((one) => one.split('$').slice(0, 4).join('$'))
      expect(new Set(costs).size).toBe(1)
      expect(costs[0]).toMatch(/^\$argon2id\$v=\d+\$m=\d+,t=\d+,p=\d+$/)
    } finally {
      verify.mockRestore()
    }
  })
  test('by a password that is the start of the right one, or in other letters, fails', async () => {
    using p = await panel()
    const long = `${'x'.repeat(72)}-the-end`
    const cal = known(p, 'customer', await hashPassword(long))
    for (const wrong of [long.slice(0, 72), long.toUpperCase(), `${long} `])
      expect((await signIn(p, cal.email, wrong)).status).toBe(401)
    expect((await signIn(p, cal.email, long)).status).toBe(201)
  })
  test('is possible 20 times a minute from one address; the 21st is refused before a password is checked', async () => {
    using p = await panel()
    for (let i = 0; i < 20; i++) expect((await signIn(p, `nobody${i}@customer.test`, 'x')).status).toBe(401)
    const lines = p.auditLines().length
    const { status, body, headers } = await signIn(p, 'cal@customer.test', password)
    expect([status, body.error.code]).toEqual([429, 'rate_limited'])
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
    for (let i = 0; i < 5; i++) expect((await signIn(p, `cal${i}@customer.test`, password)).status).toBe(429)
    // Further attempts are in the audit log once a minute, not once each.
    expect(
      p
        .auditLines()
        .slice(lines)
        .map((l) => [l.operation, l.result, l.from]),
    ).toEqual([['sessions.create', 'rate_limited', '127.0.0.1']])
    p.turnClock(Number(headers.get('Retry-After')) * 1000)
    expect((await signIn(p, 'nobody@customer.test', 'x')).status).toBe(401)
  })
  test('refused for its origin, its form or its fields is audited, and does nothing else', async () => {
    using p = await panel()
    const cal = known(p, 'customer')
    const before = p.fingerprint(['audit'])
    const right = { email: cal.email, password }
    const answers = [
      await p.call(undefined, 'POST', '/sessions', right, { Origin: 'https://evil.test' }),
      await p.call(undefined, 'POST', '/sessions', right, { 'Content-Type': 'text/plain' }),
      await p.call(undefined, 'POST', '/sessions', { email: 5 }),
      await p.call(undefined, 'POST', '/passwords', { token: 'x' }),
    ]
    expect(answers.map(({ body }) => body.error.code)).toEqual([
      'bad_origin',
      'unsupported_media_type',
      'validation_failed',
      'validation_failed',
    ])
    expect(p.auditLines().map((l) => [l.operation, l.result, l.from])).toEqual([
      ['sessions.create', 'bad_origin', '127.0.0.1'],
      ['sessions.create', 'unsupported_media_type', '127.0.0.1'],
      ['sessions.create', 'validation_failed', '127.0.0.1'],
      ['passwords.set', 'validation_failed', '127.0.0.1'],
    ])
    expect(p.fingerprint(['audit'])).toBe(before)
  })
  test('counts for its limit when it is malformed, too', async () => {
    using p = await panel()
    const cal = known(p, 'customer')
    const code = async (body: object, headers = {}) =>
      (await p.call(undefined, 'POST', '/sessions', body, headers)).body.error?.code
    for (let i = 0; i < 10; i++) expect(await code({})).toBe('validation_failed')
    for (let i = 0; i < 10; i++) expect(await code({}, { 'Content-Type': 'text/plain' })).toBe('unsupported_media_type')
    const before = sessions(p)
    expect(await code({ email: cal.email, password })).toBe('rate_limited')
    expect(await code({})).toBe('rate_limited')
    expect(await code({}, { 'Content-Type': 'text/plain' })).toBe('rate_limited')
    expect(sessions(p)).toBe(before)
  })
  test('in a flood is counted: a later line says how many more there were', async () => {
    using p = await panel()
    const evil = () => p.call(undefined, 'POST', '/sessions', {}, { Origin: 'https://evil.test' })
    for (let i = 0; i < 213; i++) expect((await evil()).body.error.code).toBe('bad_origin')
    expect(p.auditLines()).toHaveLength(1)
    p.turnClock(minute)
    const counting = registry.schedule.find(({ words }) => words === 'recording how many sign-ins were refused')!
    const count = () => counting.work({ db: p.db, app: p.controller.app } as ScheduleContext)
    await count()
    await count()
    expect(p.auditLines().map(({ result, details }) => [result, details])).toEqual([
      ['bad_origin', null],
      ['bad_origin', { more: 211 }],
    ])
    const page = await p.controller.router.fetch(
      new Request('http://localhost/admin/audit', { headers: { Cookie: `__Host-panel=${p.staff().cookie}` } }),
    )
    expect(await page.text()).toContain('and 211 more')
    // A later attempt has a line again.
    p.turnClock(2 * minute)
    await evil()
    expect(p.auditLines()).toHaveLength(3)
  })
  test('shares its limit with the set-up link', async () => {
    using p = await panel()
    for (let i = 0; i < 20; i++) await signIn(p, 'nobody@customer.test', 'x')
    expect(
      (await p.call(undefined, 'POST', '/setup', { token: 'x', email: 'a@b.test', name: 'A', password })).body.error
        .code,
    ).toBe('rate_limited')
  })
})

describe('signing out', () => {
  test('ends this session at once, clears the cookie, and leaves the others', async () => {
    using p = await panel()
    const cal = known(p, 'customer')
    const [here, elsewhere] = [
      cookieOf(p, (await signIn(p, cal.email, password)).headers),
      cookieOf(p, (await signIn(p, cal.email, password)).headers),
    ]
    const { status, headers } = await p.call(here, 'DELETE', '/sessions/current')
    expect([status, headers.get('Set-Cookie')]).toEqual([
      200,
      '__Host-panel=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax',
    ])
    expect([await alive(p, here), await alive(p, elsewhere)]).toEqual([false, true])
    expect((await p.call(here, 'DELETE', '/sessions/current')).body.error.code).toBe('not_authenticated')
  })
  test('is not for tokens', async () => {
    using p = await panel()
    expect((await p.call(p.token(p.staff().id), 'DELETE', '/sessions/current')).body.error.code).toBe(
      'token_not_allowed',
    )
  })
})

describe('a session', () => {
  for (const [kind, idle, whole] of [
    ['staff', 1, 12],
    ['customer', 12, 14 * 24],
    ['reseller', 12, 14 * 24],
  ] as const) {
    test(`of ${kind === 'staff' ? 'staff' : `a ${kind}`} ends after ${idle} h without a call`, async () => {
      using p = await panel()
      const who = kind === 'staff' ? p.staff() : p.account(kind, 'Cal')
      p.turnClock(idle * hour - 60_000)
      expect(await alive(p, who)).toBe(true)
      p.turnClock(idle * hour - 60_000)
      expect(await alive(p, who)).toBe(true)
      p.turnClock(idle * hour + 60_000)
      expect(await alive(p, who)).toBe(false)
      expect((await p.call(who, 'GET', '/servers')).body.error.code).toBe('not_authenticated')
    })
    test(`of ${kind === 'staff' ? 'staff' : `a ${kind}`} ends after ${whole} h, however busy`, async () => {
      using p = await panel()
      const who = kind === 'staff' ? p.staff() : p.account(kind, 'Cal')
      const stepHours = idle / 2
      for (let spent = stepHours; spent < whole; spent += stepHours) {
        p.turnClock(stepHours * hour)
        if (!(await alive(p, who))) expect(`ended after ${spent} h`).toBe(`${whole} h`)
      }
      p.turnClock(stepHours * hour)
      expect(await alive(p, who)).toBe(false)
    })
  }
  test('is found by its whole cookie only', async () => {
    using p = await panel()
    const { cookie, csrf } = p.staff() as { cookie: string; csrf: string }
    for (const other of ['', 'x', cookie.slice(0, -1), `${cookie}x`, cookie.toUpperCase(), '%', `"${cookie}"`])
      expect(await alive(p, { cookie: other, csrf })).toBe(false)
    const plain = await p.call(undefined, 'GET', '/servers', undefined, { Cookie: `panel=${cookie}` })
    expect(plain.status).toBe(401)
    expect(
      (await p.call(undefined, 'GET', '/servers', undefined, { Cookie: `a=b; __Host-panel=${cookie}; c` })).status,
    ).toBe(200)
  })
  test('may change things only with its own csrf word', async () => {
    using p = await panel()
    const [a, b] = [p.staff(), p.staff()]
    const body = { name: 'x', vcpus: 1, memoryMb: 64, diskGb: 1 }
    expect((await p.call({ cookie: a.cookie!, csrf: b.csrf! }, 'POST', '/admin/packages', body)).body.error.code).toBe(
      'csrf_failed',
    )
    expect((await p.call(a, 'POST', '/admin/packages', body)).status).toBe(201)
  })
})

describe('S48: the set-up link', () => {
  const finish = (p: Panel, token: string, more: object = {}) =>
    p.call(undefined, 'POST', '/setup', { token, email: 'ada@example.com', name: 'Ada', password, ...more })

  test('makes the first staff account, once, and signs it in as an owner', async () => {
    using p = await panel()
    const token = setUpToken(p.db)!
    const { status, body, headers } = await finish(p, token)
    expect([status, body.home]).toEqual([201, '/setup/second-factor'])
    expect(
      (await p.call(cookieOf(p, headers), 'POST', '/admin/staff', { email: 'bo@example.com', name: 'Bo', password }))
        .status,
    ).toBe(201)
    const before = p.fingerprint(['audit'])
    expect((await finish(p, token, { email: 'eve@example.com' })).body.error.code).toBe('setup_link_invalid')
    expect(p.fingerprint(['audit'])).toBe(before)
    expect(p.auditLines().at(-1)).toMatchObject({
      operation: 'setup.finish',
      result: 'setup_link_invalid',
      from: '127.0.0.1',
    })
    expect(setUpToken(p.db)).toBeUndefined()
  })
  test('is used up by two at once for one of them', async () => {
    using p = await panel()
    const token = setUpToken(p.db)!
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => finish(p, token, { email: `${name}@example.com` })))
    expect(answers.map((a) => a.status).toSorted()).toEqual([201, 401, 401])
    expect(p.db.$client.query("SELECT count(*) AS n FROM accounts WHERE kind = 'staff'").get()).toEqual({ n: 1 })
  })
  test('of an earlier start, an invented one, or one where there is staff is refused; nothing happens', async () => {
    using p = await panel()
    const first = setUpToken(p.db)!
    const second = setUpToken(p.db)!
    const before = p.fingerprint(['audit'])
    for (const token of [first, 'x', `${second}x`])
      expect((await finish(p, token)).body.error.code).toBe('setup_link_invalid')
    expect(p.fingerprint(['audit'])).toBe(before)
    p.staff()
    expect((await finish(p, second)).body.error.code).toBe('setup_link_invalid')
  })
  test('is still good after a refused password or address', async () => {
    using p = await panel()
    const token = setUpToken(p.db)!
    expect((await finish(p, token, { password: 'short' })).body.error.details.fields[0].field).toBe('password')
    expect((await finish(p, token, { email: 'ada' })).body.error.details.fields[0].field).toBe('email')
    expect((await finish(p, token)).status).toBe(201)
  })
  test('is kept as its hash only', async () => {
    using p = await panel()
    const token = setUpToken(p.db)!
    expect(JSON.stringify(p.db.$client.query('SELECT * FROM settings').all())).not.toContain(token)
  })
})
