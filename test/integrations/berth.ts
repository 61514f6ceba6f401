// A Berth that PHP modules speak to over HTTP: the panel in this process with a fake node, and in front of it a server
// that can answer otherwise, or not at all.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { presets } from '../../src/identity/tokens/presets.ts'
import { world } from '../support/world/panel.ts'

/**
 * `lose`: the call is done and its answer lost. `hang up`: it does not arrive. `hang`: the connection is taken and
 * nothing happens on it. `silence`: the call is done, and its answer never comes.
 */
export type Fault = Response | 'lose' | 'hang up' | 'hang' | 'silence'
export type Call = { method: string; path: string; key: string | undefined; status: number }

export async function berth() {
  const p = await world()
  const billing = p.token(p.owner.id, presets.billing).token!
  const larger = (
    await p.admin('POST', '/admin/packages', { name: 'KVM 4G', vcpus: 4, memoryMb: 4096, diskGb: 40, trafficGb: 1000 })
  ).id as string
  const calls: Call[] = []
  /** Runs after a call is done and before its answer leaves. */
  let delay: (() => Promise<void>) | undefined
  const watchers: ((call: Call, answer: string) => void)[] = []
  const faults: { when: (call: Omit<Call, 'status'>) => boolean; fault: () => Fault; times: number }[] = []

  async function forward(request: IncomingMessage, response: ServerResponse) {
    const body: Buffer[] = []
    for await (const part of request) body.push(part as Buffer)
    const [method, url] = [request.method!, request.url!]
    const key = request.headers['idempotency-key'] as string | undefined
    const call = { method, path: url.replace('/api/v1', ''), key }
    const met = faults.find(({ when, times }) => times > 0 && when(call))
    if (met) met.times--
    const fault = met?.fault()
    if (fault === 'hang') return void calls.push({ ...call, status: 0 })
    if (fault === 'hang up') {
      calls.push({ ...call, status: 0 })
      return void request.socket.destroy()
    }
    const answer =
      fault instanceof Response
        ? fault
        : await p.controller.router.fetch(
            new Request(`http://localhost${url}`, {
              method,
              headers: request.headers as Record<string, string>,
              ...(body.length ? { body: Buffer.concat(body) } : {}),
            }),
          )
    calls.push({ ...call, status: fault === 'lose' || fault === 'silence' ? 0 : answer.status })
    const given = Buffer.from(await answer.arrayBuffer())
    for (const watch of watchers) watch({ ...call, status: answer.status }, given.toString())
    const held = delay
    await held?.()
    if (fault === 'silence') return
    if (fault === 'lose') return void request.socket.destroy()
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(given)
  }
  const server = createServer((request, response) => void forward(request, response))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))

  return Object.assign(p, {
    billing,
    larger,
    calls,
    faults,
    port: (server.address() as AddressInfo).port,
    /** Holds each answer until this has run. Calls that arrive meanwhile are not held. */
    delay(hold: () => Promise<void>) {
      delay = async () => {
        delay = undefined
        await hold()
        delay = again
      }
      const again = delay
    },
    /** Hears every answer of Berth, also one that is then lost. */
    watch: (hear: (typeof watchers)[number]) => void watchers.push(hear),
    /** Answers the next calls that fit in this way. */
    fault(when: (call: Omit<Call, 'status'>) => boolean, fault: () => Fault, times = 1) {
      faults.push({ when, fault, times })
    },
    servers: () => (p.db.$client.query('SELECT count(*) AS n FROM servers').get() as { n: number }).n,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      p.close()
    },
  })
}
export type Berth = Awaited<ReturnType<typeof berth>>

/** An error as Berth answers it. */
export const refusal =
  (status: number, code: string, message: string, headers: Record<string, string> = {}) =>
  () =>
    new Response(JSON.stringify({ error: { code, message } }), {
      status,
      headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'req-1', ...headers },
    })

/** Runs a PHP script with JSON on standard input; answers the JSON that it prints. Throws what it complains of. */
export async function php(script: string, input: unknown, env: Record<string, string> = {}): Promise<any> {
  const run = Bun.spawn(['php', '-d', 'display_errors=stderr', '-d', 'error_reporting=-1', script], {
    stdin: new Blob([JSON.stringify(input)]),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env['PATH']!, ...env },
  })
  const [out, error] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  if ((await run.exited) !== 0 || error) throw new Error(`${script}: ${error || out}`)
  return JSON.parse(out)
}
export const isPhpThere = Bun.which('php') !== null
