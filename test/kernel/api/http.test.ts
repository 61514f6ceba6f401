// The order of checks is a promise (decisions): who sends two mistakes at once learns of the first in this order.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { csrfToken } from '../../../src/kernel/crypto/csrf-token.ts'
import { MOST_VALUES } from '../../../src/kernel/net/request-body.ts'
import { type Listening, listening } from '../../support/listening.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { scopesOf } from '../../support/world/rights.ts'

let p: World
let serverId: string
beforeAll(async () => {
  p = await world()
  serverId = (await p.admin('POST', '/admin/servers', p.order)).serverId
  await p.settle()
})
afterAll(() => p.close())

type Sent = {
  method: string
  path: string
  token: string | undefined
  cookie: string | undefined
  headers: Record<string, string>
  body: string
}
type Mistake = { code: string; make(sent: Sent): void }
const nobody = `srv_${'0'.repeat(26)}`

/** Suspending a server that is suspended: the call is right in everything but its state. */
function mistakes(): Mistake[] {
  const header = (name: string, value: string) => (s: Sent) => void (s.headers[name] = value)
  return [
    { code: 'not_found', make: (s) => void (s.path = '/nothing/here') },
    { code: 'method_not_allowed', make: (s) => void (s.method = 'PUT') },
    { code: 'invalid_token', make: (s) => void (s.token = `pnl_${'x'.repeat(49)}`) },
    { code: 'ip_not_allowed', make: (s) => void (s.token = p.token(p.owner.id, [], ['198.51.100.1/32']).token) },
    { code: 'unsupported_media_type', make: header('Content-Type', 'text/plain') },
    { code: 'too_large', make: (s) => void (s.body = `{"reason":"${'x'.repeat(1_000_000)}`) },
    { code: 'invalid_json', make: (s) => void (s.body = s.body.length > 1000 ? s.body : '{"reason":') },
    { code: 'invalid_idempotency_key', make: header('Idempotency-Key', 'x'.repeat(201)) },
    { code: 'missing_scope', make: (s) => void (s.token = p.token(p.owner.id, ['servers:read']).token) },
    { code: 'server_not_found', make: (s) => void (s.path = s.path.replace(serverId, nobody)) },
    {
      code: 'validation_failed',
      make: (s) => void (s.body = s.body === '{"reason":"overdue"}' ? '{"reason":""}' : s.body),
    },
    { code: 'already_suspended', make: () => {} },
  ]
}

async function send(made: readonly Mistake[]) {
  const sent: Sent = {
    method: 'POST',
    path: `/servers/${serverId}/actions/suspend`,
    token: p.token(p.owner.id).token,
    cookie: undefined,
    headers: { 'Content-Type': 'application/json' },
    body: '{"reason":"overdue"}',
  }
  for (const mistake of made) mistake.make(sent)
  const { body } = await p.call(
    sent.token ? { token: sent.token } : undefined,
    sent.method,
    sent.path,
    sent.body,
    sent.headers,
  )
  p.db.$client.run('DELETE FROM tokens')
  return body.error?.code ?? 'done'
}

describe('of two mistakes the one is answered that stands first in the order of checks', () => {
  beforeAll(async () => {
    await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'overdue' })
    await p.settle()
  })
  const names = mistakes().map((m) => m.code)
  // Two mistakes of one kind cannot be made at once: one token, one body.
  for (const [i, first] of names.entries())
    for (const [j, second] of names.entries())
      if (i < j && !(first === 'invalid_token' && second === 'ip_not_allowed'))
        test(`${first} before ${second}`, async () => {
          const [a, b] = [mistakes()[i]!, mistakes()[j]!]
          // The token of the later mistake is replaced by that of the earlier one.
          const before = p.fingerprint().replace(/tokens .*/, '')
          expect(await send([b, a])).toBe(first)
          expect(p.fingerprint().replace(/tokens .*/, '')).toBe(before)
        })
  test('and a call without any mistake is not refused', async () => {
    expect(await send([])).toBe('already_suspended')
    await p.admin('POST', `/servers/${serverId}/actions/unsuspend`)
    await p.settle()
    expect(await send([])).toBe('done')
    await p.settle()
  })
})

