// Imports by the compiled program, from simulated panels over HTTPS. It is killed with -9 at each request and while it
// applies what it read, and searched for every secret that it was given or heard.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Subprocess } from 'bun'
import { CANARY, faults, json, type Panel } from '../../imports/simulators/panel.ts'
import { SolusPanel, TOKEN } from '../../imports/simulators/solusvm2.ts'
import { KEY, PASS, VirtualizorPanel } from '../../imports/simulators/virtualizor.ts'
import { type Installation, installation } from '../../support/world/processes.ts'
import { berth } from '../../support/world/program.ts'

let dir = ''
let live: Installation
let controller: Subprocess
let token: string

beforeAll(async () => {
  dir = mkdtempSync(`${tmpdir()}/berth-sources-`)
  live = await installation()
  controller = await live.serve()
  token = await live.ownerToken()
}, 60_000)
afterAll(async () => {
  controller.kill('SIGKILL')
  await controller.exited
  await live.close()
  rmSync(dir, { recursive: true })
})

const api = (method: string, path: string, body?: object) => live.api(token, method, path, body)
const credentials = { solusvm2: { token: TOKEN }, virtualizor: { key: KEY, pass: PASS } }
type Kind = keyof typeof credentials
const importAt = async (id: string) => (await api('GET', `/admin/migrations/${id}`)).body
const ended = (id: string) =>
  live.until('the end of the reading', async () => {
    const row = await importAt(id)
    return row.status !== 'discovering' && row
  })

/** An import whose certificate is trusted, so that the next reading is whole. */
async function begun(kind: Kind, address: string): Promise<string> {
  const made = await api('POST', '/admin/migrations', { kind, address, credentials: credentials[kind] })
  const { id } = made.body
  await api('POST', `/admin/migrations/${id}/actions/discover`)
  const { asksFor } = await ended(id)
  await api('POST', `/admin/migrations/${id}/actions/trust`, { sha256: asksFor.sha256 })
  return id
}
async function inventory(id: string) {
  const lists = ['mapping/hypervisors', 'mapping/packages', 'mapping/ranges', 'mapping/owners', 'servers']
  const found = await Promise.all(lists.map((list) => api('GET', `/admin/migrations/${id}/${list}?limit=200`)))
  return JSON.stringify(found.map(({ body }) => body.data)).replace(/(ims|imp)_\w+/g, '$1')
}

describe('kill -9', () => {
  for (const [kind, make] of [
    ['solusvm2', () => new SolusPanel({ servers: 17, cap: 15 })],
    ['virtualizor', () => new VirtualizorPanel({ servers: 7 })],
  ] as const)
    test(`${kind}: at each request of a discovery, which goes on by itself and ends whole`, async () => {
      const panel: Panel = make()
      await using served = await panel.serve(dir)
      const whole = await begun(kind, served.address)
      await api('POST', `/admin/migrations/${whole}/actions/discover`)
      expect((await ended(whole)).trouble).toBeNull()
      const needed = panel.requests.length
      const expected = await inventory(whole)
      await api('POST', `/admin/migrations/${whole}/actions/cancel`)

      const id = await begun(kind, served.address)
      panel.requests.length = 0
      let [at, sent] = [0, 0]
      // Each is a restart; outside of the long run every other one.
      const step = process.env['BERTH_LONG'] === '1' ? 1 : 2
      panel.fault = (_, answer, n) => {
        if (n === at) controller.kill('SIGKILL')
        return answer()
      }
      await api('POST', `/admin/migrations/${id}/actions/discover`).catch(() => {})
      while (at < needed) {
        await controller.exited
        expect([at, panel.requests.length]).toEqual([at, at + 1])
        sent += panel.requests.length
        panel.requests.length = 0
        at += step
        controller = await live.serve()
      }
      const row = await ended(id)
      expect(row).toMatchObject({ status: 'mapping', trouble: null })
      expect(await inventory(id)).toBe(expected)
      expect(panel.requests.length).toBe(needed)
      // Each is counted before it is sent, so none is forgotten by a kill.
      expect(row.sent.requests).toBe(sent + needed)
      await api('POST', `/admin/migrations/${id}/actions/cancel`)
    }, 60_000)

  test('while it applies what it read: it goes on from there, and the panel is not asked again', async () => {
    const panel = new SolusPanel({ servers: 1200 })
    await using served = await panel.serve(dir)
    const id = await begun('solusvm2', served.address)
    await api('POST', `/admin/migrations/${id}/actions/discover`)
    const applied: number[] = []
    for (const least of [0, 1, 400, 800, 1200]) {
      const db = new Database(`${live.dir}/berth.db`, { readonly: true })
      const look = db.query<{ phase: string; n: number }, [string]>(
        `SELECT phase, (SELECT count(*) FROM import_servers WHERE import_id = i.id) AS n FROM imports i WHERE id = ?
           AND status = 'discovering'`,
      )
      for (;;) {
        const found = look.get(id)
        if (!found) break
        if (found.phase === 'applying' && found.n >= least) {
          controller.kill('SIGKILL')
          applied.push(found.n)
          break
        }
        await Bun.sleep(1)
      }
      db.close()
      if (applied.length === 0 || !(await Promise.race([controller.exited, Bun.sleep(500)]))) break
      controller = await live.serve()
    }
    const row = await ended(id)
    expect(row).toMatchObject({ status: 'mapping', trouble: null, servers: { total: 1200 } })
    expect(applied.length).toBeGreaterThan(2)
    // Each kill found at least as many servers as the one before: nothing was begun anew.
    expect(applied).toEqual(applied.toSorted((a, b) => a - b))
    expect(row.sent.requests).toBe(panel.requests.length)
    await api('POST', `/admin/migrations/${id}/actions/cancel`)
  }, 60_000)
})

