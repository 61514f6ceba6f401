// An import claims more than addresses here: external ids of customers, ids of servers in the billing system, and
// quotas of resellers.
import { describe, expect, test } from 'bun:test'
import { owner, pack, server } from './panel-in-memory.ts'
import { begin, discovered, imported, map, offered, open, refused, row, servers, settled } from './world.ts'

const path = (p: { id: string }) => `/admin/migrations/${p.id}/mapping`
const of = (n: number, ownerId: string, values = {}) =>
  server(n, { ownerId, ownerEmail: `owner${ownerId}@source.test`, ...values })
const compared = async (p: Awaited<ReturnType<typeof imported>>, body: object = {}) => {
  await map(p, p.id, body)
  return await settled(p, p.id)
}

describe('an external id that another customer has', () => {
  const known = { name: 'Known', email: 'known@here.test', externalId: '4711' }

  test('waits for a decision: join that customer, a new one without the id, or leave the servers there', async () => {
    using p = await open({ owners: [owner('1', { billingId: '4711' })] })
    const { id: account } = await p.admin('POST', '/admin/customers', known)
    const q = Object.assign(p, { id: await begin(p) })
    await discovered(p, q.id)
    const found = await row(q, 'owners', '1')
    expect(found).toMatchObject({ conflict: 'external_id', choice: null, account: { id: account } })
    expect(offered(found)).toEqual(['merge', 'create', 'leave_out'])
    expect(found.offers[1].words).toBe(
      'A new customer: owner1@source.test. Without an external id: Known has the external id 4711 here already.',
    )
    expect((await servers(q))[0]).toMatchObject({ isComplete: false, waitsFor: ['owner', 'range'] })
    await map(p, q.id, { owners: [{ sourceId: '1', choice: 'merge' }] })
    expect((await servers(q))[0].becomes).toMatchObject({ accountId: account, newEmail: null, externalId: null })
    await map(p, q.id, { owners: [{ sourceId: '1', choice: 'create' }] })
    expect((await servers(q))[0].becomes).toMatchObject({ newEmail: 'owner1@source.test', externalId: null })
    // The operator has agreed, and is not asked again.
    expect((await compared(q)).left.owners.rows).toBe(0)
  })

  test('that was taken since the choice waits for one again, and is free without ids of the panel', async () => {
    using p = await imported({ owners: [owner('1', { billingId: '4711' })] })
    expect(await row(p, 'owners', '1')).toMatchObject({ choice: 'create', externalId: '4711' })
    await p.admin('POST', '/admin/customers', known)
    expect((await compared(p)).left.owners).toEqual({ rows: 1, servers: 2 })
    expect((await row(p, 'owners', '1')).lapsed).toBe('Known has the external id 4711 here already. Choose again.')
    await compared(p, { billing: { externalId: 'none' } })
    expect(await row(p, 'owners', '1')).toMatchObject({ conflict: 'none', externalId: null })
  })

  test('is another one for each reseller', async () => {
    using p = await imported({ owners: [owner('1', { billingId: '4711' })] })
    await p.admin('POST', '/admin/customers', known)
    const { id } = p.account('reseller', 'Rita')
    await map(p, p.id, { owners: [{ sourceId: '1', choice: 'create', resellerId: id }] })
    expect(await row(p, 'owners', '1')).toMatchObject({ conflict: 'none', externalId: '4711', resellerId: id })
    expect((await compared(p)).left.owners.rows).toBe(0)
  })

  test('goes to one owner of the other panel, and the second is asked about', async () => {
    using p = await imported({
      owners: [owner('1', { billingId: '7' }), owner('2', { billingId: '7' })],
      servers: [of(1, '1'), of(2, '2')],
    })
    expect((await row(p, 'owners', '1')).externalId).toBe('7')
    const second = await row(p, 'owners', '2')
    expect(second).toMatchObject({ conflict: 'external_id', choice: null, account: null })
    expect(offered(second)).toEqual(['create', 'leave_out'])
    expect(await refused(p, 'PATCH', path(p), { owners: [{ sourceId: '2', choice: 'merge' }] })).toEqual([
      409,
      'choice_not_offered',
    ])
  })

  test('is left away from a separate account, and the choice says so', async () => {
    using p = await open({ owners: [owner('1', { billingId: '4711', email: known.email })] })
    await p.admin('POST', '/admin/customers', known)
    const q = Object.assign(p, { id: await begin(p) })
    await discovered(p, q.id)
    const separate = (await row(q, 'owners', '1')).offers.find(({ choice }: any) => choice === 'separate')
    expect(separate.words).toContain('Without an external id: Known has the external id 4711 here already.')
    await map(p, q.id, { owners: [{ sourceId: '1', choice: 'separate' }] })
    expect((await servers(q))[0].becomes).toMatchObject({ newEmail: 'known+solusvm2@here.test', externalId: null })
  })
})

