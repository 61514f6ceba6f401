import { describe, expect, test } from 'bun:test'
import { type Who, type World, world } from '../../support/world/panel.ts'

const hour = 3_600_000
const add = (p: World, who: Who, key: string, name = 'Cal') =>
  p.call(
    who,
    'POST',
    '/admin/customers',
    { name, email: `${name.toLowerCase()}@customer.test` },
    { 'Idempotency-Key': key },
  )
const rows = (p: World, table: string) =>
  (p.db.$client.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n

describe('the form of an Idempotency-Key', () => {
  test('is 1 to 200 characters of ASCII, spaces too', async () => {
    using p = await world()
    for (const key of ['a', 'x'.repeat(200), '!"#$%&\'()*+,-./:;<=>?@[]^_`{|}~\\', 'order 17', crypto.randomUUID()])
      expect((await add(p, p.owner, key, `N${Bun.hash(key).toString(36)}`)).status).toBe(201)
  })
  test('is refused otherwise, and nothing happens', async () => {
    using p = await world()
    const before = p.fingerprint()
    for (const key of ['', 'x'.repeat(201), ' ', 'a\tb', 'é', '\x7f']) {
      const { status, body } = await add(p, p.owner, key)
      expect([key, status, body.error?.code]).toEqual([key, 400, 'invalid_idempotency_key'])
    }
    expect(p.fingerprint()).toBe(before)
  })
})

describe('a call that is sent again with its key', () => {
  test('answers the stored bytes, says so, and changes nothing, even when the body is another', async () => {
    using p = await world()
    const first = await add(p, p.owner, 'k', 'Dora')
    const before = p.fingerprint()
    const again = await add(p, p.owner, 'k', 'Emil')
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
    expect([
      again.status,
      again.headers.get('Idempotency-Replayed'),
      first.headers.get('Idempotency-Replayed'),
    ]).toEqual([201, 'true', null])
    expect(p.fingerprint()).toBe(before)
  })
  test('is told apart from calls of other accounts and to other endpoints', async () => {
    using p = await world()
    expect((await add(p, p.owner, 'k', 'Dora')).status).toBe(201)
    expect((await add(p, p.staff(), 'k', 'Emil')).body.name).toBe('Emil')
    const order = await p.call(p.owner, 'POST', '/admin/servers', p.order, { 'Idempotency-Key': 'k' })
    expect([order.status, order.headers.get('Idempotency-Replayed')]).toEqual([201, null])
    await p.settle()
  })
  test('for another thing is another call: a key that terminated one server does not answer for the next', async () => {
    // Once: the row is kept under operation and key, without the id in the path, and is looked up before the id is: the
    // second server goes on running while its caller reads 202. An id that never was answers 202 too.
    using p = await world()
    const { imageId: _, hostname: __, access: ___, ...order } = p.order
    const [a, b] = [await p.admin('POST', '/admin/servers', order), await p.admin('POST', '/admin/servers', order)]
    const terminate = (id: string) => p.call(p.owner, 'DELETE', `/servers/${id}`, undefined, { 'Idempotency-Key': 'k' })
    await terminate(a.serverId)
    expect((await terminate(b.serverId)).body.serverId).toBe(b.serverId)
    expect(p.server(b.serverId).status).toBe('terminated')
    expect((await terminate(`srv_${'0'.repeat(26)}`)).status).toBe(404)
  })
  test('is the same whether it came by cookie or by any of the account\u2019s tokens', async () => {
    using p = await world()
    const first = await add(p, p.token(p.owner.id), 'k', 'Dora')
    for (const who of [p.owner, p.token(p.owner.id)])
      expect((await add(p, who, 'k', 'Emil')).body.id).toBe(first.body.id)
  })
  test('needs the scope still: a stored answer is not for everybody with the key', async () => {
    using p = await world()
    await add(p, p.owner, 'k', 'Dora')
    expect((await add(p, p.token(p.owner.id, ['servers:read']), 'k')).body.error.code).toBe('missing_scope')
  })
  test('after a failure is a new call: failures are not remembered', async () => {
    using p = await world()
    await p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: false })
    const send = () => p.call(p.owner, 'POST', '/admin/servers', p.order, { 'Idempotency-Key': 'k' })
    expect((await send()).body.error.code).toBe('location_closed')
    expect(rows(p, 'idempotency')).toBe(0)
    await p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: true })
    const done = await send()
    expect([done.status, done.headers.get('Idempotency-Replayed')]).toEqual([201, null])
    await p.settle()
  })
  test('is remembered for 24 hours and not longer, also before the clock has cleaned up', async () => {
    using p = await world()
    const token = p.token(p.owner.id)
    const first = await add(p, token, 'k', 'Dora')
    p.turnClock(24 * hour - 1000)
    expect((await add(p, token, 'k', 'Emil')).body.id).toBe(first.body.id)
    p.turnClock(2000)
    const later = await add(p, token, 'k', 'Emil')
    expect([later.body.name, later.headers.get('Idempotency-Replayed')]).toEqual(['Emil', null])
    expect((await add(p, token, 'k', 'Fritz')).body.id).toBe(later.body.id)
  })
  test('without a key is a call like any other', async () => {
    using p = await world()
    const send = () => p.call(p.owner, 'POST', '/admin/customers', { name: 'Dora', email: 'dora@customer.test' })
    expect((await send()).status).toBe(201)
    expect((await send()).body.error.code).toBe('email_taken')
  })
})

describe('what is kept of an answer', () => {
  test('S32: is encrypted: the root password in it is not in the database', async () => {
    using p = await world()
    const { body } = await p.call(p.owner, 'POST', '/admin/servers', p.order, { 'Idempotency-Key': 'k' })
    await p.settle()
    p.db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(body.rootPassword.length).toBe(20)
    expect(
      await Bun.file(`${p.dir}/berth.db`)
        .bytes()
        .then((b) => Buffer.from(b).includes(body.rootPassword)),
    ).toBe(false)
    // The stored answer is bound to its account and endpoint: copied to another's row it does not open.
    p.db.$client.run('INSERT INTO idempotency SELECT ?, operation, key, status, answer, created_at FROM idempotency', [
      p.staff().id,
    ])
    expect(p.db.$client.query('SELECT count(DISTINCT answer) AS n FROM idempotency').get()).toEqual({ n: 1 })
  })
  test('goes when its day is over, and only then', async () => {
    using p = await world()
    await add(p, p.owner, 'old', 'Dora')
    p.turnClock(24 * hour)
    await add(p, p.staff(), 'new', 'Emil')
    await p.deleteExpired()
    expect(p.db.$client.query('SELECT key FROM idempotency').all()).toEqual([{ key: 'new' }])
  })
})
