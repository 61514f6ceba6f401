import { describe, expect, test } from 'bun:test'
import { code, type Shop, shop } from './shop.ts'

const staffSees = (p: Shop) => p.admin('GET', `/resellers/${p.rita.id}`)
const noLimits = { customers: null, servers: null, vcpus: null, memoryMb: null, diskGb: null, ipv4: null, gpus: null }

describe('staff', () => {
  test('add a reseller with its terms, and it can begin to sell', async () => {
    using p = await shop()
    const body = {
      name: 'Northwind',
      email: 'Ops@Northwind.test',
      organization: 'Northwind Ltd',
      externalId: 'r-1',
      quotas: { servers: 3 },
      packageIds: [p.pack, p.pack],
      locationIds: [p.location],
    }
    const answer = await p.call(p.owner, 'POST', '/admin/resellers', body, { 'Idempotency-Key': 'r-1' })
    expect(code(answer)).toBe('201')
    expect(p.events().filter((type) => type === 'customer.created')).toHaveLength(1)
    expect(answer.body).toMatchObject({
      kind: 'reseller',
      email: 'ops@northwind.test',
      organization: 'Northwind Ltd',
      externalId: 'r-1',
      suspendedAt: null,
      quotas: { ...noLimits, servers: 3 },
      used: { customers: 0, servers: 0 },
      packages: [{ id: p.pack, name: 'KVM 2G', memoryMb: 2048 }],
      locations: [{ id: p.location, name: 'Frankfurt', open: true }],
    })
    expect((await p.call(p.owner, 'POST', '/admin/resellers', body, { 'Idempotency-Key': 'r-1' })).body).toEqual(
      answer.body,
    )
    expect(p.auditLines().at(-1)).toMatchObject({
      operation: 'resellers.create',
      target: answer.body.id,
      details: { externalId: 'r-1' },
    })
    expect(code(await p.sell({ ownerId: answer.body.id }))).toBe('201')
  })
  test('who say nothing of its terms add one that may sell nothing, and is not limited', async () => {
    using p = await shop()
    const { body } = await p.call(p.owner, 'POST', '/admin/resellers', { name: 'Bare', email: 'bare@reseller.test' })
    expect(body).toMatchObject({ quotas: noLimits, packages: [], locations: [] })
    expect(code(await p.sell({ ownerId: body.id }))).toBe('409 package_not_allowed')
  })
  test('change what they name and nothing else', async () => {
    using p = await shop({ servers: 5, ipv4: 2 })
    const before = await staffSees(p)
    const oslo = (await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })).id
    const change = async (body: object) => (await p.call(p.owner, 'PATCH', `/resellers/${p.rita.id}`, body)).body
    expect(await change({})).toEqual(before)
    expect(await change({ quotas: { ipv4: null, gpus: 0 } })).toEqual({
      ...before,
      quotas: { ...noLimits, servers: 5, gpus: 0 },
    })
    expect(await change({ quotas: { ipv4: 2, gpus: null }, name: 'Rita & Co' })).toEqual({
      ...before,
      name: 'Rita & Co',
    })
    expect((await change({ locationIds: [oslo, p.location] })).locations.map((l: any) => l.name)).toEqual([
      'Frankfurt',
      'Oslo',
    ])
    const last = await change({ packageIds: [], locationIds: [p.location], externalId: 'r-9', organization: 'R' })
    expect(last).toEqual({ ...before, name: 'Rita & Co', packages: [], externalId: 'r-9', organization: 'R' })
    expect(await staffSees(p)).toEqual(last)
  })
  test('are refused what is not right, and nothing happens', async () => {
    using p = await shop()
    const taken = { name: 'T', email: 'taken@customer.test', externalId: 'taken' }
    await p.admin('POST', '/admin/customers', taken)
    const fresh = { name: 'N', email: 'n@reseller.test' }
    const untouched = p.fingerprint()
    for (const [body, expected] of [
      [{ quotas: { servers: -1 } }, '422 validation_failed'],
      [{ quotas: { servers: 1.5 } }, '422 validation_failed'],
      [{ quotas: { servers: '5' } }, '422 validation_failed'],
      [{ quotas: { cpus: 5 } }, '422 validation_failed'],
      [{ quotas: null }, '422 validation_failed'],
      [{ name: 'Never', packageIds: [p.pack, `pkg_${'0'.repeat(26)}`] }, '422 validation_failed'],
      [{ name: 'Never', packageIds: [p.location] }, '422 validation_failed'],
      [{ name: 'Never', locationIds: [`grp_${'0'.repeat(26)}`] }, '422 validation_failed'],
      [{ packageIds: null }, '422 validation_failed'],
      [{ suspendedAt: null }, '422 validation_failed'],
      [{ email: taken.email }, '409 email_taken'],
      [{ name: 'Never', externalId: 'taken' }, '409 external_id_taken'],
    ] as const) {
      const of = JSON.stringify(body)
      expect([of, code(await p.call(p.owner, 'PATCH', `/resellers/${p.rita.id}`, body))]).toEqual([of, expected])
      expect([of, code(await p.call(p.owner, 'POST', '/admin/resellers', { ...fresh, ...body }))]).toEqual([
        of,
        expected,
      ])
    }
    expect(p.fingerprint()).toBe(untouched)
  })
  test('find a reseller under /resellers, and no customer or colleague there', async () => {
    using p = await shop()
    for (const id of [p.client.id, p.customer.id, p.owner.id])
      expect(code(await p.call(p.owner, 'GET', `/resellers/${id}`))).toBe('404 reseller_not_found')
    const { body } = await p.call(p.owner, 'GET', '/admin/resellers')
    expect([body.total, body.data.map((r: any) => r.id)]).toEqual([1, [p.rita.id]])
    expect((await p.call(p.owner, 'GET', '/admin/resellers?q=nobody')).body.total).toBe(0)
  })
  test('need the right to: reading is for who sees customers, managing for who manages resellers', async () => {
    using p = await shop()
    const [reader, manager, writer] = [
      p.staff(['customers.read']),
      p.staff(['resellers.write']),
      p.staff(['customers.write']),
    ]
    const path = `/resellers/${p.rita.id}`
    const untouched = p.fingerprint()
    for (const read of ['/admin/resellers', path]) {
      expect(code(await p.call(reader, 'GET', read))).toBe('200')
      expect(code(await p.call(manager, 'GET', read))).toBe('403 forbidden')
      for (const who of [p.rita, p.client]) expect(code(await p.call(who, 'GET', read))).toBe('403 forbidden')
    }
    for (const who of [reader, writer, p.rita, p.client]) {
      expect(code(await p.call(who, 'PATCH', path, { quotas: { servers: 1000 } }))).toBe('403 forbidden')
      expect(code(await p.call(who, 'POST', `${path}/actions/suspend`, { reason: 'x' }))).toBe('403 forbidden')
      expect(code(await p.call(who, 'POST', `${path}/actions/unsuspend`))).toBe('403 forbidden')
    }
    expect(p.fingerprint()).toBe(untouched)
    expect(code(await p.call(manager, 'PATCH', path, { quotas: { servers: 1000 } }))).toBe('200')
  })
  test('suspend with a reason, once, and unsuspend once', async () => {
    using p = await shop()
    const act = (action: string, body?: object) =>
      p.call(p.owner, 'POST', `/resellers/${p.rita.id}/actions/${action}`, body)
    expect(code(await act('unsuspend'))).toBe('409 not_suspended')
    for (const body of [{}, { reason: '' }, { reason: 'a\nb' }])
      expect(code(await act('suspend', body))).toBe('422 validation_failed')
    expect((await act('suspend', { reason: 'overdue' })).body).toMatchObject({
      suspendReason: 'overdue',
      suspendedAt: expect.any(String),
    })
    const untouched = p.fingerprint()
    expect(code(await act('suspend', { reason: 'again' }))).toBe('409 already_suspended')
    expect(p.fingerprint()).toBe(untouched)
    expect(await p.terms()).toMatchObject({ suspendReason: 'overdue' })
    expect((await act('unsuspend')).body).toMatchObject({ suspendReason: null, suspendedAt: null })
  })
})

