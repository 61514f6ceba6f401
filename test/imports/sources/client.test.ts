import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { panelAddress } from '../../../src/imports/sources/client/address.ts'
import { allowed, ReadNotAllowed } from '../../../src/imports/sources/client/allowed-reads.ts'
import { solusClient } from '../../../src/imports/sources/solusvm2/client.ts'
import { reads as solusReads } from '../../../src/imports/sources/solusvm2/reads.ts'
import { solusvm2 } from '../../../src/imports/sources/solusvm2/source.ts'
import type { SourceOptions } from '../../../src/imports/sources/source.ts'
import { reads as virtualizorReads } from '../../../src/imports/sources/virtualizor/reads.ts'
import { virtualizor } from '../../../src/imports/sources/virtualizor/source.ts'
import { CANARY, type Fault, faults, json } from '../simulators/panel.ts'
import { all, everything, failureOf, solusReader, virtualizorReader } from '../simulators/reading.ts'
import { SolusPanel, TOKEN } from '../simulators/solusvm2.ts'
import { KEY, PASS, VirtualizorPanel } from '../simulators/virtualizor.ts'

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(`${tmpdir()}/sources-`)
})
afterAll(() => rmSync(dir, { recursive: true }))

const here = { localNetworks: ['127.0.0.0/8'], retryPausesMs: [0, 0] }
const solusAt = (address: string, certificateSha256: string | null, options: SourceOptions = {}) =>
  solusvm2.connect(address, { token: TOKEN }, { certificateSha256 }, { ...here, ...options })
const virtualizorAt = (address: string, certificateSha256: string | null, options: SourceOptions = {}) =>
  virtualizor.connect(address, { key: KEY, pass: PASS }, { certificateSha256 }, { ...here, ...options })

