import { describe, expect, test } from 'bun:test'
import { code, type Shop, shop } from './shop.ts'

const never = { customer: `usr_${'0'.repeat(26)}`, package: `pkg_${'0'.repeat(26)}`, location: `grp_${'0'.repeat(26)}` }
const install = (p: Shop) => ({ imageId: p.image, hostname: 'web01', access: { mode: 'password' } })
const suspend = (p: Shop) => p.admin('POST', `/resellers/${p.rita.id}/actions/suspend`, { reason: 'overdue' })

describe('an order of a reseller', () => {
  test('for a customer of his is the order that staff would place, and belongs to both', async () => {
    using p = await shop()
    const { status, body } = await p.buy(install(p))
    expect([status, Object.keys(body)]).toEqual([201, ['jobId', 'serverId', 'ipv4', 'rootPassword', 'user']])
    await p.settle()
    expect(p.server(body.serverId)).toMatchObject({ status: 'running', ownerId: p.client.id, resellerId: p.rita.id })
    expect(p.job(body.jobId)).toMatchObject({ state: 'succeeded', startedById: p.rita.id })
    const event = p.db.$client.query("SELECT customer_id, reseller_id FROM events WHERE type = 'server.created'").get()
    expect(event).toEqual({ customer_id: p.client.id, reseller_id: p.rita.id })
  })
  test('for himself is one too, and sent again with its key answers the same', async () => {
    using p = await shop()
    const [first, again] = [
      await p.buy({ ownerId: p.rita.id }, p.rita, 'o-1'),
      await p.buy({ ownerId: p.rita.id }, p.rita, 'o-1'),
    ]
    expect(code(first)).toBe('201')
    expect([again.body, again.headers.get('Idempotency-Replayed')]).toEqual([first.body, 'true'])
    expect(p.server(first.body.serverId)).toMatchObject({ ownerId: p.rita.id, status: 'pending_setup' })
    expect(p.number('SELECT count(*) AS n FROM servers')).toBe(1)
  })

  const refusals: [string, (p: Shop) => unknown, (p: Shop) => object, string][] = [
    ['for a customer of the house', () => {}, (p) => ({ ownerId: p.customer.id }), '422 validation_failed'],
    [
      "for another reseller's customer",
      () => {},
      (p) => ({ ownerId: p.account('customer', 'X', p.account('reseller', 'Y').id).id }),
      '422 validation_failed',
    ],
    ['for nobody there is', () => {}, () => ({ ownerId: never.customer }), '422 validation_failed'],
    ['for staff', () => {}, (p) => ({ ownerId: p.owner.id }), '422 validation_failed'],
    ['of a package that never was', () => {}, () => ({ packageId: never.package }), '422 validation_failed'],
    ['in a location that never was', () => {}, () => ({ nodeGroupId: never.location }), '422 validation_failed'],
    [
      'of a package that is archived',
      (p) => p.admin('PATCH', `/admin/packages/${p.pack}`, { archived: true }),
      () => ({}),
      '422 validation_failed',
    ],
    ['on a node by name', () => {}, (p) => ({ nodeId: p.node.id }), '422 validation_failed'],
    [
      'of an image that is not published',
      (p) => p.admin('PATCH', `/admin/images/${p.image}`, { published: false }),
      install,
      '422 validation_failed',
    ],
    [
      'with an image too large',
      (p) => p.admin('PATCH', `/admin/images/${p.image}`, { minDiskGb: 21 }),
      install,
      '422 disk_too_small',
    ],
    [
      'for a locked customer',
      (p) => p.admin('POST', `/customers/${p.client.id}/actions/lock`, { reason: 'x' }),
      () => ({}),
      '409 account_locked',
    ],
    ['when he is suspended', suspend, () => ({}), '409 reseller_suspended'],
    ['for himself when he is suspended', suspend, (p) => ({ ownerId: p.rita.id }), '409 reseller_suspended'],
    ['of a package that he may not sell', (p) => p.change({ packageIds: [] }), () => ({}), '409 package_not_allowed'],
    ['where he may not', (p) => p.change({ locationIds: [] }), () => ({}), '409 location_not_allowed'],
    [
      'in a closed location',
      (p) => p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: false }),
      () => ({}),
      '409 location_closed',
    ],
    [
      'without room',
      (p) => {
        p.node.agent.disconnect()
        p.turnClock(61_000)
      },
      () => ({}),
      '409 no_capacity',
    ],
    ['while the node is reconnecting', (p) => p.node.agent.disconnect(), () => ({}), '503 restarting'],
    [
      'without addresses',
      (p) => p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [] }),
      () => ({}),
      '409 no_addresses',
    ],
  ]
  for (const [what, before, body, expected] of refusals)
    test(`${what} is refused, and nothing happens`, async () => {
      using p = await shop()
      await before(p)
      const change = body(p)
      const untouched = p.fingerprint()
      const answer = await p.buy(change)
      expect(code(answer)).toBe(expected)
      // Where a node stands and what it lacks is not his business.
      expect(JSON.stringify(answer.body)).not.toContain('fra-01')
      expect(p.fingerprint()).toBe(untouched)
    })
  test('a package that is there but not his is said by another code than one that is not there', async () => {
    using p = await shop()
    const other = (await p.admin('POST', '/admin/packages', { name: 'Secret', vcpus: 1, memoryMb: 512, diskGb: 5 })).id
    const elsewhere = (await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })).id
    expect(code(await p.buy({ packageId: other }))).toBe('409 package_not_allowed')
    expect(code(await p.buy({ nodeGroupId: elsewhere }))).toBe('409 location_not_allowed')
    // Suspension is said first, and the package before the location.
    expect(code(await p.buy({ packageId: other, nodeGroupId: elsewhere }))).toBe('409 package_not_allowed')
    await suspend(p)
    expect(code(await p.buy({ packageId: other, nodeGroupId: elsewhere }))).toBe('409 reseller_suspended')
  })
  test('is no matter of customers and staff: each kind of account has its own call', async () => {
    using p = await shop()
    for (const who of [p.client, p.owner]) expect(code(await p.buy({}, who))).toBe('403 forbidden')
    expect(code(await p.call(p.rita, 'POST', '/admin/servers', p.bare))).toBe('403 forbidden')
  })
})

