// PANEL_LOG_REQUESTS=1 logs every request: whatever was asked for, by whom, and nothing that opens something.
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { operations, registry } from '../../../src/app/features.ts'
import { plainPath } from '../../../src/kernel/log.ts'
import { journalOf } from '../../support/journal.ts'
import { listening } from '../../support/listening.ts'
import { listenToLog } from '../../support/log.ts'
import { eventually } from '../../support/waiting/eventually.ts'

const link = Buffer.alloc(32, 'secret').toString('base64url')
const requests = (lines: string[]) =>
  lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'request')

test('every request is one line: calls, pages, files, agents, reports, what is not there', async () => {
  await using panel = await listening({ PANEL_LOG_REQUESTS: '1' })
  const id = panel.db.$client.query<{ id: string }, []>('SELECT id FROM tokens').get()!.id
  const bearer = { Authorization: `Bearer ${panel.token}` }
  const asked: [string, string, Record<string, string>, number, string | undefined][] = [
    ['GET', '/api/v1/status', {}, 200, undefined],
    ['GET', '/api/v1/admin/nodes', bearer, 200, id],
    ['POST', '/api/v1/admin/packages', bearer, 422, id],
    ['GET', '/api/v1/admin/nodes', { Cookie: `__Host-panel=${panel.cookie}` }, 200, panel.staff.id],
    ['GET', '/api/v1/admin/nodes', { Authorization: 'Bearer nonsense' }, 401, undefined],
    ['GET', '/api/v1/openapi.json', {}, 200, undefined],
    ['GET', '/api/v1/no/such', bearer, 404, undefined],
    ['GET', '/login', {}, 200, undefined],
    ['GET', '/admin', { Cookie: `__Host-panel=${panel.cookie}` }, 200, panel.staff.id],
    ['GET', '/no/such', { Cookie: `__Host-panel=${panel.cookie}` }, 404, panel.staff.id],
    ['GET', '/assets/nothing.js', {}, 404, undefined],
    ['GET', '/brand/logo', {}, 404, undefined],
    ['GET', '/agent/v1/images/x', {}, 401, undefined],
    ['GET', '/agent/v1/connect', {}, 401, undefined],
    ['POST', '/agent/v1/enroll', {}, 422, undefined],
    ['POST', '/csp-report', {}, 204, undefined],
    ['GET', '/login/oidc/start', {}, 303, undefined],
    ['PROPFIND', '/login', {}, 405, undefined],
  ]
  const { lines } = await listenToLog(async () => {
    for (const [method, path, headers] of asked) {
      const answer = await fetch(`${panel.url}${path}`, { method, headers, redirect: 'manual' })
      await answer.text()
    }
  })
  const logged = requests(lines)
  expect(logged.map(({ method, path, status, by }) => [method, path, status, by])).toEqual(
    asked.map(([method, path, , status, by]) => [method, path, status, by]) as any,
  )
  for (const line of logged) {
    expect(line).toMatchObject({
      from: '127.0.0.1',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ms: expect.any(Number),
    })
    expect(JSON.stringify(line)).not.toContain(panel.token)
  }
  expect(new Set(logged.map(({ requestId }) => requestId)).size).toBe(asked.length)
})

test('S33: no one-time link, no query and no token stands in it', async () => {
  await using panel = await listening({ PANEL_LOG_REQUESTS: '1' })
  const { lines } = await listenToLog(async () => {
    for (const path of [
      `/welcome/${link}`,
      `/reset/${link}`,
      `/confirm-email/${link}`,
      `/sign-in/${link}`,
      `/setup?token=${link}`,
      `/api/v1/x/${link}?q=${link}`,
    ])
      await (await fetch(panel.url + path, { redirect: 'manual' })).text()
    panel.db.$client.run('ALTER TABLE branding RENAME TO gone')
    await (await fetch(`${panel.url}/welcome/${link}`)).text()
  })
  expect(requests(lines).length).toBe(7)
  expect(lines.join('')).not.toContain(link)
  expect(requests(lines)[0].path).toBe('/welcome/***')
})

test('what stands in it of a path is the path, for every call and page that there is', () => {
  const id = `srv_${'0'.repeat(26)}`
  for (const path of [...operations.map((op) => `/api/v1${op.path}`), ...registry.pages.map((page) => page.path)]) {
    const real = path.replace(/\{\w+\}/g, id)
    expect(plainPath(`https://panel.test${real}?x=1#y`)).toBe(real)
  }
})

test('nothing is logged of requests unless somebody wants it', async () => {
  await using panel = await listening()
  const { lines } = await listenToLog(async () => void (await (await fetch(`${panel.url}/login`)).text()))
  expect(requests(lines)).toEqual([])
})

describe('an upload that its caller aborts', () => {
  for (const [how, rest] of [
    ['that said its length', 'Content-Length: 100000\r\n\r\n{"name": "x'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"nam\r\n'],
  ] as const)
    test(`${how} is one line of the journal, without a stack, and changes nothing`, async () => {
      await using panel = await listening()
      const lines = await journalOf(async (count) => {
        const socket = connect(panel.port, '127.0.0.1')
        socket.write(
          `POST /api/v1/admin/customers HTTP/1.1\r\nHost: panel.test\r\nAuthorization: Bearer ${panel.token}\r\n` +
            `Content-Type: application/json\r\n${rest}`,
        )
        await Bun.sleep(100)
        socket.destroy()
        await eventually(() => count() > 0)
        // A second line would come at once.
        await Bun.sleep(20)
      })
      expect(lines).toMatchObject([
        { level: 'info', message: 'an upload was aborted', path: '/api/v1/admin/customers' },
      ])
      expect(lines[0]).not.toHaveProperty('error')
      expect(panel.db.$client.query("SELECT count(*) AS n FROM accounts WHERE kind = 'customer'").get()).toEqual({
        n: 0,
      })
    })
})
