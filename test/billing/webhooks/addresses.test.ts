// S12 S13 S14: webhooks reach public addresses only. Connections are counted at the socket.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { UNREACHABLE } from '../../../src/billing/webhooks/delivery.ts'
import { hour, minute } from '../../../src/kernel/db/clock.ts'
import { PUBLIC_ADDRESS, receiver } from '../../support/services/receiver.ts'
import { type Who, world } from '../../support/world/panel.ts'

let listener: Server
let port: number
let connections = 0
beforeAll(async () => {
  listener = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((done) => listener.listen(0, '::', done))
  port = (listener.address() as { port: number }).port
})
afterAll(() => void listener.close())

/** Forms of addresses that are not public; each is this host, where it is an address of a host at all. */
const literals = (at: number) =>
  [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0x7f000001', '0177.0.0.1', '0', '0.0.0.0', '%31%32%37.0.0.1'],
    ...['①②⑦.⓪.⓪.①', '127。0。0。1', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:0:0:1]'],
    ...['[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[4000::1]'],
    ...['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '168.63.129.16', '192.0.2.1'],
    ...[
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      'localhost',
      'LOCALHOST',
      'sub.localhost',
      'panel',
      'db.internal',
    ],
    ...['printer.local', 'nas.home.arpa', 'hooks.example.com.'],
  ].map((host) => `https://${host}:${at}/`)
const forms = [
  'http://hooks.example.com/',
  'ftp://hooks.example.com/',
  'https://user:pass@hooks.example.com/',
  'https://hooks.example.com:22/',
  'https://hooks.example.com:80/',
  'javascript:alert(1)',
  'hooks.example.com',
  'https://',
  '/webhooks',
]

describe('an address that is not public', () => {
  test('is refused when a webhook is made or changed, whatever its form, for staff too', async () => {
    using p = await world()
    const before = connections
    for (const who of [p.customer, p.account('reseller', 'Rex'), p.owner] as Who[]) {
      const { body: good } = await p.call(who, 'POST', '/webhooks', { url: 'https://hooks.example.com', events: ['*'] })
      for (const url of [...literals(port), ...forms]) {
        const made = await p.call(who, 'POST', '/webhooks', { url, events: ['*'] })
        expect([url, made.status, made.body.error?.details?.fields?.[0]?.field]).toEqual([url, 422, 'url'])
        const changed = await p.call(who, 'PATCH', `/webhooks/${good.id}`, { url })
        expect([url, changed.status]).toEqual([url, 422])
      }
      const { body } = await p.call(who, 'GET', '/webhooks')
      expect(body.data.map(({ url }: { url: string }) => url)).toEqual(['https://hooks.example.com/'])
    }
    expect(connections).toBe(before)
  })

  const own = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter(({ internal }) => !internal).map(({ address }) => address),
  )
  const resolved: Record<string, string[]> = {
    loopback: ['127.0.0.1'],
    'loopback of version 6': ['::1'],
    mapped: ['::ffff:127.0.0.1'],
    'this network': ['0.0.0.0'],
    private: ['10.0.0.1'],
    'the metadata of clouds': ['169.254.169.254'],
    'the metadata of Azure': ['168.63.129.16'],
    'one public and one not, as a second record': [PUBLIC_ADDRESS, '127.0.0.1'],
    'one public and one not, as AAAA': [PUBLIC_ADDRESS, '::1'],
    'an embedded one': ['64:ff9b::7f00:1'],
    'an address of this host': own.slice(0, 1),
    nothing: [],
  }
  for (const [name, addresses] of Object.entries(resolved))
    test(`is not connected to behind a name that resolves to ${name}`, async () => {
      const dialled: string[] = []
      using p = await world({
        webhooks: {
          lookUp: async () => addresses.map((address) => ({ address })),
          dial: (address) => {
            dialled.push(address)
            return { host: '127.0.0.1', port }
          },
        },
      })
      const before = connections
      const sent = async (who: Who) => {
        const { body } = await p.call(who, 'POST', '/webhooks', {
          url: `https://hooks.example.com:${port}/`,
          events: ['*'],
        })
        const { deliveryId } = (await p.call(who, 'POST', `/webhooks/${body.id}/actions/test`)).body
        await p.controller.deliveries.settle()
        return (await p.call(who, 'GET', `/webhook-deliveries/${deliveryId}`)).body
      }
      const mine = await sent(p.customer)
      expect([mine.state, mine.error, mine.attempts[0].address]).toEqual(['failed', UNREACHABLE, null])
      // Nothing in the answer differs between a name that leads inside and one that leads nowhere.
      expect(JSON.stringify(mine)).not.toMatch(/127\.0\.0\.1|::1|10\.0\.0\.1|169\.254/)
      const ours = await sent(p.owner)
      const publicForStaff = name === 'an address of this host' && !/^(10|172|192\.168|fe80|fd)/.test(addresses[0]!)
      if (publicForStaff) return
      expect(ours.state).toBe('failed')
      if (addresses.length) expect(ours.error).toContain(addresses.at(-1)!)
      expect([connections - before, dialled]).toEqual([0, []])
    })
})