describe('the terms of a reseller bind staff too', () => {
  const refusals: [string, (p: Shop) => unknown, string][] = [
    ['a suspended reseller', suspend, '409 reseller_suspended'],
    ['a package that he may not sell', (p) => p.change({ packageIds: [] }), '409 package_not_allowed'],
    ['a location that is not his', (p) => p.change({ locationIds: [] }), '409 location_not_allowed'],
    ['a quota that is used up', (p) => p.change({ quotas: { servers: 0 } }), '409 quota_exceeded'],
  ]
  for (const [what, before, expected] of refusals)
    test(`who order for his customer or for him, by ${what}, and nothing happens`, async () => {
      using p = await shop()
      await before(p)
      const untouched = p.fingerprint()
      for (const ownerId of [p.client.id, p.rita.id]) expect(code(await p.sell({ ownerId }))).toBe(expected)
      expect(p.fingerprint()).toBe(untouched)
      expect(code(await p.sell({ ownerId: p.customer.id }))).toBe('201')
    })
  test('and what they order for his customer counts', async () => {
    using p = await shop({ servers: 2 })
    expect(code(await p.sell())).toBe('201')
    expect((await p.terms()).used).toMatchObject({
      customers: 1,
      servers: 1,
      vcpus: 2,
      memoryMb: 2048,
      diskGb: 20,
      ipv4: 1,
      gpus: 0,
    })
    expect(code(await p.buy())).toBe('201')
    expect(code(await p.sell())).toBe('409 quota_exceeded')
    expect(code(await p.buy())).toBe('409 quota_exceeded')
  })
})

