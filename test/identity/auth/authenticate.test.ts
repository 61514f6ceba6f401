import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accounts } from '../../../src/identity/account-records/tables.ts'
import { allowFrom, makeToken } from '../../../src/identity/tokens/model.ts'
import { tokenChecksum } from '../../../src/kernel/crypto/secrets.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { inside } from '../../../src/kernel/net/cidr.ts'
import { clientAddresses } from '../../../src/kernel/net/client-address.ts'
import { listening } from '../../support/listening.ts'
import { type Panel, panel, type Who } from '../../support/world/panel.ts'

let p: Panel
let owner: { id: string } & Who
beforeAll(async () => {
  p = await panel()
  owner = p.staff()
})
afterAll(() => p.close())

const ask = async (who: Who, path = '/admin/nodes') => {
  const { status, body } = await p.call(who, 'GET', path)
  return status === 200 ? 'done' : body.error.code
}
const accountOf = (id: string) =>
  p.db
    .select()
    .from(accounts)
    .all()
    .find((a) => a.id === id)!

describe('a token', () => {
  test('is pnl_, 43 random letters and digits and 6 of checksum, and only its hash is kept', () => {
    const { token } = p.token(owner.id)
    expect(token).toMatch(/^pnl_[A-Za-z0-9]{49}$/)
    const random = token!.slice(4, 47)
    expect(token!.slice(47)).toBe(tokenChecksum(random, 6))
    expect(JSON.stringify(p.db.$client.query('SELECT * FROM tokens').all())).not.toContain(random)
  })
  test('is good until the moment it expires', async () => {
    const expiresAt = p.now() + 3600_000
    const { token } = write(p.db, (tx) =>
      makeToken(tx, accountOf(owner.id), { name: 't', scopes: ['nodes:read'], allow: [], expiresAt }, p.now()),
    )
    expect(await ask({ token })).toBe('done')
    p.turnClock(expiresAt - p.now())
    expect(await ask({ token })).toBe('invalid_token')
  })
  test('is dead the moment it is revoked, and its words are those of one that never was', async () => {
    const who = p.token(owner.id)
    expect(await ask(who)).toBe('done')
    p.db.$client.run('UPDATE tokens SET revoked_at = 1 WHERE id = (SELECT id FROM tokens ORDER BY rowid DESC LIMIT 1)')
    const [revoked, never] = [
      await p.call(who, 'GET', '/admin/nodes'),
      await p.call({ token: `pnl_${'x'.repeat(49)}` }, 'GET', '/admin/nodes'),
    ]
    expect([revoked.status, revoked.body]).toEqual([401, never.body])
  })
  test('S23: is cut to what its maker may do at the moment of use', async () => {
    const maker = p.staff(['nodes.read', 'packages.write'])
    const who = p.token(maker.id, ['nodes:read', 'packages:write', 'servers:terminate'])
    expect(await ask(who)).toBe('done')
    expect((await p.call(who, 'DELETE', `/servers/srv_${'0'.repeat(26)}`)).body.error.code).toBe('missing_scope')
    p.db.$client.run('UPDATE roles SET permissions = \'["packages.write"]\' WHERE id = ?', [accountOf(maker.id).roleId])
    expect(await ask(who)).toBe('missing_scope')
    expect(await ask(who, '/admin/packages')).toBe('done')
    p.db.$client.run('UPDATE accounts SET role_id = NULL WHERE id = ?', [maker.id])
    expect(await ask(who, '/admin/packages')).toBe('missing_scope')
  })
  test('of a customer never opens what staff scopes would, though it says them', async () => {
    const cal = p.account('customer', 'Cal')
    const who = p.token(cal.id)
    expect(await ask(who)).toBe('forbidden')
    expect(await ask(who, '/servers')).toBe('done')
    expect(await ask(who, `/customers/${owner.id}`)).toBe('customer_not_found')
  })
  test('with scopes that do not exist any more has the others', async () => {
    const who = p.token(owner.id, ['nodes:read', 'floppies:read' as any])
    expect(await ask(who)).toBe('done')
  })
  test('is not a person: it may not do what only a permission opens', async () => {
    expect((await p.call(p.token(owner.id), 'POST', '/admin/staff', {})).body.error.code).toBe('token_not_allowed')
  })
  test('notes when and from where it was used, once a minute', async () => {
    const who = p.token(owner.id)
    const used = () =>
      p.db.$client
        .query<{ used_at: number | null; used_from: string | null }, []>(
          'SELECT used_at, used_from FROM tokens ORDER BY rowid DESC LIMIT 1',
        )
        .get()!
    expect(used()).toEqual({ used_at: null, used_from: null })
    await ask(who)
    const first = used()
    expect(first.used_from).toBe('127.0.0.1')
    await ask(who)
    expect(used()).toEqual(first)
    p.turnClock(61_000)
    await ask(who)
    expect(used().used_at).toBeGreaterThan(first.used_at!)
  })
  test('is one of at most 50 of an account', () => {
    const cal = p.account('customer', 'Many')
    for (let i = 0; i < 50; i++) p.token(cal.id)
    expect(() => p.token(cal.id)).toThrow('at most 50 tokens')
  })
})

