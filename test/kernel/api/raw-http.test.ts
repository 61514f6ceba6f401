// Requests as bytes on a connection: what no client library sends.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Listening, listening } from '../../support/listening.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { eventually } from '../../support/waiting/eventually.ts'

let panel: Listening
beforeAll(async () => {
  panel = await listening()
})
afterAll(() => panel[Symbol.asyncDispose]())

const ask = (line: string, headers: readonly string[] = [], body = '') =>
  rawRequest({ port: panel.port }, [line, 'Host: panel.test', 'Connection: close', ...headers], body)
const bearer = () => `Authorization: Bearer ${panel.token}`
const customer = JSON.stringify({ name: 'N', email: 'n@customer.test' })
const posting = (body: string, ...more: string[]) =>
  [bearer(), 'Content-Type: application/json', `Content-Length: ${body.length}`, ...more] as const
const customers = () => panel.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM accounts').get()

describe('a path', () => {
  for (const path of [
    '/api\\v1\\status',
    '/api/v1\\status',
    '/api/v1/status\\',
    '\\api/v1/status',
    '/api/v1/x/../status',
    '/api/v1/./status',
    '/api/v1/%2e%2e/v1/status',
    '/api//v1/status',
    '//api/v1/status',
    '/login\\x/..',
    '/a/b/c/d/e/f/../../../../../../api/v1/status',
    '/a/b/c/d/e/f/g/h/i/j/k/l/m/../../../../../../../../../../../../../api/v1/status',
    '/agent\\v1\\connect',
  ])
    test(`S1: ${path} is no other path`, async () => {
      const { status, text } = await ask(`GET ${path} HTTP/1.1`, [bearer()])
      // The server itself refuses a target that does not begin with a slash.
      if (path.startsWith('\\')) expect([path, status]).toEqual([path, 400])
      else expect([path, status, JSON.parse(text).error.code]).toEqual([path, 404, 'not_found'])
    })
  test('S1: a backslash in the query is part of the query', async () => {
    expect((await ask('GET /login?next=%5Cx\\y/z HTTP/1.1')).status).toBe(200)
  })
  test('of every length that a page or a call has is found', async () => {
    for (const path of ['/', '/forgot', '/api/v1/status', '/api/v1/sessions/provider'])
      expect([path, (await ask(`GET ${path} HTTP/1.1`)).status]).toEqual([path, path === '/' ? 303 : 200])
  })
})

describe('Connection: close', () => {
  const paths = ['/api/v1/status', '/api/v1/nothing', '/forgot', '/', '/nothing', '/api/v1/admin/customers.csv']
  /** All are asked at once: an answer that keeps its connection is known to be complete only a second later. */
  const answers = new Map<string, Promise<(string | undefined)[]>>()
  beforeAll(() => {
    const host = ['Host: panel.test', bearer()]
    const asked = [['Connection: close'], ['connection: foo, Close'], [], ['Connection: keep-alive']]
    for (const path of paths)
      answers.set(
        path,
        Promise.all(
          asked.map(async (more) => {
            const lines = [`GET ${path} HTTP/1.1`, ...host, ...more]
            return (await rawRequest({ port: panel.port }, lines)).headers['connection']
          }),
        ),
      )
  })
  for (const path of paths)
    test(`is repeated in the answer for ${path}, and only there`, async () =>
      expect(await answers.get(path)!).toEqual(['close', 'close', undefined, undefined]))
})

describe('HTTP/1.0 without a Host header', () => {
  const bare = (line: string) => rawRequest({ port: panel.port }, [line], '')
  test('is how plain health checks ask, and gets the status', async () => {
    const { status, text } = await bare('GET /api/v1/status HTTP/1.0')
    expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ status: 'ok' })])
  })
  test('is answered for every path as with one, and is nobody', async () => {
    for (const [path, code] of [
      ['/api/v1/servers', 'not_authenticated'],
      ['/api/v1/nothing', 'not_found'],
      ['//evil.example/api/v1/status', 'invalid_request'],
    ] as const) {
      const { text } = await bare(`GET ${path} HTTP/1.0`)
      expect([path, JSON.parse(text).error.code]).toEqual([path, code])
    }
  })
})

