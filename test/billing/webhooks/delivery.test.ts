// One delivery: what leaves, what counts as success, and when the next attempt comes.
import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { day, hour, minute, second } from '../../../src/kernel/db/clock.ts'
import { receiver } from '../../support/services/receiver.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const url = 'https://hooks.example.com/berth?from=panel'
const deliver = (p: World) => p.controller.deliveries.settle()
const hook = async (p: World, who: Who, body: object = {}) =>
  (await p.call(who, 'POST', '/webhooks', { url, events: ['*'], ...body })).body
const logOf = async (p: World, who: Who, id: string) =>
  (await p.call(who, 'GET', `/webhooks/${id}/deliveries`)).body.data
const detail = async (p: World, who: Who, id: string) => {
  const { status, body } = await p.call(who, 'GET', `/webhook-deliveries/${id}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}
/** An event of the customer's server. */
const suspend = (p: World, serverId: string) =>
  p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'Overdue' })
const unsuspend = (p: World, serverId: string) => p.admin('POST', `/servers/${serverId}/actions/unsuspend`)

async function start(answer?: Parameters<typeof receiver>[0]) {
  const at = await receiver(answer)
  const p = await world({ webhooks: at.transport })
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return { p, at, serverId: serverId as string, [Symbol.dispose]: () => p.close() }
}

describe('a delivery', () => {
  test('is the event itself, with the headers and the signatures that the documentation promises', async () => {
    using made = await start()
    const { p, at, serverId } = made
    const { secret, id } = await hook(p, p.customer)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    await suspend(p, serverId)
    await deliver(p)
    expect(at.received.length).toBe(1)
    const [{ headers, body, path }] = at.received as [(typeof at.received)[0]]
    const event = JSON.parse(body)
    expect(event).toEqual((await p.call(p.customer, 'GET', `/events/${event.id}`)).body)
    expect([path, event.type, event.data.reason]).toEqual(['/berth?from=panel', 'server.suspended', 'Overdue'])
    const timestamp = headers['x-panel-timestamp']!
    const deliveryId = headers['x-panel-delivery']!
    expect(deliveryId).toMatch(/^dlv_[0-9a-z]{26}$/)
    expect(Number(timestamp)).toBe(Math.floor(p.wallClock() / 1000))
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Berth-Webhooks/1.0',
      'x-panel-event': 'server.suspended',
      'x-panel-signature': `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
      'webhook-id': event.id,
      'webhook-timestamp': timestamp,
    })
    const [row] = await logOf(p, p.customer, id)
    expect(row).toMatchObject({
      id: deliveryId,
      event: 'server.suspended',
      eventId: event.id,
      state: 'delivered',
      attemptCount: 1,
      lastStatus: 200,
      nextAttemptAt: null,
      error: null,
    })
    const { attempts, body: logged } = await detail(p, p.customer, row.id)
    expect(logged).toBe(body)
    expect(attempts).toMatchObject([
      {
        n: 1,
        error: null,
        address: null,
        request: {
          method: 'POST',
          url,
          headers: expect.arrayContaining([{ name: 'X-Panel-Timestamp', value: timestamp }]),
        },
        response: { status: 200, body: 'ok', bytes: 2, truncated: false },
      },
    ])
  })

  test('is attempted six times, at the times of the specification and never earlier, with the same bytes', async () => {
    using made = await start((_, response) => response.writeHead(500).end('no'))
    const { p, at, serverId } = made
    at.now(p.now)
    const { id } = await hook(p, p.customer)
    await suspend(p, serverId)
    const queuedAt = p.now()
    await deliver(p)
    for (const pause of [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]) {
      const before = at.received.length
      p.turnClock(pause - second)
      await deliver(p)
      expect(at.received.length).toBe(before)
      p.turnClock(second)
      await deliver(p)
      expect(at.received.length).toBe(before + 1)
    }
    p.turnClock(30 * day)
    await deliver(p)
    const [first, ...rest] = at.received
    expect(at.received.length).toBe(6)
    for (const one of rest) {
      expect(one.body).toBe(first!.body)
      expect(one.headers['x-panel-delivery']).toBe(first!.headers['x-panel-delivery']!)
    }
    let due = queuedAt
    for (const [i, pause] of [0, minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour].entries()) {
      due += pause
      expect(at.received[i]!.at).toBeGreaterThanOrEqual(due)
      expect(at.received[i]!.at - due).toBeLessThan(2 * second * (i + 1))
    }
    const rows = p.db.$client.query<{ state: string; attempts: number }, [string]>(
      'SELECT state, attempts FROM deliveries WHERE recipient = ?',
    )
    expect(rows.all(id)).toEqual([{ state: 'failed', attempts: 6 }])
  })

  test('waits as long as Retry-After says, but not shorter than its schedule nor longer than 8 hours', async () => {
    let retryAfter = '7'
    using made = await start((_, response) => response.writeHead(429, { 'Retry-After': retryAfter }).end())
    const { p, at, serverId } = made
    const { id } = await hook(p, p.customer)
    await suspend(p, serverId)
    const waits = async () => {
      await deliver(p)
      const [row] = await logOf(p, p.customer, id)
      return Math.round((Date.parse(row.nextAttemptAt) - p.now()) / 1000)
    }
    const go = async (ms: number, next: string) => {
      retryAfter = next
      p.turnClock(ms)
      return waits()
    }
    expect(await waits()).toBe(60)
    expect(await go(minute, '900')).toBe(900)
    expect(await go(15 * minute, new Date(p.wallClock() + 15 * minute + hour).toUTCString())).toBeWithin(3500, 3601)
    expect(await go(hour, '999999')).toBe(8 * 3600)
    expect(at.received.length).toBe(4)
  })

  test('is not sent on by a redirect, and fails', async () => {
    using made = await start((_, response) =>
      response.writeHead(302, { Location: 'https://hooks.example.com/x' }).end(),
    )
    const { p, at, serverId } = made
    const { id } = await hook(p, p.customer)
    await suspend(p, serverId)
    await deliver(p)
    expect(at.received.map(({ path }) => path)).toEqual(['/berth?from=panel'])
    expect(await logOf(p, p.customer, id)).toMatchObject([{ state: 'waiting', lastStatus: 302 }])
  })

  test('leaves on a new connection when the kept one was closed by the receiver', async () => {
    using made = await start()
    const { p, at, serverId } = made
    const { id } = await hook(p, p.customer)
    await suspend(p, serverId)
    await deliver(p)
    at.dropConnections()
    await unsuspend(p, serverId)
    await deliver(p)
    expect((await logOf(p, p.customer, id)).map((row: any) => [row.event, row.state, row.attemptCount])).toEqual([
      ['server.unsuspended', 'delivered', 1],
      ['server.suspended', 'delivered', 1],
    ])
  })
})

