// Every fault of the facts, through the whole product: words for the person, and nothing believed of half a list.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { sourceFailureCodes } from '../../../src/imports/sources/failure.ts'
import { type Fault, faults, json, type Panel, redirect } from '../simulators/panel.ts'
import { SolusPanel } from '../simulators/solusvm2.ts'
import { VirtualizorPanel } from '../simulators/virtualizor.ts'
import { refused, turn } from '../world.ts'
import { beginAt, discover, importOf, inventory, type Kind, kinds, reading, scratch, trust } from './served.ts'

const panelOf: Readonly<Record<Kind, () => Panel>> = {
  solusvm2: () => new SolusPanel({ servers: 40, cap: 15 }),
  virtualizor: () => new VirtualizorPanel({ servers: 7 }),
}
/** The list that a request reads. */
const listOf = ({ path, query }: { path: string; query: URLSearchParams }) =>
  query.has('vs_status') ? 'states' : (query.get('act') ?? path.replace('/api/v1/', '').replace(/\d+/, 'n'))
const listsOf: Readonly<Record<Kind, readonly string[]>> = {
  solusvm2: ['account', 'compute_resources', 'plans', 'ip_blocks', 'ip_blocks/n/ips', 'users', 'servers'],
  virtualizor: ['servers', 'plans', 'ips', 'ippool', 'users', 'vs'],
}
/** Parts without which an import goes on, with a warning. */
const optional: ReadonlySet<string> = new Set(['compute_resources/n/networks', 'os_images', 'ipranges', 'states'])
const isSentence = /^[A-Z].*[.?]$/s
const rest = (p: Awaited<ReturnType<typeof importOf>>) =>
  p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM import_staged').get()!.n

describe('A panel that fails', () => {
  for (const kind of kinds)
    test(`${kind}: in each way, in each list: the reading ends with a sentence, and what was known stays`, async () => {
      const panel = panelOf[kind]()
      using p = await importOf(panel, kind)
      const before = JSON.stringify(await inventory(p, p.id))
      for (const [name, fault] of Object.entries(faults) as [string, Fault][]) {
        if (name === 'errorsThenFine') continue
        for (const list of listsOf[kind]) {
          panel.fault = (request, answer, n) => (listOf(request) === list ? fault(request, answer, n) : answer())
          const read = await discover(p, p.id)
          expect([name, list, read.status, read.phase]).toEqual([name, list, 'mapping', null])
          expect([name, list, sourceFailureCodes.includes(read.trouble?.code)]).toEqual([name, list, true])
          expect([name, list, read.trouble.message]).toEqual([name, list, expect.stringMatching(isSentence)])
          expect([name, list, rest(p), read.asksFor]).toEqual([name, list, 0, null])
        }
      }
      expect(JSON.stringify(await inventory(p, p.id))).toBe(before)
      const { lines } = await p.admin('GET', `/admin/migrations/${p.id}/log`)
      expect(lines.filter(({ level }: any) => level === 'error').length).toBeGreaterThan(100)
      panel.fault = null
      expect((await discover(p, p.id)).trouble).toBeNull()
    }, 60_000)

  for (const kind of kinds)
    test(`${kind}: on its second page, or in a part that an import can do without`, async () => {
      const panel = kind === 'solusvm2' ? panelOf.solusvm2() : new VirtualizorPanel({ servers: 7, cap: 3 })
      using p = await importOf(panel, kind)
      const total = p.read.servers.total
      for (const [name, fault] of Object.entries(faults) as [string, Fault][]) {
        const ends = name !== 'errorsThenFine'
        panel.fault = (request, answer, n) =>
          /servers|vs/.test(listOf(request)) && request.query.get('page') === '2' ? fault(request, answer, n) : answer()
        const read = await discover(p, p.id)
        expect([name, read.trouble !== null, read.servers.total]).toEqual([name, ends, total])
      }
      for (const list of optional) {
        panel.fault = (request, answer) => (listOf(request) === list ? faults.forbidden() : answer())
        const read = await discover(p, p.id)
        expect([list, read.trouble, read.servers.total]).toEqual([list, null, total])
      }
    }, 60_000)

  test('that errs for a moment is read to its end, and its answers count as refused', async () => {
    for (const kind of kinds) {
      const panel = panelOf[kind]()
      using p = await reading({ send: panel.send })
      const id = await beginAt(p, kind, 'https://panel.test:8443')
      panel.fault = faults.errorsThenFine
      const read = await discover(p, id)
      expect([read.trouble, read.sent.requests]).toEqual([null, panel.requests.length])
      expect(read.sent.refused).toBeGreaterThan(read.sent.requests / 2)
    }
  })

  test('with a wrong or an expired credential is asked once, says all causes, and is read with another', async () => {
    for (const [kind, wrong, words] of [
      ['solusvm2', { token: 'expired' }, 'it was copied as a whole, that it has not expired, and that the API'],
      [
        'virtualizor',
        { key: 'wrong', pass: 'wrong' },
        'that the pair allows calls from the address of this controller',
      ],
    ] as const) {
      const panel = panelOf[kind]()
      using p = await reading({ send: panel.send })
      const id = await beginAt(p, kind, 'https://panel.test:8443', { credentials: wrong })
      const read = await discover(p, id)
      expect(read).toMatchObject({
        status: 'draft',
        trouble: { code: 'refused_sign_in' },
        sent: { requests: 1, refused: 1 },
      })
      expect(read.trouble.message).toContain(words)
      expect(panel.requests.length).toBe(1)
      const { credentials } = await import('./served.ts')
      await p.admin('POST', `/admin/migrations/${id}/actions/set-credentials`, { credentials: credentials[kind] })
      expect(await discover(p, id)).toMatchObject({ status: 'mapping', trouble: null })
    }
  })
})