describe('a client that hangs up', () => {
  const begin = (name: string) =>
    `POST /api/v1/admin/customers HTTP/1.1\r\nHost: panel.test\r\n${bearer()}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${bodyOf(name).length}\r\n\r\n`
  const bodyOf = (name: string) => JSON.stringify({ name, email: `${name}@hung-up.test` })
  const lines = () =>
    panel.db.$client
      .query<{ from: string }, []>(
        "SELECT from_address AS 'from' FROM audit WHERE operation = 'customers.create' ORDER BY rowid",
      )
      .all()
      .map(({ from }) => from)

  test('during its call is named in the audit log', async () => {
    const before = lines().length
    const socket = connect(panel.port, '127.0.0.1')
    socket.write(begin('during'))
    await Bun.sleep(50)
    socket.write(bodyOf('during'), () => socket.resetAndDestroy())
    await eventually(() => lines().length > before)
    expect(lines().slice(before)).toEqual(['127.0.0.1'])
  })
  test('as its call begins has changed nothing, or is named', async () => {
    const [before, has] = [lines().length, customers()!.n]
    for (let n = 0; n < 20; n++) {
      const socket = connect(panel.port, '127.0.0.1')
      socket.write(begin(`early${n}`) + bodyOf(`early${n}`), () => socket.resetAndDestroy())
    }
    await Bun.sleep(200)
    const after = lines().slice(before)
    expect(after.filter((from) => from === '')).toEqual([])
    expect(customers()!.n - has).toBe(after.length)
  })
})

describe('an unknown path under /api', () => {
  for (const path of ['/api', '/api/', '/api/v2/status', '/api/v1', '/api/v1/', '/api/login', '/api/v1/no/such'])
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'PROPFIND'])
      test(`${method} ${path} is answered in JSON`, async () => {
        const { status, headers, text } = await ask(`${method} ${path} HTTP/1.1`)
        expect([status, headers['content-type'], headers['location']]).toEqual([
          404,
          'application/json; charset=utf-8',
          undefined,
        ])
        if (method !== 'HEAD') expect(JSON.parse(text).error.code).toBe('not_found')
      })
})

describe('an Idempotency-Key', () => {
  for (const [words, ...keys] of [
    ['twice', 'Idempotency-Key: a', 'Idempotency-Key: b'],
    ['twice and the same', 'Idempotency-Key: a', 'idempotency-key: a'],
    ['with a comma and a space', 'Idempotency-Key: a, b'],
  ] as const)
    test(`${words} is refused, and nothing happens`, async () => {
      const before = customers()
      const { status, text } = await ask('POST /api/v1/admin/customers HTTP/1.1', posting(customer, ...keys), customer)
      expect([status, JSON.parse(text).error.code]).toEqual([400, 'invalid_request'])
      expect(customers()).toEqual(before)
    })
})

describe('a body with a Content-Encoding', () => {
  for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip', 'x'])
    test(`${encoding} is refused, and nothing happens`, async () => {
      const before = customers()
      const headers = posting(customer, `Content-Encoding: ${encoding}`)
      const { status, text } = await ask('POST /api/v1/admin/customers HTTP/1.1', headers, customer)
      expect([status, JSON.parse(text).error.code]).toEqual([415, 'unsupported_media_type'])
      expect(customers()).toEqual(before)
    })
  test('identity is taken', async () => {
    const headers = posting(customer, 'Content-Encoding: Identity')
    expect((await ask('POST /api/v1/admin/customers HTTP/1.1', headers, customer)).status).toBe(201)
  })
  test('is refused of agents as well', async () => {
    const headers = ['Content-Type: application/json', 'Content-Length: 2', 'Content-Encoding: gzip']
    expect((await ask('POST /agent/v1/challenge HTTP/1.1', headers, '{}')).status).toBe(415)
  })
})

