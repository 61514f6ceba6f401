// A made-up panel for tests. It answers in this process, or over HTTPS with a certificate of its own, and remembers
// each request. Faults are switched on while it runs.
import { X509Certificate } from 'node:crypto'
import tls from 'node:tls'
import type { RawAnswer, Send } from '../../../src/imports/sources/send.ts'
import { selfSigned } from '../../support/services/certificate.ts'

export type PanelRequest = {
  method: string
  path: string
  query: URLSearchParams
  headers: Readonly<Record<string, string>>
}
export type PanelAnswer = { status: number; headers: Record<string, string>; body: string }

export const json = (value: unknown, status = 200): PanelAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})
export const html = (status = 200): PanelAnswer => ({
  status,
  headers: { 'content-type': 'text/html; charset=UTF-8' },
  body: '<!DOCTYPE html><html><body><form action="login"><input name="password"></form></body></html>',
})
export const redirect = (location: string): PanelAnswer => ({ status: 302, headers: { location }, body: '' })

/** Changes an answer, or gives another in its place. `n`: how many requests there were before. */
export type Fault = (request: PanelRequest, answer: () => PanelAnswer, n: number) => PanelAnswer

/** Faults that both panels can have. */
export const faults = {
  html200: () => html(),
  html403: () => html(403),
  html404: () => html(404),
  redirect: () => redirect('https://elsewhere.example/login'),
  unauthenticated: () => json({ message: 'Unauthenticated.' }, 401),
  forbidden: () => json({ message: 'This action is unauthorized.' }, 403),
  notFound: () => json({ message: 'Not found', http_code: 404 }, 404),
  unprocessable: () => json({ message: 'The given data was invalid.', errors: { page: ['bad'] } }, 422),
  rateLimited: () => json({ message: 'Too Many Attempts.' }, 429),
  broken: () => json({ message: 'Server Error' }, 500),
  locked: () => json({ message: 'Maintenance' }, 423),
  badGateway: () => html(502),
  errorsThenFine: (_request, answer, n) => (n % 3 < 2 ? json({ message: 'Server Error' }, 500) : answer()),
  truncated: (_request, answer) => {
    const whole = answer()
    return { ...whole, body: whole.body.slice(0, Math.floor(whole.body.length / 2)) }
  },
  empty: () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '' }),
  plainText: () => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: 'It works' }),
  emptyList: () => json([]),
  emptyObject: () => json({}),
  otherList: () => json({ something: [] }),
  textForList: () =>
    json({ data: 'x', servs: 'x', servers: 'x', vs: 'x', plans: 'x', ips: 'x', users: 'x', ippools: 'x' }),
  tooDeep: () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: `{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  }),
  tooMany: () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: `{"data":[${'0,'.repeat(700_000)}0]}`,
  }),
} as const satisfies Record<string, Fault>

/** Requests that would have changed something, or that nobody may send: a reader never makes one. */
export class Violation extends Error {}

export class Panel {
  readonly requests: PanelRequest[] = []
  readonly violations: string[] = []
  fault: Fault | null = null

  constructor(private readonly handle: (request: PanelRequest) => PanelAnswer) {}

  answer(request: PanelRequest): PanelAnswer {
    const n = this.requests.push(request) - 1
    const usual = () => {
      try {
        return this.handle(request)
      } catch (error) {
        if (!(error instanceof Violation)) throw error
        this.violations.push(error.message)
        return json({ message: 'violation' }, 500)
      }
    }
    return this.fault ? this.fault(request, usual, n) : usual()
  }

  /** Answers in this process. */
  readonly send: Send = async (url, headers) => {
    const {
      status,
      headers: given,
      body,
    } = this.answer({
      method: 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    })
    return { status, headers: given, body: Buffer.from(body) } satisfies RawAnswer
  }

  /** Answers over HTTPS. `cutAt`: how many bytes of a body are sent before the connection ends. */
  async serve(
    dir: string,
    { names = 'DNS:localhost,IP:127.0.0.1', dripMs = 0, port: at = 0, cutAt = Number.POSITIVE_INFINITY } = {},
  ) {
    const name = `panel-${Math.random().toString(36).slice(2)}`
    const { pem, key } = await selfSigned(dir, name, names)
    const sockets = new Set<tls.TLSSocket>()
    let connections = 0
    const server = tls.createServer({ cert: pem, key: await Bun.file(key).text() }, (socket) => {
      sockets.add(socket)
      connections++
      socket.on('close', () => sockets.delete(socket))
      socket.on('error', () => socket.destroy())
      let received = ''
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1')
        for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
          const head = received.slice(0, end)
          received = received.slice(end + 4)
          void this.#write(socket, head, dripMs, cutAt)
        }
      })
    })
    await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    return {
      port,
      address: `https://127.0.0.1:${port}`,
      pem,
      sha256: new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase(),
      connections: () => connections,
      async [Symbol.asyncDispose]() {
        for (const socket of sockets) socket.destroy()
        await new Promise<void>((resolve) => server.close(() => resolve()))
      },
    }
  }

  async #write(socket: tls.TLSSocket, head: string, dripMs: number, cutAt: number): Promise<void> {
    const [line = '', ...lines] = head.split('\r\n')
    const [method = '', target = '/'] = line.split(' ')
    const url = new URL(target, 'https://panel')
    const headers = Object.fromEntries(
      lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.slice(one.indexOf(':') + 1).trim()]),
    )
    const answer = this.answer({ method, path: url.pathname, query: url.searchParams, headers })
    const body = Buffer.from(answer.body)
    const given = Object.entries({ ...answer.headers, 'content-length': String(body.length) })
    socket.write(`HTTP/1.1 ${answer.status} X\r\n${given.map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n`)
    if (dripMs > 0)
      for (const byte of body) {
        if (socket.destroyed) return
        socket.write(Buffer.of(byte))
        await Bun.sleep(dripMs)
      }
    else socket.write(body.subarray(0, cutAt))
    if (cutAt < body.length) socket.end()
  }
}

/** Every secret in an answer is one of these: none may turn up on our side. */
export const canary = (place: string) => `CANARY-${place}-7f3a91c5`
export const CANARY = /CANARY-[\w.-]+-7f3a91c5/
