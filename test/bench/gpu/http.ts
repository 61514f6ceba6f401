// The throughput of HTTP through the names of a host beside a plain connection to the same program: one large answer,
// and small answers one after another. With Debian's Caddy; no container runs, cards are none.
//
//   bun test/bench/gpu/http.ts [--mb 512] [--requests 2000]

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CaddyHttpNames } from '../../../agent/drivers/http-names/caddy.ts'
import { httpLabel } from '../../../agent/protocol/gpu.ts'
import { instanceId } from '../../agent/instances/examples.ts'
import { selfSigned } from '../../support/services/certificate.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { end, start, tempDir } from '../cleanup.ts'
import { flags, median, round, table } from '../words.ts'

const { mb, requests } = flags('HTTP through the names of a host beside a plain connection.', {
  mb: 512,
  requests: 2000,
})
const DOMAIN = 'gpu1.example.com'
const [HTTP_PORT, HTTPS_PORT] = [28_080, 28_443]

const chunk = Buffer.alloc(1 << 20, 7)
const program = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) =>
    new URL(url).pathname === '/small'
      ? new Response('small')
      : new Response(
          new ReadableStream({
            sent: 0,
            pull(stream: ReadableStreamDefaultController) {
              if (this.sent++ < mb) stream.enqueue(chunk)
              else stream.close()
            },
          } as UnderlyingDefaultSource & { sent: number }),
        ),
})

const { key, pem } = await selfSigned(tempDir, 'names', `DNS:*.${DOMAIN}`)
const dir = join(tempDir, 'agent')
const [adminSocket, runningDir] = [join(tempDir, 'admin.sock'), join(tempDir, 'running')]
mkdirSync(dir)
const names = new CaddyHttpNames({
  ...{ dir, adminSocket, runningDir, storage: join(tempDir, 'storage'), httpPort: HTTP_PORT, httpsPort: HTTPS_PORT },
  addressOf: () => '127.0.0.1',
  tls: () => ({ certificate: pem, key: readFileSync(key, 'utf8') }),
})
await names.set({ domain: DOMAIN, names: [{ workload: instanceId(1), number: 1, port: program.port! }] })
names.opened(instanceId(1))
const caddy = start(['caddy', 'run', '--config', join(dir, 'caddy.json')], {
  env: { HOME: tempDir },
  stderr: 'ignore',
})
const host = `${httpLabel(program.port!, instanceId(1))}.${DOMAIN}`
const byName = (path: string) =>
  fetch(`https://127.0.0.1:${HTTPS_PORT}${path}`, {
    headers: { Host: host },
    tls: { rejectUnauthorized: false, serverName: host },
  } as RequestInit)
const direct = (path: string) => fetch(`http://127.0.0.1:${program.port}${path}`)

/** Megabytes a second of the large answer. */
async function throughput(get: typeof direct): Promise<number> {
  const began = performance.now()
  let bytes = 0
  for await (const part of (await get('/large')).body!) bytes += part.length
  return bytes / 1e6 / ((performance.now() - began) / 1000)
}
/** Small answers a second, one after another. */
async function rate(get: typeof direct): Promise<number> {
  const began = performance.now()
  for (let n = 0; n < requests; n++) await (await get('/small')).text()
  return requests / ((performance.now() - began) / 1000)
}

try {
  await eventually(() => existsSync(adminSocket))
  await eventually(async () => (await byName('/small').catch(() => undefined))?.ok === true)
  const rows: (string | number)[][] = []
  for (const [words, measure] of [
    [`one answer of ${mb} MiB, MB/s`, throughput],
    ['small answers, one after another, 1/s', rate],
  ] as const) {
    const found = { direct: [] as number[], byName: [] as number[] }
    for (let n = 0; n < 3; n++) {
      found.direct.push(await measure(direct))
      found.byName.push(await measure(byName))
    }
    const [plain, named] = [median(found.direct), median(found.byName)]
    rows.push([words, round(plain), round(named), round(named / plain, 2)])
  }
  table(['', 'direct', 'by name, HTTPS', 'ratio'], rows)
} finally {
  await end(caddy)
  await program.stop(true)
}
