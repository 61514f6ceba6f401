// The brand: who may set it, what is refused, and who sees it where.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { contrastWithWhite } from '../../../src/platform/settings/brand-style.ts'
import { type Panel, panel, type Who, world } from '../../support/world/panel.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const own = '/admin/settings/branding'
const get = (p: Panel, path: string, who?: Who) =>
  p.controller.router.fetch(
    new Request(`http://localhost${path}`, { headers: who?.cookie ? { Cookie: `__Host-panel=${who.cookie}` } : {} }),
  )
const text = async (p: Panel, path: string, who?: Who) => (await get(p, path, who)).text()

/** Björn Ottosson's Oklab: from linear light, and back. */
const oklab = (hex: string) => {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s
  const bb = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  return { chroma: Math.hypot(a, bb), hue: Math.atan2(bb, a) }
}
function luminanceOf(value: string, brand: string): number {
  if (value === '#fff') return 1
  const { chroma, hue } = oklab(brand)
  const derived = /from var\(--brand\) ([\d.]+)% min\(c,([\d.]+)\)/.exec(value)
  const [lightness, c, h] = derived
    ? [Number(derived[1]), Math.min(chroma, Number(derived[2])), hue]
    : ((([l, c, h]) => [l!, c!, (h! * Math.PI) / 180])(value.match(/[\d.]+/g)!.map(Number)) as [number, number, number])
  const [L, a, b] = [lightness / 100, c * Math.cos(h), c * Math.sin(h)]
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3
  const inGamut = (n: number) => Math.min(1, Math.max(0, n))
  return (
    0.2126 * inGamut(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) +
    0.7152 * inGamut(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) +
    0.0722 * inGamut(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)
  )
}

describe('an accent', () => {
  for (const [accent, ok] of [
    ['#1d4ed8', true],
    ['#767676', true],
    ['#777777', false],
    ['#ffcc00', false],
    ['#ffffff', false],
  ] as const)
    test(`${accent} is ${ok ? 'taken' : 'refused, with its contrast'}`, async () => {
      using p = await panel()
      const staff = p.staff()
      const before = p.fingerprint()
      const { status, body } = await p.call(staff, 'PUT', own, { accent })
      expect(status).toBe(ok ? 200 : 422)
      if (ok) return
      expect(body.error.message).toContain(`contrast is ${contrastWithWhite(accent).toFixed(1)}`)
      expect(p.fingerprint()).toBe(before)
    })
  test('that is no colour is refused: nothing of it reaches the style sheet', async () => {
    using p = await panel()
    for (const accent of ['red', '#fff', '#1d4ed8;}*{display:none', '#1d4ed8\n'])
      expect((await p.call(p.staff(), 'PUT', own, { accent })).body.error.code).toBe('validation_failed')
  })
  test('keeps its contrast in both themes, whatever colour it is', () => {
    const css = readFileSync(new URL('../../../public/panel.css', import.meta.url).pathname, 'utf8')
    /** The light and the dark value of a token that follows from the brand, or is a colour by itself. */
    const token = (name: string, brand: string) => {
      const value = new RegExp(
        `--${name}:light-dark\\((#fff|oklch\\(.*?\\)),((?:#\\w+|oklch\\(.*?h\\)|oklch\\([^()]*\\)))\\)`,
      ).exec(css)!
      return value.slice(1, 3).map((one) => luminanceOf(one, brand))
    }
    const ratio = (a: number, b: number) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    for (const brand of ['#1d4ed8', '#767676', '#000000', '#b00020', '#0b6b2f', '#8a5a00', '#6d28d9', '#00ffff']) {
      const [accent, onAccent, soft, surface, canvas] = ['accent', 'on-accent', 'accent-soft', 'surface', 'canvas'].map(
        (name) => token(name, brand),
      )
      for (const ground of [soft, surface, canvas, onAccent])
        for (const theme of [0, 1]) expect(ratio(accent![theme]!, ground![theme]!), brand).toBeGreaterThanOrEqual(4.5)
    }
  })
  test('is a style sheet of its own, under the same policy, at an address that changes with it', async () => {
    using p = await panel()
    const staff = p.staff()
    expect((await get(p, '/brand/brand.css')).status).toBe(404)
    await p.call(staff, 'PUT', own, { accent: '#AA0055' })
    const page = await get(p, '/login')
    expect(await page.text()).toContain('<link rel="stylesheet" href="/brand/brand.css?v=aa0055"/>')
    expect(page.headers.get('Content-Security-Policy')).toContain("style-src 'self'")
    const css = await get(p, '/brand/brand.css?v=aa0055')
    expect([css.status, css.headers.get('Content-Type'), css.headers.get('X-Content-Type-Options')]).toEqual([
      200,
      'text/css; charset=utf-8',
      'nosniff',
    ])
    expect(await css.text()).toBe('@layer brand{:root{--brand:#aa0055}}\n')
    for (const v of ['00ff00', '%27', 'aa0055%7D']) expect((await get(p, `/brand/brand.css?v=${v}`)).status).toBe(404)
  })
})