describe('The client of a panel can only read', () => {
  const refusal = (send: () => unknown) => {
    try {
      send()
    } catch (error) {
      return error instanceof ReadNotAllowed
    }
    return false
  }
  test('what is in its list, with the parameters that are in it and the values that each may have', () => {
    const a = (name: string, given: object) => () => allowed(solusReads, name as never, given as never)
    const b = (name: string, given: object) => () => allowed(virtualizorReads, name as never, given as never)
    for (const attempt of [
      a('start', { id: '1' }),
      a('constructor', {}),
      a('server', {}),
      a('server', { id: '../servers/1/start' }),
      a('server', { id: '1/stop' }),
      a('server', { id: '..' }),
      a('servers', { id: '1' }),
      a('servers', { parameters: { force: '1' } }),
      a('servers', { parameters: { page: '1&action=stop' } }),
      a('servers', { parameters: { 'filter[compute_resource_id]': '1 or 1' } }),
      b('startvs', {}),
      b('servers', { parameters: { page: 0 } }),
      b('states', { parameters: { vs_status: '1,2&delete=3' } }),
      ...[
        ...['act', 'api', 'action', 'delete', 'force', 'suspend', 'unsuspend', 'suspend_net', 'unsuspend_net'],
        ...['bwreset', 'editvps', 'cbackup', 'rebuild', 'sa', 'vpsid', '__proto__', 'constructor'],
      ].map((name) => b('servers', { parameters: Object.fromEntries([[name, '1']]) })),
    ])
      expect([String(attempt), refusal(attempt)]).toEqual([String(attempt), true])
    expect(allowed(solusReads, 'server', { id: '7' }).path).toBe('/api/v1/servers/7')
    expect(allowed(virtualizorReads, 'servers', { parameters: { page: 2 } }).query.toString()).toBe(
      'act=vs&api=json&page=2',
    )
  })
  test('also by its types', () => {
    const address = panelAddress('https://panel.test', { usualPort: 443, isPath: () => true })
    const client = solusClient(address, 'x', { certificateSha256: null }, { send: async () => json({}) as never })
    const attempts = () => [
      // @ts-expect-error: there is no such read.
      client.read('start', { id: '1' }),
      // @ts-expect-error: there is no such parameter.
      client.read('servers', { parameters: { delete: 1 } }),
      // @ts-expect-error: this read needs an id.
      client.read('server', {}),
    ]
    expect(attempts).toBeFunction()
  })
  test('and sends nothing where a read is refused', async () => {
    const panel = new SolusPanel()
    const address = panelAddress('https://panel.test', { usualPort: 443, isPath: () => true })
    const client = solusClient(address, TOKEN, { certificateSha256: null }, { send: panel.send })
    const refused = await client.read('servers', { parameters: { delete: '1' } } as never).catch((error) => error)
    expect(refused).toBeInstanceOf(ReadNotAllowed)
    expect(panel.requests).toEqual([])
  })
  test('with acts that change nothing: none of those that act upon GET requests is in the list', () => {
    const acts = Object.values(virtualizorReads).map(({ always }) => always.act)
    expect(new Set<string>(acts)).toEqual(new Set(['servers', 'plans', 'ippool', 'ips', 'ipranges', 'users', 'vs']))
    const names = Object.values(virtualizorReads).flatMap(({ parameters }) => Object.keys(parameters))
    expect(new Set(names)).toEqual(new Set(['page', 'reslen', 'vs_status']))
  })
  test('and sends no more requests than a discovery needs', async () => {
    const a = new SolusPanel({ servers: 250 })
    await everything(solusReader(a))
    const counted = (paths: readonly string[]) =>
      Object.fromEntries(
        Object.entries(Object.groupBy(paths, (path) => path)).map(([path, all]) => [path, all!.length]),
      )
    expect(counted(a.requests.map(({ path }) => path.replace('/api/v1/', '').replace(/\d+/, '{id}')))).toEqual({
      account: 1,
      compute_resources: 1,
      'compute_resources/{id}/networks': 2,
      plans: 1,
      ip_blocks: 1,
      'ip_blocks/{id}/ips': 3,
      users: 1,
      os_images: 1,
      // Three pages of all, and two of each hypervisor.
      servers: 7,
    })
    const b = new VirtualizorPanel({ servers: 600 })
    await everything(virtualizorReader(b))
    const act = ({ query }: (typeof b.requests)[number]) => (query.has('vs_status') ? 'states' : query.get('act')!)
    // Its lists have no count, so each ends with a page that adds nothing.
    expect(counted(b.requests.map(act))).toEqual({
      servers: 4,
      plans: 2,
      ips: 8,
      ipranges: 2,
      ippool: 2,
      users: 2,
      vs: 3,
      states: 3,
    })
    for (const panel of [a, b]) {
      expect(panel.violations).toEqual([])
      expect(new Set(panel.requests.map(({ method }) => method))).toEqual(new Set(['GET']))
    }
  })
})

describe('No secret', () => {
  test('of an answer or of a request stands in a record, a failure or a reader', async () => {
    const readers = [
      solusReader(new SolusPanel()),
      virtualizorReader(new VirtualizorPanel()),
      virtualizorReader(new VirtualizorPanel({ data: 'serialized' })),
    ]
    for (const reader of readers) {
      const found = JSON.stringify([await everything(reader), await reader.disks('1')]) + Bun.inspect(reader)
      expect(found.match(CANARY)?.[0]).toBeUndefined()
    }
    // A panel that repeats the request in its words.
    const echo: Fault = ({ query, headers }) =>
      json({ error: [`${query} ${JSON.stringify(headers)}`], message: `${query}` })
    for (const fault of [...Object.values(faults), echo])
      for (const [panel, reader] of [
        [new SolusPanel(), solusReader],
        [new VirtualizorPanel(), virtualizorReader],
      ] as const) {
        panel.fault = fault
        const failure = await reader(panel)
          .account()
          .then(String, (error) => `${Bun.inspect(error)} ${error.stack} ${JSON.stringify(error)} ${error.cause}`)
        expect(failure.match(CANARY)?.[0]).toBeUndefined()
      }
  })
  test('stands in a failure of the network', async () => {
    const failures = [
      await failureOf(() => virtualizorAt('https://127.0.0.1:1', null).account()),
      await failureOf(() => virtualizorAt('https://panel.test', null, { lookUp: async () => [] }).account()),
    ]
    for (const failure of failures) expect(Bun.inspect(failure) + failure.stack).not.toMatch(CANARY)
  })
})

