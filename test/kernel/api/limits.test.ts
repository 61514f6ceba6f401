import { describe, expect, test } from 'bun:test'
import type { ApiError } from '../../../src/kernel/api/errors.ts'
import { addressKey, Limit } from '../../../src/kernel/api/limits.ts'
import { afterWrite } from '../../../src/kernel/db/open.ts'
import { listening } from '../../support/listening.ts'

/** The seconds that the refusal says to wait; undefined when the limit lets it through. */
function waitFor(limit: Limit, key: string): number | undefined {
  try {
    limit.take(key)
  } catch (error) {
    expect((error as ApiError).code).toBe('rate_limited')
    return (error as ApiError).details['retryAfterSeconds'] as number
  }
  return undefined
}

describe('a bucket of 60 a minute', () => {
  let now = 1000
  const limit = () => new Limit(60, () => now)

  test('lets 60 through at once, and refuses the 61st for one second', () => {
    const bucket = limit()
    for (let i = 0; i < 60; i++) expect(waitFor(bucket, 'a')).toBeUndefined()
    expect(waitFor(bucket, 'a')).toBe(1)
  })
  test('refills evenly: one more each second, and never more than 60', () => {
    const bucket = limit()
    for (let i = 0; i < 60; i++) bucket.take('a')
    now += 999
    expect(waitFor(bucket, 'a')).toBe(1)
    now += 1
    expect(waitFor(bucket, 'a')).toBeUndefined()
    expect(waitFor(bucket, 'a')).toBe(1)
    now += 3_600_000
    for (let i = 0; i < 60; i++) expect(waitFor(bucket, 'a')).toBeUndefined()
    expect(waitFor(bucket, 'a')).toBe(1)
  })
  test('does not make those wait longer who go on asking', () => {
    const bucket = limit()
    for (let i = 0; i < 60; i++) bucket.take('a')
    for (let i = 0; i < 1000; i++) waitFor(bucket, 'a')
    now += 1000
    expect(waitFor(bucket, 'a')).toBeUndefined()
  })
  test('is one for each key', () => {
    const bucket = limit()
    for (let i = 0; i < 60; i++) bucket.take('a')
    expect(waitFor(bucket, 'a')).toBe(1)
    expect(waitFor(bucket, 'b')).toBeUndefined()
  })
  test('says how long until the next one is free, when that is long', () => {
    const bucket = new Limit(2, () => now)
    bucket.take('a')
    bucket.take('a')
    expect(waitFor(bucket, 'a')).toBe(30)
    now += 20_500
    expect(waitFor(bucket, 'a')).toBe(10)
  })
})

describe('the table of buckets', () => {
  const size = (limit: Limit) => (limit as unknown as { buckets: Map<string, unknown> }).buckets.size

  test('stays bounded under calls from very many addresses', () => {
    const limit = new Limit(10, () => 0, 1000)
    for (let i = 0; i < 5000; i++) limit.take(`address ${i}`)
    expect(size(limit)).toBeLessThanOrEqual(1000)
  })
  test('drops first what is full again, and keeps what is still empty', () => {
    let now = 0
    const limit = new Limit(1, () => now, 1000)
    for (let i = 0; i < 998; i++) limit.take(`old ${i}`)
    now = 61_000
    limit.take('empty')
    limit.take('another')
    limit.take('one more')
    expect(size(limit)).toBe(3)
    expect(waitFor(limit, 'empty')).toBe(60)
  })
})