describe('a logo', () => {
  const put = (p: Panel, who: Who, bytes: Buffer, path = own) =>
    p.call(who, 'PUT', `${path}/logo`, { image: bytes.toString('base64') })

  test('is served as what its first bytes say, never guessed, at an address of its own', async () => {
    using p = await panel()
    const { body } = await put(p, p.staff(), png)
    expect(body.logo).toMatch(/^\/brand\/logo\?v=[0-9a-f]{24}$/)
    const logo = await get(p, body.logo)
    expect(logo.headers.get('Content-Type')).toBe('image/png')
    expect(logo.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(Buffer.from(await logo.arrayBuffer()).equals(png)).toBe(true)
    expect((await get(p, '/brand/logo')).status).toBe(200)
    expect((await get(p, '/brand/logo?v=x')).status).toBe(404)
    expect(await text(p, '/login')).toContain(`<img src="${body.logo}" alt="Berth"/>`)
  })
  test('that is no such picture, or too large, is refused', async () => {
    using p = await panel()
    const staff = p.staff()
    const before = p.fingerprint()
    for (const bytes of [
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      Buffer.from('<!doctype html><script>alert(1)</script>'),
      Buffer.from('GIF89a'),
      Buffer.concat([png, Buffer.alloc(100_001 - png.length)]),
    ])
      expect((await put(p, staff, bytes)).body.error.code).toBe('validation_failed')
    expect(p.fingerprint()).toBe(before)
    expect((await put(p, staff, Buffer.concat([png, Buffer.alloc(100_000 - png.length)]))).status).toBe(200)
  })
  test('stands in the audit log as a digest before and after, not as a picture', async () => {
    using p = await panel()
    const staff = p.staff()
    await put(p, staff, png)
    await p.call(staff, 'DELETE', `${own}/logo`)
    const [set, removed] = p.auditLines().slice(-2)
    expect(set).toMatchObject({ operation: 'branding.set-logo', details: { image: '***' } })
    expect(set!.changes).toEqual([{ field: 'logo', before: null, after: expect.stringMatching(/^[0-9a-f]{24}$/) }])
    expect(removed!.changes).toEqual([{ field: 'logo', before: expect.any(String), after: null }])
  })
})

describe("a reseller's brand", () => {
  test('is what its customers see after signing in; what it leaves out is the installation’s', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Reed')
    const theirs = p.account('customer', 'Tess', reseller.id)
    await p.call(p.owner, 'PUT', own, { name: 'Hafen', accent: '#0b6b2f' })
    await p.call(reseller, 'PUT', '/reseller/branding', { name: 'Reed <b>& Co' })
    const customers = await text(p, '/', theirs)
    expect(customers).toContain('· Reed &lt;b>&amp; Co</title>')
    expect(customers).toContain('brand.css?v=0b6b2f')
    for (const [path, who] of [
      ['/', p.customer],
      ['/reseller', reseller],
      ['/login', undefined],
    ] as const)
      expect(await text(p, path, who)).toContain('· Hafen</title>')
  })
  test('is its own: another reseller neither reads nor changes it', async () => {
    using p = await world()
    const [reed, eve] = [p.account('reseller', 'Reed'), p.account('reseller', 'Eve')]
    await p.call(reed, 'PUT', '/reseller/branding', { name: 'Reed & Co' })
    await p.call(eve, 'PUT', '/reseller/branding', { name: 'Eve & Co' })
    expect((await p.call(reed, 'GET', '/reseller/branding')).body.name).toBe('Reed & Co')
    expect((await p.call(p.owner, 'GET', own)).body.name).toBe(null)
  })
  test('does not send mail in the name of the provider, its staff or anybody else here', async () => {
    using p = await world()
    const reed = p.account('reseller', 'Reed')
    await p.admin('PUT', '/admin/settings/mail', { host: '127.0.0.1', port: 25, plain: true, from: 'panel@berth.test' })
    await p.admin('PUT', own, { senderAddress: 'help@berth.test' })
    const email = (id: string) =>
      p.db.$client.query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?').get(id)!.email
    await p.call(p.account('reseller', 'Eve'), 'PUT', '/reseller/branding', { senderAddress: 'hello@eve.test' })
    const before = p.fingerprint()
    // The provider's domain is the provider's, whatever stands before it.
    for (const senderAddress of ['security@berth.test', 'x@mail.berth.test', 'hello@eve.test'])
      expect((await p.call(reed, 'PUT', '/reseller/branding', { senderAddress })).body.error.code).toBe(
        'validation_failed',
      )
    for (const senderAddress of [
      'panel@berth.test',
      'HELP@berth.test',
      email(p.owner.id),
      email(p.customer.id),
      'x\r\nBcc: y@z',
    ])
      expect((await p.call(reed, 'PUT', '/reseller/branding', { senderAddress })).body.error.code).toBe(
        'validation_failed',
      )
    expect(p.fingerprint()).toBe(before)
    for (const senderAddress of [email(reed.id), 'hello@notberth.test'])
      expect((await p.call(reed, 'PUT', '/reseller/branding', { senderAddress })).status).toBe(200)
  })
})

