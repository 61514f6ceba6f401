// What every page says to the browser about itself.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pages } from '../../views/pages.ts'
import { listening } from '../support/listening.ts'
import { type World, world } from '../support/panel.ts'

let p: World
beforeAll(async () => void (p = await world()))
afterAll(() => p.close())

const open = (path: string, cookie?: string, init: RequestInit = {}) =>
  p.controller.app.fetch(
    new Request(`http://localhost${path}`, {
      ...init,
      headers: { ...(cookie ? { Cookie: `__Host-panel=${cookie}` } : {}), ...(init.headers as object) },
    }),
  )
const policy = (response: Response) =>
  new Map(
    (response.headers.get('Content-Security-Policy') ?? '')
      .split(';')
      .map((part) => [part.trim().split(' ')[0]!, part.trim().split(' ').slice(1)] as const),
  )

describe('every page, also one that is refused or not there', () => {
  const paths = [...pages.map((page) => page.path.replace(/\{\w+\}/g, `srv_${'0'.repeat(26)}`)), '/nothing/here', '/%3Cscript%3E']
  for (const path of paths)
    test(`S29: ${path} has its headers, and a policy that lets nothing run but what carries its nonce`, async () => {
      for (const cookie of [undefined, p.owner.cookie]) {
        const response = await open(path, cookie)
        const text = await response.text()
        const said = policy(response)
        expect(said.get('default-src')).toEqual(["'none'"])
        expect(said.get('frame-ancestors')).toEqual(["'none'"])
        expect(said.get('base-uri')).toEqual(["'none'"])
        expect(said.get('report-uri')).toEqual(['/csp-report'])
        expect(response.headers.get('Content-Security-Policy')).not.toMatch(/unsafe-|\*|http:/)
        for (const [name, value] of [
          ['Cross-Origin-Opener-Policy', 'same-origin'],
          ['Cross-Origin-Resource-Policy', 'same-origin'],
          ['X-Content-Type-Options', 'nosniff'],
          ['Referrer-Policy', 'same-origin'],
          ['Strict-Transport-Security', 'max-age=31536000'],
          ['Cache-Control', 'no-store'],
        ] as const)
          expect([name, response.headers.get(name)]).toEqual([name, value])
        expect(response.headers.get('Permissions-Policy')).toContain('camera=()')
        const nonce = /'nonce-([^']+)'/.exec(said.get('script-src')?.join(' ') ?? '')?.[1]
        for (const [tag] of text.matchAll(/<script[^>]*>/g)) expect(tag).toContain(`nonce="${nonce}"`)
        expect(text).not.toMatch(/<[^>]+\son\w+=|<[^>]+\sstyle=|javascript:/i)
        expect(text).not.toContain('<script>')
      }
    })
  test('S29: no two answers have the same nonce', async () => {
    const nonces = await Promise.all(Array.from({ length: 20 }, async () => (await open('/login')).headers.get('Content-Security-Policy')))
    expect(new Set(nonces).size).toBe(20)
  })
})

describe('signing out', () => {
  test('S29: tells the browser to forget what the pages kept, and nothing else does', async () => {
    const staff = p.staff()
    expect((await p.call(staff, 'GET', '/status')).headers.get('Clear-Site-Data')).toBeNull()
    const { status, headers } = await p.call(staff, 'DELETE', '/sessions/current')
    expect([status, headers.get('Clear-Site-Data')]).toEqual([200, '"storage"'])
  })
})

describe('reports of a violated policy', () => {
  const reported = async (send: (post: (body: string) => Promise<Response>) => Promise<void>) => {
    await using it = await listening()
    const lines: string[] = []
    const { quieten } = await import('../../src/kernel/log.ts')
    const write = process.stderr.write
    process.stderr.write = ((text: string) => lines.push(String(text)) > 0) as any
    quieten(false)
    try {
      await send(
        (body) => it.controller.app.fetch(new Request('http://localhost/csp-report', { method: 'POST', body })) as Promise<Response>,
      )
    } finally {
      quieten(true)
      process.stderr.write = write
    }
    return lines.filter((line) => line.includes('content security policy'))
  }
  const report = (document: string) =>
    JSON.stringify({ 'csp-report': { 'document-uri': document, 'effective-directive': 'script-src', 'blocked-uri': 'inline' } })

  test('S29: are logged without what follows the path, and answered with nothing', async () => {
    const lines = await reported(async (post) => {
      const response = await post(report('https://panel.test/setup?token=canary\r\n#x'))
      expect([response.status, await response.text()]).toEqual([204, ''])
    })
    expect(lines.length).toBe(1)
    expect(lines[0]).toContain('"page":"https://panel.test/setup"')
    expect(lines[0]).not.toContain('canary')
  })
  test('S29: do not fill the journal, whatever is sent and however often', async () => {
    const lines = await reported(async (post) => {
      for (const body of ['', '{', 'null', '[]', '{"csp-report":1}', `"${'x'.repeat(50_000)}"`]) expect((await post(body)).status).toBe(204)
      for (let i = 0; i < 100; i++) expect((await post(report('https://panel.test/'))).status).toBe(204)
    })
    expect(lines.length).toBeLessThanOrEqual(10)
  })
})

describe('what the panel calls itself', () => {
  test('S30: never comes from a header', async () => {
    for (const headers of [{ Host: 'evil.test' }, { 'X-Forwarded-Host': 'evil.test' }, { Forwarded: 'host=evil.test;proto=http' }]) {
      for (const path of ['/login', '/api-reference', '/nothing']) {
        const response = await open(path, p.owner.cookie, { headers: headers as any })
        expect((await response.text()) + JSON.stringify([...response.headers])).not.toContain('evil.test')
      }
      const { body } = await p.call(p.owner, 'POST', '/admin/node-enrollments', { locationId: p.location }, headers as any)
      expect(body.command).toContain('https://panel.test')
    }
  })
})