describe('a page that is not ours', () => {
  const change = (who: Who, headers: Record<string, string>, body = '{}') =>
    p.call(who, 'POST', `/servers/${serverId}/actions/unsuspend`, body, headers)
  test('is refused before the body is looked at, and credentials before it', async () => {
    expect((await change(p.owner, { Origin: 'https://evil.test', 'Content-Type': 'text/plain' })).body.error.code).toBe(
      'bad_origin',
    )
    expect((await change(p.owner, { 'X-CSRF-Token': 'x', 'Content-Type': 'text/plain' })).body.error.code).toBe(
      'csrf_failed',
    )
    expect((await change({ cookie: 'x', csrf: 'x' }, { Origin: 'https://evil.test' })).body.error.code).toBe(
      'not_authenticated',
    )
  })
  test('is one whose origin is missing, is like ours, or is told cross-site by the browser', async () => {
    const { cookie, csrf } = p.owner as { cookie: string; csrf: string }
    const bare = (headers: Record<string, string>) =>
      p.call(undefined, 'POST', `/servers/${serverId}/actions/unsuspend`, undefined, {
        Cookie: `__Host-panel=${cookie}`,
        'X-CSRF-Token': csrfToken(csrf),
        ...headers,
      })
    for (const headers of [
      {},
      { Origin: 'null' },
      { Origin: 'http://panel.test' },
      { Origin: 'https://panel.test:444' },
      { Origin: 'https://panel.test.evil.test' },
      { Origin: 'https://PANEL.test/' },
      { Origin: 'https://panel.test', 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'https://panel.test', 'Sec-Fetch-Site': 'same-site' },
    ])
      expect((await bare(headers as Record<string, string>)).body.error.code).toBe('bad_origin')
  })
  test('cannot sign anybody in either', async () => {
    const before = p.auditLines().length
    const { body } = await p.call(
      undefined,
      'POST',
      '/sessions',
      { email: 'a@b.test', password: 'x' },
      { Origin: 'https://evil.test' },
    )
    expect(body.error.code).toBe('bad_origin')
    expect(p.auditLines().slice(before)).toMatchObject([{ operation: 'sessions.create', result: 'bad_origin' }])
  })
  test('S29: reads nothing by it, since reads need no origin and carry no CORS header', async () => {
    const { status, headers } = await p.call(p.owner, 'GET', '/admin/nodes', undefined, { Origin: 'https://evil.test' })
    expect(status).toBe(200)
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(headers.get('Cross-Origin-Resource-Policy')).toBe('same-origin')
    expect(headers.get('Cache-Control')).toBe('no-store')
  })
})

describe('cookie and token together', () => {
  test('the token decides, and the cookie is not looked at', async () => {
    const token = p.token(p.customer.id).token!
    const both = { Authorization: `Bearer ${token}` }
    expect(
      (await p.call({ cookie: p.owner.cookie!, csrf: p.owner.csrf! }, 'GET', '/admin/nodes', undefined, both)).body
        .error.code,
    ).toBe('forbidden')
    // No CSRF is asked of it, since no browser adds that header by itself.
    expect(
      (
        await p.call(
          { cookie: p.owner.cookie!, csrf: 'x' },
          'POST',
          '/admin/customers',
          {},
          { ...both, Origin: 'https://evil.test' },
        )
      ).body.error.code,
    ).toBe('forbidden')
  })
  test('a bad token is not saved by a good cookie, nor is an empty or another kind of header', async () => {
    for (const header of [
      `Bearer pnl_${'x'.repeat(49)}`,
      'Bearer ',
      'Basic YTpi',
      'Bearer',
      'pnl_x',
      'Bearer nonsense',
    ])
      expect(
        (await p.call(p.owner, 'GET', '/admin/nodes', undefined, { Authorization: header })).body.error?.code,
      ).toBe('invalid_token')
  })
})

describe('the path', () => {
  test('that does not exist is 404 without credentials, whatever the method, and says so in our shape', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, body, headers } = await p.call(undefined, method, '/no/such/path')
      expect([status, body.error.code]).toEqual([404, 'not_found'])
      expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })
  test('that does not exist is 404 also for GET and HEAD, with and without credentials', async () => {
    // Once: the pages' GET /* is more specific than the API's .all: a wrong path is answered by a redirect to the
    // sign-in page.
    for (const who of [undefined, p.owner, p.token(p.owner.id)])
      for (const method of ['GET', 'HEAD']) expect((await p.call(who, method, '/no/such/path')).status).toBe(404)
    expect((await p.call(undefined, 'GET', '/no/such/path')).body.error.code).toBe('not_found')
  })
  test('OPTIONS answers 204 and what is possible there, and changes nothing', async () => {
    const before = p.fingerprint()
    const { status, headers } = await p.call(undefined, 'OPTIONS', '/admin/customers')
    expect(status).toBe(204)
    expect(headers.get('Allow')!.split(', ').toSorted()).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST'])
    expect(p.fingerprint()).toBe(before)
  })
})