describe('Paging', () => {
  test('that never ends ends the reading, and the import goes on with what it knew', async () => {
    const panel = new SolusPanel({ servers: 3, hypervisors: 1 })
    using p = await importOf(panel, 'solusvm2')
    const endless: Fault = ({ path, query }, answer) =>
      path.endsWith('/servers')
        ? json({ data: [{ ...panel.servers[0], id: query.get('page') }], links: { next: 'more' } })
        : answer()
    const same: Fault = ({ path, query }, answer) => {
      if (path.endsWith('/servers')) query.set('page', '1')
      const given = answer()
      return path.endsWith('/servers') ? { ...given, body: given.body.replace('"total":3', '"total":300') } : given
    }
    for (const fault of [endless, same]) {
      panel.requests.length = 0
      panel.fault = fault
      const read = await discover(p, p.id)
      expect(read).toMatchObject({ status: 'mapping', trouble: { code: 'broken_pager' }, servers: { total: 3 } })
      expect(panel.requests.length).toBeLessThan(5020)
    }
  }, 60_000)

  test('with a server that goes misses none, and a list that never stands still is not believed', async () => {
    for (const kind of kinds) {
      const panel =
        kind === 'solusvm2' ? panelOf.solusvm2() : new VirtualizorPanel({ servers: 40, cap: 15, counts: 'none' })
      const rows = (panel as SolusPanel | VirtualizorPanel).servers
      using p = await reading({ send: panel.send })
      const id = await beginAt(p, kind, 'https://panel.test:8443')
      let times = 1
      panel.fault = (request, answer) => {
        const given = answer()
        if (['servers', 'vs'].includes(listOf(request)) && request.query.get('page') === '1' && times-- > 0)
          if (kind === 'solusvm2' || request.query.get('act') === 'vs') rows.splice(3, 1)
        return given
      }
      expect([kind, (await discover(p, id)).servers.total]).toEqual([kind, rows.length])
      times = 1000
      expect([kind, (await discover(p, id)).trouble?.code]).toEqual([kind, 'changed_while_reading'])
    }
  })
})

