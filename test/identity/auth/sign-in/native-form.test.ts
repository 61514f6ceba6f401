// Signing in with the form of the page itself: script is off, or has not loaded yet.
import { describe, expect, test } from 'bun:test'
import { submit } from '../../../support/pages/native-form.ts'
import { codeOf, password, person, withApp } from '../../../support/second-factor.ts'
import { type Panel, panel } from '../../../support/world/panel.ts'

const sessions = (p: Panel) => p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM sessions').get()!.n
const cookieIn = (response: Response, name: string) =>
  response.headers
    .getSetCookie()
    .map((text) => new RegExp(`^__Host-${name}=([^;]+)`).exec(text)?.[1])
    .find((value) => value)
const lines = (p: Panel) => p.auditLines().map(({ operation, result, target }) => [operation, result, target])

describe('the form of the sign-in page, without script', () => {
  test('opens a session and leads to the page that was asked for, by the audited call', async () => {
    using p = await panel()
    const cal = person(p)
    for (const [query, to] of [
      ['', '/'],
      ['?next=%2Fservers%3Fstate%3Drunning', '/servers?state=running'],
      ['?next=https%3A%2F%2Fevil.test', '/'],
      ['?next=%2F%2Fevil.test', '/'],
      ['?next=%2Flogin%2F2fa', '/'],
    ] as const) {
      const before = sessions(p)
      const answer = await submit(p, `/login${query}`, { email: cal.email, password })
      expect([query, answer.status, answer.headers.get('Location')]).toEqual([query, 303, to])
      expect(sessions(p)).toBe(before + 1)
      const headers = { Cookie: `__Host-panel=${cookieIn(answer, 'panel')}` }
      const page = await p.controller.router.fetch(new Request('http://localhost/servers', { headers }))
      expect(page.status).toBe(200)
    }
    expect(lines(p)).toEqual(Array.from({ length: 5 }, () => ['sessions.create', 'done', cal.id]))
  })
  test('refused, comes again with the reason and the address, never the password', async () => {
    using p = await panel()
    const cal = person(p)
    const before = sessions(p)
    for (const [form, status, words] of [
      [{ email: cal.email, password: 'seven "wrong" words' }, 401, 'E-mail address or password is wrong.'],
      [{ email: '"><b>', password: 'seven "wrong" words' }, 401, 'E-mail address or password is wrong.'],
      [{ email: cal.email, password: '' }, 422, 'password '],
      [{ email: cal.email, password: 'seven "wrong" words', role: 'owner' }, 422, 'role '],
      [{ email: cal.email }, 422, 'password '],
    ] as const) {
      const answer = await submit(p, '/login?next=%2Fservers', form)
      const text = await answer.text()
      expect([status, answer.status, answer.headers.getSetCookie()]).toEqual([status, status, []])
      expect(text).toContain('role="alert"')
      expect(text).toContain(words)
      expect(text).not.toContain('wrong&quot;')
      expect(text).not.toContain('><b>')
      expect(/name="email"[^>]*value="([^"]*)"/.exec(text)?.[1]).toBe(form.email.replace('"><', '&quot;>&lt;'))
      expect(/name="password"[^>]*value="([^"]*)"/.exec(text)?.[1] ?? '').toBe('')
    }
    expect(sessions(p)).toBe(before)
    expect(lines(p)).toEqual([
      ['sessions.create', 'sign_in_failed', cal.id],
      ['sessions.create', 'sign_in_failed', null],
      // Of the same address and reason, once a minute.
      ['sessions.create', 'validation_failed', null],
    ])
  })
  test('counts for the limits that the call counts for', async () => {
    using p = await panel()
    const cal = person(p)
    for (let i = 0; i < 20; i++)
      expect((await submit(p, '/login', { email: `nobody${i}@customer.test`, password: 'x' })).status).toBe(401)
    const before = p.fingerprint(['audit'])
    const answer = await submit(p, '/login', { email: cal.email, password })
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([429, []])
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect((await p.call(undefined, 'POST', '/sessions', { email: cal.email, password })).status).toBe(429)
    expect(p.fingerprint(['audit'])).toBe(before)
  })
  test('asks for the second factor, which its own form takes', async () => {
    using p = await panel()
    const cal = person(p)
    const { secret, recoveryCodes } = await withApp(p, cal)
    const first = async () => {
      const answer = await submit(p, '/login?next=%2Fservers', { email: cal.email, password })
      expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/login/2fa?next=%2Fservers'])
      expect(cookieIn(answer, 'panel')).toBeUndefined()
      return { Cookie: `__Host-panel-second=${cookieIn(answer, 'panel-second')}` }
    }
    const second = (form: Record<string, string>, headers: Record<string, string>) =>
      submit(p, '/login/2fa?next=%2Fservers', form, headers)
    const browser = await first()
    const before = sessions(p)
    const wrong = await second({ code: '000000' }, browser)
    const text = await wrong.text()
    expect([wrong.status, cookieIn(wrong, 'panel')]).toEqual([401, undefined])
    expect(text).toContain('role="alert"')
    expect(/name="code"[^>]*\svalue="/.test(text)).toBe(false)
    const stranger = await second({ code: codeOf(p, secret) }, {})
    expect([stranger.status, sessions(p)]).toEqual([401, before])
    const right = await second({ code: codeOf(p, secret) }, browser)
    expect([right.status, right.headers.get('Location'), sessions(p)]).toEqual([303, '/servers', before + 1])
    const recovered = await second({ recoveryCode: recoveryCodes[0]! }, await first())
    expect([recovered.status, recovered.headers.get('Location'), sessions(p)]).toEqual([303, '/servers', before + 2])
  })
  test('is not the form of a passkey, which says that it needs JavaScript', async () => {
    using p = await panel()
    const before = p.fingerprint()
    for (const path of ['/login', '/login/2fa']) {
      const answer = await submit(p, path, {})
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([409, []])
      expect(await answer.text()).toContain('This button needs JavaScript')
    }
    expect(p.fingerprint()).toBe(before)
  })
})

