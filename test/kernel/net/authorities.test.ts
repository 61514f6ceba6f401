// A lab's own authority: what it signed is trusted beside what everybody trusts, and nothing else is.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { keepAliveAgent } from '../../../agent/protocol/net/pinned-request.ts'
import { certificatesIn, trustedBeside, trustedByAll } from '../../../src/kernel/net/authorities.ts'
import { publicOnly } from '../../../src/kernel/net/egress.ts'
import { exchange } from '../../../src/kernel/net/exchange.ts'
import { issued, selfSigned } from '../../support/services/certificate.ts'
import { berth } from '../../support/world/program.ts'

const dir = mkdtempSync(`${tmpdir()}/berth-authorities-`)
const servers: Server[] = []
let [ca, other] = ['', '']
/** The port of a receiver with this certificate. */
async function receiving({ cert, key }: { cert: string; key: string }): Promise<number> {
  const server = createServer({ cert, key }, (_, response) => response.end('ok'))
  server.on('tlsClientError', () => {})
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}
const post = (port: number, host: string, ca: string | readonly string[] | undefined) =>
  exchange(
    {
      lookUp: async () => [{ address: '93.184.215.14' }],
      dial: () => ({ host: '127.0.0.1', port }),
      silenceMs: 5000,
      totalMs: 5000,
      agent: keepAliveAgent(),
      ...(ca && { ca }),
    },
    { url: new URL(`https://${host}/`), policy: publicOnly, headers: {}, body: '', signal: AbortSignal.timeout(5000) },
  ).then(
    ({ answer }) => answer?.status,
    (error: Error) => error.message,
  )
let [signed, stranger] = [0, 0]
beforeAll(async () => {
  const lab = issued(`${dir}/lab`, 'hooks.example.com')
  const foreign = issued(`${dir}/foreign`, 'hooks.example.com')
  ;[ca, other] = [lab.ca, foreign.ca]
  ;[signed, stranger] = [await receiving(lab), await receiving(foreign)]
})
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(dir, { recursive: true })
})

test('a receiver of the authority is reached with its file only, and under its own name only', async () => {
  expect(await post(signed, 'hooks.example.com', trustedBeside(ca))).toBe(200)
  expect(await post(signed, 'hooks.example.com', undefined)).not.toBe(200)
  expect(await post(signed, 'other.example.com', trustedBeside(ca))).not.toBe(200)
  expect(await post(stranger, 'hooks.example.com', trustedBeside(ca))).not.toBe(200)
  expect(await post(stranger, 'hooks.example.com', trustedBeside(`${ca}\n# the second\n${other}`))).toBe(200)
})

test('authorities that everybody trusts stay trusted', () => {
  const all = new Set(trustedBeside(ca))
  expect(trustedByAll().length).toBeGreaterThan(50)
  expect(trustedByAll().every((one) => all.has(one))).toBe(true)
  expect(certificatesIn(ca + other)).toHaveLength(2)
})

describe('the controller does not start with a file', () => {
  const files: Record<string, () => Promise<string> | string> = {
    'that is not there': () => '',
    'without a certificate': () => 'nothing\n',
    'with a key alone': async () => readFileSync((await selfSigned(dir, 'alone')).key, 'utf8'),
    'whose certificate is broken': () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  }
  for (const [name, make] of Object.entries(files))
    test(name, async () => {
      const file = `${dir}/${name.replaceAll(' ', '-')}.pem`
      const text = await make()
      if (text) writeFileSync(file, text)
      const { code, error } = await berth(['serve'], { PANEL_DATA_DIR: `${dir}/data`, PANEL_WEBHOOK_CA_FILE: file })
      expect(code).toBe(2)
      expect(error).toStartWith('PANEL_WEBHOOK_CA_FILE: ')
      expect(error).toContain(file)
    })
})
