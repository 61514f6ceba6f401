import { expect, test } from 'bun:test'
import { cookieIn, cookieName, sessionCookie } from '../../../../src/identity/auth/sessions/cookies.ts'

test('a cookie is bound to its host and HTTPS and hidden from scripts; in a lab on plain HTTP it has no prefix', () => {
  expect(sessionCookie('https://panel.test', 'value', 600)).toBe(
    '__Host-panel=value; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax',
  )
  expect(sessionCookie('http://panel.test', 'value', 0, 'other')).toBe(
    'other=value; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
  )
})

test('only the cookie of exactly this name is read', () => {
  const name = cookieName('https://panel.test')
  for (const [header, value] of [
    ['a=1; __Host-panel=good; b=2', 'good'],
    ['__Host-panel=first; __Host-panel=second', 'first'],
    ['', undefined],
    [';;=; =x', undefined],
    // A neighbour under the same domain can set these: a browser that keeps the prefix for HTTPS does not see it in
    // them.
    ['%5F_Host-panel=evil', undefined],
    ['%5f%5fHost-panel=evil; __Host-panel=good', 'good'],
    ['=__Host-panel=evil', undefined],
    ['__host-panel=evil', undefined],
    ['__Host-panel-second=evil', undefined],
  ] as const)
    expect([header, cookieIn(header, name)]).toEqual([header, value])
  for (const broken of ['__Host-panel=%', '__Host-panel=%zz', `__Host-panel=${'x'.repeat(20_000)}`])
    expect(typeof cookieIn(broken, name)).toBe('string')
})
