// Promises of the contract about every response, for every sender and every path.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operations, registry } from '../../../src/app/features.ts'
import type { Code } from '../../../src/kernel/api/errors.ts'
import { checksOf } from '../../../src/kernel/api/http.ts'
import { codesOf } from '../../../src/kernel/openapi/openapi.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const checks = checksOf(registry.errors)

let p: World
let serverId: string
beforeAll(async () => {
  p = await world()
  serverId = (await p.admin('POST', '/admin/servers', p.order)).serverId
  await p.settle()
})
afterAll(() => p.close())

const nobody = `srv_${'0'.repeat(26)}`
const ask = (panel: World, method: string, path: string, headers: Record<string, string> = {}) =>
  panel.controller.router.fetch(new Request(`http://localhost${path}`, { method, headers }))

/** Every path that something is behind, and some behind which nothing is. */
const paths = [
  ...new Set(operations.map((op) => `/api/v1${op.path.replace(/\{\w+\}/g, nobody)}`)),
  ...registry.pages.map((page) => page.path.replace(/\{\w+\}/g, nobody)),
  '/api/v1',
  '/api/v1/openapi.json',
  '/api/v1/no/such/path',
  '/no/such/page',
  '/assets/nothing.js',
  '/agent/v1/enroll',
  '/agent/v1/images/nothing',
  '/csp-report',
]
const crossSite = {
  Origin: 'https://evil.test',
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'Authorization',
  'Sec-Fetch-Site': 'cross-site',
}

describe('every path, with every method', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'])
    test(`answers ${method} without breaking, with a request id, and never with a CORS header`, async () => {
      for (const path of paths)
        for (const who of [undefined, p.owner]) {
          const headers = { ...crossSite, ...(who ? { Cookie: `__Host-panel=${who.cookie}` } : {}) }
          const response = await ask(p, method, path, headers)
          const where = `${method} ${path} ${who ? 'signed in' : ''}`
          expect([where, response.status < 500]).toEqual([where, true])
          expect([where, response.headers.get('X-Request-Id')]).toEqual([
            where,
            expect.stringMatching(/^[0-9a-f-]{36}$/),
          ])
          expect([where, [...response.headers.keys()].filter((name) => name.startsWith('access-control'))]).toEqual([
            where,
            [],
          ])
          if (response.status === 204) expect([where, await response.text()]).toEqual([where, ''])
          if (method === 'TRACE') expect([where, response.status >= 400]).toEqual([where, true])
        }
    })
  test('answers HEAD with the status and type of GET', async () => {
    const headers = { Cookie: `__Host-panel=${p.owner.cookie}` }
    for (const path of paths) {
      const [get, head] = [await ask(p, 'GET', path, headers), await ask(p, 'HEAD', path, headers)]
      expect([path, head.status, head.headers.get('Content-Type')]).toEqual([
        path,
        get.status,
        get.headers.get('Content-Type'),
      ])
    }
  })
  test('answers OPTIONS of an operation with what is possible there', async () => {
    for (const op of operations) {
      const response = await ask(p, 'OPTIONS', `/api/v1${op.path.replace(/\{\w+\}/g, nobody)}`)
      expect([op.id, response.status]).toEqual([op.id, 204])
      expect(response.headers.get('Allow')).toContain(op.method)
    }
  })
})

describe('when something breaks on our side', () => {
  test('S35: the answer is generic, its message has the request id of its header, and nothing more', async () => {
    using broken = await world()
    broken.db.$client.run('ALTER TABLE packages RENAME TO gone')
    const { status, body, headers } = await broken.call(broken.owner, 'GET', '/admin/packages')
    expect([status, body.error.code]).toEqual([500, 'internal_error'])
    expect(body.error.message).toContain(headers.get('X-Request-Id')!)
    for (const word of ['packages', 'gone', 'SQL', 'table', '.ts', 'at '])
      expect(JSON.stringify(body).replace(/ at it| ask about it/, '')).not.toContain(word)

    const page = await ask(broken, 'GET', '/admin/packages', { Cookie: `__Host-panel=${broken.owner.cookie}` })
    const text = await page.text()
    expect(page.status).toBe(500)
    expect(text).toContain(page.headers.get('X-Request-Id')!)
    for (const word of ['no such table', 'SQLite', 'controller.ts']) expect(text).not.toContain(word)
  })
})

describe('a limit of calls', () => {
  test('is one bucket for all sessions of an account, and says on a page too when to come again', async () => {
    using few = await world({ callsPerMinute: 3 })
    const other = few.staff()
    for (let i = 0; i < 3; i++) expect((await few.call(few.owner, 'GET', '/status')).status).toBe(200)
    const refused = await few.call(few.owner, 'GET', '/status')
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '20'])
    const page = await ask(few, 'GET', '/admin', { Cookie: `__Host-panel=${few.owner.cookie}` })
    expect([page.status, page.headers.get('Retry-After')]).toEqual([429, '20'])
    expect((await few.call(other, 'GET', '/status')).status).toBe(200)
  })
})

