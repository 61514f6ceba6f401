// Webhooks in the hands of strangers: they reach public addresses only, tell nothing of the networks here, and are no
// way to other people's events.
import { describe, expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { hour, minute } from '../../../src/kernel/db/clock.ts'
import { PUBLIC_ADDRESS, receiver } from '../../support/services/receiver.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const url = 'https://hooks.example.com/berth'
const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).filter((one) => one.family === 'IPv4'))
const hook = async (p: World, who: Who, body: object = {}) =>
  (await p.call(who, 'POST', '/webhooks', { url, events: ['*'], ...body })).body
/** The delivery of one test of the webhook, as its owner reads it. */
async function attempt(p: World, who: Who, id: string) {
  p.turnClock(10_000)
  const { deliveryId } = (await p.call(who, 'POST', `/webhooks/${id}/actions/test`)).body
  await p.controller.deliveries.settle()
  const { body } = await p.call(who, 'GET', `/webhook-deliveries/${deliveryId}`)
  return body
}

test('the address of a webhook is neither a node of ours nor the panel itself', async () => {
  using p = await world()
  const node = '93.184.216.77'
  p.db.$client.run("UPDATE nodes SET facts = json_set(facts, '$.managementAddress', ?) WHERE id = ?", [
    `${node}/24`,
    p.node.id,
  ])
  for (const [who, address] of [
    [p.customer, `https://${node}/`],
    [p.owner, `https://${node}/`],
    [p.customer, `${p.config.publicUrl}/api/v1/status`],
  ] as const) {
    const { status, body } = await p.call(who, 'POST', '/webhooks', { url: address, events: ['*'] })
    expect([address, status, body.error?.details.fields[0].field]).toEqual([address, 422, 'url'])
  }
  expect((await p.call(p.customer, 'POST', '/webhooks', { url, events: ['*'] })).status).toBe(201)
})

describe('the address of a webhook', () => {
  const refused = [
    'http://hooks.example.com/',
    'https://ada:pass@hooks.example.com/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://10.0.0.1/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://0.0.0.0/',
    'https://224.0.0.1/',
    'https://localhost/',
    'https://panel/',
    'https://db.internal/',
    'https://printer.local/',
    'https://hooks.example.com./',
    'https://hooks.example.com:25/',
    'https://hooks.example.com:22/',
    'file:///etc/passwd',
    'hooks.example.com',
    ...own.map(({ address }) => `https://${address}/`),
  ]
  test("S12: is https, public and of no other service's port; any other is refused, and nothing happens", async () => {
    using p = await world()
    const { id } = await hook(p, p.customer)
    const before = p.fingerprint()
    for (const given of refused)
      for (const [method, path] of [
        ['POST', '/webhooks'],
        ['PATCH', `/webhooks/${id}`],
      ] as const) {
        const { status, body } = await p.call(p.customer, method, path, { url: given, events: ['*'] })
        expect([given, method, status, body.error?.code]).toEqual([given, method, 422, 'validation_failed'])
      }
    expect(p.fingerprint()).toBe(before)
  })
  test('S21: is changed by somebody who has just shown who they are', async () => {
    using p = await world()
    const who = p.signIn(p.customer.id)
    const { id } = await hook(p, who)
    p.turnClock(11 * minute)
    const away = await p.call(who, 'PATCH', `/webhooks/${id}`, { url: 'https://elsewhere.example.com/' })
    expect([away.status, away.body.error.code]).toEqual([403, 'confirmation_required'])
    expect((await p.call(who, 'GET', `/webhooks/${id}`)).body.url).toBe(url)
    expect((await p.call(who, 'PATCH', `/webhooks/${id}`, { events: ['server.suspended'] })).status).toBe(200)
  })
})

