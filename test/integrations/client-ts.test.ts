// The client of integrations/client-ts against a controller with a fake node, over HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Berth, BerthError, InvalidWebhook, verifyWebhook } from '../../integrations/client-ts/client.ts'
import { newSecret, signedHeaders } from '../../src/billing/webhooks/signature.ts'
import { type World, world } from '../support/world/panel.ts'

const folder = join(import.meta.dir, '../../integrations/client-ts')
let p: World
let server: Bun.Server<undefined>
let berth: Berth
let token = ''
/** Stands between client and controller: each entry is what becomes of one call, then calls pass. */
let interferences: ((request: Request, pass: () => Promise<Response>) => Promise<Response>)[] = []
let seen: { method: string; path: string; key: string | null }[] = []

beforeAll(async () => {
  p = await world()
  server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      seen.push({ method: request.method, path: pathname + search, key: request.headers.get('Idempotency-Key') })
      const body = request.method === 'GET' ? {} : { body: await request.text() }
      const pass = () =>
        p.controller.router.fetch(
          new Request(`http://localhost${pathname}${search}`, {
            method: request.method,
            headers: request.headers,
            ...body,
          }),
        )
      return (interferences.shift() ?? ((_, next) => next()))(request, pass)
    },
  })
  token = p.token(p.owner.id).token!
  berth = new Berth({ url: server.url.href, token })
})
afterAll(async () => {
  await server.stop(true)
  p[Symbol.dispose]()
})

const busy =
  (status: number, after = '0') =>
  async () =>
    new Response('busy', { status, headers: { 'Retry-After': after } })
const order = () => ({ ...p.order, access: { mode: 'password' as const } })
const servers = () => p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM servers').get()!.n
function during(...these: typeof interferences) {
  interferences = these
  seen = []
}