describe('the query', () => {
  test('S11: with a parameter twice is refused, since two readers would take different ones', async () => {
    for (const query of ['limit=1&limit=100', 'email=a&email=b', 'q=x&%71=y'])
      expect((await p.call(p.owner, 'GET', `/admin/customers?${query}`)).body.error).toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('twice'),
      })
  })
  test('S11: named like something of JavaScript is only an unknown parameter', async () => {
    // Once: the gate looks the name up in `op.query` with its prototype.
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const { status, body } = await p.call(p.owner, 'GET', `/admin/customers?${name}=1`)
      expect([name, status, body.error?.code]).toEqual([name, 400, 'invalid_request'])
    }
  })
})

describe('S1: text in a body', () => {
  const name = async (text: string) =>
    (await p.call(p.owner, 'POST', '/admin/packages', `{"name":"${text}","vcpus":1,"memoryMb":64,"diskGb":1}`)).body
  for (const [what, text] of [
    ['NUL', 'a\\u0000b'],
    ['a lone high surrogate', 'a\\ud800b'],
    ['a lone low surrogate', 'a\\udc00b'],
    ['surrogates the wrong way round', '\\udc00\\ud800'],
    ['a line break', 'a\\nb'],
    ['a carriage return', 'a\\rb'],
    ['an escape', 'a\\u001b[31m'],
    ['a C1 control', 'a\\u009bb'],
    ['a bidirectional override', 'a\\u202eb'],
    ['a bidirectional isolate', 'a\\u2066b'],
  ])
    test(`${what} is refused, and nothing is made`, async () => {
      const before = p.fingerprint()
      const { error } = await name(text!)
      expect(error?.details.fields).toEqual([{ field: 'name', message: expect.any(String) }])
      expect(p.fingerprint()).toBe(before)
    })
  test('in every script there is, and emoji, is taken as it is', async () => {
    for (const text of ['Größe M', '東京 1', 'متوسط', 'Ünïcödé', 'Berth 🚢', '👩‍👩‍👧'])
      expect((await name(text)).name).toBe(text)
  })
  test('that is not UTF-8 is refused', async () => {
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
    const response = await p.controller.router.fetch(
      new Request('http://localhost/api/v1/admin/packages', {
        method: 'POST',
        headers: { Authorization: `Bearer ${p.token(p.owner.id).token}`, 'Content-Type': 'application/json' },
        body,
      }),
    )
    expect([response.status, ((await response.json()) as any).error.code]).toEqual([400, 'invalid_json'])
  })
  test('S11: with fields named like something of JavaScript is refused by their names', async () => {
    for (const field of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const { status, body } = await p.call(
        p.owner,
        'POST',
        '/admin/packages',
        `{"name":"n","vcpus":1,"memoryMb":64,"diskGb":1,"${field}":{"archived":true}}`,
      )
      expect([field, status, body.error?.details?.fields?.[0].field]).toEqual([field, 422, field])
    }
  })
  test('that is JSON and no object is refused in words', async () => {
    for (const body of ['null', '[]', '1', '"x"', 'true']) {
      const reply = await p.call(p.owner, 'POST', '/admin/packages', body)
      expect([body, reply.status, reply.body.error?.code]).toEqual([body, 422, 'validation_failed'])
    }
  })
})