describe('a reseller', () => {
  test('is told what it may sell, with product ids, and not what is archived', async () => {
    using p = await shop({ servers: 2 })
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { billingProductId: 'whmcs:12' })
    const old = (await p.admin('POST', '/admin/packages', { name: 'Old', vcpus: 1, memoryMb: 512, diskGb: 5 })).id
    await p.admin('POST', '/admin/packages', { name: 'Not for Rita', vcpus: 1, memoryMb: 512, diskGb: 5 })
    await p.change({ packageIds: [p.pack, old] })
    await p.admin('PATCH', `/admin/packages/${old}`, { archived: true })
    const terms = await p.terms()
    expect(terms.packages).toMatchObject([{ id: p.pack, billingProductId: 'whmcs:12' }])
    expect(terms.packages.length).toBe(1)
    expect(terms.locations).toEqual([{ id: p.location, name: 'Frankfurt', open: true }])
    expect(terms).toMatchObject({
      id: p.rita.id,
      quotas: { servers: 2, vcpus: null },
      used: { customers: 1, servers: 0 },
    })
    expect((await staffSees(p)).packages.map((k: any) => k.id)).toContain(old)
  })
  test('adds a customer of its own, and billing is told', async () => {
    using p = await shop()
    const send = () =>
      p.call(
        p.rita,
        'POST',
        '/reseller/customers',
        { name: 'Ann', email: 'ann@client.test', organization: 'A', externalId: 'c-1' },
        { 'Idempotency-Key': 'c-1' },
      )
    const [first, again] = [await send(), await send()]
    expect([code(first), again.body]).toEqual(['201', first.body])
    expect(first.body).toMatchObject({
      kind: 'customer',
      resellerId: p.rita.id,
      externalId: 'c-1',
      organization: 'A',
      servers: 0,
    })
    const { id, email, name } = first.body
    expect(
      p.db.$client.query("SELECT customer_id, reseller_id, data FROM events WHERE type = 'customer.created'").all(),
    ).toEqual([
      {
        customer_id: id,
        reseller_id: p.rita.id,
        data: JSON.stringify({ customer: { id, email, name, externalId: 'c-1' } }),
      },
    ])
  })
  test('has external ids of its own: two resellers and the house may use the same, each once', async () => {
    using p = await shop()
    const other = p.account('reseller', 'Otto')
    await p.admin('POST', '/admin/customers', { name: 'H', email: 'h@customer.test', externalId: '1842' })
    expect(code(await p.join({ externalId: '1842' }))).toBe('201')
    expect(code(await p.join({ externalId: '1842' }, other))).toBe('201')
    const untouched = p.fingerprint()
    expect(code(await p.join({ externalId: '1842' }))).toBe('409 external_id_taken')
    // The house's customer is none of the reseller's business: second-account.test.ts.
    expect(code(await p.call(p.rita, 'PATCH', `/customers/${p.client.id}`, { externalId: '1842' }))).toBe(
      '409 external_id_taken',
    )
    for (const body of [{ name: '' }, { email: 'none' }, { resellerId: other.id }, { kind: 'reseller' }])
      expect(code(await p.join(body))).toBe('422 validation_failed')
    expect(p.fingerprint()).toBe(untouched)
  })
  test('changes, locks and unlocks its customers, but not itself', async () => {
    using p = await shop()
    const path = `/customers/${p.client.id}`
    expect((await p.call(p.rita, 'PATCH', path, { name: 'Clarissa', externalId: 'c-2' })).body).toMatchObject({
      name: 'Clarissa',
      externalId: 'c-2',
    })
    expect((await p.call(p.rita, 'POST', `${path}/actions/lock`, { reason: 'owes' })).body).toMatchObject({
      lockReason: 'owes',
    })
    expect([code(await p.buy()), code(await p.buy({ ownerId: p.rita.id }))]).toEqual(['409 account_locked', '201'])
    const locked = async () => (await p.call(p.rita, 'GET', '/reseller/customers?locked=yes')).body.total
    expect(await locked()).toBe(1)
    expect(code(await p.call(p.rita, 'POST', `${path}/actions/unlock`))).toBe('200')
    expect(await locked()).toBe(0)
    expect(code(await p.buy())).toBe('201')
    const untouched = p.fingerprint()
    for (const [method, end, body] of [
      ['PATCH', '', { externalId: 'mine' }],
      ['POST', '/actions/lock', { reason: 'x' }],
      ['POST', '/actions/unlock', undefined],
    ] as const)
      expect(code(await p.call(p.rita, method, `/customers/${p.rita.id}${end}`, body))).toBe('403 forbidden')
    for (const who of [p.client, p.token(p.rita.id, ['reseller:read', 'reseller:servers'])])
      expect(code(await p.call(who, 'PATCH', path, { name: 'X' }))).toStartWith('403')
    expect(p.fingerprint().replace(/tokens .*/, '')).toBe(untouched.replace(/tokens .*/, ''))
  })
  test('pages through its customers by 50, at most 200', async () => {
    using p = await shop()
    for (let n = 0; n < 59; n++) p.account('customer', `Client ${n}`, p.rita.id)
    const { body: first } = await p.call(p.rita, 'GET', '/reseller/customers')
    expect([first.data.length, first.total]).toEqual([50, 60])
    const { body: rest } = await p.call(p.rita, 'GET', `/reseller/customers?cursor=${first.nextCursor}`)
    expect([rest.data.length, rest.nextCursor]).toEqual([10, null])
    expect((await p.call(p.rita, 'GET', '/reseller/customers?limit=1000')).body.data.length).toBe(60)
    const { body: found } = await p.call(p.rita, 'GET', '/reseller/customers?q=5 client')
    expect(found.total).toBeGreaterThanOrEqual(10)
    expect(found.data.filter((c: any) => !/5/.test(c.name + c.email))).toEqual([])
  })
})