describe('by hand', () => {
  test('a test says that it is one, leaves while the webhook is paused, and is never retried', async () => {
    using made = await start((_, response) => response.writeHead(500).end())
    const { p, at } = made
    const program = p.token(p.customer.id)
    const { id } = await hook(p, p.customer)
    await p.call(p.customer, 'POST', `/webhooks/${id}/actions/pause`)
    const { status, body } = await p.call(p.customer, 'POST', `/webhooks/${id}/actions/test`)
    expect(status).toBe(201)
    await deliver(p)
    p.turnClock(day)
    await deliver(p)
    expect(at.received.map((one) => JSON.parse(one.body))).toEqual([
      {
        id: expect.stringMatching(/^evt_/),
        type: 'test',
        created_at: expect.any(String),
        data: { test: true, message: expect.stringContaining('Ignore') },
      },
    ])
    const { state, maxAttempts, attempts } = await detail(p, program, body.deliveryId)
    expect([state, maxAttempts, attempts.length]).toEqual(['failed', 1, 1])
  })
  test('a redelivery sends the same bytes under an id of its own', async () => {
    using made = await start()
    const { p, at, serverId } = made
    const { id } = await hook(p, p.customer)
    await suspend(p, serverId)
    await deliver(p)
    const [row] = await logOf(p, p.customer, id)
    const { body } = await p.call(p.customer, 'POST', `/webhook-deliveries/${row.id}/actions/redeliver`)
    await deliver(p)
    expect(at.received.length).toBe(2)
    const [first, second] = at.received as [(typeof at.received)[0], (typeof at.received)[0]]
    expect(second.body).toBe(first.body)
    expect(second.headers['x-panel-delivery']).toBe(body.deliveryId)
    expect(body.deliveryId).not.toBe(row.id)
  })
  test('ten a minute and person', async () => {
    using made = await start()
    const { p, at } = made
    const { id } = await hook(p, p.customer)
    for (let i = 0; i < 10; i++)
      expect((await p.call(p.customer, 'POST', `/webhooks/${id}/actions/test`)).status).toBe(201)
    const late = await p.call(p.customer, 'POST', `/webhooks/${id}/actions/test`)
    expect([late.status, late.body.error.code]).toEqual([429, 'rate_limited'])
    await deliver(p)
    expect(at.received.length).toBe(10)
  })
})