describe('a receiver whose name leads elsewhere later', () => {
  test('S14: gets nothing, and a stranger cannot tell what the name leads to, nor whether there is one', async () => {
    const at = await receiver()
    let addresses: string[] = [PUBLIC_ADDRESS]
    const lookUp = async () => addresses.map((address) => ({ address }))
    using p = await world({ webhooks: { ...at.transport, lookUp, silenceMs: 250 } })
    const { id } = await hook(p, p.customer)
    expect((await attempt(p, p.customer, id)).state).toBe('delivered')
    const seen = new Set<string>()
    for (const inside of [['127.0.0.1'], ['10.0.0.5'], [PUBLIC_ADDRESS, '169.254.169.254'], ['::ffff:10.0.0.1'], []]) {
      addresses = inside
      const { state, error, attempts, lastDurationMs } = await attempt(p, p.customer, id)
      const [{ at: _, ...one }] = attempts
      const { headers: __, ...request } = one.request
      seen.add(JSON.stringify({ state, error, lastDurationMs, ...one, request }))
    }
    expect([...seen].map((text) => JSON.parse(text))).toEqual([
      {
        state: 'failed',
        error: 'The address is not reachable from the platform.',
        lastDurationMs: 50,
        n: 1,
        durationMs: 50,
        address: null,
        request: { method: 'POST', url },
        response: null,
      },
    ])
    expect(at.received.length).toBe(1)
  })
  test('S14: and staff see where it leads', async () => {
    const at = await receiver()
    const lookUp = async () => [{ address: '10.0.0.5' }]
    using p = await world({ webhooks: { ...at.transport, lookUp } })
    const { id } = await hook(p, p.owner)
    expect((await attempt(p, p.owner, id)).error).toBe(
      'The address is not reachable from the platform. hooks.example.com has the address 10.0.0.5, which must not be ' +
        'called.',
    )
    expect(at.received.length).toBe(0)
  })
})

describe('the log of a webhook', () => {
  test('S53: keeps a small part of an answer that is large', async () => {
    const at = await receiver((_, response) => {
      for (let i = 0; i < 14; i++) response.setHeader(`X-Long-${i}`, 'h'.repeat(900))
      response.end('b'.repeat(500_000))
    })
    using p = await world({ webhooks: at.transport })
    const { id } = await hook(p, p.customer)
    const { attempts } = await attempt(p, p.customer, id)
    const { headers, body, bytes, truncated } = attempts[0].response
    expect([body.length, bytes, truncated]).toEqual([16_384, 500_000, true])
    expect(JSON.stringify(headers).length).toBeLessThan(10_000)
    expect(headers.length).toBeGreaterThan(3)
  })
})

test('S22: a support session makes no webhook, changes none, and sees no secret', async () => {
  using p = await world()
  const { id, secret } = await hook(p, p.customer)
  const staff = p.signIn(p.owner.id)
  const opened = await p.call(staff, 'POST', `/customers/${p.customer.id}/support-session`, { reason: 'Ticket 1' })
  expect(opened.status).toBe(201)
  const support = { ...staff, cookie: opened.headers.get('Set-Cookie')!.split(/[=;]/)[1]! }
  const before = p.fingerprint()
  for (const [method, path, body] of [
    ['POST', '/webhooks', { url, events: ['*'] }],
    ['PATCH', `/webhooks/${id}`, { url: 'https://elsewhere.example.com/' }],
    ['DELETE', `/webhooks/${id}`],
    ['POST', `/webhooks/${id}/actions/rotate-secret`],
    ['POST', `/webhooks/${id}/actions/test`],
  ] as const) {
    const refusal = await p.call(support, method, path, body)
    expect([path, refusal.status]).toEqual([path, 403])
  }
  expect(p.fingerprint()).toBe(before)
  const { body } = await p.call(support, 'GET', `/webhooks/${id}`)
  expect([body.id, JSON.stringify(body).includes(secret)]).toEqual([id, false])
})

test('S32: a secret is encrypted where it is stored, and a previous one is not used after its day', async () => {
  using p = await world()
  const { id, secret } = await hook(p, p.customer)
  const rotated = (await p.call(p.signIn(p.customer.id), 'POST', `/webhooks/${id}/actions/rotate-secret`)).body
  expect(rotated.secret).not.toBe(secret)
  const row = JSON.stringify(p.db.$client.query('SELECT * FROM webhooks WHERE id = ?').get(id))
  for (const one of [secret, rotated.secret]) expect(row).not.toContain(one.slice(6))
  p.turnClock(25 * hour)
  expect((await p.call(p.signIn(p.customer.id), 'GET', `/webhooks/${id}`)).body.previousSecretUntil).toBeNull()
})