describe('an id in the billing system that another server has', () => {
  const keeping = { ranges: [{ sourceId: '1', choice: 'keep' }] }

  test('stops the server until it comes without the id, is left out, or ids are not brought along', async () => {
    using p = await imported({
      servers: [server(1, { billingId: '900' }), server(2, { billingId: '901' }), server(3, { billingId: '901' })],
    })
    await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'here.test', billingServiceId: '900' })
    expect((await compared(p, keeping)).left.conflicts).toBe(3)
    const without = 'Let it come without its billing id, or leave it out.'
    expect((await servers(p)).map(({ reason, isComplete }: any) => [reason, isComplete])).toEqual([
      [`here.test has the billing id 900 here already. ${without}`, false],
      [`server3.source.test has the billing id 901 in the other panel too. ${without}`, false],
      [`server2.source.test has the billing id 901 in the other panel too. ${without}`, false],
    ])
    expect((await servers(p, '&conflict=true')).length).toBe(3)
    const [one, two] = await servers(p)
    const read = await compared(p, {
      servers: [
        { id: one.id, hasBillingId: false },
        { id: two.id, isLeftOut: true },
      ],
    })
    expect(read.left.conflicts).toBe(0)
    expect((await servers(p)).map(({ billingServiceId, isComplete }: any) => [billingServiceId, isComplete])).toEqual([
      [null, true],
      ['901', false],
      ['901', true],
    ])
    await compared(p, { servers: [{ id: one.id, hasBillingId: true }] })
    expect((await compared(p, { billing: { billingServiceId: 'none' } })).left.conflicts).toBe(0)
    expect((await servers(p)).map(({ billingServiceId }: any) => billingServiceId)).toEqual([null, null, null])
  })

  test('of another provider is no other one', async () => {
    using p = await imported({ servers: [server(1, { billingId: '900' })] })
    await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'here.test', billingServiceId: '900' })
    const { id } = p.account('reseller', 'Rita')
    const read = await compared(p, { ...keeping, owners: [{ sourceId: '1', choice: 'create', resellerId: id }] })
    expect(read.left.conflicts).toBe(0)
  })
})

describe('a billing id of a package', () => {
  test('that one of the own packages has is told with the choice', async () => {
    using p = await imported({ packages: [pack('1', { billingId: 'whmcs:8' })] })
    const like = async () => (await row(p, 'packages', '1')).offers.find(({ choice }: any) => choice === 'like').words
    expect(await like()).not.toContain('whmcs:8')
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { billingProductId: 'whmcs:8' })
    expect(await like()).toContain('Your package KVM 2G has the billing product id whmcs:8 too')
    await map(p, p.id, { packages: [{ sourceId: '1', choice: 'like', changes: { billingProductId: null } }] })
    expect(await like()).not.toContain('whmcs:8')
  })
})

describe('the quota of a reseller', () => {
  test('that the import would exceed stops the servers of the reseller, and says the figures', async () => {
    using p = await imported({ servers: [server(1), server(2), of(3, '2')], owners: [owner('1'), owner('2')] })
    const { id } = p.account('reseller', 'Rita')
    const quota = (quotas: object) => p.admin('PATCH', `/resellers/${id}`, { quotas })
    await quota({ servers: 1, memoryMb: 100_000 })
    const keep = { ranges: [{ sourceId: '1', choice: 'keep' }] }
    expect(
      (await compared(p, { ...keep, owners: [{ sourceId: '1', choice: 'create', resellerId: id }] })).left,
    ).toEqual(expect.objectContaining({ conflicts: 2 }))
    expect((await servers(p)).map(({ reason, isComplete }: any) => [reason?.slice(0, 93) ?? null, isComplete])).toEqual(
      [
        ['The quota of Rita would be exceeded. Servers: 0 of 1 are used, and the import brings 2. Raise', false],
        ['The quota of Rita would be exceeded. Servers: 0 of 1 are used, and the import brings 2. Raise', false],
        [null, true],
      ],
    )
    const { quotas } = await p.admin('GET', `/admin/migrations/${p.id}/plan`)
    expect(quotas).toEqual([
      { resellerId: id, name: 'Rita', resource: 'servers', used: 0, more: 2, limit: 1, isExceeded: true },
      { resellerId: id, name: 'Rita', resource: 'memoryMb', used: 0, more: 4096, limit: 100_000, isExceeded: false },
    ])
    await quota({ servers: 2 })
    expect((await compared(p)).left.conflicts).toBe(0)
    await quota({ customers: 0 })
    expect((await compared(p)).left.conflicts).toBe(2)
    expect((await servers(p))[0].reason).toContain('Customers: 0 of 0 are used, and the import brings 1.')
    await quota({ customers: null, ipv4: 1 })
    expect((await compared(p)).left.conflicts).toBe(2)
    expect((await compared(p, { owners: [{ sourceId: '1', choice: 'create' }] })).left.conflicts).toBe(0)
  })

  test('counts servers that join the reseller or a customer of it, each with the package that it becomes', async () => {
    using p = await open()
    const reseller = p.account('reseller', 'Rita')
    const email = (p.db.$client.query('SELECT email FROM accounts WHERE id = ?').get(reseller.id) as any).email
    p.other.listed.owners = [owner('1', { email }), owner('2')]
    p.other.listed.servers = [server(1), of(2, '2')]
    const q = Object.assign(p, { id: await begin(p) })
    await discovered(p, q.id)
    await p.admin('PATCH', `/resellers/${reseller.id}`, { quotas: { vcpus: 7 } })
    const big = await p.admin('POST', '/admin/packages', { name: 'Big', vcpus: 4, memoryMb: 4096, diskGb: 80 })
    await compared(q, {
      owners: [
        { sourceId: '1', choice: 'merge' },
        { sourceId: '2', choice: 'create', resellerId: reseller.id },
      ],
      packages: [{ sourceId: '1', choice: 'own', packageId: big.id }],
    })
    const { quotas } = await p.admin('GET', `/admin/migrations/${q.id}/plan`)
    expect(quotas).toMatchObject([{ resource: 'vcpus', used: 0, more: 8, limit: 7, isExceeded: true }])
    expect((await servers(q)).filter(({ reason }: any) => reason?.includes('vCPUs: 0 of 7')).length).toBe(2)
  })
})
