// Another site cannot make a browser do anything here.

import { describe, expect, test } from 'bun:test'
import { csrfToken } from '../../src/kernel/crypto/csrf-token.ts'
import { submit } from '../support/pages/native-form.ts'
import { person } from '../support/second-factor.ts'
import { world } from '../support/world/panel.ts'

const code = ({ status, body }: { status: number; body: any }) => `${status} ${body.error?.code ?? ''}`.trim()
const password = 'seven green bicycles'

describe('S20: another site', () => {
  test('can neither sign a browser in nor sign it out', async () => {
    using p = await world()
    const ask = (headers: Record<string, string>) =>
      p.call(undefined, 'POST', '/sessions', { email: 'a@b.test', password }, headers)
    const before = p.fingerprint(['audit'])
    expect(code(await ask({ Origin: 'https://evil.test' }))).toBe('403 bad_origin')
    expect(code(await ask({ Origin: 'null' }))).toBe('403 bad_origin')
    expect(code(await ask({ Origin: 'https://panel.test', 'Sec-Fetch-Site': 'cross-site' }))).toBe('403 bad_origin')
    expect(code(await ask({ Origin: 'https://panel.test.evil.test' }))).toBe('403 bad_origin')
    expect(
      code(await p.call(p.customer, 'DELETE', '/sessions/current', undefined, { Origin: 'https://evil.test' })),
    ).toBe('403 bad_origin')
    expect(code(await p.call(p.customer, 'DELETE', '/sessions/current', undefined, { 'X-CSRF-Token': '' }))).toBe(
      '403 csrf_failed',
    )
    expect(p.fingerprint(['audit'])).toBe(before)
    expect(p.auditLines().map(({ operation, result }) => [operation, result])).toContainEqual([
      'sessions.create',
      'bad_origin',
    ])
    expect(code(await p.call(p.customer, 'GET', '/servers'))).toBe('200')
  })
  test('cannot sign a browser in with the form of a page either', async () => {
    using p = await world()
    const cal = person(p)
    for (const [path, form] of [
      ['/login', { email: cal.email, password }],
      ['/login/2fa', { code: '123456' }],
    ] as const)
      for (const headers of [
        { Origin: 'https://evil.test' },
        { Origin: 'null' },
        { Origin: 'https://panel.test', 'Sec-Fetch-Site': 'cross-site' },
        { Origin: 'https://panel.test', 'Sec-Fetch-Site': 'same-site' },
        { Origin: 'https://panel.test.evil.test' },
        { 'Sec-Fetch-Site': 'same-origin' },
        {},
      ] as Record<string, string>[]) {
        const before = p.fingerprint(['audit'])
        const answer = await submit(p, path, form, headers, false)
        const text = await answer.text()
        expect([path, headers, answer.status, answer.headers.getSetCookie()]).toEqual([path, headers, 403, []])
        expect(text).toContain('This call must come from https://panel.test.')
        expect(text).not.toContain(cal.email)
        expect(p.fingerprint(['audit'])).toBe(before)
      }
    for (const operation of ['sessions.create', 'sessions.second-factor'])
      expect(p.auditLines()).toContainEqual(expect.objectContaining({ operation, result: 'bad_origin' }))
    // The origin alone made the difference.
    expect((await submit(p, '/login', { email: cal.email, password })).status).toBe(303)
  })
  test('gets nowhere with a cookie and no origin, nor with the word of another session', async () => {
    using p = await world()
    const { cookie } = p.customer
    const other = p.account('customer', 'Other')
    const change = (headers: Record<string, string>) =>
      p.call(undefined, 'PATCH', '/account', { name: 'Mallory' }, { Cookie: `__Host-panel=${cookie}`, ...headers })
    const before = p.fingerprint()
    expect(code(await change({ 'X-CSRF-Token': csrfToken(p.customer.csrf!) }))).toBe('403 bad_origin')
    expect(code(await change({ Origin: 'https://panel.test', 'X-CSRF-Token': csrfToken(other.csrf!) }))).toBe(
      '403 csrf_failed',
    )
    expect(p.fingerprint()).toBe(before)
    expect(code(await change({ Origin: 'https://panel.test', 'X-CSRF-Token': csrfToken(p.customer.csrf!) }))).toBe(
      '200',
    )
  })
  test('is not helped by a cookie beside a token: the token decides', async () => {
    using p = await world()
    const who = {
      ...p.token(p.account('customer', 'Poor').id, ['account:read']),
      cookie: p.owner.cookie!,
      csrf: p.owner.csrf!,
    }
    expect(code(await p.call(who, 'GET', '/admin/servers'))).toBe('403 forbidden')
    expect(code(await p.call({ ...who, token: `pnl_${'x'.repeat(49)}` }, 'GET', '/admin/servers'))).toBe(
      '401 invalid_token',
    )
  })
})
