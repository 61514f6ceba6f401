// The weight of each page, compressed as a browser gets it, alone and with its files as on a first visit.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { median } from '../../bench/words.ts'
import { walked } from '../../support/pages/walk.ts'
import { type Everything, everything } from '../../support/world/everything.ts'

let p: Everything
beforeAll(async () => {
  p = await everything()
}, 60_000)
afterAll(() => p.close())

const kB = 1000
const fetched = (path: string, headers: Record<string, string>) =>
  p.controller.router.fetch(new Request(`http://localhost${path}`, { headers }))
const fileBytes = new Map<string, number>()
async function bytesOfFile(path: string): Promise<number> {
  if (!fileBytes.has(path)) {
    const response = await fetched(path, { 'Accept-Encoding': 'br' })
    fileBytes.set(path, (await response.bytes()).length)
  }
  return fileBytes.get(path)!
}

describe('a page', () => {
  for (const [name, start] of [
    ['owner', '/admin'],
    ['reseller', '/reseller'],
    ['customer', '/'],
  ] as const)
    test(`has 40 kB at most in the middle and 150 kB with its files on a first visit, for the ${name}`, async () => {
      const who = name === 'owner' ? p.owner : p.people[name]
      const pages = (await walked(p, who, start)).filter(({ status }) => status === 200)
      const bytes: number[] = []
      const heavy: string[] = []
      for (const { path, text } of pages) {
        const own = Bun.gzipSync(Buffer.from(text), { level: 5 }).length
        // A picture further down is fetched when somebody scrolls to it.
        const atOnce = text.replace(/<img loading="lazy"[^>]*>/g, '')
        const files = new Set([...atOnce.matchAll(/(?:src|href)="(\/assets\/[^"#]+)/g)].map(([, file]) => file!))
        let all = own
        for (const file of files) all += await bytesOfFile(file)
        bytes.push(own)
        if (all > 150 * kB) heavy.push(`${path} ${Math.round(all / kB)} kB, ${Math.round(own / kB)} of them the page`)
      }
      expect(pages.length).toBeGreaterThan(10)
      expect(heavy).toEqual([])
      expect(median(bytes)).toBeLessThanOrEqual(40 * kB)
    }, 120_000)
})

test('a page is compressed for a browser that takes it, and for no other', async () => {
  const Cookie = `__Host-panel=${p.owner.cookie}`
  const plain = await fetched('/admin/servers', { Cookie })
  const packed = await fetched('/admin/servers', { Cookie, 'Accept-Encoding': 'gzip, br' })
  expect([plain.headers.get('Content-Encoding'), packed.headers.get('Content-Encoding')]).toEqual([null, 'gzip'])
  expect([plain, packed].map(({ headers }) => headers.get('Vary'))).toEqual(['Accept-Encoding', 'Accept-Encoding'])
  const unpacked = new TextDecoder().decode(Bun.gunzipSync(await packed.bytes()))
  expect(unpacked).toEndWith('</html>')
  expect(unpacked.length / (await plain.text()).length).toBeWithin(0.95, 1.05)
})

test('the CSRF token is other text on each page, and each is good', async () => {
  const tokens: string[] = []
  for (let i = 0; i < 3; i++) {
    const text = await (await fetched('/account', { Cookie: `__Host-panel=${p.customer.cookie}` })).text()
    tokens.push(/<meta name="csrf-token" content="([\w-]+)"/.exec(text)![1]!)
  }
  expect(new Set(tokens).size).toBe(3)
  for (const token of tokens) {
    const headers = { 'X-CSRF-Token': token }
    expect((await p.call(p.customer, 'PATCH', '/account', { name: 'Cal' }, headers)).status).toBe(200)
    expect((await p.call(p.owner, 'PATCH', '/account', { name: 'Cal' }, headers)).body.error.code).toBe('csrf_failed')
  }
  const { csrf } = p.customer
  expect((await p.call(p.customer, 'PATCH', '/account', {}, { 'X-CSRF-Token': csrf! })).body.error.code).toBe(
    'csrf_failed',
  )
})