describe('an allow-list', () => {
  const cases: [string, string[], boolean][] = [
    ['203.0.113.7', ['203.0.113.7/32'], true],
    ['203.0.113.8', ['203.0.113.7/32'], false],
    ['203.0.113.8', ['198.51.100.0/24', '203.0.113.0/24'], true],
    ['203.0.114.1', ['203.0.113.0/24'], false],
    ['::ffff:203.0.113.7', ['203.0.113.7/32'], true],
    ['::ffff:cb00:7107', ['203.0.113.7/32'], true],
    ['2001:db8::5', ['2001:db8::/32'], true],
    ['2001:db9::5', ['2001:db8::/32'], false],
    ['2001:0DB8:0::5', ['2001:db8::5/128'], true],
    ['203.0.113.7', ['::/0'], false],
    ['2001:db8::1', ['0.0.0.0/0'], false],
    ['203.0.113.7', ['0.0.0.0/0'], true],
    ['unknown', ['0.0.0.0/0', '::/0'], false],
    ['', ['0.0.0.0/0'], false],
    ['203.0.113.7', [], false],
  ]
  for (const [address, cidrs, expected] of cases)
    test(`[${cidrs}] ${expected ? 'has' : 'has not'} ${address || 'nothing'}`, () =>
      expect(inside(address, cidrs)).toBe(expected))

  test('refuses the token from elsewhere, in words, and nothing happens', async () => {
    const [here, elsewhere] = [
      p.token(owner.id, undefined, ['127.0.0.1/32']),
      p.token(owner.id, undefined, ['198.51.100.0/24', '2001:db8::/32']),
    ]
    expect(await ask(here)).toBe('done')
    const { status, body } = await p.call(elsewhere, 'GET', '/admin/nodes')
    expect([status, body.error]).toEqual([
      403,
      {
        code: 'ip_not_allowed',
        message:
          'This token may not be used from 127.0.0.1. Call from an address on its list, or have the list changed.',
      },
    ])
  })
  test('takes addresses and CIDRs and nothing else', () => {
    expect(allowFrom(['203.0.113.7', '2001:db8::1', '10.0.0.0/8'])).toEqual([
      '203.0.113.7/32',
      '2001:db8::1/128',
      '10.0.0.0/8',
    ])
    for (const bad of ['', 'x', 'example.com', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '2001:db8::/129'])
      expect(() => allowFrom([bad])).toThrow('allow')
  })
  test('takes no form that two readers read differently', () => {
    // Once: ipaddr.js reads 010.0.0.1 as octal (8.0.0.1), 10.1 as 10.0.0.1 and 0x7f.1 as 127.0.0.1.
    for (const odd of ['010.0.0.1', '10.1', '0x7f.1', '2130706433']) expect(() => allowFrom([odd])).toThrow('allow')
  })
})