describe('An answer that is none', () => {
  const inBoth = (code: string) => [code, code] as const
  const expected: Record<keyof typeof faults, readonly [solusvm2: string, virtualizor: string]> = {
    html200: ['html', 'refused_sign_in'],
    html403: ['api_off', 'refused_sign_in'],
    html404: ['api_off', 'refused_sign_in'],
    redirect: ['redirected', 'refused_sign_in'],
    unauthenticated: inBoth('refused_sign_in'),
    forbidden: inBoth('missing_rights'),
    notFound: inBoth('not_found'),
    unprocessable: inBoth('refused'),
    rateLimited: inBoth('rate_limited'),
    broken: inBoth('panel_error'),
    locked: inBoth('panel_error'),
    badGateway: inBoth('panel_error'),
    errorsThenFine: inBoth('fine'),
    truncated: inBoth('truncated'),
    empty: inBoth('not_json'),
    plainText: inBoth('not_json'),
    emptyList: inBoth('not_json'),
    emptyObject: inBoth('key_missing'),
    otherList: inBoth('key_missing'),
    textForList: inBoth('key_missing'),
    tooDeep: inBoth('too_deep'),
    tooMany: inBoth('too_large'),
  }
  const passing = new Set(['rate_limited', 'panel_error', 'truncated'])

  test('is never an empty list: each kind has words of its own', async () => {
    for (const [name, codes] of Object.entries(expected))
      for (const [i, make] of [
        () => [new SolusPanel(), solusReader] as const,
        () => [new VirtualizorPanel(), virtualizorReader] as const,
      ].entries()) {
        const [panel, reader] = make()
        panel.fault = faults[name as keyof typeof faults]
        for (const read of [
          () => reader(panel).account(),
          () => all(reader(panel).hypervisors()),
          () => all(reader(panel).packages()),
          () => all(reader(panel).ranges()),
          () => all(reader(panel).owners()),
          () => all(reader(panel).servers([{ id: '1' }])),
        ]) {
          const outcome = await read().then(
            () => 'fine',
            (error) => error.code,
          )
          expect([name, i, outcome]).toEqual([name, i, codes[i]!])
        }
      }
  })
  test('is asked for again only where nothing was refused, and three times at most', async () => {
    for (const [name, [, code]] of Object.entries(expected)) {
      if (code === 'fine') continue
      const panel = new VirtualizorPanel()
      panel.fault = faults[name as keyof typeof faults]
      await failureOf(() => virtualizorReader(panel).account())
      expect([name, panel.requests.length]).toEqual([name, passing.has(code) ? 3 : 1])
    }
  })
  test('in the middle of a list yields nothing of the list', async () => {
    for (const name of ['html200', 'truncated', 'emptyObject', 'unauthenticated'] as const) {
      const panel = new SolusPanel({ servers: 40, cap: 15 })
      panel.fault = (request, answer, n) =>
        request.query.get('page') === '2' ? (faults[name] as Fault)(request, answer, n) : answer()
      let yielded = 0
      const failure = await failureOf(async () => {
        for await (const _ of solusReader(panel).servers([])) yielded++
      })
      expect([name, failure.code, yielded]).toEqual([name, expected[name][0] as never, 0])
    }
  })
  test('does not stop the reading where a panel errs for a moment', async () => {
    const panel = new SolusPanel({ servers: 3 })
    panel.fault = faults.errorsThenFine
    expect((await all(solusReader(panel).servers([{ id: '1' }]))).length).toBe(3)
  })
})