describe('a body', () => {
  const make = (body: string, type = 'application/json') =>
    p.call(p.owner, 'POST', '/admin/packages', body, { 'Content-Type': type })
  const name = (i: number) => JSON.stringify({ name: `pack ${i}`, vcpus: 1, memoryMb: 64, diskGb: 1 })
  test('may say its charset as RFC 9110 has it, quoted or not, and no other', async () => {
    const types = [
      'application/json;charset=utf-8',
      'application/json; charset="utf-8"',
      'application/json;charset=utf8',
      'application/json; charset="UTF8"',
      'application/json;',
      'Application/JSON ; charset="UTF-8" ',
    ]
    for (const [i, type] of types.entries()) expect((await make(name(i), type)).status).toBe(201)
    for (const type of [
      'application/json; charset=latin1',
      'application/json; charset="utf-8',
      'application/jsonx',
      'text/json',
    ])
      expect([type, (await make(name(9), type)).status]).toEqual([type, 415])
  })
  const keys = (n: number) => `{${Array.from({ length: n }, (_, i) => `"k${i}":1`).join()}}`
  test('of more values than any call takes is refused before it is looked at, and nothing happens', async () => {
    const before = p.fingerprint()
    for (const [many, code] of [
      [keys(MOST_VALUES), 'validation_failed'],
      [keys(MOST_VALUES + 1), 'too_large'],
      [keys(80_000), 'too_large'],
      [`{"name":[${Array(400_000).fill(1)}]}`, 'too_large'],
      [JSON.stringify({ name: ',[{":'.repeat(MOST_VALUES) }), 'validation_failed'],
      [JSON.stringify({ name: '\\",",'.repeat(MOST_VALUES) }), 'validation_failed'],
    ] as const)
      expect([many.length, (await make(many)).body.error.code]).toEqual([many.length, code])
    expect(p.fingerprint()).toBe(before)
  })
  test('in which very much is wrong names the first of it', async () =>
    expect((await make(keys(1000))).body.error.details.fields.length).toBe(50))
  test('of who has not said who they are is 16 kB at most, whether or not it says its length', async () => {
    const send = (body: BodyInit) =>
      p.controller.router.fetch(
        new Request('http://localhost/api/v1/sessions', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body,
        }),
      )
    const text = (bytes: number) => JSON.stringify({ email: 'x'.repeat(bytes - 12) })
    const code = async (body: BodyInit) => ((await (await send(body)).json()) as any).error.code
    expect(await code(text(16_000))).toBe('validation_failed')
    expect(await code(text(16_001))).toBe('too_large')
    expect(await code(new Blob([text(16_001)]).stream() as any)).toBe('too_large')
  })
})

describe('a call that takes no body', () => {
  const call = (body: string | undefined, headers: Record<string, string> = {}) =>
    p.call({ token: p.token(p.owner.id).token! }, 'POST', `/servers/${serverId}/actions/unsuspend`, body, headers)
  test('takes an empty one, with or without a media type', async () => {
    for (const [body, headers] of [
      [undefined, {}],
      ['', {}],
      ['{}', {}],
      [' ', {}],
    ] as const) {
      const { status } = await call(body, headers)
      expect([200, 202, 409]).toContain(status)
      await p.settle()
    }
  })
  test('names what it was sent, after scope and id were checked', async () => {
    // Once: answered in bodyOf, before the gate: 422 comes before 403 and 404, and details.fields is empty.
    const scopeless = { token: p.token(p.owner.id, ['servers:read']).token! }
    expect((await p.call(scopeless, 'POST', `/servers/${serverId}/actions/unsuspend`, { a: 1 })).body.error.code).toBe(
      'missing_scope',
    )
    expect((await p.call(p.owner, 'POST', `/servers/${nobody}/actions/unsuspend`, { a: 1 })).body.error.code).toBe(
      'server_not_found',
    )
    expect((await call('{"a":1}')).body.error.details.fields).toEqual([
      { field: 'a', message: 'is not a field of this call.' },
    ])
  })
})

test('every scope that a kind of account has opens something, and none opens what the kind may not do', () => {
  for (const kind of ['customer', 'reseller'] as const)
    for (const scope of scopesOf(kind))
      expect(scope).not.toMatch(/^(nodes|network|images|packages|gpu(?!:order)|imports|audit|settings|customers):/)
})