describe('Over HTTPS', () => {
  let dir = ''
  beforeAll(() => {
    dir = mkdtempSync(`${scratch}/berth-sources-`)
  })
  afterAll(() => rmSync(dir, { recursive: true }))

  for (const kind of kinds)
    test(`${kind}: an unknown certificate is asked about before anything is sent, and a changed one too`, async () => {
      const panel = panelOf[kind]()
      const first = await panel.serve(dir)
      using p = await reading()
      const id = await beginAt(p, kind, first.address)
      const asked = await discover(p, id)
      expect(asked).toMatchObject({
        status: 'draft',
        trouble: { code: 'certificate_unknown' },
        sent: { requests: 0, refused: 0 },
      })
      expect(asked.asksFor).toMatchObject({ sha256: first.sha256, isChanged: false, subject: 'CN=localhost' })
      expect(panel.requests).toEqual([])
      await trust(p, id, asked.asksFor.fingerprint)
      const read = await discover(p, id)
      expect(read).toMatchObject({ status: 'mapping', trusted: first.sha256, asksFor: null, trouble: null })
      expect(read.sent).toMatchObject({ requests: panel.requests.length, refused: 0 })
      const { total } = read.servers
      expect(total).toBe((panel as SolusPanel).servers.length)

      await first[Symbol.asyncDispose]()
      await using second = await panel.serve(dir, { port: first.port })
      const sent = panel.requests.length
      const changed = await discover(p, id)
      expect(changed).toMatchObject({ status: 'mapping', trouble: { code: 'certificate_changed' }, servers: { total } })
      expect(changed.asksFor).toMatchObject({ sha256: second.sha256, isChanged: true })
      expect(panel.requests.length).toBe(sent)
      expect(await refused(p, 'POST', `/admin/migrations/${id}/actions/trust`, { sha256: first.sha256 })).toEqual([
        409,
        'certificate_not_asked',
      ])
      await trust(p, id, second.sha256)
      expect((await discover(p, id)).trouble).toBeNull()
    }, 60_000)

  test('a certificate that changes in the middle of a reading stops it there, and nothing of it counts', async () => {
    const panel = panelOf.solusvm2()
    const first = await panel.serve(dir)
    using p = await reading()
    const id = await beginAt(p, 'solusvm2', first.address)
    await trust(p, id, (await discover(p, id)).asksFor.sha256)
    let second: Awaited<ReturnType<Panel['serve']>> | undefined
    let moved = 0
    panel.fault = (request, answer) => {
      if (listOf(request) === 'users' && !moved++)
        queueMicrotask(async () => {
          await first[Symbol.asyncDispose]()
          second = await panel.serve(dir, { port: first.port })
        })
      return answer()
    }
    const read = await discover(p, id)
    // Between the two nothing listens; the client tries again.
    expect(['certificate_changed', 'unreachable']).toContain(read.trouble.code)
    expect(read).toMatchObject({ status: 'draft', servers: { total: 0 } })
    expect(rest(p as never)).toBe(0)
    await second?.[Symbol.asyncDispose]()
  }, 60_000)

  test('a redirect is not followed: where it leads, nobody hears of the credentials', async () => {
    const other = new SolusPanel()
    await using trap = await other.serve(dir)
    for (const kind of kinds) {
      const panel = panelOf[kind]()
      panel.fault = () => redirect(`${trap.address}/api/v1/account`)
      await using served = await panel.serve(dir)
      using p = await reading()
      const id = await beginAt(p, kind, served.address)
      await trust(p, id, (await discover(p, id)).asksFor.sha256)
      expect((await discover(p, id)).trouble.code).toBe(kind === 'solusvm2' ? 'redirected' : 'refused_sign_in')
      expect(panel.requests.length).toBe(1)
    }
    expect([other.requests.length, trap.connections()]).toEqual([0, 0])
  }, 60_000)

  test('a panel that drips, cuts, or listens nowhere has words of its own', async () => {
    const panel = panelOf.solusvm2()
    for (const [code, how, timeoutMs] of [
      ['too_slow', { dripMs: 50 }, 300],
      ['truncated', { cutAt: 20 }, 5000],
    ] as const) {
      await using served = await panel.serve(dir, how)
      using p = await reading({ timeoutMs })
      const id = await beginAt(p, 'solusvm2', served.address)
      await trust(p, id, (await discover(p, id)).asksFor.sha256)
      const read = await discover(p, id)
      expect([read.status, read.trouble.code]).toEqual(['draft', code])
    }
    using p = await reading()
    const { trouble } = await discover(p, await beginAt(p, 'solusvm2', 'https://127.0.0.1:1'))
    expect(trouble.message).toBe('The panel could not be reached: nothing listens at this address and port.')
  }, 60_000)

  test('cancelling sends nothing any more', async () => {
    const panel = new SolusPanel({ servers: 40, cap: 1 })
    await using served = await panel.serve(dir)
    using p = await reading()
    const id = await beginAt(p, 'solusvm2', served.address)
    await trust(p, id, (await discover(p, id)).asksFor.sha256)
    let cancelled: Promise<unknown> | undefined
    panel.fault = (_request, answer, n) => {
      if (n === 20) cancelled = p.admin('POST', `/admin/migrations/${id}/actions/cancel`)
      return answer()
    }
    await p.admin('POST', `/admin/migrations/${id}/actions/discover`)
    await turn(p)
    await cancelled
    const sent = panel.requests.length
    expect(sent).toBeLessThan(30)
    await turn(p)
    await Bun.sleep(50)
    expect(panel.requests.length).toBe(sent)
    expect(p.db.$client.query('SELECT count(*) AS n FROM imports').get()).toEqual({ n: 0 })
  }, 60_000)
})