describe('a quota', () => {
  const needs = { servers: 1, vcpus: 2, memoryMb: 2048, diskGb: 20, ipv4: 1 }
  for (const [resource, need] of Object.entries(needs))
    test(`of ${resource} takes what fits exactly and refuses the next, by name and in figures`, async () => {
      using p = await shop({ [resource]: need * 2 })
      expect([code(await p.buy()), code(await p.buy({ ownerId: p.rita.id }))]).toEqual(['201', '201'])
      const untouched = p.fingerprint()
      const answer = await p.buy()
      expect(code(answer)).toBe('409 quota_exceeded')
      expect(answer.body.error.message).toContain(`quota ${resource} of Rita`)
      expect(answer.body.error.message).toContain(`${need * 2} of ${need * 2}`)
      expect(answer.body.error.details).toEqual({ resource, used: need * 2, limit: need * 2 })
      expect(p.fingerprint()).toBe(untouched)
      // Another reseller's use is not his.
      const other = p.account('reseller', 'Otto')
      await p.change({ packageIds: [p.pack], locationIds: [p.location] }, other.id)
      expect(code(await p.buy({ ownerId: other.id }, other))).toBe('201')
    })
  test('of customers refuses the next one, and nothing happens', async () => {
    using p = await shop({ customers: 2 })
    expect(code(await p.join())).toBe('201')
    const untouched = p.fingerprint()
    const answer = await p.join()
    expect(code(answer)).toBe('409 quota_exceeded')
    expect(answer.body.error.details).toEqual({ resource: 'customers', used: 2, limit: 2 })
    expect(p.fingerprint()).toBe(untouched)
  })
  test('that another resource has left does not count for it', async () => {
    using p = await shop({ gpus: 0, customers: 0 })
    expect(code(await p.buy())).toBe('201')
  })
  test('is not passed by orders that come at once, whoever sends them', async () => {
    using p = await shop({ memoryMb: 5 * 2048 })
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 3 ? p.buy() : p.sell())))
    expect(answers.filter((a) => a.status === 201).length).toBe(5)
    expect(new Set(answers.filter((a) => a.status !== 201).map(code))).toEqual(new Set(['409 quota_exceeded']))
    expect((await p.terms()).used).toMatchObject({ servers: 5, memoryMb: 5 * 2048 })
  })
  test('is not passed by customers that are added at once', async () => {
    using p = await shop({ customers: 4 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => p.join()))
    expect(answers.filter((a) => a.status === 201).length).toBe(3)
    expect(p.number(`SELECT count(*) AS n FROM accounts WHERE reseller_id = '${p.rita.id}'`)).toBe(4)
  })
  test('is given back by what is terminated', async () => {
    using p = await shop({ servers: 1 })
    const { body } = await p.buy()
    expect(code(await p.buy())).toBe('409 quota_exceeded')
    expect(code(await p.call(p.rita, 'DELETE', `/servers/${body.serverId}`))).toBe('200')
    expect(code(await p.buy())).toBe('201')
  })
  test('below what is used refuses more and takes nothing away', async () => {
    using p = await shop()
    const { body } = await p.buy()
    await p.change({ quotas: { servers: 0 } })
    expect(code(await p.buy())).toBe('409 quota_exceeded')
    expect(p.server(body.serverId).status).toBe('pending_setup')
    expect(await p.terms()).toMatchObject({ quotas: { servers: 0 }, used: { servers: 1 } })
  })
})

describe('a quota near its end', () => {
  const notices = (p: Shop) =>
    p.db.$client
      .query<any, []>(
        "SELECT customer_id, reseller_id, data FROM events WHERE type = 'quota.near_limit' ORDER BY rowid",
      )
      .all()
      .map((e) => ({ ...e, data: JSON.parse(e.data) }))
  const about = (p: Shop, data: object) => ({
    customer_id: null,
    reseller_id: p.rita.id,
    data: { ...data, reseller: { id: p.rita.id, name: 'Rita' } },
  })

  test('is told once, by the order that takes it to 90 %, and again after it was free', async () => {
    using p = await shop({ servers: 10, vcpus: 1000 })
    for (let n = 0; n < 8; n++) expect(code(await p.buy())).toBe('201')
    expect(notices(p)).toEqual([])
    const two = [await p.buy(), await p.buy()].map((a) => a.body.serverId)
    const described = about(p, { resource: 'servers', used: 9, limit: 10 })
    expect(notices(p)).toEqual([described])
    expect(code(await p.buy())).toBe('409 quota_exceeded')
    for (const id of two) await p.call(p.rita, 'DELETE', `/servers/${id}`)
    expect(notices(p)).toEqual([described])
    await p.buy()
    expect(notices(p)).toEqual([described, described])
  })
  test('is told by the customer who takes it there, and not by one who is refused', async () => {
    using p = await shop({ customers: 2 })
    expect(code(await p.join({ email: 'none' }))).toBe('422 validation_failed')
    expect(notices(p)).toEqual([])
    await p.join()
    expect(notices(p)).toEqual([about(p, { resource: 'customers', used: 2, limit: 2 })])
  })
  test('is told by staff who lower it to what is near its end, once', async () => {
    using p = await shop({ servers: 10, vcpus: 1000 })
    for (let n = 0; n < 2; n++) await p.buy()
    await p.change({ quotas: { servers: 3 } })
    expect(notices(p)).toEqual([])
    await p.change({ quotas: { servers: 2, vcpus: null } })
    await p.change({ quotas: { servers: 1 } })
    expect(notices(p)).toEqual([about(p, { resource: 'servers', used: 2, limit: 2 })])
  })
  test('is not told by an order that is refused after it', async () => {
    using p = await shop({ servers: 1 })
    p.node.agent.disconnect()
    p.turnClock(61_000)
    expect(code(await p.buy())).toBe('409 no_capacity')
    expect(notices(p)).toEqual([])
  })
})