describe('the support link', () => {
  const support = /href="([^"]+)"[^>]*>(?:<svg[^>]*><use[^>]*><\/svg>)?Contact support/
  test('stands where people sign in, in their menu, and where something failed', async () => {
    using p = await world()
    expect(await text(p, '/login')).not.toMatch(support)
    await p.admin('PUT', own, { supportLink: 'https://help.example.com/tickets' })
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
    const { jobId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    for (const [path, who] of [
      ['/login'],
      ['/', p.customer],
      ['/servers/nothing', p.customer],
      [`/jobs/${jobId}`, p.customer],
    ] as [string, Who?][])
      expect([path, support.exec(await text(p, path, who))?.[1]]).toEqual([path, 'https://help.example.com/tickets'])
    await p.admin('PUT', own, { supportLink: 'Help@Example.com' })
    expect(support.exec(await text(p, '/login'))?.[1]).toBe('mailto:help@example.com')
  })
  for (const link of [
    'javascript:alert(1)',
    'data:text/html,x',
    'https://',
    'ftp://a.example',
    'https://u:p@a.example',
    'nobody',
  ])
    test(`is never ${link}`, async () => {
      using p = await world()
      const before = p.fingerprint(['audit'])
      const { status, body } = await p.call(p.owner, 'PUT', own, { supportLink: link })
      expect([status, body.error.details.fields[0].field]).toEqual([422, 'supportLink'])
      expect(p.fingerprint(['audit'])).toBe(before)
    })
  test("of a provider is not shown to a reseller's customers once the reseller has a brand of its own", async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Rex')
    const customer = p.account('customer', 'Rita', reseller.id)
    await p.admin('PUT', own, { supportLink: 'https://provider.example' })
    const shown = async (who: Who) => support.exec(await text(p, '/', who))?.[1]
    expect(await shown(customer)).toBe('https://provider.example/')
    await p.call(reseller, 'PUT', '/reseller/branding', { name: 'Rex Hosting' })
    expect(await shown(customer)).toBeUndefined()
    await p.call(reseller, 'PUT', '/reseller/branding', { name: 'Rex Hosting', supportLink: 'help@rex.example' })
    expect(await shown(customer)).toBe('mailto:help@rex.example')
    expect(await shown(p.customer)).toBe('https://provider.example/')
  })
})
