// Tokens that people make for themselves: what they can do, for how long, and who can end them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { digest } from '../../../src/kernel/crypto/secrets.ts'
import { day, hour, iso, minute } from '../../../src/kernel/db/clock.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

let p: World
beforeAll(async () => {
  p = await world()
})
afterAll(() => p.close())

const make = (who: Who, body: Record<string, unknown> = {}) =>
  p.call(who, 'POST', '/account/tokens', { name: 'Test', scopes: ['servers:read'], ...body })
const made = async (who: Who, body?: Record<string, unknown>) => {
  const reply = await make(who, body)
  expect(reply.status).toBe(201)
  return reply.body as { id: string; token: string; scopes: string[]; expiresAt: string | null }
}
const list = async (who: Who) => (await p.call(who, 'GET', '/account/tokens')).body.data as any[]
const rotate = (who: Who, id: string, body: Record<string, unknown> = {}) =>
  p.call(who, 'POST', `/tokens/${id}/actions/rotate`, body)
/** `200`, or the code of the refusal. */
const using = async (token: string, path = '/servers') => {
  const { status, body } = await p.call({ token }, 'GET', path)
  return status === 200 ? '200' : (body.error.code as string)
}

describe('a token that somebody makes', () => {
  test('S23: does what its scopes say and nothing else', async () => {
    const { token, scopes } = await made(p.owner, { scopes: ['servers:read', 'servers:read'] })
    expect(scopes).toEqual(['servers:read'])
    expect(await using(token, '/admin/servers')).toBe('200')
    const { status, body } = await p.call({ token }, 'GET', '/admin/customers')
    expect([status, body.error.code, body.error.details.scopes]).toEqual([403, 'missing_scope', ['customers:read']])
  })

  test('is not made with what its maker lacks, which is named; and nothing is made', async () => {
    const support = p.staff(['servers.see_all'])
    const before = p.fingerprint()
    const { status, body } = await make(support, { scopes: ['servers:read', 'nodes:read', 'servers:terminate'] })
    expect([status, body.error.code, body.error.details.scopes]).toEqual([
      403,
      'scope_not_allowed',
      ['nodes:read', 'servers:terminate'],
    ])
    expect(body.error.message).toStartWith('You cannot grant more than you have: “See nodes and locations” and “')
    expect(p.fingerprint()).toBe(before)
  })

  test('has a preset of its maker’s kind only', async () => {
    const reseller = p.account('reseller', 'Rita')
    expect((await made(p.owner, { scopes: undefined, preset: 'billing' })).scopes).toContain('customers:write')
    expect((await made(reseller, { scopes: undefined, preset: 'reseller-billing' })).scopes).toContain(
      'reseller:servers',
    )
    for (const [who, preset] of [
      [p.owner, 'reseller-billing'],
      [reseller, 'billing'],
      [p.customer, 'billing'],
      [p.customer, 'reseller-billing'],
      [p.staff(['servers.see_all']), 'billing'],
    ] as const)
      expect((await make(who, { scopes: undefined, preset })).body.error.code).toBe('scope_not_allowed')
  })

  test('needs a preset or scopes, not both and not neither, and none that do not exist', async () => {
    for (const body of [{ scopes: [] }, { scopes: undefined }, { preset: 'billing' }, { scopes: ['servers:fly'] }]) {
      const reply = await make(p.owner, body)
      expect([reply.status, reply.body.error.details.fields[0].field]).toEqual([422, 'scopes'])
    }
    expect((await make(p.owner, { scopes: [], preset: 'billing' })).status).toBe(201)
  })

  test('S23: is stored as its hash, and stands nowhere else', async () => {
    const { token } = await made(p.owner)
    const everything = JSON.stringify([
      p.db.$client.query('SELECT * FROM tokens').all(),
      p.auditLines(),
      await list(p.owner),
      p.db.$client.query('SELECT * FROM events').all(),
    ])
    expect(everything).not.toContain(token.slice(4, -4))
    expect(everything).toContain(digest(token))
  })

  test('S23: makes, lists, changes and ends no tokens: that needs a person', async () => {
    const { id, token } = await made(p.owner, { scopes: ['account:read', 'account:write'] })
    const before = p.fingerprint()
    for (const [method, path, body] of [
      ['POST', '/account/tokens', { name: 'x', scopes: ['account:read'] }],
      ['GET', '/account/tokens', undefined],
      ['POST', `/tokens/${id}/actions/rotate`, {}],
      ['DELETE', `/tokens/${id}`, undefined],
    ] as const)
      expect((await p.call({ token }, method, path, body)).body.error.code).toBe('token_not_allowed')
    expect(p.fingerprint()).toBe(before)
  })

  test('is not for System, who needs none', () =>
    expect(p.admin('POST', '/account/tokens', { name: 'x', scopes: ['servers:read'] })).rejects.toThrow('tokens.grant'))

  test('S23: works only from the addresses it names', async () => {
    const elsewhere = await made(p.customer, { allow: ['203.0.113.7', '2001:db8::/48'] })
    expect(await using(elsewhere.token)).toBe('ip_not_allowed')
    expect((await list(p.customer)).find((k) => k.id === elsewhere.id).allow).toEqual([
      '203.0.113.7/32',
      '2001:db8::/48',
    ])
    expect(await using((await made(p.customer, { allow: ['127.0.0.0/8'] })).token)).toBe('200')
    // IPv4 in the notation of IPv6 is IPv4.
    for (const [cidr, code] of [
      ['::ffff:127.0.0.1', '200'],
      ['::ffff:7f00:0/104', '200'],
      ['::ffff:203.0.113.7', 'ip_not_allowed'],
      ['::ffff:203.0.113.0/120', 'ip_not_allowed'],
    ] as const)
      expect([cidr, await using((await made(p.customer, { allow: [cidr] })).token)]).toEqual([cidr, code])
    for (const wrong of ['here', '1.2.3.4/33', '300.1.1.1'])
      expect((await make(p.customer, { allow: [wrong] })).body.error.details.fields[0].field).toBe('allow')
  })

  test('ends after a year when nothing is said, at the moment that is said, or never', async () => {
    const who = p.account('customer', 'Time')
    const from = p.now()
    const usual = await made(who)
    expect(Math.round((Date.parse(usual.expiresAt!) - from) / day)).toBe(365)
    const soon = await made(who, { expiresAt: iso(p.now() + hour) })
    const never = await made(who, { expiresAt: null })
    expect(never.expiresAt).toBeNull()
    for (const wrong of [iso(p.now()), '2001-01-01T00:00:00.000Z', 'tomorrow', '2027-02-30T00:00:00.000Z', 5])
      expect((await make(who, { expiresAt: wrong })).body.error.details.fields[0].field).toBe('expiresAt')
    expect(await using(soon.token)).toBe('200')
    p.turnClock(2 * hour)
    expect([await using(soon.token), await using(usual.token)]).toEqual(['invalid_token', '200'])
    // Expired is not revoked: it stays in the list until its owner takes it out.
    expect((await list(who)).map((k) => k.id)).toContain(soon.id)
  })

  test('is one of 50; those that were revoked do not count', async () => {
    const who = p.account('customer', 'Many')
    let last = ''
    for (let n = 0; n < 50; n++) last = (await made(who)).id
    const { status, body } = await make(who)
    expect([status, body.error.code]).toEqual([422, 'limit_reached'])
    expect((await p.call(who, 'DELETE', `/tokens/${last}`)).status).toBe(200)
    expect((await make(who)).status).toBe(201)
  })
})