describe('Over the network', () => {
  test('both panels are read through their certificates, and one connection serves many requests', async () => {
    const a = new SolusPanel({ servers: 120 })
    const b = new VirtualizorPanel()
    await using solus = await a.serve(dir)
    await using virtual = await b.serve(dir)
    expect(await everything(solusAt(solus.address, solus.sha256)).then(({ servers }) => servers.length)).toBe(120)
    expect(await everything(virtualizorAt(virtual.address, virtual.sha256)).then(({ servers }) => servers.length)).toBe(
      7,
    )
    expect([a.violations, b.violations]).toEqual([[], []])
    expect(solus.connections()).toBeLessThan(a.requests.length / 2)
  })
  test('S15 nothing is sent to a panel whose certificate is not trusted', async () => {
    const panel = new VirtualizorPanel()
    await using served = await panel.serve(dir)
    const unknown = await failureOf(() => virtualizorAt(served.address, null).account())
    expect([unknown.code, unknown.certificate?.sha256]).toEqual(['certificate_unknown', served.sha256])
    expect(unknown.certificate?.subject).toBe('CN=localhost')
    expect(unknown.certificate!.validUntil!).toBeGreaterThan(Date.now())
    const changed = await failureOf(() => virtualizorAt(served.address, 'ab'.repeat(32)).account())
    expect([changed.code, changed.certificate?.sha256]).toEqual(['certificate_changed', served.sha256])
    expect(panel.requests).toEqual([])
  })
  test('a certificate that changes between two requests stops the reading', async () => {
    const panel = new VirtualizorPanel()
    const first = await panel.serve(dir)
    const reader = virtualizorAt(first.address, first.sha256)
    await reader.account()
    const count = panel.requests.length
    await first[Symbol.asyncDispose]()
    await using second = await panel.serve(dir, { port: first.port })
    const failure = await failureOf(() => all(reader.hypervisors()))
    expect([failure.code, failure.certificate?.sha256]).toEqual(['certificate_changed', second.sha256])
    expect(panel.requests.length).toBe(count)
  })
  test('a panel that drips its answer, ends it early or sends too much is given up', async () => {
    await using dripping = await new SolusPanel().serve(dir, { dripMs: 100 })
    const began = performance.now()
    const slow = solusAt(dripping.address, dripping.sha256, { timeoutMs: 500 })
    expect((await failureOf(() => slow.account())).code).toBe('too_slow')
    expect(performance.now() - began).toBeLessThan(10_000)
    const cutting = new SolusPanel()
    await using cut = await cutting.serve(dir, { cutAt: 20 })
    expect((await failureOf(() => solusAt(cut.address, cut.sha256).account())).code).toBe('truncated')
    expect(cutting.requests.length).toBe(3)
    const large = new SolusPanel()
    large.fault = () => json({ data: { email: 'a'.repeat(17 * 1024 * 1024) } })
    await using much = await large.serve(dir)
    expect((await failureOf(() => solusAt(much.address, much.sha256).account())).code).toBe('too_large')
  })
  test('a reading that is stopped ends at once', async () => {
    await using dripping = await new SolusPanel().serve(dir, { dripMs: 200 })
    const controller = new AbortController()
    const reader = solusAt(dripping.address, dripping.sha256, { signal: controller.signal })
    setTimeout(() => controller.abort(), 200)
    const began = performance.now()
    expect((await failureOf(() => all(reader.hypervisors()))).code).toBe('stopped')
    expect(performance.now() - began).toBeLessThan(5000)
    expect((await failureOf(() => reader.account())).code).toBe('stopped')
  })
  test('an address where nothing listens, a port without TLS and a name of nobody have their own words', async () => {
    expect((await failureOf(() => solusAt('https://127.0.0.1:1', null).account())).message).toBe(
      'The panel could not be reached: nothing listens at this address and port.',
    )
    using plain = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('{}') })
    const code = (await failureOf(() => solusAt(`https://127.0.0.1:${plain.port}`, null).account())).code
    expect(['tls_failed', 'unreachable']).toContain(code)
    const nowhere = solusAt('https://panel.test', null, { lookUp: async () => [] })
    expect((await failureOf(() => nowhere.account())).code).toBe('host_unknown')
  })
})