describe('the button that signs out, without script', () => {
  test('ends this session alone, clears what the browser keeps, and leads to the sign-in page', async () => {
    using p = await panel()
    const cal = person(p)
    const other = p.account('customer', 'Otto')
    const signedIn = await submit(p, '/login', { email: cal.email, password })
    const headers = { Cookie: `__Host-panel=${cookieIn(signedIn, 'panel')}` }
    const html = await (await p.controller.router.fetch(new Request('http://localhost/', { headers }))).text()
    const form = /<form(?=[^>]*data-call="sessions.end")[^>]*>/.exec(html)![0]
    expect(form).toContain('action="/sign-out"')
    const before = sessions(p)
    const answer = await submit(p, '/sign-out', {}, headers)
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/login'])
    expect(answer.headers.get('Clear-Site-Data')).toBe('"storage"')
    expect(answer.headers.getSetCookie().join()).toContain('__Host-panel=;')
    expect(sessions(p)).toBe(before - 1)
    expect(lines(p).at(-1)).toEqual(['sessions.end', 'done', null])
    const again = await p.controller.router.fetch(new Request('http://localhost/', { headers }))
    expect(again.headers.get('Location')).toStartWith('/login')
    expect((await p.call(other, 'GET', '/account')).status).toBe(200)
  })
  test('does nothing for a form of another site, and leads who is not signed in to the sign-in page', async () => {
    using p = await panel()
    const cal = p.account('customer', 'Cal')
    const before = p.fingerprint(['audit'])
    const Cookie = `__Host-panel=${cal.cookie}`
    const foreign = await submit(
      p,
      '/sign-out',
      {},
      { Cookie, Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site' },
    )
    expect([foreign.status, foreign.headers.getSetCookie()]).toEqual([403, []])
    const stranger = await submit(p, '/sign-out', {})
    expect([stranger.status, stranger.headers.get('Location')]).toEqual([303, '/login'])
    expect(p.fingerprint(['audit'])).toBe(before)
  })
})