describe('S30: the address of a caller', () => {
  const from = (peer: string | undefined, header: string | undefined, trusted: string[]) =>
    clientAddresses(trusted)(
      new Request('http://localhost/', header === undefined ? {} : { headers: { 'X-Forwarded-For': header } }),
      peer,
    )
  const proxies = ['10.0.0.0/8', '2001:db8:ffff::/48']

  for (const [what, peer, header, trusted, expected] of [
    [
      'is the peer when no proxy is trusted, whatever the header says',
      '198.51.100.9',
      '203.0.113.7',
      [],
      '198.51.100.9',
    ],
    [
      'is the peer when the peer is no trusted proxy, whatever the header says',
      '198.51.100.9',
      '203.0.113.7',
      proxies,
      '198.51.100.9',
    ],
    ['is what a trusted proxy says', '10.0.0.1', '203.0.113.7', proxies, '203.0.113.7'],
    [
      'is the right-most that no trusted proxy vouches for: what the caller wrote to the left counts for nothing',
      '10.0.0.1',
      '127.0.0.1, 1.2.3.4, 203.0.113.7',
      proxies,
      '203.0.113.7',
    ],
    [
      'is found behind a row of trusted proxies',
      '10.0.0.1',
      '1.2.3.4, 203.0.113.7, 10.9.9.9, 2001:db8:ffff::1',
      proxies,
      '203.0.113.7',
    ],
    ['is the peer when a trusted proxy says nothing', '10.0.0.1', undefined, proxies, '10.0.0.1'],
    ['is the peer when a trusted proxy says an empty thing', '10.0.0.1', ' , ', proxies, '10.0.0.1'],
    ['is the left-most when all are trusted', '10.0.0.1', '10.1.1.1, 10.2.2.2', proxies, '10.1.1.1'],
    ['is IPv4 when it came mapped into IPv6', '::ffff:198.51.100.9', undefined, [], '198.51.100.9'],
    [
      'is IPv4 behind a proxy that came mapped into IPv6',
      '::ffff:10.0.0.1',
      '::ffff:203.0.113.7',
      proxies,
      '203.0.113.7',
    ],
    ['is IPv6', '2001:db8:ffff::1', '2001:db8::7', proxies, '2001:db8::7'],
    ['is never a trusted one that the caller made up', '10.0.0.1', '10.0.0.99, 203.0.113.7', proxies, '203.0.113.7'],
    ['is without the port that a proxy wrote beside it', '10.0.0.1', '203.0.113.7:5678', proxies, '203.0.113.7'],
    ['is without the port, in brackets too', '10.0.0.1', '[2001:DB8::7]:5678', proxies, '2001:db8::7'],
    ['is IPv4 however it came mapped', '10.0.0.1', '::FFFF:203.0.113.7', proxies, '203.0.113.7'],
    [
      'is found behind a proxy that is written with its port',
      '10.0.0.1',
      '203.0.113.7, 10.9.9.9:443',
      proxies,
      '203.0.113.7',
    ],
    [
      'is nobody when the peer has hung up, though this host is a trusted proxy',
      undefined,
      '203.0.113.7',
      ['127.0.0.0/8', '::/0'],
      '',
    ],
    ['stops at what is no address at all', '10.0.0.1', '127.0.0.1, unknown', proxies, 'unknown'],
  ] as const)
    test(what, () => expect(from(peer, header, [...trusted])).toBe(expected))

  test('S30: cannot be spoofed past an allow-list or a limit over the wire', async () => {
    await using plain = await listening()
    const limited = write(
      plain.db,
      (tx) =>
        makeToken(tx, plain.staff, { name: 't', scopes: ['nodes:read'], allow: ['203.0.113.7/32'], expiresAt: null }, 1)
          .token,
    )
    const headers = {
      Authorization: `Bearer ${limited}`,
      'X-Forwarded-For': '203.0.113.7',
      'X-Real-IP': '203.0.113.7',
      Forwarded: 'for=203.0.113.7',
      'CF-Connecting-IP': '203.0.113.7',
    }
    expect((await plain.ask('GET', '/api/v1/admin/nodes', headers)).code).toBe('ip_not_allowed')
    await using behind = await listening({ PANEL_TRUSTED_PROXIES: '127.0.0.0/8' })
    const there = write(
      behind.db,
      (tx) =>
        makeToken(
          tx,
          behind.staff,
          { name: 't', scopes: ['nodes:read'], allow: ['203.0.113.7/32'], expiresAt: null },
          1,
        ).token,
    )
    const ask = async (forwarded: string) =>
      (
        await behind.ask('GET', '/api/v1/admin/nodes', {
          Authorization: `Bearer ${there}`,
          'X-Forwarded-For': forwarded,
        })
      ).status
    expect([
      await ask('203.0.113.7'),
      await ask('203.0.113.7, 198.51.100.1'),
      await ask('198.51.100.1, 203.0.113.7'),
    ]).toEqual([200, 403, 200])
    for (let i = 0; i < 20; i++)
      await behind.ask(
        'POST',
        '/api/v1/setup',
        { 'Content-Type': 'application/json', 'X-Forwarded-For': `1.2.3.${i}, 198.51.100.9` },
        JSON.stringify({ token: 'x', email: 'a@b.test', name: 'A', password: 'x' }),
      )
    expect(
      (
        await behind.ask(
          'POST',
          '/api/v1/setup',
          { 'Content-Type': 'application/json', 'X-Forwarded-For': '9.9.9.9, 198.51.100.9' },
          JSON.stringify({ token: 'x', email: 'a@b.test', name: 'A', password: 'x' }),
        )
      ).status,
    ).toBe(429)
  })
})