describe('what counts as one address', () => {
  test('is an IPv6 /64, in whatever form it is written', () => {
    for (const other of ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', '2001:db8:1:2:ffff::%eth0'])
      expect(addressKey(other)).toBe(addressKey('2001:db8:1:2::9'))
    expect(addressKey('::1')).toBe(addressKey('::2'))
  })
  test('is not the next /64, and not the next IPv4 address', () => {
    expect(addressKey('2001:db8:1:3::1')).not.toBe(addressKey('2001:db8:1:2::1'))
    expect(addressKey('203.0.113.1')).not.toBe(addressKey('203.0.113.2'))
  })
})

describe('over HTTP', () => {
  test(
    'the 1201st call of a minute with one token is refused with 429 and Retry-After; a second later one is ' + 'free',
    async () => {
      await using panel = await listening()
      const call = (headers: Record<string, string> = {}) =>
        panel.controller.router.fetch(new Request('http://localhost/api/v1/status', { headers }))
      const token = { Authorization: `Bearer ${panel.token}` }
      for (let i = 0; i < 1200; i++) expect((await call(token)).status).toBe(200)
      const refused = await call(token)
      expect(refused.status).toBe(429)
      expect(refused.headers.get('Retry-After')).toBe('1')
      expect(await refused.json()).toEqual({
        error: { code: 'rate_limited', message: 'Too many calls. Try again in 1 s.' },
      })

      expect((await call()).status).toBe(200) // an address without credentials has a bucket of its own
      expect((await call({ Cookie: `__Host-panel=${panel.cookie}` })).status).toBe(200) // and so has the account
      panel.turnClock(1000)
      for (let i = 0; i < 20; i++) expect((await call(token)).status).toBe(200)
      expect((await call(token)).status).toBe(429)
    },
  )
  test(
    'what is refused for who asks, or for its path, counts as a call of its address; it is told why all the ' + 'same',
    async () => {
      await using panel = await listening()
      const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
        (await panel.controller.router.fetch(new Request(`http://localhost/api/v1${path}`, { method, headers }))).status
      const bad = { Authorization: `Bearer pnl_${'x'.repeat(49)}` }
      const four = async () => [
        await ask('/status', bad),
        await ask('/nodes'),
        await ask('/no/such'),
        await ask('/status', {}, 'PUT'),
      ]
      for (let i = 0; i < 300; i++) expect(await four()).toEqual([401, 404, 404, 405])
      expect(await four()).toEqual([401, 404, 404, 405])
      expect(await ask('/status')).toBe(429)
      // Tokens and sessions of others are not limited by it.
      expect(await ask('/status', { Authorization: `Bearer ${panel.token}` })).toBe(200)
      expect(await ask('/status', { Cookie: `__Host-panel=${panel.cookie}` })).toBe(200)
    },
  )
  test('a call that is refused with 401, 403 or 429 is no use of the token', async () => {
    await using panel = await listening()
    const used = () =>
      panel.db.$client.query<{ used_at: number; used_from: string }, []>('SELECT used_at, used_from FROM tokens').get()!
    panel.db.$client.run(`UPDATE tokens SET allow = '["198.51.100.1/32"]'`)
    const ask = async () =>
      (
        await panel.controller.router.fetch(
          new Request('http://localhost/api/v1/status', { headers: { Authorization: `Bearer ${panel.token}` } }),
        )
      ).status
    expect([await ask(), used()]).toEqual([403, { used_at: null, used_from: null } as any])
    panel.db.$client.run("UPDATE tokens SET allow = '[]'")
    expect([await ask(), used()]).toEqual([200, { used_at: panel.now(), used_from: '127.0.0.1' }])
    // At most once a minute, also when the address is another one each time.
    panel.db.$client.run("UPDATE tokens SET used_from = '198.51.100.1'")
    expect([await ask(), used().used_from]).toEqual([200, '198.51.100.1'])
    panel.db.$client.run('UPDATE tokens SET used_at = 1')
    const none = { used_at: 1, used_from: '198.51.100.1' }
    for (let left = 1198; left > 0; left--) {
      panel.db.$client.run('UPDATE tokens SET used_at = ?', [panel.now()])
      await ask()
    }
    panel.db.$client.run('UPDATE tokens SET used_at = 1')
    expect([await ask(), used()]).toEqual([429, none])
  })
  test('a use of a token is written with the change; that of a refused change flushes nothing', async () => {
    await using panel = await listening()
    let flushed = 0
    afterWrite(panel.db, () => flushed++)
    const used = () =>
      panel.db.$client.query<{ used_at: number | null }, []>('SELECT used_at FROM tokens').get()!.used_at
    const make = async (name: unknown) => {
      panel.db.$client.run('UPDATE tokens SET used_at = NULL')
      const before = flushed
      const response = await panel.controller.router.fetch(
        new Request('http://localhost/api/v1/admin/node-groups', {
          method: 'POST',
          headers: { Authorization: `Bearer ${panel.token}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ name }),
        }),
      )
      return [response.status, used() === panel.now(), flushed - before]
    }
    expect(await make('Frankfurt')).toEqual([201, true, 1])
    expect(await make(7)).toEqual([422, true, 0])
  })
  test('this host itself is not limited', async () => {
    await using panel = await listening()
    for (let i = 0; i < 1300; i++)
      expect((await panel.controller.fetchLocal(new Request('http://localhost/api/v1/status'))).status).toBe(200)
  })
})
