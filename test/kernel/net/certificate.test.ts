import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { certificateAgent, OtherCertificate, sha256Of } from '../../../agent/protocol/net/pinned-request.ts'
import {
  AnsweredTooLate,
  certificateOf,
  EgressStopped,
  forOperator,
  NoAnswer,
  rawEgress,
} from '../../../src/kernel/net/egress.ts'
import { selfSigned } from '../../support/services/certificate.ts'

const here = forOperator(['127.0.0.0/8'])
let dir = ''
let certificate: Awaited<ReturnType<typeof selfSigned>>
let sha256 = ''
beforeAll(async () => {
  dir = mkdtempSync(`${tmpdir()}/certificate-`)
  certificate = await selfSigned(dir)
  sha256 = sha256Of(new X509Certificate(certificate.pem).raw)
})
afterAll(() => rmSync(dir, { recursive: true }))

const serving = (hits: string[]) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: Bun.file(certificate.cert), key: Bun.file(certificate.key) },
    fetch(request) {
      hits.push(request.headers.get('authorization') ?? '')
      return new Response('here')
    },
  })
const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('it was called')
    },
    (error) => error,
  )

describe('a request that trusts one certificate', () => {
  test('reaches the server that shows it, whoever signed it', async () => {
    const hits: string[] = []
    using server = serving(hits)
    const agent = certificateAgent(sha256)
    for (let n = 0; n < 3; n++) {
      const url = new URL(`https://127.0.0.1:${server.port}/`)
      const { status, body } = await rawEgress(url, here, { agent, headers: { Authorization: 'secret' } })
      expect([status, body.toString()]).toEqual([200, 'here'])
    }
    expect(hits).toEqual(['secret', 'secret', 'secret'])
  })
  test('sends nothing to a server that shows another', async () => {
    const hits: string[] = []
    using server = serving(hits)
    const url = new URL(`https://127.0.0.1:${server.port}/`)
    const error = await errorOf(rawEgress(url, here, { agent: certificateAgent('ab'.repeat(32)) }))
    expect(error).toBeInstanceOf(NoAnswer)
    expect(error.cause).toBeInstanceOf(OtherCertificate)
    expect(sha256Of(error.cause.certificate)).toBe(sha256)
    expect(hits).toEqual([])
  })
  test('gives up a server that never ends its handshake', async () => {
    const sockets: net.Socket[] = []
    const silent = net.createServer((socket) => {
      socket.on('error', () => {})
      sockets.push(socket)
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const url = new URL(`https://127.0.0.1:${(silent.address() as net.AddressInfo).port}/`)
    const agent = certificateAgent(sha256)
    expect(await errorOf(rawEgress(url, here, { agent, timeoutMs: 200 }))).toBeInstanceOf(AnsweredTooLate)
    expect(await errorOf(certificateOf(url, here, { timeoutMs: 200 }))).toBeInstanceOf(NoAnswer)
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
})

describe('the certificate of a host', () => {
  test('is read without a request, for a person who decides about it', async () => {
    const hits: string[] = []
    using server = serving(hits)
    const der = await certificateOf(new URL(`https://127.0.0.1:${server.port}/`), here)
    expect(sha256Of(der!)).toBe(sha256)
    expect(hits).toEqual([])
  })
  test('is not read at an address that must not be called', async () => {
    const error = await errorOf(certificateOf(new URL('https://169.254.169.254/'), here))
    expect(error.message).toBe('169.254.169.254 is at an address that must not be called.')
  })
})

test('a request is broken off by its signal, and none is sent after it', async () => {
  using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Bun.sleep(5000).then(() => new Response()) })
  const url = new URL(`http://127.0.0.1:${server.port}/`)
  const policy = { ...here, loopback: true }
  const controller = new AbortController()
  setTimeout(() => controller.abort(), 100)
  const began = performance.now()
  expect(await errorOf(rawEgress(url, policy, { signal: controller.signal }))).toBeInstanceOf(EgressStopped)
  expect(performance.now() - began).toBeLessThan(4000)
  expect(await errorOf(rawEgress(url, policy, { signal: controller.signal }))).toBeInstanceOf(EgressStopped)
  server.stop(true)
})