describe('the list of tokens', () => {
  test('has the own ones, newest first, with when and from where each was used', async () => {
    const who = p.account('customer', 'Lister')
    const first = await made(who, { name: 'First' })
    const second = await made(who, { name: 'Second' })
    expect(await using(second.token)).toBe('200')
    const rows = await list(who)
    expect(rows.map((k) => k.name)).toEqual(['Second', 'First'])
    expect(rows[0]).toMatchObject({
      ending: second.token.slice(-4),
      usedFrom: '127.0.0.1',
      scopes: ['servers:read'],
      previousUntil: null,
    })
    expect(Math.abs(Date.parse(rows[0].usedAt) - p.now())).toBeLessThan(minute)
    expect(rows[1]).toMatchObject({ id: first.id, usedAt: null, usedFrom: null })
    expect(await list(p.account('customer', 'Nobody'))).toEqual([])
  })

  test('goes on by cursor, and a cursor of somebody else is none', async () => {
    const who = p.account('customer', 'Pages')
    for (const name of ['a', 'b', 'c']) await made(who, { name })
    const one = (await p.call(who, 'GET', '/account/tokens?limit=2')).body
    expect([one.data.length, one.total]).toEqual([2, 3])
    const two = (await p.call(who, 'GET', `/account/tokens?limit=2&cursor=${one.nextCursor}`)).body
    expect([two.data.map((k: any) => k.name), two.nextCursor]).toEqual([['a'], null])
    expect((await p.call(p.customer, 'GET', `/account/tokens?cursor=${one.nextCursor}`)).body.error.code).toBe(
      'invalid_request',
    )
  })
})