/** Every file below a directory. */
const filesOf = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)

describe('No secret of the panel, and none of the credentials for it,', () => {
  test('is in files, the journal, answers, pages, spreadsheets, refusals or the heap of the program', async () => {
    controller.kill('SIGTERM')
    await controller.exited
    // From the sources, with a signal that writes the heap.
    const hook = `${dir}/heap.ts`
    writeFileSync(
      hook,
      `process.on('SIGUSR2', () => {
        globalThis.planted = ['planted', process.pid, 'here'].join('-')
        Bun.gc(true)
        require('node:fs').writeFileSync('${dir}/heap.json', Bun.generateHeapSnapshot('v8'))
      })`,
    )
    const at = (file: string) => new URL(`../../../${file}`, import.meta.url).pathname
    const program = [`--tsconfig-override=${at('tsconfig.json')}`, '--preload', hook, at('src/main.ts'), 'serve']
    controller = Bun.spawn([process.execPath, ...program], {
      env: { PATH: process.env['PATH']!, HOME: '/root', ...live.env, PANEL_LOG_REQUESTS: '1' },
      stdout: Bun.file(`${live.dir}/from-source.out`),
      stderr: Bun.file(`${live.dir}/from-source.log`),
    })
    await live.until('the program', () => fetch(`${live.url}/api/v1/status`).then((one) => one.ok))

    const said: string[] = []
    const heard = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${live.url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = `${JSON.stringify([...response.headers])} ${await response.text()}`
      expect([path, response.status < 500]).toEqual([path, true])
      said.push(text)
    }
    for (const [kind, panel] of [
      ['solusvm2', new SolusPanel()],
      ['virtualizor', new VirtualizorPanel({ data: 'serialized' })],
    ] as const) {
      await using served = await panel.serve(dir)
      const id = await begun(kind, served.address)
      const path = `/api/v1/admin/migrations/${id}`
      const discovered = async () => {
        await api('POST', `/admin/migrations/${id}/actions/discover`)
        return await ended(id)
      }
      // The panel repeats the request in its refusals, and fails in the middle of a page.
      panel.fault = ({ query, headers }) =>
        json({ error: [`${query}`], message: `${query} ${JSON.stringify(headers)}` }, 403)
      expect((await discovered()).trouble.code).toBe('missing_rights')
      panel.fault = faults.truncated
      expect((await discovered()).trouble.code).toBe('truncated')
      panel.fault = null
      expect((await discovered()).trouble).toBeNull()
      expect(panel.requests.some((one) => CANARY.test(JSON.stringify(one.headers) + one.query))).toBe(true)

      await heard('PATCH', path, { name: 'Old panel' })
      await heard('PATCH', `${path}/mapping`, { owners: [{ sourceId: '12', choice: 'leave_out' }] })
      for (const list of ['', '/plan', '/log', '/changes', '/servers?limit=200', '/mapping', '/mapping.csv'])
        await heard('GET', `${path}${list}`)
      for (const part of ['hypervisors', 'packages', 'ranges', 'owners']) await heard('GET', `${path}/mapping/${part}`)
      const [one] = (await api('GET', `/admin/migrations/${id}/servers`)).body.data
      await heard('GET', `/api/v1/admin/migration-servers/${one.id}`)
      // Refusals: a field too many, a wrong credential, and one that no panel has.
      const secrets = credentials[kind]
      const address = served.address
      for (const body of [
        { kind, address, credentials: secrets, surprise: 1 },
        { kind, address: 'https://169.254.1.1:443', credentials: secrets },
        { kind, address, credentials: { ...secrets, other: TOKEN } },
        { kind, address, credentials: Object.fromEntries(Object.entries(secrets).map(([k, v]) => [k, `${v} ä`])) },
      ])
        await heard('POST', '/api/v1/admin/migrations', body)
      await heard('POST', `${path}/actions/set-credentials`, { credentials: { wrong: KEY, pass: PASS } })
      said.push(JSON.stringify(await berth(['admin', 'imports.get', JSON.stringify({ id })], live.env)))
      for (const page of [`/admin/imports/${id}`, '/admin/imports', '/admin', '/admin/audit']) await heard('GET', page)
    }
    for (const list of ['/admin/migrations', '/admin/audit', '/jobs', '/admin/overview', '/webhook-queue', '/metrics'])
      await heard('GET', `/api/v1${list}`)
    controller.kill('SIGUSR2')
    await live.until('the heap', async () => statSync(`${dir}/heap.json`).size > 1_000_000)
    await Bun.sleep(500)

    const db = new Database(`${live.dir}/berth.db`, { readonly: true })
    const stored = db.query<{ n: number }, []>('SELECT count(encrypted_credentials) AS n FROM imports').get()!
    db.close()
    expect(stored.n).toBe(2)
    expect(said.filter((text) => text.includes('server-1.example.com')).length).toBeGreaterThan(1)
    const heap = readFileSync(`${dir}/heap.json`, 'utf8')
    expect(heap).toContain(`planted-${controller.pid}-here`)
    const found = (name: string, text: string) => CANARY.exec(text) && `${name}: ${CANARY.exec(text)![0]}`
    const files = filesOf(live.dir)
    expect(files.some((file) => file.endsWith('-wal')) && files.some((file) => file.endsWith('.log'))).toBe(true)
    expect(
      [
        ...files.map((file) => found(file, readFileSync(file, 'latin1'))),
        ...said.map((text, i) => found(`answer ${i}`, text)),
        found('heap', heap),
      ].filter(Boolean),
    ).toEqual([])
  }, 60_000)
})