describe('two resellers', () => {
  test('never see anything of each other, by id, list, count or search', async () => {
    using p = await shop()
    const otto = p.account('reseller', 'Otto')
    const mine = (await p.join({ name: 'Dora', email: 'dora@client.test', externalId: 'x-1' })).body
    const { serverId, jobId } = (
      await p.buy({ ownerId: mine.id, imageId: p.image, hostname: 'dora01', access: { mode: 'password' } })
    ).body
    await p.settle()
    const key = await p.admin('POST', `/customers/${mine.id}/ssh-keys`, {
      publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl test',
    })
    const { ipv4 } = (await p.call(p.rita, 'GET', `/servers/${serverId}`)).body
    for (const query of ['', '?q=dora', '?email=dora@client.test', '?externalId=x-1', '?q=%25']) {
      const { body } = await p.call(otto, 'GET', `/reseller/customers${query}`)
      expect([query, body.total, body.data]).toEqual([query, 0, []])
    }
    for (const query of ['', '?q=dora01', `?q=${ipv4}`, `?q=${serverId}`, `?ownerId=${mine.id}`, '?status=running']) {
      const { body } = await p.call(otto, 'GET', `/servers${query}`)
      expect([query, body.total, body.data]).toEqual([query, 0, []])
      expect((await p.call(p.rita, 'GET', `/servers${query}`)).body.total).toBe(1)
    }
    expect((await p.call(otto, 'GET', '/jobs')).body.total).toBe(0)
    expect(await p.terms(otto)).toMatchObject({
      used: { customers: 0, servers: 0, memoryMb: 0, ipv4: 0 },
      servers: 0,
      packages: [],
    })
    const untouched = p.fingerprint()
    for (const [method, path, body] of [
      ['GET', `/customers/${mine.id}`],
      ['GET', `/customers/${p.rita.id}`],
      ['PATCH', `/customers/${mine.id}`, { name: 'X' }],
      ['POST', `/customers/${mine.id}/actions/lock`, { reason: 'x' }],
      ['POST', `/customers/${mine.id}/actions/unlock`],
      ['GET', `/customers/${mine.id}/ssh-keys`],
      ['DELETE', `/ssh-keys/${key.id}`],
      ['GET', `/servers/${serverId}`],
      ['POST', `/servers/${serverId}/actions/suspend`, { reason: 'x' }],
      ['POST', `/servers/${serverId}/actions/power`, { action: 'off' }],
      ['DELETE', `/servers/${serverId}`],
      ['GET', `/jobs/${jobId}`],
      ['GET', `/jobs/${jobId}/log`],
    ] as const) {
      const answer = await p.call(otto, method, path, body)
      const unreal = await p.call(otto, method, path.replace(/_[0-9a-z]{26}/, `_${'0'.repeat(26)}`), body)
      expect([path, answer.status]).toEqual([path, 404])
      expect(answer.body).toEqual(unreal.body)
    }
    expect(p.fingerprint()).toBe(untouched)
  })
  test('see neither the customers of the house nor its servers', async () => {
    using p = await shop()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    expect((await p.call(p.rita, 'GET', `/reseller/customers?q=Cal`)).body.total).toBe(0)
    expect((await p.call(p.rita, 'GET', '/reseller/customers')).body.data.map((c: any) => c.id)).toEqual([p.client.id])
    expect(code(await p.call(p.rita, 'GET', `/customers/${p.customer.id}`))).toBe('404 customer_not_found')
    expect(code(await p.call(p.rita, 'GET', `/servers/${serverId}`))).toBe('404 server_not_found')
    expect((await p.call(p.rita, 'GET', '/servers')).body.total).toBe(0)
  })
})

