// Names of addresses: who may give which, what the name server is told, and that nobody inherits one.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { tellNameServer } from '../../../src/network/reverse-dns/deliver.ts'
import { reverseNameFor, zoneOf } from '../../../src/network/reverse-dns/names.ts'
import { type Panel, type Who, type World, world } from '../../support/world/panel.ts'

/** A PowerDNS that keeps what it is told. */
const records = new Map<string, string | null>()
let answer: (() => Response) | undefined
let calls = 0
const powerDns = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    calls++
    if (answer) return answer()
    if (request.headers.get('X-API-Key') !== 'sesame') return new Response('Unauthorized', { status: 401 })
    if (request.method === 'GET')
      return Response.json([
        { name: '0.203.in-addr.arpa.' },
        { name: '113.0.203.in-addr.arpa.' },
        { name: '8.b.d.0.1.0.0.2.ip6.arpa.' },
      ])
    for (const { name, records: wanted } of ((await request.json()) as any).rrsets)
      records.set(name, wanted?.[0].content ?? null)
    return new Response(null, { status: 204 })
  },
})
afterAll(() => powerDns.stop(true))
beforeEach(() => {
  records.clear()
  answer = undefined
  calls = 0
})

const set = (p: Panel, id: string, address: string, name: string | null, who: Who) =>
  p.call(who, 'PUT', `/servers/${id}/reverse-dns`, { address, name })
const names = async (p: Panel, id: string, who: Who) =>
  (await p.call(who, 'GET', `/servers/${id}/reverse-dns`)).body.names.map(
    ({ address, name, state }: Record<string, string>) => `${address} ${name} ${state}`,
  )
const turn = (p: Panel) => tellNameServer(p.db, p.controller.app)
const configure = (p: Panel, key = 'sesame') =>
  p.admin('PUT', '/admin/settings/reverse-dns/powerdns', { url: `http://127.0.0.1:${powerDns.port}`, key })

async function ordered() {
  const p: World = await world({
    forwardLookUp: async (name, version) =>
      name !== 'mail.example.com' ? [] : version === 4 ? ['203.0.113.10', '203.0.113.11'] : ['2001:db8:0:1::1'],
  })
  await p.admin('POST', '/admin/ip-pools', {
    name: 'v6',
    network: '2001:db8::/48',
    gateway: 'fe80::1',
    nodeIds: [p.node.id],
  })
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  await configure(p)
  return Object.assign(p, { id: serverId as string })
}

describe('the name of an address', () => {
  test('is told to the name server, replaced and deleted', async () => {
    using p = await ordered()
    expect((await set(p, p.id, '203.0.113.10', 'MAIL.example.com', p.customer)).status).toBe(200)
    expect(await names(p, p.id, p.customer)).toEqual(['203.0.113.10 mail.example.com waiting'])
    await turn(p)
    expect(await names(p, p.id, p.customer)).toEqual(['203.0.113.10 mail.example.com set'])
    expect([...records]).toEqual([['10.113.0.203.in-addr.arpa.', 'mail.example.com.']])
    await set(p, p.id, '203.0.113.10', null, p.customer)
    await turn(p)
    expect([[...records.values()], await names(p, p.id, p.customer)]).toEqual([[null], []])
    expect(p.db.$client.query('SELECT * FROM reverse_names').all()).toEqual([])
  })
  test('must lead to the address, unless staff say otherwise', async () => {
    using p = await ordered()
    const before = p.fingerprint()
    for (const name of ['elsewhere.example.com', 'nowhere.example.com']) {
      const { status, body } = await set(p, p.id, '203.0.113.10', name, p.owner)
      expect([status, body.error.code]).toEqual([409, 'name_leads_elsewhere'])
    }
    expect(p.fingerprint()).toBe(before)
    const path = `/admin/servers/${p.id}/reverse-dns`
    const given = { address: '203.0.113.10', name: 'elsewhere.example.com' }
    expect((await p.call(p.owner, 'PUT', path, given)).status).toBe(200)
    expect((await p.call(p.customer, 'PUT', path, given)).body.error.code).toBe('forbidden')
  })
  test('can be of any address in an IPv6 prefix of the server, written in any form', async () => {
    using p = await ordered()
    const { address } = (await p.call(p.owner, 'POST', `/servers/${p.id}/ips`, { version: 6 })).body
    await p.settle()
    expect(address.address).toBe('2001:db8:0:1::')
    await set(p, p.id, '2001:0DB8:0:1:0::1', 'mail.example.com', p.customer)
    await turn(p)
    expect([...records.keys()]).toEqual([`${reverseNameFor('2001:db8:0:1::1')}.`])
  })
  test('goes when its address is released, and the next server does not have it', async () => {
    using p = await ordered()
    const { address } = (await p.call(p.owner, 'POST', `/servers/${p.id}/ips`, { version: 4 })).body
    await p.settle()
    await set(p, p.id, '203.0.113.11', 'mail.example.com', p.customer)
    await turn(p)
    await p.call(p.owner, 'DELETE', `/servers/${p.id}/ips/${address.id}`)
    await p.settle()
    await turn(p)
    expect([[...records], await names(p, p.id, p.customer)]).toEqual([[['11.113.0.203.in-addr.arpa.', null]], []])
  })
  test('stays with a floating address while it moves, and goes when that is released', async () => {
    using p = await ordered()
    const float = (method: string, path: string, body?: object) => p.call(p.customer, method, path, body)
    const { id } = (await float('POST', `/customers/${p.customer.id}/floating-ips`, { locationId: p.location })).body
    await float('POST', `/floating-ips/${id}/actions/assign`, { serverId: p.id })
    await p.settle()
    expect((await set(p, p.id, '203.0.113.11', 'mail.example.com', p.customer)).status).toBe(200)
    await turn(p)
    await float('POST', `/floating-ips/${id}/actions/unassign`)
    await p.settle()
    await turn(p)
    expect(records.get('11.113.0.203.in-addr.arpa.')).toBe('mail.example.com.')
    await float('DELETE', `/floating-ips/${id}`)
    await turn(p)
    expect(records.get('11.113.0.203.in-addr.arpa.')).toBeNull()
  })
  test('is told again until the name server has it, with growing pauses, and staff see when it refuses', async () => {
    using p = await ordered()
    answer = () => new Response('busy', { status: 503 })
    await set(p, p.id, '203.0.113.10', 'mail.example.com', p.customer)
    const tried: number[] = []
    for (let second = 0; second < 200; second += 5) {
      const before = calls
      await turn(p)
      if (calls > before) tried.push(second)
      p.turnClock(5000)
    }
    expect(tried).toEqual([0, 10, 40, 160])
    const attention = async () =>
      (await p.admin('GET', '/admin/overview')).attention.filter(({ what }: { what: string }) =>
        /reverse DNS/.test(what),
      )
    expect((await attention())[0]).toMatchObject({ effect: 'The name server answers 503.' })
    answer = () => Response.json({ error: 'RRset is not allowed' }, { status: 422 })
    p.turnClock(600_000)
    await turn(p)
    expect((await attention())[0]).toMatchObject({ what: 'The name server refuses 1 name of reverse DNS.' })
    answer = undefined
    // Another setting: what was refused is tried again.
    await configure(p)
    await turn(p)
    expect([await attention(), await names(p, p.id, p.customer)]).toEqual([[], ['203.0.113.10 mail.example.com set']])
  })
  test('that was changed while the name server was told is told again', async () => {
    using p = await ordered()
    await set(p, p.id, '203.0.113.10', 'mail.example.com', p.customer)
    const { promise, resolve } = Promise.withResolvers<void>()
    let first = true
    answer = () => {
      if (first) resolve()
      first = false
      return new Response(null, { status: 503 })
    }
    const telling = turn(p)
    await promise
    await set(p, p.id, '203.0.113.10', null, p.customer)
    await telling
    answer = undefined
    await turn(p)
    expect(records.get('10.113.0.203.in-addr.arpa.')).toBeNull()
  })
})