describe('the client', () => {
  test('orders a server, follows its job and reads it', async () => {
    during()
    const made = await berth.call('servers.create', { body: order(), idempotencyKey: 'order-1' })
    expect(made.rootPassword).toBeString()
    await p.settle()
    expect((await berth.ended(made.jobId!, { everyMs: 10 })).state).toBe('succeeded')
    const read = await berth.call('servers.get', { path: { id: made.serverId! } })
    expect([read.status, read.ipv4]).toEqual(['running', made.ipv4])
    expect(seen[0]).toEqual({ method: 'POST', path: '/api/v1/admin/servers', key: 'order-1' })
  })

  test('repeats a change under one key where its answer was lost, so that it happens once', async () => {
    const before = servers()
    during(
      async (_, pass) => {
        expect((await pass()).status).toBeLessThan(300)
        return new Response('gone', { status: 502 })
      },
      busy(503),
      busy(429),
    )
    const made = await berth.call('servers.create', { body: { ...order(), hostname: 'once' } })
    expect(servers()).toBe(before + 1)
    expect(made.serverId).toStartWith('srv_')
    expect(seen).toHaveLength(4)
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1)
    expect(seen[0]!.key).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('gives up after its retries, with what the controller said', async () => {
    during(...Array.from({ length: 9 }, () => busy(503)))
    const patient = new Berth({ url: server.url.href, token, retries: 2 })
    const error = await patient.call('locations.list').catch((e) => e)
    expect(error).toBeInstanceOf(BerthError)
    expect([error.status, error.code, seen.length]).toEqual([503, 'http_503', 3])
  })

  test('waits as long as Retry-After says, and stops when it is told to', async () => {
    during(busy(429, '1'))
    const began = performance.now()
    await berth.call('locations.list')
    expect(performance.now() - began).toBeGreaterThan(990)
    during(busy(429, '60'))
    const signal = AbortSignal.timeout(50)
    await expect(berth.call('locations.list', { signal })).rejects.toThrow('timed out')
    expect(seen).toHaveLength(1)
  })

  test('tries again where nobody answers, and then throws what fetch threw', async () => {
    let tries = 0
    const fails = new Berth({
      url: 'http://localhost',
      token,
      retries: 1,
      fetch: async () => {
        tries++
        throw new TypeError('no connection')
      },
    })
    await expect(fails.call('locations.list')).rejects.toThrow('no connection')
    expect(tries).toBe(2)
  })

  test('refuses with code, message, details and request id, without a retry', async () => {
    during()
    const error = await berth.call('servers.create', { body: { ...order(), packageId: 'pkg_none' } }).catch((e) => e)
    expect(error).toBeInstanceOf(BerthError)
    expect([error.status, error.code]).toEqual([422, 'validation_failed'])
    expect(error.details.fields[0].field).toBe('packageId')
    expect(error.requestId).toBeString()
    expect(seen).toHaveLength(1)
    const stranger = new Berth({ url: server.url.href, token: 'pnl_wrong' })
    expect((await stranger.call('locations.list').catch((e) => e)).code).toBe('invalid_token')
  })

  test('calls nothing with an id that is empty, and keeps one in its place in the path', async () => {
    during()
    await expect(berth.call('servers.get', { path: { id: '' } })).rejects.toThrow('needs path.id')
    expect((await berth.call('servers.get', { path: { id: '../jobs?x' } }).catch((e) => e)).status).toBe(404)
    expect(seen.map(({ path }) => path)).toEqual(['/api/v1/servers/..%2Fjobs%3Fx'])
  })

  test('walks a list page by page, as far as it is read', async () => {
    for (let n = 0; n < 7; n++) p.account('customer', `Walked ${n}`)
    during()
    const names: string[] = []
    for await (const customer of berth.list('customers.list', { query: { limit: 3 } })) names.push(customer.name)
    const { total } = await berth.call('customers.list')
    expect(names).toHaveLength(total)
    expect(new Set(names).size).toBe(total)
    expect(seen.length).toBe(Math.ceil(total / 3) + 1)
    during()
    for await (const _ of berth.list('customers.list', { query: { limit: 3 } })) break
    expect(seen).toHaveLength(1)
  })

  test('types what an operation takes and answers', () => {
    // Compiled with the project: each of these lines must be an error.
    const never = () => {
      // @ts-expect-error there is no such operation
      void berth.call('servers.melt')
      // @ts-expect-error the id is missing
      void berth.call('servers.get')
      // @ts-expect-error the order lacks its owner
      void berth.call('servers.create', { body: { packageId: 'pkg_1', nodeGroupId: 'grp_1' } })
      // @ts-expect-error a server is not melted
      void berth.call('servers.get', { path: { id: 'srv_1' } }).then((one) => one.status === 'melted')
      // @ts-expect-error it is no list
      void berth.list('servers.get')
    }
    expect(never).toBeFunction()
  })
})

describe('a webhook', () => {
  const secret = newSecret()
  const body = JSON.stringify({ id: 'evt_1', type: 'server.created', created_at: '2026-01-01T00:00:00.000Z', data: {} })
  const now = 1_800_000_000_000
  const signed = (secrets: string[]) =>
    new Headers(
      signedHeaders(secrets, {
        deliveryId: 'dlv_1',
        eventId: 'evt_1',
        type: 'server.created',
        timestamp: now / 1000,
        body,
      }),
    )

  test('is genuine under its secret, also while that is rotated', async () => {
    for (const secrets of [[secret], [newSecret(), secret]])
      expect(await verifyWebhook({ secret, headers: signed(secrets), body, now })).toMatchObject({ id: 'evt_1' })
  })

  test.each([
    ['another secret', { secret: newSecret() }],
    ['another body', { body: `${body} ` }],
    ['an old one', { now: now + 301_000 }],
    ['one of the future', { now: now - 301_000 }],
    ['no signature', { headers: new Headers({ 'X-Panel-Timestamp': String(now / 1000) }) }],
    ['no headers', { headers: new Headers() }],
    [
      'half a signature',
      { headers: new Headers({ 'X-Panel-Timestamp': `${now / 1000}`, 'X-Panel-Signature': 'v1=ab' }) },
    ],
  ])('is refused: %s', async (_, changed) => {
    const delivery = { secret, headers: signed([secret]), body, now, ...changed }
    await expect(verifyWebhook(delivery)).rejects.toBeInstanceOf(InvalidWebhook)
  })
})

test('the folder works where it is copied to: it imports nothing from outside', async () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  for (const name of files)
    for (const [, from] of readFileSync(join(folder, name), 'utf8').matchAll(/ from '([^']+)'/g))
      expect([name, from]).toEqual([name, expect.stringMatching(/^\.\/\w+\.ts$/)])
  const copy = mkdtempSync(join(tmpdir(), 'berth-client-'))
  cpSync(folder, copy, { recursive: true })
  const { Berth: Copied } = (await import(
    join(copy, 'client.ts')
  )) as typeof import('../../integrations/client-ts/client.ts')
  during()
  expect((await new Copied({ url: server.url.href, token }).call('locations.list')).data[0]!.name).toBe('Frankfurt')
  rmSync(copy, { recursive: true })
})
