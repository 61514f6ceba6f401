// S29: the headers of every answer, written out here once more: what a header says is decided by who reads this, not by
// the code.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operations, registry } from '../../src/app/features.ts'
import { listenToLog } from '../support/log.ts'
import { submit } from '../support/pages/native-form.ts'
import { password, person } from '../support/second-factor.ts'
import { callerOf, type Everything, everyId, everything, exampleOf, targetsOf } from '../support/world/everything.ts'
import { panel, type Who } from '../support/world/panel.ts'

let p: Everything
beforeAll(async () => {
  p = await everything()
}, 60_000)
afterAll(() => p.close())

const REPORTS = '/csp-report'
const NONCE = /'nonce-([A-Za-z0-9+/]{22}==)'/
const policy = (scripts: string, styles = '') =>
  `default-src 'none'; script-src ${scripts}; style-src 'self'; ${styles}img-src 'self' data:; connect-src 'self'; ` +
  `font-src 'self'; ` +
  `form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; report-uri ${REPORTS}`
const ofPages = {
  'cache-control': 'no-store',
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
}
const ofCalls = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'content-type': 'application/json; charset=utf-8',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
}
/** Headers of some responses only, and headers whose value differs. */
const ofItsOwn = [
  'x-request-id',
  'location',
  'retry-after',
  'allow',
  'set-cookie',
  'content-disposition',
  'content-length',
]
const headersOf = (headers: Headers) => Object.fromEntries([...headers].filter(([name]) => !ofItsOwn.includes(name)))

// ---------------------------------------------------------------- pages
type Panel = Pick<Everything, 'controller'>
const visit = (on: Panel, path: string, who?: Who) =>
  on.controller.router.fetch(
    new Request(
      `http://localhost${path}`,
      who ? { headers: { Cookie: `__Host-panel=${who.cookie}`, Origin: 'https://evil.test' } } : {},
    ),
  )

/** The whole set, no header more; and no script runs but those that this very answer names. Answers its nonce. */
async function mustBeFenced(path: string, response: Response): Promise<string> {
  const text = await response.text()
  const found: Record<string, string> = headersOf(response.headers)
  const nonce = NONCE.exec(found['content-security-policy'] ?? '')?.[1] ?? ''
  const scripts = text ? `'nonce-${nonce}' 'strict-dynamic'` : "'none'"
  // A terminal makes its own style sheets: only on the page of a console, and only with the nonce.
  const isConsole = /^(\/admin|\/reseller)?\/servers\/[^/]+\/console$/.test(path) && response.status === 200
  const made = `style-src-elem 'self' 'nonce-${nonce}'; style-src-attr 'unsafe-inline'; `
  expect([path, found]).toEqual([
    path,
    {
      ...ofPages,
      ...(text && { vary: 'Accept-Encoding' }),
      'content-security-policy': policy(scripts, isConsole ? made : ''),
    },
  ])
  expect([path, response.headers.get('X-Request-Id')]).toEqual([path, expect.stringMatching(/^[0-9a-f-]{36}$/)])
  for (const [tag] of text.matchAll(/<script\b[^>]*>/g))
    expect([path, tag]).toEqual([path, expect.stringContaining(`nonce="${nonce}"`)])
  expect([path, (text.match(/<script\b/g) ?? []).length > 0]).toEqual([path, text !== ''])
  return nonce
}

/** Each page there is, with an id of something in it, with one of nothing, and what is no page. */
function addresses(): string[] {
  const one = (table: string) =>
    p.db.$client.query<{ id: string }, []>(`SELECT id FROM ${table} ORDER BY id LIMIT 1`).get()!.id
  const ids: Record<string, string> = {
    servers: p.serverId,
    jobs: one('jobs'),
    customers: p.customer.id,
    resellers: p.people.reseller.id,
    nodes: p.node.id,
    'ip-pools': p.pool,
    enroll: one('enrollments'),
  }
  const at = (path: string) =>
    path.replace(/([\w-]+)\/\{\w+\}/g, (_, place) => `${place}/${ids[place] ?? 'x'.repeat(43)}`)
  return [...registry.pages.map(({ path }) => path), '/no/such/page'].flatMap((path) => [
    ...new Set([at(path), path.replace(/\{\w+\}/g, 'xyz')]),
  ])
}