test('a name is resolved once for each attempt, and the connection goes to the address that was checked', async () => {
  const at = await receiver((_, response) => response.writeHead(500).end())
  let asked = 0
  const dialled: string[] = []
  using p = await world({
    webhooks: {
      ...at.transport,
      // Rebinding: the second answer leads inside, as soon as somebody asks again.
      lookUp: async () => [{ address: asked++ % 2 === 0 ? PUBLIC_ADDRESS : '127.0.0.1' }],
      dial: (address) => {
        dialled.push(address)
        return { host: '127.0.0.1', port: at.port }
      },
    },
  })
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  await p.call(p.customer, 'POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['*'] })
  await p.admin('POST', `/servers/${serverId}/actions/suspend`, { reason: 'Overdue' })
  for (const pause of [0, minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]) {
    p.turnClock(pause)
    await p.controller.deliveries.settle()
  }
  expect([asked, dialled, at.received.length]).toEqual([6, Array(3).fill(PUBLIC_ADDRESS), 3])
})

test('no variable of the environment leads a delivery through a proxy', async () => {
  const before = connections
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY', 'all_proxy']
  for (const name of names) process.env[name] = `http://127.0.0.1:${port}`
  try {
    const at = await receiver()
    using p = await world({ webhooks: at.transport })
    const { body } = await p.call(p.customer, 'POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['*'] })
    await p.call(p.customer, 'POST', `/webhooks/${body.id}/actions/test`)
    await p.controller.deliveries.settle()
    expect([at.received.length, connections - before]).toEqual([1, 0])
  } finally {
    for (const name of names) delete process.env[name]
  }
})

test('staff reach the private networks that PANEL_WEBHOOK_ALLOW_PRIVATE lists, and customers do not', async () => {
  const at = await receiver()
  const lookUp = async () => [{ address: '10.1.2.3' }]
  using p = await world({ webhooks: { ...at.transport, lookUp }, webhookAllowPrivate: '10.1.0.0/16' })
  const states: string[] = []
  for (const who of [p.owner, p.customer] as Who[]) {
    const { body } = await p.call(who, 'POST', '/webhooks', { url: 'https://hooks.example.com/', events: ['*'] })
    const { deliveryId } = (await p.call(who, 'POST', `/webhooks/${body.id}/actions/test`)).body
    await p.controller.deliveries.settle()
    states.push((await p.call(who, 'GET', `/webhook-deliveries/${deliveryId}`)).body.state)
  }
  expect([states, at.received.length]).toEqual([['delivered', 'failed'], 1])
  const literal = { url: 'https://10.1.2.3/', events: ['*'] }
  expect((await p.call(p.owner, 'POST', '/webhooks', literal)).status).toBe(201)
  expect((await p.call(p.owner, 'POST', '/webhooks', { ...literal, url: 'https://10.2.2.3/' })).status).toBe(422)
  expect((await p.call(p.customer, 'POST', '/webhooks', literal)).status).toBe(422)
})