describe('a suspended reseller', () => {
  test('and its customers get nothing new, keep and manage what they have, and get all back', async () => {
    using p = await shop()
    const { serverId } = (await p.buy(install(p))).body
    await p.settle()
    await suspend(p)
    const untouched = p.fingerprint()
    for (const answer of [await p.buy(), await p.sell(), await p.buy({ ownerId: p.rita.id }), await p.join()]) {
      expect(code(answer)).toBe('409 reseller_suspended')
      expect(answer.body.error.message).toBe(
        'Rita is suspended: it and its customers can get nothing new until it is unsuspended. Their servers keep ' +
          'running.',
      )
    }
    expect(p.fingerprint()).toBe(untouched)
    expect(p.server(serverId).status).toBe('running')
    for (const who of [p.client, p.rita]) expect((await p.call(who, 'GET', '/servers')).body.total).toBe(1)
    expect(code(await p.call(p.client, 'POST', `/servers/${serverId}/actions/power`, { action: 'off' }))).toBe('202')
    await p.settle()
    expect(code(await p.call(p.rita, 'POST', `/servers/${serverId}/actions/suspend`, { reason: 'x' }))).toBe('202')
    await p.settle()
    expect(code(await p.call(p.rita, 'PATCH', `/customers/${p.client.id}`, { name: 'Clarissa' }))).toBe('200')
    await p.admin('POST', `/resellers/${p.rita.id}/actions/unsuspend`)
    expect([code(await p.buy()), code(await p.join())]).toEqual(['201', '201'])
  })
  test('is nothing that its customer hears of', async () => {
    using p = await shop()
    await p.buy()
    const seen = async () =>
      JSON.stringify(
        await Promise.all(
          ['/servers', `/customers/${p.client.id}`].map(async (path) => (await p.call(p.client, 'GET', path)).body),
        ),
      )
    const before = await seen()
    await suspend(p)
    expect(await seen()).toBe(before)
  })
})

test("a reseller's billing system runs the whole life of a server with its preset", async () => {
  using p = await shop({ customers: 5, servers: 5 })
  const { body: made } = await p.call(p.rita, 'POST', '/account/tokens', { name: 'WHMCS', preset: 'reseller-billing' })
  const call = (method: string, path: string, body?: object) => p.call({ token: made.token }, method, path, body)
  const { packages, locations } = (await call('GET', '/reseller/account')).body
  const owner = (
    await call('POST', '/reseller/customers', { name: 'Ann', email: 'ann@client.test', externalId: 'c-7' })
  ).body
  expect((await call('GET', '/reseller/customers?externalId=c-7')).body.data.map((c: any) => c.id)).toEqual([owner.id])
  const { body: order } = await call('POST', '/reseller/servers', {
    ownerId: owner.id,
    packageId: packages[0].id,
    nodeGroupId: locations[0].id,
    ...install(p),
  })
  await p.settle()
  expect((await call('GET', `/jobs/${order.jobId}`)).body.state).toBe('succeeded')
  const then = async (method: string, path: string, body: object | undefined, status: string) => {
    expect(code(await call(method, `/servers/${order.serverId}${path}`, body))).toBe('202')
    await p.settle()
    expect(p.server(order.serverId).status as string).toBe(status)
  }
  await then('POST', '/actions/power', { action: 'shutdown' }, 'stopped')
  await then('POST', '/actions/reinstall', { imageId: p.image, access: { mode: 'password' } }, 'running')
  await then('POST', '/actions/suspend', { reason: 'overdue' }, 'suspended')
  await then('POST', '/actions/unsuspend', undefined, 'running')
  await then('DELETE', '', undefined, 'terminated')
  expect((await p.terms()).used).toMatchObject({ customers: 2, servers: 0, memoryMb: 0, ipv4: 0 })
})