describe('S29: every page', () => {
  test('for everybody, whether it is shown, refused, elsewhere, not there, one too many or broken, has every ' +
    'header of a page', async () => {
    const seen = new Map<number, number>()
    const look = async (on: Panel, path: string, who?: Who) => {
      const response = await visit(on, path, who)
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1)
      await mustBeFenced(path, response)
    }
    const weak = p.staff([])
    const all = addresses()
    for (const path of all) for (const who of [...Object.values(p.people), weak, undefined]) await look(p, path, who)

    using few = await panel({ callsPerMinute: 1 })
    for (const path of all) await look(few, path)

    using broken = await panel()
    const who = broken.staff()
    broken.db.$client.run('ALTER TABLE sessions RENAME TO gone')
    for (const path of all) await look(broken, path, who)
    broken.db.$client.run('ALTER TABLE gone RENAME TO sessions')

    // At each address somebody was one too many, and something broke; the rest must have happened often.
    expect(seen.get(429)).toBeGreaterThanOrEqual(all.length - 1)
    expect(seen.get(500)).toBe(all.length)
    for (const status of [200, 303, 403, 404]) expect([status, (seen.get(status) ?? 0) > 20]).toEqual([status, true])
  }, 60_000)
  test('that a browser gets for a form that it sent by itself has them, whatever becomes of it', async () => {
    const ada = person(p)
    const right = { email: ada.email, password }
    for (const [path, form, headers, status] of [
      ['/login', right, {}, 303],
      ['/login', { ...right, password: 'wrong' }, {}, 401],
      ['/login', { ...right, password: '' }, {}, 422],
      ['/login', {}, {}, 409],
      ['/login', right, { Origin: 'https://evil.test' }, 403],
      ['/login', right, { 'Content-Type': 'text/plain' }, 415],
      ['/login/2fa', { code: '123456' }, {}, 401],
      ['/admin', {}, {}, 405],
      ['/no/such/page', {}, {}, 404],
    ] as const) {
      const response = await submit(p, path, form, headers)
      expect([path, status, response.status]).toEqual([path, status, status])
      await mustBeFenced(path, response)
    }
  })
  test('names its scripts by a word that no other answer has', async () => {
    const nonces = new Set<string>()
    for (let i = 0; i < 20; i++) nonces.add(await mustBeFenced('/login', await visit(p, '/login')))
    expect(nonces.size).toBe(20)
  })
  test('that only leads elsewhere has them too', async () => {
    const response = await visit(p, '/login/oidc/start')
    expect(response.status).toBe(303)
    await mustBeFenced('/login/oidc/start', response)
  })
})

// ---------------------------------------------------------------- calls
describe('S29: every call', () => {
  test('that is answered or refused has every header of a call, and none that would let another site read ' +
    'it', async () => {
    const seen = new Set<number>()
    const ids = everyId(p)
    for (const op of operations) {
      const kind = callerOf(op)
      const target = targetsOf(p, op, ids)[0] ?? 'xyz'
      const send = (who: Who | undefined, path: string, body: unknown) =>
        p.call(who, op.method, path, body, { Origin: op.method === 'GET' ? 'https://evil.test' : 'https://panel.test' })
      const at = op.path.replace(/\{\w+\}/, target)
      const replies = [
        await send(undefined, at, op.method === 'GET' ? undefined : {}),
        // Nothing is changed here: what would be is asked with a field too many.
        await send(
          p.people[kind],
          at,
          op.method === 'GET' ? undefined : { ...(exampleOf(p, op, ids) ?? {}), surprise: 1 },
        ),
        await send(p.people[kind], op.path.replace(/\{\w+\}/, 'xyz'), op.method === 'GET' ? undefined : '{'),
        await send(p.people.customer, `${at}?nonsense=1`, op.method === 'GET' ? undefined : {}),
        await send(
          p.people.customer,
          op.path.replace(/\{\w+\}/, 'xyz'),
          op.method === 'GET' ? undefined : { surprise: 1 },
        ),
      ]
      for (const { status, headers } of replies) {
        seen.add(status)
        const type = status === 200 && op.produces ? `${op.produces}; charset=utf-8` : ofCalls['content-type']
        expect([op.id, status, headersOf(headers)]).toEqual([op.id, status, { ...ofCalls, 'content-type': type }])
      }
    }
    for (const status of [200, 400, 401, 403, 404, 422]) expect([status, seen.has(status)]).toEqual([status, true])
  }, 60_000)
  test('of no operation has them too, and so has one that is not known, one too many and one that broke', async () => {
    using few = await panel({ callsPerMinute: 1 })
    await few.call(undefined, 'GET', '/status')
    using broken = await panel()
    const who = broken.staff()
    broken.db.$client.run('ALTER TABLE sessions RENAME TO gone')
    for (const [reply, status] of [
      [await p.call(undefined, 'GET', '/openapi.json'), 200],
      [await p.call(undefined, 'GET', '/no/such/call'), 404],
      [await p.call(undefined, 'DELETE', '/status'), 405],
      [await few.call(few.staff(), 'GET', '/account'), 200],
      [await few.call(undefined, 'POST', '/sessions', { email: 'a@b.test', password: 'x' }), 429],
      [await broken.call(who, 'GET', '/account'), 500],
    ] as const)
      expect([reply.status, headersOf(reply.headers)]).toEqual([status, ofCalls])
    broken.db.$client.run('ALTER TABLE gone RENAME TO sessions')
  })
  test(
    'that makes or changes something has them, and signing out tells the browser to forget what pages ' + 'kept',
    async () => {
      const made = await p.call(p.owner, 'POST', '/admin/node-groups', { name: 'Headers' })
      expect([made.status, headersOf(made.headers)]).toEqual([201, ofCalls])
      expect(made.headers.has('Clear-Site-Data')).toBe(false)
      const left = await p.call(p.account('customer', 'Leaves'), 'DELETE', '/sessions/current')
      expect([left.status, headersOf(left.headers)]).toEqual([200, { ...ofCalls, 'clear-site-data': '"storage"' }])
    },
  )
})