// ---------------------------------------------------------------- the order of checks
type Wrong = {
  panel?: World
  who?: Who | undefined
  method?: string
  path?: string
  headers?: Record<string, string>
  body?: string
}
let tight: World
let stopping: World
beforeAll(async () => {
  tight = await world({ callsPerMinute: 1 })
  stopping = await world()
  stopping.controller.beginStop()
})
afterAll(() => {
  tight.close()
  stopping.close()
})

/**
 * The mistake that makes a call refused with this code; two of them together make a call that is wrong in two ways.
 */
const wrong: Partial<Record<Code, () => Wrong>> = {
  not_found: () => ({ path: '/nothing/here' }),
  method_not_allowed: () => ({ method: 'PUT' }),
  invalid_token: () => ({ who: { token: `pnl_${'x'.repeat(49)}` } }),
  ip_not_allowed: () => ({ who: p.token(p.owner.id, undefined, ['198.51.100.1/32']) }),
  rate_limited: () => ({ panel: tight, who: tight.owner }),
  restarting: () => ({ panel: stopping, who: stopping.owner }),
  csrf_failed: () => ({ who: { ...p.owner, csrf: 'x' } }),
  unsupported_media_type: () => ({ headers: { 'Content-Type': 'text/plain' } }),
  too_large: () => ({ body: `{"reason":"${'x'.repeat(1_000_000)}` }),
  invalid_json: () => ({ body: '{"reason":' }),
  invalid_idempotency_key: () => ({ headers: { 'Idempotency-Key': 'x'.repeat(201) } }),
  invalid_request: () => ({ path: `/servers/${serverId}/actions/suspend?surprise=1` }),
  missing_scope: () => ({ who: p.token(p.owner.id, ['servers:read']) }),
  server_not_found: () => ({ path: `/servers/${nobody}/actions/suspend` }),
  validation_failed: () => ({ body: '{"reason":""}' }),
  already_suspended: () => ({}),
}
/** Pairs whose mistakes cannot stand in one call as they are: the call that makes both. */
const both: Record<string, () => Wrong> = {
  'invalid_token ip_not_allowed': () => ({ who: { token: 'pnl_short' } }),
  'ip_not_allowed rate_limited': () => ({
    panel: tight,
    who: tight.token(tight.owner.id, undefined, ['198.51.100.1/32']),
  }),
  'rate_limited restarting': () => ({ panel: tight, who: tight.owner }),
  'restarting csrf_failed': () => ({ panel: stopping, who: { ...stopping.owner, csrf: 'x' } }),
  'too_large invalid_json': () => ({ body: `{"reason":"${'x'.repeat(1_000_000)}` }),
  'missing_scope server_not_found': () => ({
    who: p.token(p.owner.id, ['servers:read']),
    path: `/servers/${nobody}/actions/suspend`,
  }),
  'invalid_request missing_scope': () => ({
    who: p.token(p.owner.id, ['servers:read']),
    path: `/servers/${serverId}/actions/suspend?surprise=1`,
  }),
}

async function codeOf({
  panel = p,
  who = p.owner,
  method = 'POST',
  path = `/servers/${serverId}/actions/suspend`,
  headers = {},
  body = '{"reason":"overdue"}',
}: Wrong) {
  const before = panel.fingerprint()
  const reply = await panel.call(who, method, path, body, headers)
  expect(panel.fingerprint()).toBe(before)
  return reply.body.error?.code
}

describe('a call that is wrong in two ways gets the refusal that stands earlier in the order of checks', () => {
  beforeAll(async () => {
    await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'overdue' })
    await p.settle()
    tight.controller.beginStop()
    await tight.call(tight.owner, 'GET', '/status') // the one call it has a minute
    expect((await tight.call(tight.owner, 'GET', '/status')).status).toBe(429)
  })
  const examples = checks.map((list) => list.find((code) => code in wrong)!)
  test('which has every code that the gate makes', () => {
    const ordered = new Set(checks.flat())
    for (const op of operations)
      for (const code of codesOf({ ...op, refuses: [] }))
        if (code !== 'internal_error') expect([op.id, code, ordered.has(code)]).toEqual([op.id, code, true])
  })
  test('which has an example for every check, in the statuses that it declares', () => {
    expect(examples).not.toContain(undefined as any)
    expect(new Set(checks.flat()).size).toBe(checks.flat().length)
  })
  for (const [i, code] of examples.entries()) {
    test(`${code} alone`, async () => expect(await codeOf(wrong[code]!())).toBe(code))
    const next = examples[i + 1]
    if (next)
      test(`${registry.errors[code].status} ${code} before ${registry.errors[next].status} ${next}`, async () => {
        const pair = both[`${code} ${next}`]?.() ?? mixed(wrong[code]!(), wrong[next]!())
        expect(await codeOf(pair)).toBe(code)
      })
  }
})

const mixed = (a: Wrong, b: Wrong): Wrong => ({ ...b, ...a, headers: { ...b.headers, ...a.headers } })
