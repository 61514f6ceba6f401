// A person at a browser never gets JSON from the address of a page, whatever is wrong.
import { expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { navigation, submit } from '../../support/pages/native-form.ts'
import { type Panel, panel, type Who, world } from '../../support/world/panel.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'BREW'] as const
const paths = [...registry.pages.map(({ path }) => path.replace(/\{\w+\}/g, 'xyz')), '/no/such/page']
const ask = (p: Panel, method: string, path: string, { cookie }: Partial<Who> = {}, more: object = navigation) =>
  p.controller.router.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...more, ...(cookie && { Cookie: `__Host-panel=${cookie}` }) },
    }),
  )
const h1 = (text: string) => /<h1>([^<]*)</.exec(text)?.[1]

/** Asks for every page with every method; answers how often each status was seen. */
async function everything(p: Panel, who?: Who): Promise<Map<number, number>> {
  const seen = new Map<number, number>()
  for (const path of paths)
    for (const method of methods) {
      const response = await ask(p, method, path, who)
      const text = await response.text()
      const { status, headers } = response
      seen.set(status, (seen.get(status) ?? 0) + 1)
      expect([method, path, status, headers.get('Content-Type')]).toEqual([
        method,
        path,
        status,
        expect.stringMatching(/^text\/html; charset=utf-8$/),
      ])
      expect(text.startsWith('{')).toBe(false)
      if (status === 405) expect([method, path, headers.get('Allow')]).toEqual([method, path, expect.any(String)])
      if (method !== 'HEAD' && status >= 400)
        expect([method, path, status, text.includes(headers.get('X-Request-Id')!)]).toEqual([
          method,
          path,
          status,
          true,
        ])
    }
  return seen
}

test('every page with every method answers a browser in HTML, and changes nothing', async () => {
  using p = await world()
  const before = p.fingerprint(['audit'])
  for (const who of [undefined, p.customer, p.owner]) {
    const seen = await everything(p, who)
    expect(seen.get(405)).toBeGreaterThan(paths.length * 4)
    expect(seen.get(404)).toBeGreaterThanOrEqual(methods.length - 3)
    if (who) expect(seen.get(200)).toBeGreaterThan(10)
  }
  expect(p.fingerprint(['audit'])).toBe(before)
}, 60_000)

test('so it does when there are too many calls, when it breaks, and while it restarts', async () => {
  using few = await panel({ callsPerMinute: 1 })
  await ask(few, 'GET', '/login')
  const limited = await submit(few, '/login', { email: 'a@b.test', password: 'x' })
  expect([limited.status, limited.headers.get('Retry-After'), h1(await limited.text())]).toEqual([
    429,
    expect.any(String),
    'Too many requests',
  ])

  using broken = await panel()
  for (const table of ['sessions', 'branding']) {
    broken.db.$client.run(`ALTER TABLE ${table} RENAME TO gone`)
    for (const path of ['/admin', '/login', '/no/such/page'])
      for (const method of methods) {
        const response = await ask(broken, method, path, { cookie: 'x' })
        const type = response.headers.get('Content-Type') ?? ''
        expect([table, method, path, type, response.status < 600]).toEqual([
          table,
          method,
          path,
          expect.stringMatching(/^text\/(html|plain)/),
          true,
        ])
        expect((await response.text()).startsWith('{')).toBe(false)
      }
    broken.db.$client.run(`ALTER TABLE gone RENAME TO ${table}`)
  }

  using p = await panel()
  p.controller.beginStop()
  const later = await submit(p, '/login', { email: 'a@b.test', password: 'x' })
  const text = await later.text()
  expect([later.status, h1(text)]).toEqual([503, 'Restarting'])
  // It would send the form again.
  expect(text).not.toContain('data-reload')
})

test('a form that is too large, of another type, twice the same or no text is refused in words', async () => {
  using p = await panel()
  const before = p.fingerprint(['audit'])
  for (const [form, headers, status] of [
    [{ email: 'a@b.test', password: 'x'.repeat(20_000) }, {}, 413],
    ['{"email":"a@b.test","password":"x"}', { 'Content-Type': 'application/json' }, 415],
    ['email=a@b.test&password=x', { 'Content-Encoding': 'gzip' }, 415],
    ['email=a@b.test&password=x&password=y', {}, 400],
  ] as const) {
    const response = await submit(p, '/login', form, headers)
    expect([status, response.status, response.headers.get('Content-Type')]).toEqual([
      status,
      status,
      'text/html; charset=utf-8',
    ])
  }
  expect(p.fingerprint(['audit'])).toBe(before)
})

test('a button whose script did not run says so, and leads back to its page', async () => {
  using p = await world()
  const response = await ask(p, 'POST', '/admin/servers?sort=name', p.owner)
  const text = await response.text()
  expect([response.status, h1(text), response.headers.get('Allow')]).toEqual([
    405,
    'Nothing was changed',
    'GET, HEAD, OPTIONS',
  ])
  expect(text).toContain('This button needs JavaScript, which did not run.')
  expect(text).toContain('href="/admin/servers?sort=name"')
})

test('programs, and everything under /api, get JSON as before', async () => {
  using p = await panel()
  for (const [method, path, more] of [
    ['POST', '/login', { Accept: '*/*' }],
    ['DELETE', '/login', {}],
    ['POST', '/admin', { Accept: 'application/json' }],
    ['GET', '/api', navigation],
    ['GET', '/api/v1/no/such', navigation],
    ['DELETE', '/api/v1/status', navigation],
    ['GET', '/api/v1/servers', navigation],
    ['POST', '/api?x', navigation],
  ] as const) {
    const response = await ask(p, method, path, {}, more)
    expect([method, path, response.headers.get('Content-Type')]).toEqual([
      method,
      path,
      'application/json; charset=utf-8',
    ])
    expect(((await response.json()) as any).error.code).toEqual(expect.any(String))
  }
})