// ---------------------------------------------------------------- files, and what browsers report
test('S29: a file of ours is what its type says and nobody else’s', async () => {
  const page = await (await visit(p, '/login')).text()
  const files = [...page.matchAll(/(?:src|href)="(\/[\w/.-]+\.(?:js|css|svg|ico|png))"/g)].map(([, path]) => path!)
  expect(files.length).toBeGreaterThan(3)
  for (const path of files) {
    const { headers, status } = await visit(p, path)
    expect([path, status, headers.get('X-Content-Type-Options'), headers.get('Cross-Origin-Resource-Policy')]).toEqual([
      path,
      200,
      'nosniff',
      'same-origin',
    ])
    expect([path, ...[...headers.keys()].filter((name) => name.startsWith('access-control'))]).toEqual([path])
  }
})

test(
  'S29: and so is what is no page and no call: the logo, what is not there, what takes no reports, the way to a ' +
    'provider',
  async () => {
    for (const path of [
      '/brand/logo',
      '/brand/brand.css',
      '/assets/nothing.js',
      '/agent/v1/images/nothing',
      '/login/oidc/start',
    ])
      for (const method of ['GET', 'POST', 'PROPFIND']) {
        const { headers } = await p.controller.router.fetch(new Request(`http://localhost${path}`, { method }))
        for (const name of Object.keys(ofCalls))
          if (name !== 'content-type')
            expect([method, path, name, headers.has(name)]).toEqual([method, path, name, true])
        expect([method, path, headers.get('X-Request-Id')]).toEqual([
          method,
          path,
          expect.stringMatching(/^[0-9a-f-]{36}$/),
        ])
      }
  },
)

test(
  'S29: what a browser reports to the address in the policy is in the journal, without what follows the ' + 'path',
  async () => {
    const link = Buffer.alloc(32, 'secret').toString('base64url')
    const report = (address: string) =>
      p.controller.router.fetch(
        new Request(`http://localhost${REPORTS}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/csp-report' },
          body: JSON.stringify({
            'csp-report': {
              'document-uri': address,
              'effective-directive': 'script-src-elem',
              'blocked-uri': 'https://evil.test/x.js',
            },
          }),
        }),
      )
    const heard = await listenToLog(async () => {
      for (const page of ['welcome', 'reset', 'confirm-email', 'sign-in'])
        await report(`https://panel.test/${page}/${link}#x`)
      return report('https://panel.test/setup?token=very-secret')
    })
    expect(heard.answer.status).toBe(204)
    const line = heard.lines
      .map((text) => JSON.parse(text))
      .findLast(({ directive }) => directive === 'script-src-elem')
    expect(line).toMatchObject({
      level: 'warning',
      page: 'https://panel.test/setup',
      blocked: 'https://evil.test/x.js',
    })
    expect(heard.lines.join('')).toContain('https://panel.test/welcome/***')
    for (const secret of ['very-secret', link]) expect(heard.lines.join('')).not.toContain(secret)
  },
)