describe('a body in another encoding than plain UTF-8', () => {
  const text = JSON.stringify({ name: 'N', email: 'bom@customer.test' })
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
  for (const [words, body] of [
    ['a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['two of them', Buffer.from(`\ufeff\ufeff${text}`)],
    ['a byte order mark and nothing else', Buffer.from('\ufeff')],
    ['UTF-16', utf16],
    ['UTF-16 with the bytes swapped', Buffer.from(utf16).swap16()],
  ] as const)
    test(`${words}: invalid_json, and nothing happens`, async () => {
      const before = customers()
      const headers = { Authorization: `Bearer ${panel.token}`, 'Content-Type': 'application/json' }
      const { status, code } = await panel.ask('POST', '/api/v1/admin/customers', headers, body)
      expect([status, code]).toEqual([400, 'invalid_json'])
      expect(customers()).toEqual(before)
    })
})

describe('a method', () => {
  for (const method of ['PROPFIND', 'TRACE', 'CONNECT', 'SEARCH', 'LINK', 'PURGE', 'PUT', 'DELETE'])
    for (const path of ['/api/v1/admin/nodes', '/forgot', '/assets/x.js', '/agent/v1/challenge'])
      test(`${method} ${path} is refused with what is possible`, async () => {
        const { status, headers, text } = await ask(`${method} ${path} HTTP/1.1`, [bearer()])
        // The target of CONNECT is a host; with a path it is no request that this server knows.
        if (method === 'CONNECT') return expect([status, JSON.parse(text).error.code]).toEqual([404, 'not_found'])
        const allow = path === '/agent/v1/challenge' ? 'POST, OPTIONS' : 'GET, HEAD, OPTIONS'
        expect([status, JSON.parse(text).error.code, headers['allow']]).toEqual([405, 'method_not_allowed', allow])
      })
  test('that no registry knows closes the connection, and nothing happens', async () => {
    const before = customers()
    for (const method of ['BREW', 'X-HTTP', 'Post', 'A', 'POST-'])
      expect([
        method,
        (await ask(`${method} /api/v1/admin/customers HTTP/1.1`, posting(customer), customer)).status,
      ]).toEqual([method, 0])
    expect(customers()).toEqual(before)
    expect((await ask('GET /api/v1/status HTTP/1.1')).status).toBe(200)
  })
  test('CONNECT to a host is refused', async () => {
    const { status, text } = await ask('CONNECT panel.test:443 HTTP/1.1')
    expect([status, JSON.parse(text).error.code]).toEqual([404, 'not_found'])
  })
})

// docs/api.md lists these: the server answers them before our code sees a request.
describe('before our code', () => {
  const host = 'Host: panel.test'
  for (const [words, lines, status] of [
    ['no Host', ['GET /api/v1/status HTTP/1.1', 'Connection: close'], 400],
    ['two lengths', ['POST /api/v1/sessions HTTP/1.1', host, 'Content-Length: 1', 'Content-Length: 2'], 400],
    ['a length that is no number', ['POST /api/v1/sessions HTTP/1.1', host, 'Content-Length: -1'], 400],
    ['a length and chunks', ['POST /x HTTP/1.1', host, 'Content-Length: 1', 'Transfer-Encoding: chunked'], 400],
    ['another Transfer-Encoding', ['POST /x HTTP/1.1', host, 'Transfer-Encoding: gzip'], 400],
    ['no request', ['nonsense'], 400],
    ['a NUL in a header', ['GET / HTTP/1.1', host, 'X: a\u0000b'], 400],
    ['headers of more than 16 kB', ['GET / HTTP/1.1', host, `X: ${'a'.repeat(20_000)}`], 431],
    ['a path of more than 16 kB', [`GET /${'a'.repeat(20_000)} HTTP/1.1`, host], 431],
    ['more than 200 headers', ['GET / HTTP/1.1', host, ...Array.from({ length: 250 }, (_, i) => `X-${i}: a`)], 431],
    ['another version of HTTP', ['GET / HTTP/2.0', host], 505],
    ['a method in small letters', ['get / HTTP/1.1', host], 0],
    ['a method that nobody registered', ['BREW / HTTP/1.1', host], 0],
  ] as const)
    test(`${words}: ${status || 'the connection is closed'}`, async () => {
      const response = await rawRequest({ port: panel.port }, lines)
      expect([response.status, response.text]).toEqual([status, ''])
    })
})