test('staff find the servers and customers of one reseller, its own servers among them', async () => {
  using p = await shop()
  await p.buy()
  await p.buy({ ownerId: p.rita.id })
  await p.sell({ ownerId: p.customer.id })
  expect((await p.call(p.owner, 'GET', `/admin/servers?resellerId=${p.rita.id}`)).body.total).toBe(2)
  expect(
    (await p.call(p.owner, 'GET', `/admin/customers?resellerId=${p.rita.id}`)).body.data.map((c: any) => c.id),
  ).toEqual([p.client.id])
})

test(
  'resellers that were there before have their row after the upgrade, and may sell nothing until staff say ' + 'what',
  async () => {
    using p = await shop()
    p.db.$client.run('DELETE FROM reseller_packages; DELETE FROM reseller_locations')
    p.db.$client.run('PRAGMA foreign_keys = OFF')
    p.db.$client.run(
      'DROP TRIGGER reseller_has_its_row; DROP TABLE reseller_packages; DROP TABLE reseller_locations; DROP TABLE ' +
        "resellers; DELETE FROM migrations WHERE name = '0003_resellers'",
    )
    await p.crash()
    expect(await staffSees(p)).toMatchObject({ quotas: noLimits, packages: [], suspendedAt: null })
    expect(code(await p.buy())).toBe('409 package_not_allowed')
  },
)
