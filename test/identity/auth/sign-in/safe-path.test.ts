// An address in a query leads nobody off this site: not by the sign-in pages, not by the identity
// provider's answer, not by the script that follows what an answer says.
import { expect, test } from 'bun:test'
import { safePath } from '../../../../src/kernel/web/safe-path.ts'
import { panel } from '../../../support/world/panel.ts'

const off = [
  '//evil.test/x',
  '///evil.test',
  '/\t/evil.test/x',
  '/\n/evil.test/x',
  '/\r/evil.test/x',
  '/\r\n/evil.test',
  '\t//evil.test',
  '/\\evil.test',
  '\\/evil.test',
  '/\t\\evil.test',
  '\\\\evil.test',
  'https://evil.test/',
  'javascript:alert(1)',
  'evil.test',
  ' /servers',
  '/ser vers',
  '/{home}',
  '/servers\u00a0',
  '',
]
/** These stay here, as browsers read them: what is written as %09 or %5c is a part of the path. */
const here = [
  '/',
  '/servers',
  '/admin/servers?q=a%20b&status=running#x',
  '/%09/evil.test',
  '/%5cevil.test',
  '/%2f%2fevil.test',
  '/./x',
]

test('S29: a path that browsers would read as another site is none', () => {
  for (const path of off) expect([path, safePath(path)]).toEqual([path, undefined])
  for (const path of here) {
    expect(safePath(path)).toBe(path)
    expect(new URL(path, 'https://panel.test/login').origin).toBe('https://panel.test')
  }
})

test('S29: the sign-in pages lead to no such path, with password, passkey, second factor or provider', async () => {
  using p = await panel()
  const page = async (path: string) => (await p.controller.router.fetch(new Request(`http://localhost${path}`))).text()
  for (const at of ['/login', '/login/2fa'])
    for (const path of off.filter((path) => path !== '')) {
      const text = await page(`${at}?next=${encodeURIComponent(path)}`)
      expect(text).not.toContain('evil.test')
      expect(text).not.toContain('alert(1)')
    }
  expect(await page(`/login?next=${encodeURIComponent('/servers?q=x')}`)).toContain('data-then="/servers?q=x"')
  for (const path of off.filter((path) => path !== '')) {
    const { status, body } = await p.call(undefined, 'POST', '/sessions/provider', { next: path })
    expect([path, status, body.error.code]).toEqual([path, 422, 'validation_failed'])
  }
})

test('S29: the script in the page goes nowhere else, whatever it is told', async () => {
  const source = /const go = ([\s\S]*?\n})/.exec(await Bun.file('public/panel/page/page.js').text())![1]!
  const went: string[] = []
  const location = { origin: 'https://panel.test', assign: (to: string) => void went.push(to) }
  // As a browser's own link reads an address.
  const make = (_: string, { href }: { href: string }) =>
    URL.canParse(href, 'https://panel.test/login')
      ? new URL(href, 'https://panel.test/login')
      : { origin: '', href: '' }
  const go = new Function('make', 'location', `return ${source}`)(make, location) as (path: string) => void
  for (const path of off) go(path)
  expect(went.filter((to) => !to.startsWith('https://panel.test/'))).toEqual([])
  go('/servers?q=x')
  expect(went.at(-1)).toBe('https://panel.test/servers?q=x')
})
