// The reference: openapi.json for programs, and pages that list what their reader may call.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Type as t } from 'typebox'
import { operations } from '../../../src/app/features.ts'
import { fields, mayCall, nullable, secret } from '../../../src/kernel/api/operation.ts'
import { curlFor } from '../../../views/platform/reference/curl.ts'
import { fieldRows } from '../../../views/platform/reference/fields.ts'
import { type Panel, panel, type Who } from '../../support/world/panel.ts'

let p: Panel
beforeAll(async () => {
  p = await panel({ callsPerMinute: 1000 })
})
afterAll(() => p.close())

const fetched = (path: string, init: RequestInit = {}) =>
  p.controller.router.fetch(new Request(`http://localhost${path}`, init))
const named = (id: string) => operations.find((o) => o.id === id)!

describe('openapi.json', () => {
  test('is answered to anybody, with the headers of the API', async () => {
    const response = await fetched('/api/v1/openapi.json')
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(response.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
    expect((await fetched('/api/v1/openapi.json', { method: 'HEAD' })).status).toBe(200)
    const other = await fetched('/api/v1/openapi.json', { method: 'POST' })
    expect([other.status, other.headers.get('Allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  test('counts as a call of its address', async () => {
    using few = await panel({ callsPerMinute: 2 })
    const ask = async () => (await few.call(undefined, 'GET', '/openapi.json')).status
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429])
  })
})

describe('the reference page', () => {
  const open = async (path: string, who?: Who) => {
    const response = await fetched(path, who ? { headers: { Cookie: `__Host-panel=${who.cookie}` } } : {})
    const text = await response.text()
    return {
      status: response.status,
      text,
      listed: [...text.matchAll(/<li id="([a-z0-9-]+\.[a-z0-9-]+)"/g)].map((m) => m[1]!),
    }
  }

  /** The texts of the pages of all groups, and the calls that they list. */
  async function all(top: string, who: Who) {
    const links = (await open(top, who)).text.matchAll(new RegExp(`<a href="(${top}/[\\w-]+)">`, 'g'))
    const pages = await Promise.all([...links].map(([, path]) => open(path!, who)))
    return { text: pages.map((page) => page.text).join(), listed: pages.flatMap((page) => page.listed) }
  }

  test('lists for each what the gate would let him call, no more and no less', async () => {
    for (const who of [
      p.staff(),
      p.staff(['nodes.read']),
      p.staff([]),
      p.account('reseller', 'R'),
      p.account('customer', 'C'),
    ]) {
      const { listed } = await all('/api-reference', who)
      const refused: string[] = []
      for (const op of operations) {
        const path = op.path.replace(/\{\w+\}/g, 'x')
        // Without the CSRF token a change is refused before the gate: asked of the declaration instead.
        const code = op.method === 'GET' ? (await p.call(who, 'GET', path)).body.error?.code : undefined
        if (code === 'forbidden') refused.push(op.id)
      }
      for (const id of refused) expect(listed).not.toContain(id)
      const reads = operations.filter((op) => op.method === 'GET' && !refused.includes(op.id)).map((op) => op.id)
      for (const id of reads) expect(listed).toContain(id)
    }
  })

  test('lists changes by the same rule', async () => {
    const few = (await all('/api-reference', p.staff(['nodes.read']))).listed
    expect(few).toContain('nodes.list')
    for (const hidden of ['nodes.enroll', 'servers.terminate', 'staff.create']) expect(few).not.toContain(hidden)
    const own = (await all('/api-reference', p.account('customer', 'C'))).listed
    for (const shown of ['servers.power', 'tokens.create', 'ssh-keys.create']) expect(own).toContain(shown)
    for (const hidden of ['servers.terminate', 'customers.create', 'nodes.list']) expect(own).not.toContain(hidden)
    const { listed } = await all('/admin/api/reference', p.staff())
    expect(listed.toSorted()).toEqual(
      operations
        .filter((op) => mayCall(op, owner))
        .map((op) => op.id)
        .toSorted(),
    )
  })

  test('is for who is signed in, and in the staff area for staff', async () => {
    expect((await open('/api-reference')).status).toBe(303)
    expect((await open('/admin/api/reference', p.account('customer', 'C'))).status).toBe(404)
    expect((await open('/admin/api/reference', p.staff([]))).status).toBe(200)
    for (const path of ['/api-reference/servers', '/admin/api/reference/servers', '/api-reference/no-such-group'])
      expect((await open(path)).status).toBe(303)
    const customer = p.account('customer', 'C')
    for (const path of ['/admin/api/reference/servers', '/api-reference/nodes', '/api-reference/no-such-group'])
      expect((await open(path, customer)).status).toBe(404)
    expect((await open('/api-reference/servers', customer)).listed).toContain('servers.power')
  })

  test('says path, scope in words, rules, codes and a line for curl; lets reads be tried, not changes', async () => {
    const { text } = await all('/api-reference', p.account('customer', 'C'))
    for (const words of [
      '/account/tokens',
      'Start, stop and restart servers',
      '<code>servers:power</code>',
      '1 to 100 characters',
      '<code>token_not_found</code>',
      'https://panel.test/api/v1/servers',
      'data-try="/api/v1/servers/{id}"',
      'A person who is signed in; tokens cannot call it.',
    ])
      expect(text).toContain(words)
    expect(text).not.toContain('https://panel.test/api/v1/account/tokens')
    const tried = [...text.matchAll(/data-try="\/api\/v1([^"]+)"/g)].map((m) => m[1]!)
    const reads = operations
      .filter((op) => op.method === 'GET' && !op.produces && op.access !== 'anyone' && op.access.customer)
      .map((op) => op.path)
    for (const path of reads) expect(tried).toContain(path)
    for (const path of tried) expect(operations.some((op) => op.method === 'GET' && op.path === path)).toBe(true)
  })

  test('is searched by its address: path, words, scope and code; few that are found are open', async () => {
    const who = p.staff()
    expect((await open('/api-reference?q=suspend+invoice', who)).listed).toEqual([])
    expect((await open('/api-reference?q=already_suspended', who)).listed).toContain('servers.suspend')
    expect((await open('/api-reference?q=not_suspended', who)).text).toContain('<details open>')
    expect((await open('/api-reference?q=SERVERS%3Aterminate', who)).listed).toContain('servers.terminate')
    expect((await open('/api-reference?q=post+sessions', who)).listed).toContain('sessions.create')
    const nothing = await open(`/api-reference?q=${encodeURIComponent('<script>alert(1)</script>')}`, who)
    expect(nothing.listed).toEqual([])
    expect(nothing.text).not.toContain('<script>alert')
    expect((await open('/api-reference?q=terminate', p.account('customer', 'C'))).listed).not.toContain(
      'servers.terminate',
    )
  })
})

const owner = {
  kind: 'staff',
  isOwner: true,
  scopes: new Set([
    'account:read',
    'account:write',
    ...operations.flatMap((op) => (op.access === 'anyone' ? [] : (op.access.staff ?? []))),
  ]),
  permissions: new Set(operations.flatMap((op) => (op.access === 'anyone' ? [] : (op.access.staff ?? [])))),
  via: { type: 'session', sessionId: '', confirmedAt: 0 },
} as any

describe('a line for curl', () => {
  test('has what the call needs', () => {
    expect(curlFor(named('servers.list'), 'https://panel.test')).toBe(
      'curl "https://panel.test/api/v1/servers" \\\n  -H "Authorization: Bearer $TOKEN"',
    )
    const change = curlFor(named('servers.create'), 'https://panel.test')
    for (const part of ['-X POST', 'Idempotency-Key: $(uuidgen)', "Content-Type: application/json'", "-d '{"])
      expect(change).toContain(part)
    expect(curlFor(named('servers.terminate'), 'https://panel.test')).toContain(
      '"https://panel.test/api/v1/servers/$ID"',
    )
    expect(curlFor(named('sessions.create'), 'https://panel.test')).not.toContain('Authorization')
  })
  test('survives a shell: an apostrophe in an example does not end it', async () => {
    const op = { ...named('customers.create'), example: { name: "O'Hara $(id) `id`" } }
    const shown = await Bun.$`sh -c ${curlFor(op, 'http://x').replace(
      /^curl/,
      'TOKEN=t; uuidgen() { echo u; }; printf ' + '"%s\\n"',
    )}`.text()
    expect(JSON.parse(shown.trim().split('\n').at(-1)!)).toEqual(op.example)
  })
})

test('fields are said with their names, types and rules', () => {
  const body = fields({
    name: t.String({ minLength: 1, maxLength: 5 }),
    size: t.Optional(nullable(t.Integer({ minimum: 1 }))),
    key: secret(t.String({ maxLength: 1000 })),
    mode: t.Enum(['a', 'b']),
    list: t.Optional(t.Array(fields({ id: t.String() }), { maxItems: 3 })),
    inner: t.Optional(fields({ deep: t.Boolean() })),
  })
  expect(fieldRows(body)).toEqual([
    { name: 'name', type: 'string', required: true, rule: '1 to 5 characters' },
    { name: 'size', type: 'integer or null', required: false, rule: '1 or more' },
    { name: 'key', type: 'string', required: true, rule: 'at most 1,000 characters; never returned or logged' },
    { name: 'mode', type: 'string', required: true, rule: 'one of a, b' },
    { name: 'list', type: 'list of object', required: false, rule: 'at most 3 entries' },
    { name: 'list[].id', type: 'string', required: false, rule: '' },
    { name: 'inner', type: 'object', required: false, rule: '' },
    { name: 'inner.deep', type: 'boolean', required: false, rule: '' },
  ])
})