describe('refused', () => {
  const refused = async (p: Panel, call: () => ReturnType<typeof set>, status: number, code: string) => {
    const before = p.fingerprint()
    const reply = await call()
    expect([reply.status, reply.body.error?.code]).toEqual([status, code])
    expect(p.fingerprint()).toBe(before)
  }
  test('is an address that the server does not have, a name that is none, and a stranger', async () => {
    using p = await ordered()
    const eve = p.account('customer', 'Eve')
    for (const address of ['203.0.113.99', '2001:db8::1', 'x', '203.0.113.010'])
      await refused(p, () => set(p, p.id, address, 'mail.example.com', p.customer), 422, 'validation_failed')
    for (const name of ['mail', 'mail.example.com.', 'ma il.example.com', '-x.example.com', 'x..com', '1.2.3.4'])
      await refused(p, () => set(p, p.id, '203.0.113.10', name, p.customer), 422, 'validation_failed')
    await refused(p, () => set(p, p.id, '203.0.113.10', 'mail.example.com', eve), 404, 'server_not_found')
  })
  test('is any name while no name server is set', async () => {
    using p = await ordered()
    await p.admin('DELETE', '/admin/settings/reverse-dns')
    await refused(p, () => set(p, p.id, '203.0.113.10', 'mail.example.com', p.customer), 409, 'no_name_server')
    expect((await p.call(p.customer, 'GET', `/servers/${p.id}/reverse-dns`)).body.configured).toBe(false)
  })
})

describe('the settings of the name server', () => {
  test('never tell the key, and keep it for the same server only', async () => {
    using p = await ordered()
    expect(JSON.stringify(await p.admin('GET', '/admin/settings/reverse-dns'))).not.toContain('sesame')
    expect(JSON.stringify(p.auditLines())).not.toContain('sesame')
    await p.admin('PUT', '/admin/settings/reverse-dns/powerdns', { url: `http://127.0.0.1:${powerDns.port}` })
    expect((await p.admin('POST', '/admin/settings/reverse-dns/test')).zones).toHaveLength(3)
    await expect(
      p.admin('PUT', '/admin/settings/reverse-dns/powerdns', { url: 'https://other.example.com' }),
    ).rejects.toThrow('is required')
  })
  test('lead to no address that must not be called', async () => {
    using p = await ordered()
    for (const url of ['http://192.0.2.1', 'https://169.254.169.254', 'ftp://x', 'https://user@dns.example.com'])
      await expect(p.admin('PUT', '/admin/settings/reverse-dns/powerdns', { url, key: 'k' })).rejects.toThrow(
        'validation_failed',
      )
  })
  test('are tried: what the name server says is answered', async () => {
    using p = await ordered()
    await configure(p, 'wrong')
    await expect(p.admin('POST', '/admin/settings/reverse-dns/test')).rejects.toThrow('does not accept the key')
  })
})

test('the zone of a name is the longest of those that it lies in', () => {
  const name = reverseNameFor('203.0.113.5')
  expect(name).toBe('5.113.0.203.in-addr.arpa')
  expect(zoneOf(name, ['203.in-addr.arpa', '113.0.203.in-addr.arpa.', '13.0.203.in-addr.arpa'])).toBe(
    '113.0.203.in-addr.arpa.',
  )
  expect(zoneOf(name, ['3.in-addr.arpa', '113.0.203.ip6.arpa'])).toBeUndefined()
  expect(reverseNameFor('2001:db8::a')).toBe('a.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa')
})
