// How many, how often, and who gets nothing more.
import { describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { Value } from 'typebox/value'
import { registry } from '../../../src/app/features.ts'
import { webhookDelivery } from '../../../src/billing/webhooks/delivery.ts'
import { hour } from '../../../src/kernel/db/clock.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { emit } from '../../../src/kernel/jobs/outbox.ts'
import { receiver } from '../../support/services/receiver.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const url = (name = 'hooks') => `https://${name}.example.com/${name}`
const hook = async (p: World, who: Who, name?: string, events = ['*']) =>
  (await p.call(who, 'POST', '/webhooks', { url: url(name), events })).body
type Of = { customer: string; reseller?: string | null; server?: string }
/** Data of an event as it is declared; its server has this id, and the number for a name. */
const dataOf = (server: string, n: number) => {
  const data = Value.Create(registry.events['server.unsuspended']!.data) as { server: { id: string; hostname: string } }
  return { ...data, server: { ...data.server, id: server, hostname: `${n}` } }
}
/** So many events of a server; `data` carries their number. */
const happen = (p: World, { customer, reseller = null, server = 'srv_x' }: Of, n = 1, from = 0) =>
  write(p.db, (tx) => {
    for (let i = from; i < from + n; i++)
      emit(
        tx,
        p.now(),
        'server.unsuspended',
        { subject: { type: 'server', id: server }, customerId: customer, resellerId: reseller },
        dataOf(server, i) as never,
      )
  })
const settle = (p: World) => p.controller.deliveries.settle()
const numbers = (received: { body: string }[]) =>
  received.map(({ body }) => Number(JSON.parse(body).data.server.hostname))

test('an account has ten webhooks, and the platform ten', async () => {
  using p = await world()
  for (const who of [p.customer, p.owner] as Who[]) {
    for (let i = 0; i < 10; i++) expect((await hook(p, who)).id).toMatch(/^whk_/)
    const { status, body } = await p.call(who, 'POST', '/webhooks', { url: url(), events: ['*'] })
    expect([status, body.error.code]).toEqual([422, 'limit_reached'])
    expect((await p.call(who, 'GET', '/webhooks')).body.total).toBe(10)
  }
  // Another member of staff has the same ten.
  expect((await p.call(p.staff(['api_webhooks']), 'GET', '/webhooks')).body.total).toBe(10)
})

test('a type that the account cannot receive is refused, by name', async () => {
  using p = await world()
  for (const events of [['transfer.started'], ['server.exploded'], ['server.created']]) {
    const { status, body } = await p.call(p.customer, 'POST', '/webhooks', { url: url(), events })
    expect([status, body.error.details.fields[0].field]).toEqual([422, 'events'])
  }
  expect((await p.call(p.customer, 'GET', '/webhooks')).body.total).toBe(0)
})

describe('the queue of an account', () => {
  test('holds 500: for each one more the oldest is dropped, with one mail a day', async () => {
    const at = await receiver()
    using p = await world({ webhooks: at.transport })
    await hook(p, p.customer)
    const queue = async () => (await p.call(p.token(p.customer.id), 'GET', '/webhook-queue')).body
    const mails = () => p.mailed().filter(({ subject }) => subject === 'Webhook deliveries were dropped').length
    happen(p, { customer: p.customer.id }, 500)
    expect(await queue()).toMatchObject({ waiting: 500, most: 500, dropped: 0, droppedAt: null })
    happen(p, { customer: p.customer.id }, 3, 500)
    expect([await queue(), mails()]).toMatchObject([{ waiting: 500, dropped: 3 }, 1])
    p.turnClock(23 * hour)
    happen(p, { customer: p.customer.id }, 1, 503)
    expect(mails()).toBe(1)
    p.turnClock(hour)
    happen(p, { customer: p.customer.id }, 1, 504)
    expect(mails()).toBe(2)
    await settle(p)
    expect(numbers(at.received)).toEqual(Array.from({ length: 500 }, (_, i) => i + 5))
  }, 60_000)
  test('and that of the platform 5000; their logs 200 and 2000', () => {
    expect(webhookDelivery.groups!('platform')).toMatchObject({ mostWaiting: 5000, logged: 2000 })
    expect(webhookDelivery.groups!('usr_x')).toEqual({ inFlight: 2, mostWaiting: 500, logged: 200 })
  })
  test('keeps a log of the last 200, over all its webhooks', async () => {
    const at = await receiver()
    using p = await world({ webhooks: at.transport })
    const { id } = await hook(p, p.customer)
    for (let i = 0; i < 3; i++) {
      happen(p, { customer: p.customer.id }, 130, i * 130)
      await settle(p)
    }
    expect(at.received.length).toBe(390)
    const rows: unknown[] = []
    for (let cursor = ''; ; ) {
      const path = `/webhooks/${id}/deliveries?limit=100${cursor && `&cursor=${cursor}`}`
      const { body } = await p.call(p.customer, 'GET', path)
      expect(body.total).toBe(200)
      rows.push(...body.data)
      if (!body.nextCursor) break
      cursor = body.nextCursor
    }
    expect(rows.length).toBe(200)
    const stored = p.db.$client.query<{ n: number }, []>("SELECT count(*) AS n FROM deliveries WHERE kind = 'webhook'")
    expect(stored.get()!.n).toBeLessThanOrEqual(210)
    const attempts = p.db.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM delivery_attempts')
    expect(attempts.get()!.n).toBe(stored.get()!.n)
  }, 60_000)
})

describe('at once', () => {
  /** Receivers that hold every answer until `release`. */
  async function held() {
    const waiting: (readonly [string, ServerResponse])[] = []
    const at = await receiver(({ path }, response) => waiting.push([path, response]))
    const release = (path?: string) => {
      for (const one of waiting.splice(0)) {
        if (path && one[0] !== path) waiting.push(one)
        else one[1].end()
      }
    }
    return { at, waiting, release }
  }
  const until = async (is: () => boolean) => {
    for (let i = 0; i < 200 && !is(); i++) await Bun.sleep(10)
    expect(is()).toBe(true)
  }
  test('two leave for an account, one for each webhook where it has several', async () => {
    const { at, waiting, release } = await held()
    using p = await world({ webhooks: at.transport })
    p.controller.deliveries.start()
    await hook(p, p.customer, 'one')
    for (let i = 0; i < 6; i++) happen(p, { customer: p.customer.id, server: `srv_${i}` }, 1, i)
    await until(() => waiting.length === 2)
    await Bun.sleep(50)
    expect(waiting.length).toBe(2)
    await hook(p, p.customer, 'two')
    await hook(p, p.customer, 'three')
    release()
    happen(p, { customer: p.customer.id, server: 'srv_7' }, 4, 6)
    const seen = new Set<string>()
    for (let i = 0; i < 1000 && at.received.length < 6 + 4 * 3; i++) {
      await Bun.sleep(20)
      expect(waiting.length).toBeLessThanOrEqual(2)
      for (const [path] of waiting) seen.add(path)
      release()
    }
    expect([...seen].toSorted()).toEqual(['/one', '/three', '/two'])
    expect(at.received.length).toBe(6 + 4 * 3)
    await p.controller.deliveries.stop()
  }, 60_000)
  test('a receiver that never answers keeps neither its account nor others from their deliveries', async () => {
    const { at, waiting, release } = await held()
    at.answers((request, response) =>
      request.path === '/dead' ? waiting.push([request.path, response]) : response.end(),
    )
    using p = await world({ webhooks: at.transport })
    const other = p.account('customer', 'Other')
    p.controller.deliveries.start()
    await hook(p, p.customer, 'dead')
    await hook(p, p.customer, 'live')
    await hook(p, other, 'elsewhere')
    await hook(p, p.owner, 'dead')
    await hook(p, p.owner, 'platform')
    for (let i = 0; i < 40; i++) {
      happen(p, { customer: p.customer.id, server: `srv_${i}` }, 1, i)
      happen(p, { customer: other.id, server: `srv_${i}` }, 1, i)
    }
    const got = (path: string) => at.received.filter((one) => one.path === path).length
    await until(() => got('/live') === 40 && got('/elsewhere') === 40 && got('/platform') === 80)
    expect(waiting.length).toBeLessThanOrEqual(33)
    release()
    at.answers((_, response) => response.end())
    await p.controller.deliveries.stop()
  }, 60_000)
  test('events of one server leave in their order, whatever leaves beside them', async () => {
    let busy = 0
    let most = 0
    const at = await receiver(async (_, response) => {
      most = Math.max(most, ++busy)
      await Bun.sleep(Math.random() * 6)
      busy--
      response.end()
    })
    using p = await world({ webhooks: at.transport })
    await hook(p, p.owner)
    for (let i = 0; i < 30; i++)
      for (let s = 0; s < 6; s++) happen(p, { customer: p.customer.id, server: `srv_${s}` }, 1, i)
    await settle(p)
    expect(most).toBeGreaterThan(3)
    for (let s = 0; s < 6; s++)
      expect(numbers(at.received.filter(({ body }) => JSON.parse(body).data.server.id === `srv_${s}`))).toEqual(
        Array.from({ length: 30 }, (_, i) => i),
      )
  }, 60_000)
})

describe('nothing more goes to', () => {
  const waitingOf = (p: World, owner: string) =>
    p.db.$client
      .query<{ n: number }, [string]>("SELECT count(*) AS n FROM deliveries WHERE lane_group = ? AND state = 'waiting'")
      .get(owner)!.n
  test('a customer that is locked, also what waited', async () => {
    const at = await receiver()
    using p = await world({ webhooks: at.transport })
    const { id } = await hook(p, p.customer)
    happen(p, { customer: p.customer.id })
    await p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'Fraud' })
    happen(p, { customer: p.customer.id })
    expect(waitingOf(p, p.customer.id)).toBe(1)
    await settle(p)
    expect([at.received.length, waitingOf(p, p.customer.id)]).toEqual([0, 0])
    await p.admin('POST', `/customers/${p.customer.id}/actions/unlock`)
    happen(p, { customer: p.customer.id })
    await settle(p)
    expect(at.received.length).toBe(1)
    expect((await p.call(p.customer, 'GET', `/webhooks/${id}`)).body.failures).toBe(0)
  })
  test('a reseller that is suspended, while its customers go on', async () => {
    const at = await receiver()
    using p = await world({ webhooks: at.transport })
    const rex = p.account('reseller', 'Rex')
    const cal = p.account('customer', 'Cal', rex.id)
    await hook(p, rex, 'rex')
    await hook(p, cal, 'cal')
    await p.admin('POST', `/resellers/${rex.id}/actions/suspend`, { reason: 'Overdue' })
    happen(p, { customer: cal.id, reseller: rex.id })
    await settle(p)
    expect(at.received.map(({ path }) => path)).toEqual(['/cal'])
  })
  test('a webhook that was deleted, and its log is gone', async () => {
    const at = await receiver()
    using p = await world({ webhooks: at.transport })
    const { id } = await hook(p, p.customer)
    happen(p, { customer: p.customer.id }, 3)
    expect((await p.call(p.customer, 'DELETE', `/webhooks/${id}`)).status).toBe(200)
    await settle(p)
    expect([at.received.length, waitingOf(p, p.customer.id)]).toEqual([0, 0])
    expect((await p.call(p.customer, 'GET', '/webhook-queue')).body.waiting).toBe(0)
  })
  test('somebody else: a webhook gets its owner’s events only, of its audience and of the types it chose', async () => {
    const at = await receiver()
    using p = await world({ webhooks: at.transport })
    const [rex, eve] = [p.account('reseller', 'Rex'), p.account('reseller', 'Eve')]
    const cal = p.account('customer', 'Cal', rex.id)
    await hook(p, rex, 'rex')
    await hook(p, eve, 'eve')
    await hook(p, cal, 'cal')
    await hook(p, p.customer, 'direct')
    await hook(p, p.owner, 'staff')
    await hook(p, p.owner, 'chosen', ['server.suspended'])
    happen(p, { customer: cal.id, reseller: rex.id })
    // A reseller's own server.
    happen(p, { customer: rex.id })
    write(p.db, (tx) =>
      emit(
        tx,
        p.now(),
        'customer.created',
        { subject: { type: 'customer', id: cal.id }, customerId: cal.id, resellerId: rex.id },
        { customer: { id: cal.id, email: 'c@c.test', name: 'Cal', externalId: null } },
      ),
    )
    await settle(p)
    const got = Object.groupBy(at.received, ({ path }) => path)
    const kinds = (path: string) => (got[path] ?? []).map(({ body }) => JSON.parse(body).type)
    expect(kinds('/cal')).toEqual(['server.unsuspended'])
    expect(kinds('/rex').toSorted()).toEqual(['customer.created', 'server.unsuspended', 'server.unsuspended'])
    expect(kinds('/staff').length).toBe(3)
    expect([kinds('/eve'), kinds('/direct'), kinds('/chosen')]).toEqual([[], [], []])
  })
})

test('deliveries wait through a crash, and what was under way is sent again under its id', async () => {
  const at = await receiver()
  let crashing = true
  using p = await world({
    webhooks: at.transport,
    failpoints: (moment) => {
      if (moment === 'delivery/webhook:answered' && crashing) throw new InjectedCrash(moment)
    },
  })
  await hook(p, p.customer)
  happen(p, { customer: p.customer.id }, 3)
  await settle(p)
  const before = at.received.map(({ headers }) => headers['x-panel-delivery'])
  expect(before.length).toBe(1)
  crashing = false
  await p.crash()
  await settle(p)
  expect(numbers(at.received)).toEqual([0, 0, 1, 2])
  expect(at.received[1]!.headers['x-panel-delivery']).toBe(before[0]!)
})
