// A farm of receivers that misbehave. The limits of time are shorter here; feature.ts has those of the product.
import { describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { SILENCE_MS, TOTAL_MS } from '../../../src/billing/webhooks/feature.ts'
import { hour, minute } from '../../../src/kernel/db/clock.ts'
import { receiver } from '../../support/services/receiver.ts'
import { type World, world } from '../../support/world/panel.ts'

const silenceMs = 250
const totalMs = 400

test('a receiver has 10 seconds of silence and 15 altogether', () => {
  expect([SILENCE_MS, TOTAL_MS]).toEqual([10_000, 15_000])
})

/** A line of zeros, 100 MB long when it is inflated. */
const bomb = gzipSync(Buffer.alloc(100_000_000), { level: 9 })
const timers = new Set<ReturnType<typeof setInterval>>()
function drip(response: ServerResponse, everyMs: number) {
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), everyMs)
  timers.add(timer)
  response.on('close', () => clearInterval(timer))
}
function flood(response: ServerResponse) {
  response.writeHead(200)
  const chunk = Buffer.alloc(65_536, 'x')
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

type Case = {
  answer: (response: ServerResponse) => unknown
  status: number | null
  error: RegExp | null
  /** Pauses before the later attempts; none: it ended. */
  again?: boolean
}
const cases: Record<string, Case> = {
  'answers 200': { answer: (r) => r.end('ok'), status: 200, error: null },
  'answers 204': { answer: (r) => r.writeHead(204).end(), status: 204, error: null },
  'answers 200 with a page of 900 kB': { answer: (r) => r.end('x'.repeat(900_000)), status: 200, error: null },
  'answers 500': { answer: (r) => r.writeHead(500).end('no'), status: 500, error: /answered 500/, again: true },
  'is silent': { answer: () => {}, status: null, error: /silent/, again: true },
  'is silent after its headers': {
    answer: (r) => r.writeHead(200).write('.'),
    status: 200,
    error: /silent/,
    again: true,
  },
  'sends a byte within each limit of silence': {
    answer: (r) => drip(r, silenceMs * 0.3),
    status: 200,
    error: /did not finish/,
    again: true,
  },
  'resets the connection': { answer: (r) => r.socket!.destroy(), status: null, error: /closed|called/, again: true },
  'closes in the middle of its answer': {
    answer: (r) => {
      r.writeHead(200, { 'Content-Length': '1000' })
      r.write('half', () => r.socket!.destroy())
    },
    status: 200,
    error: /closed|middle|called/,
    again: true,
  },
  redirects: {
    answer: (r) => r.writeHead(307, { Location: 'https://hooks.example.com/other' }).end(),
    status: 307,
    error: /answered 307/,
    again: true,
  },
  'sends without end': { answer: flood, status: 200, error: /more than 1 MB/, again: true },
  'sends a bomb of gzip': {
    answer: (r) => r.writeHead(500, { 'Content-Encoding': 'gzip' }).end(bomb),
    status: 500,
    error: /answered 500/,
    again: true,
  },
  'answers 410': { answer: (r) => r.writeHead(410).end(), status: 410, error: /answered 410/ },
  'answers 429 with Retry-After': {
    answer: (r) => r.writeHead(429, { 'Retry-After': '30' }).end(),
    status: 429,
    error: /answered 429/,
    again: true,
  },
}

const pauses = [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]
const suspend = async (p: World, serverId: string) => {
  await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'Overdue' })
  await p.settle()
}

describe('a receiver that', () => {
  for (const [name, { answer, status, error, again }] of Object.entries(cases))
    test(name, async () => {
      const at = await receiver((_, response) => answer(response))
      using p = await world({ webhooks: { ...at.transport, silenceMs, totalMs } })
      const { serverId } = await p.admin('POST', '/admin/servers', p.order)
      await p.settle()
      const hook = await p.admin('POST', '/webhooks', {
        url: 'https://hooks.example.com/x',
        events: ['server.suspended'],
      })
      await suspend(p, serverId)
      await p.controller.deliveries.settle()
      for (const pause of again ? pauses : []) {
        p.turnClock(pause - 1000)
        await p.controller.deliveries.settle()
        const before = at.received.length
        p.turnClock(1000)
        await p.controller.deliveries.settle()
        expect(at.received.length).toBe(before + 1)
      }
      p.turnClock(24 * hour)
      await p.controller.deliveries.settle()
      const attempts = again ? 6 : 1
      expect(at.received.length).toBe(attempts)
      expect(new Set(at.received.map(({ path }) => path))).toEqual(new Set(['/x']))
      const { data } = await p.admin('GET', `/webhooks/${hook.id}/deliveries`)
      expect(data.length).toBe(1)
      expect([data[0].state, data[0].attemptCount, data[0].lastStatus]).toEqual([
        error ? 'failed' : 'delivered',
        attempts,
        status,
      ])
      const detail = await p.admin('GET', `/webhook-deliveries/${data[0].id}`)
      for (const one of detail.attempts) {
        if (error) expect(one.error).toMatch(error)
        else expect(one.error).toBeNull()
        expect(one.durationMs).toBeLessThan(totalMs + 1500)
        expect((one.response?.body ?? '').length).toBeLessThanOrEqual(16_384)
      }
      at.close()
    }, 60_000)
})

describe('a receiver without a valid certificate gets nothing', () => {
  const connect = async (transport: object, url = 'https://hooks.example.com/') => {
    const at = await receiver()
    using p = await world({ webhooks: { ...at.transport, ...transport } })
    const hook = await p.admin('POST', '/webhooks', { url, events: ['*'] })
    const { deliveryId } = await p.admin('POST', `/webhooks/${hook.id}/actions/test`)
    await p.controller.deliveries.settle()
    at.close()
    const { error, state } = await p.admin('GET', `/webhook-deliveries/${deliveryId}`)
    return [at.received.length, state, error]
  }
  test('signed by nobody', async () => {
    expect(await connect({ ca: undefined })).toEqual([0, 'failed', expect.stringMatching(/certificate|called/)])
  })
  test('of another name', async () => {
    expect(await connect({}, 'https://hooks.example.org/')).toEqual([
      0,
      'failed',
      expect.stringMatching(/for another name/),
    ])
  })
  test('that speaks no TLS at all', async () => {
    const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')).listen(0)
    const { port } = server.address() as { port: number }
    const result = await connect({ dial: () => ({ host: '127.0.0.1', port }) })
    server.close()
    expect(result).toEqual([0, 'failed', expect.any(String)])
  })
})