describe('rotating', () => {
  test('gives a new value, and the old one is good for the overlap and not a moment longer', async () => {
    const who = p.account('customer', 'Turner')
    const old = await made(who)
    const { status, body } = await rotate(who, old.id, { overlapHours: 2 })
    expect([status, body.id, body.expiresAt]).toEqual([200, old.id, old.expiresAt])
    expect(body.token).not.toBe(old.token)
    expect((await list(who))[0]).toMatchObject({ ending: body.token.slice(-4), previousUntil: body.previousUntil })
    expect([await using(old.token), await using(body.token)]).toEqual(['200', '200'])
    p.turnClock(Date.parse(body.previousUntil) - p.now() - 100)
    expect(await using(old.token)).toBe('200')
    p.turnClock(100)
    expect([await using(old.token), await using(body.token)]).toEqual(['invalid_token', '200'])
  })

  test('overlaps a day when nothing is said, not at all with 0, and at most a week', async () => {
    const who = p.account('customer', 'Overlap')
    const { id, token } = await made(who)
    const first = (await rotate(who, id)).body
    expect(Math.round((Date.parse(first.previousUntil) - p.now()) / hour)).toBe(24)
    const second = (await rotate(who, id, { overlapHours: 0 })).body
    expect(second.previousUntil).toBeNull()
    expect([await using(token), await using(first.token), await using(second.token)]).toEqual([
      'invalid_token',
      'invalid_token',
      '200',
    ])
    for (const overlapHours of [-1, 169, 1.5, '2']) expect((await rotate(who, id, { overlapHours })).status).toBe(422)
  })

  test('again within the overlap ends the eldest value', async () => {
    const who = p.account('customer', 'Twice')
    const { id, token } = await made(who)
    const first = (await rotate(who, id)).body.token
    const second = (await rotate(who, id)).body.token
    expect([await using(token), await using(first), await using(second)]).toEqual(['invalid_token', '200', '200'])
  })

  test('does not bring back a token that has expired', async () => {
    const who = p.account('customer', 'Late')
    const { id, token } = await made(who, { expiresAt: iso(p.now() + minute) })
    p.turnClock(2 * minute)
    expect((await rotate(who, id)).body.error.code).toBe('not_possible')
    expect(await using(token)).toBe('invalid_token')
  })

  test('does not outlive the expiry by its overlap', async () => {
    const who = p.account('customer', 'Edge')
    const { id, token } = await made(who, { expiresAt: iso(p.now() + hour) })
    const next = (await rotate(who, id, { overlapHours: 168 })).body.token
    p.turnClock(2 * hour)
    expect([await using(token), await using(next)]).toEqual(['invalid_token', 'invalid_token'])
  })
})

describe('revoking', () => {
  test('S23: ends both values at once; the row stays for the audit log, and the list forgets it', async () => {
    const who = p.account('customer', 'Ender')
    const { id, token } = await made(who)
    const next = (await rotate(who, id)).body.token
    expect([await using(token), await using(next)]).toEqual(['200', '200'])
    expect((await p.call(who, 'DELETE', `/tokens/${id}`)).body).toEqual({})
    expect([await using(token), await using(next)]).toEqual(['invalid_token', 'invalid_token'])
    expect(await list(who)).toEqual([])
    expect(p.db.$client.query('SELECT count(*) AS n FROM tokens WHERE id = ?').get(id)).toEqual({ n: 1 })
    expect(p.auditLines().at(-1)).toMatchObject({
      operation: 'tokens.revoke',
      target: id,
      actorId: (who as { id: string }).id,
    })
    for (const again of [await p.call(who, 'DELETE', `/tokens/${id}`), await rotate(who, id)])
      expect([again.status, again.body.error.code]).toEqual([404, 'token_not_found'])
  })

  test('is for the owner only: for others, staff too, the token is not there', async () => {
    const { id, token } = await made(p.account('customer', 'Owner'))
    const others = [p.account('customer', 'Other'), p.account('reseller', 'Other'), p.staff()]
    for (const who of others)
      for (const [method, rest] of [
        ['DELETE', ''],
        ['POST', '/actions/rotate'],
      ] as const) {
        const body = method === 'POST' ? {} : undefined
        const foreign = await p.call(who, method, `/tokens/${id}${rest}`, body)
        const unreal = await p.call(who, method, `/tokens/tok_${'0'.repeat(26)}${rest}`, body)
        expect([foreign.status, foreign.body.error.code]).toEqual([404, 'token_not_found'])
        expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(unreal.body))
      }
    expect(await using(token)).toBe('200')
  })
})

describe('the page of tokens', () => {
  const pageOf = async ({ cookie }: Who) => {
    const response = await p.controller.router.fetch(
      new Request('http://localhost/account/api', { headers: { Cookie: `__Host-panel=${cookie}` } }),
    )
    expect(response.status).toBe(200)
    return response.text()
  }

  test('offers what its viewer has, for every kind of account', async () => {
    const [owner, some, reseller, customer] = await Promise.all(
      [p.staff(), p.staff(['servers.see_all']), p.account('reseller', 'R'), p.account('customer', 'C')].map(pageOf),
    )
    expect(owner).toContain('value="billing"')
    expect(owner).toContain('value="nodes:write"')
    expect(some).toContain('value="servers:read"')
    for (const absent of ['value="nodes:write"', 'value="billing"']) expect(some).not.toContain(absent)
    expect(reseller).toContain('value="reseller-billing"')
    expect(reseller).not.toContain('value="billing"')
    expect(customer).toContain('value="servers:power"')
    expect(customer).not.toContain('name="preset"')
  })

  test('says what is unused, what a scope means, and what revoking does; names from people stay text', async () => {
    const who = p.account('customer', 'Viewer')
    await made(who, { name: '<b>Bold</b>' })
    const { token } = await made(who, { name: 'Used' })
    await using(token)
    const text = await pageOf(who)
    for (const words of [
      'Never used',
      'from 127.0.0.1',
      'See servers, their jobs and usage',
      'refused from now on',
      '&lt;b>Bold&lt;/b>',
    ])
      expect(text).toContain(words)
    expect(text).not.toContain('<b>Bold</b>')
  })
})