describe('a webhook', () => {
  test('signs with both secrets for 24 hours after a rotation, the new one first', async () => {
    using made = await start()
    const { p, at } = made
    const { id, secret: old } = await hook(p, p.customer)
    const { body } = await p.call(p.customer, 'POST', `/webhooks/${id}/actions/rotate-secret`)
    const program = p.token(p.customer.id)
    const signatures = async () => {
      await p.call(program, 'POST', `/webhooks/${id}/actions/test`)
      await deliver(p)
      const { headers, body: sent } = at.received.at(-1)!
      const by = (secret: string) =>
        `v1=${createHmac('sha256', secret).update(`${headers['x-panel-timestamp']}.${sent}`).digest('hex')}`
      return [headers['x-panel-signature']!.split(','), by(body.secret), by(old)] as const
    }
    p.turnClock(day - minute)
    const [both, fresh, before] = await signatures()
    expect(both).toEqual([fresh, before])
    p.turnClock(minute)
    const [one, only] = await signatures()
    expect(one).toEqual([only])
  })
  test('is paused after 50 failures in a row over more than a day, with a mail, and takes nothing more', async () => {
    using made = await start((_, response) => response.writeHead(500).end())
    const { p, at, serverId } = made
    const { id } = await hook(p, p.customer)
    const status = async () => {
      const { body } = await p.call(p.token(p.customer.id), 'GET', `/webhooks/${id}`)
      return [body.status, body.pauseReason, body.failures]
    }
    const fail = async (times: number) => {
      for (let i = 0; i < times; i++) {
        await (i % 2 ? unsuspend : suspend)(p, serverId)
        await p.settle()
      }
      await deliver(p)
    }
    await fail(50)
    expect(await status()).toEqual(['active', null, 50])
    p.turnClock(day + minute)
    await deliver(p)
    expect((await status()).slice(0, 2)).toEqual(['paused', 'failing'])
    expect(p.mailed().filter(({ subject }) => subject === 'A webhook was paused').length).toBe(1)
    const before = at.received.length
    await fail(2)
    p.turnClock(day)
    await deliver(p)
    expect(at.received.length).toBe(before)
    at.answers((_, response) => response.end())
    expect((await p.call(p.token(p.customer.id), 'POST', `/webhooks/${id}/actions/resume`)).status).toBe(200)
    await deliver(p)
    expect(await status()).toEqual(['active', null, 0])
  }, 60_000)
  test('is not paused by 50 failures within a day, nor by failures that a success interrupts', async () => {
    let ok = false
    using made = await start((_, response) => response.writeHead(ok ? 200 : 500).end())
    const { p, serverId } = made
    const { id } = await hook(p, p.customer)
    for (let i = 0; i < 60; i++) {
      await (i % 2 ? unsuspend : suspend)(p, serverId)
      await p.settle()
    }
    await deliver(p)
    const get = async () => (await p.call(p.token(p.customer.id), 'GET', `/webhooks/${id}`)).body
    expect(await get()).toMatchObject({ status: 'active', failures: 60 })
    ok = true
    await p.call(p.customer, 'POST', `/webhooks/${id}/actions/test`)
    await deliver(p)
    expect(await get()).toMatchObject({ status: 'active', failures: 0, failingSince: null })
  }, 60_000)
  test('whose receiver answers 410 is paused at once', async () => {
    using made = await start((_, response) => response.writeHead(410).end())
    const { p, at, serverId } = made
    const { id } = await hook(p, p.customer)
    await suspend(p, serverId)
    await deliver(p)
    await unsuspend(p, serverId)
    p.turnClock(day)
    await deliver(p)
    expect(at.received.length).toBe(1)
    const again = p.token(p.customer.id)
    expect((await p.call(again, 'GET', `/webhooks/${id}`)).body).toMatchObject({
      status: 'paused',
      pauseReason: 'gone',
    })
    expect(await logOf(p, again, id)).toMatchObject([{ state: 'failed', attemptCount: 1, lastStatus: 410 }])
    expect(p.mailed().map(({ subject }) => subject)).toContain('A webhook was paused')
  })
})
