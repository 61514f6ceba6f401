// Every listener that ships, each with a client of its own against the program: the plain one, that of built-in TLS,
// and the socket file of `berth admin`.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { rawRequest, type Target } from '../../support/raw-request.ts'
import { selfSigned } from '../../support/services/certificate.ts'
import { type Installation, installation } from '../../support/world/processes.ts'
import { freePort } from '../../support/world/program.ts'

const certificates = mkdtempSync(`${tmpdir()}/berth-certificate-`)
let certificate: Awaited<ReturnType<typeof selfSigned>>
const ports = { plain: freePort(), tls: freePort() }
let plain: Installation
let encrypted: Installation
let token = ''

beforeAll(async () => {
  certificate = await selfSigned(certificates)
  plain = await installation({ PANEL_LISTEN: `127.0.0.1:${ports.plain}` })
  encrypted = await installation({
    PANEL_LISTEN: `127.0.0.1:${ports.tls}`,
    PANEL_TLS_CERT: certificate.cert,
    PANEL_TLS_KEY: certificate.key,
    PANEL_AGENT_INSECURE: '0',
    // For the agent and for `berth`: the authority behind the controller's certificate.
    NODE_EXTRA_CA_CERTS: certificate.cert,
  })
  await Promise.all([plain.serve(), encrypted.serve()])
  token = await encrypted.ownerToken()
}, 60_000)
afterAll(async () => {
  await Promise.all([plain?.close(), encrypted?.close()])
  rmSync(certificates, { recursive: true })
})

type Listener = { name: string; at: Installation; target: Target; pages: boolean; agents: boolean; alpn: string }
const listeners = (): Listener[] => [
  { name: 'plain', at: plain, target: { port: ports.plain }, pages: true, agents: true, alpn: 'undefined' },
  {
    name: 'TLS',
    at: encrypted,
    target: { port: ports.tls, tls: { ca: certificate.pem } },
    pages: true,
    agents: true,
    // HTTP/1.1 is what it speaks; a client that offers HTTP/2 as well gets no answer to its offer.
    alpn: 'false',
  },
  {
    name: 'the socket of `berth admin`',
    at: plain,
    target: { unix: `${plain.dir}/admin.sock` },
    pages: false,
    agents: false,
    alpn: 'undefined',
  },
]
const names = ['plain', 'TLS', 'the socket of `berth admin`'] as const

for (const name of names)
  describe(`S59: ${name}`, () => {
    const listener = () => listeners().find((one) => one.name === name)!
    const ask = (line: string, ...headers: string[]) =>
      rawRequest(listener().target, [line, 'Host: localhost', 'Connection: close', ...headers])

    test('gives the API', async () => {
      const { status, headers, text, alpn } = await ask('GET /api/v1/status HTTP/1.1')
      expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
      expect(JSON.parse(text)).toHaveProperty('version')
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
      expect(alpn).toBe(listener().alpn)
    })
    test('says what does not exist', async () => {
      for (const path of ['/api/v1/no/such', '/api/v2/status', '/api\\v1\\status']) {
        const { status, text } = await ask(`GET ${path} HTTP/1.1`)
        expect([path, status, JSON.parse(text).error.code]).toEqual([path, 404, 'not_found'])
      }
    })
    test('refuses without credentials, unless it is the socket, which is System', async () => {
      const { status } = await ask('GET /api/v1/admin/nodes HTTP/1.1')
      expect(status).toBe(listener().pages ? 401 : 200)
    })
    test('gives pages and their files, if people reach it', async () => {
      const page = await ask('GET /login HTTP/1.1')
      if (!listener().pages) return expect([page.status, page.text.includes('<html')]).toEqual([404, false])
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      const files = [...page.text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!)
      expect(files.length).toBeGreaterThan(1)
      for (const path of files) {
        const file = await ask(`GET ${path} HTTP/1.1`, 'Accept-Encoding: identity')
        expect([path, file.status, file.text.length > 100]).toEqual([path, 200, true])
      }
      expect((await ask('GET /admin HTTP/1.1')).headers['location']).toBe('/login?next=%2Fadmin')
    })
    test('keeps a connection for the next request', async () => {
      const line = ['GET /api/v1/status HTTP/1.1', 'Host: localhost']
      const { text } = await rawRequest(listener().target, [...line, '', ...line, 'Connection: close'])
      expect(text.match(/HTTP\/1\.1 200 OK/g)?.length).toBe(1) // the second; the first is the head of the whole
    })
    test('takes a node in, and keeps its socket', async () => {
      const { at, agents, target } = listener()
      if (!agents) {
        const { status } = await ask('GET /agent/v1/connect HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket')
        return expect([target, status]).toEqual([target, 404])
      }
      const { id } = await at.admin('locations.create', { name: 'Here' })
      const home = await at.enroll(id, 'fra-01')
      const agent = at.agent(home)
      const node = await at.until('the node', async () =>
        (await at.admin('nodes.list')).data.find((node: { connected: boolean }) => node.connected),
      )
      expect(node.name).toBe('fra-01')
      agent.kill('SIGTERM')
      expect(await agent.exited).toBe(0)
    }, 60_000)
  })

describe('S59: built-in TLS', () => {
  test('speaks no HTTP/2, and nothing older than TLS 1.2', async () => {
    const connected = (...args: string[]) =>
      Bun.spawnSync(
        ['openssl', 's_client', '-connect', `127.0.0.1:${ports.tls}`, '-CAfile', certificate.cert, ...args],
        {
          stdin: new Blob(['']),
        },
      ).stdout.toString()
    expect(connected('-alpn', 'h2')).toContain('No ALPN negotiated')
    expect(connected('-tls1_2')).toContain('Protocol  : TLSv1.2')
    expect(connected('-tls1_3')).toContain('TLSv1.3')
    expect(connected('-tls1_1')).toContain('Cipher is (NONE)')
  })
  test('answers no plain HTTP', async () => {
    const { status, text } = await rawRequest({ port: ports.tls }, ['GET /api/v1/status HTTP/1.1', 'Host: localhost'])
    expect([status, text]).toEqual([0, ''])
  })
  test('lets no agent in that does not trust the certificate', async () => {
    const { id } = await encrypted.admin('locations.create', { name: 'Distrust' })
    const { NODE_EXTRA_CA_CERTS: _, ...env } = encrypted.env as Record<string, string>
    const { token: enrollment } = await encrypted.admin('nodes.enroll', { locationId: id })
    const { berth } = await import('../../support/world/program.ts')
    const args = ['--controller', encrypted.url, '--token', enrollment, '--data-dir', `${encrypted.dir}/x`, '--fake']
    const { code, error } = await berth(['agent', 'enroll', ...args], env)
    expect([code === 0, error]).toEqual([false, expect.stringContaining('cannot be reached')])
    expect((await encrypted.admin('nodes.list')).data.some((node: { connected: boolean }) => node.connected)).toBe(
      false,
    )
  })
  test('signs in and changes by the API', async () => {
    const body = JSON.stringify({ name: 'Oak', placement: 'spread' })
    const { status } = await rawRequest(
      { port: ports.tls, tls: { ca: certificate.pem } },
      [
        'POST /api/v1/admin/node-groups HTTP/1.1',
        'Host: localhost',
        'Connection: close',
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      ],
      body,
    )
    expect(status).toBe(201)
  })
})