describe('over the wire', () => {
  let panel: Listening
  beforeAll(async () => void (panel = await listening()))
  afterAll(() => panel[Symbol.asyncDispose]())
  const bearer = () => ({ Authorization: `Bearer ${panel.token}` })

  test('HEAD answers what GET does, without the body', async () => {
    const get = await panel.ask('GET', '/api/v1/admin/nodes', bearer())
    const head = await panel.ask('HEAD', '/api/v1/admin/nodes', bearer())
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'))
    expect((await panel.ask('HEAD', '/api/v1/admin/nodes')).status).toBe(401)
    expect((await panel.ask('HEAD', '/api/v1/sessions')).status).toBe(405)
  })
  test('every answer has a request id of its own', async () => {
    const ids = await Promise.all(
      ['/api/v1/status', '/api/v1/nothing', '/api/v1/admin/nodes', '/api/v1/sessions'].map(async (path) =>
        (await panel.ask('GET', path)).headers.get('X-Request-Id'),
      ),
    )
    expect(new Set(ids).size).toBe(4)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
  })

  const chunked = (bytes: number) =>
    new ReadableStream<Uint8Array>({
      start(to) {
        to.enqueue(Buffer.from('{"name":"'))
        for (let left = bytes; left > 0; left -= 100_000) to.enqueue(Buffer.alloc(Math.min(left, 100_000), 'x'))
        to.enqueue(Buffer.from('"}'))
        to.close()
      },
    })
  test('a body over 1 MB is refused when it is sent in chunks and does not say its length', async () => {
    const send = (bytes: number) =>
      panel.ask(
        'POST',
        '/api/v1/admin/packages',
        { ...bearer(), 'Content-Type': 'application/json' },
        chunked(bytes) as any,
      )
    expect((await send(1_000_001)).code).toBe('too_large')
    expect((await send(900_000)).code).toBe('validation_failed')
  })
  test('and when its length is a lie', async () => {
    const { status, code } = await panel.ask(
      'POST',
      '/api/v1/admin/packages',
      { ...bearer(), 'Content-Type': 'application/json' },
      `{"name":"${'x'.repeat(1_000_000)}"}`,
    )
    expect([status, code]).toEqual([413, 'too_large'])
  })
  /** Byte by byte, as no client of ours would send it. */
  const raw = (text: string) =>
    new Promise<string>((done) => {
      let heard = ''
      const socket = connect(panel.port, '127.0.0.1', () => socket.end(text))
      socket.on('data', (bytes) => (heard += bytes)).on('close', () => done(heard))
    })
  test('S35: a Host that is none is refused as everything is, wherever it comes', async () => {
    for (const path of ['/login', '/api/v1/status', '/brand/logo', '/agent/v1/connect', '/'])
      for (const host of ['[', 'a b<x>', 'a:99999999']) {
        const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
        // The server itself may refuse what is no HTTP at all; then no word of ours is in it.
        if (!answer.includes('X-Request-Id') && !answer.includes('x-request-id')) {
          expect([path, host, answer.split('\r\n')[0]]).toEqual([path, host, expect.stringMatching(/ 400 /)])
          continue
        }
        expect([path, host, answer.split('\r\n')[0]]).toEqual([path, host, 'HTTP/1.1 400 Bad Request'])
        expect(answer).toContain('"invalid_request"')
        expect(answer.toLowerCase()).toContain("content-security-policy: default-src 'none'")
        expect(answer).not.toContain('Invalid URL')
      }
  })
  test('the name of the host is of any length, and the path is the path', async () => {
    for (const host of ['x', 'a.b', 'lan', '[::1]', '127.0.0.1:8080', 'panel.example.com']) {
      const answer = await raw(`GET /api/v1/status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect([host, answer.split('\r\n')[0]]).toEqual([host, 'HTTP/1.1 200 OK'])
    }
  })
  test('a method that nobody has heard of is refused in our shape, with what is possible', async () => {
    for (const method of ['PROPFIND', 'PURGE', 'MKCOL']) {
      const known = await panel.ask(method, '/api/v1/admin/nodes', bearer())
      expect([known.status, known.code, known.headers.get('Allow')]).toEqual([
        405,
        'method_not_allowed',
        'GET, HEAD, OPTIONS',
      ])
      for (const path of ['/', '/login', '/assets/x', '/agent/v1/enroll']) {
        const { status, code, headers } = await panel.ask(method, path)
        const more: Record<string, string> = {
          '/agent/v1/enroll': 'POST, OPTIONS',
          '/login': 'GET, POST, HEAD, OPTIONS',
        }
        const allow = more[path] ?? 'GET, HEAD, OPTIONS'
        expect([method, path, status, code, headers.get('Allow')]).toEqual([
          method,
          path,
          405,
          'method_not_allowed',
          allow,
        ])
      }
      for (const path of ['/api/v1/no/such', '/api/v2/status', '/no/such/page']) {
        const { status, code, headers } = await panel.ask(method, path)
        expect([method, path, status, code]).toEqual([method, path, 404, 'not_found'])
        expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
      }
    }
  })
  test('a path of ours in the query does not make a call one of an agent', async () => {
    // Once: `fetch` looks for /agent/v1/connect anywhere in the URL.
    expect((await panel.ask('GET', '/api/v1/status?x=/agent/v1/connect')).code).toBe('invalid_request')
  })
})
