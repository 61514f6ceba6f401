// A receiver of webhooks: an HTTPS server on loopback that stands at a public address, and takes down what it gets.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { keepAliveAgent } from '../../../agent/protocol/net/pinned-request.ts'
import type { Transport } from '../../../src/kernel/net/exchange.ts'
import { closedAtEnd } from '../opened.ts'
import { selfSigned } from './certificate.ts'

export type Received = { at: number; path: string; headers: Record<string, string>; body: string }
type Answer = (request: Received, response: ServerResponse, raw: IncomingMessage) => unknown

/** The public address that every name of `*.example.com` has, unless a test says otherwise. */
export const PUBLIC_ADDRESS = '93.184.215.14'

export async function receiver(answer: Answer = (_, response) => response.end('ok')) {
  const dir = mkdtempSync(`${tmpdir()}/berth-receiver-`)
  const files = await selfSigned(dir, 'receiver', 'DNS:*.example.com,DNS:localhost,IP:127.0.0.1')
  const [cert, key] = [files.pem, readFileSync(files.key, 'utf8')]
  rmSync(dir, { recursive: true })
  const received: Received[] = []
  const made = { answer, now: () => Date.now(), connections: 0 }
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = {
        at: made.now(),
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString(),
      }
      received.push(one)
      made.answer(one, response, request)
    })
  })
  server.on('connection', () => made.connections++)
  server.on('clientError', () => {})
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  closedAtEnd(close)
  return {
    received,
    port,
    cert,
    close,
    /** Forgets what was received; `answer` replaces how it answers. */
    now(clock: () => number) {
      made.now = clock
    },
    answers(other: Answer) {
      made.answer = other
    },
    /** Closes every connection that is open; new ones are accepted. */
    dropConnections: () => server.closeAllConnections(),
    get connections() {
      return made.connections
    },
    /** Leads every public address here. */
    transport: {
      ca: cert,
      lookUp: async () => [{ address: PUBLIC_ADDRESS }],
      dial: () => ({ host: '127.0.0.1', port }),
      agent: keepAliveAgent(),
    } satisfies Partial<Transport>,
  }
}
