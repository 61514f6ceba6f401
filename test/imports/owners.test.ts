// Point 8 of Imports: owners who already have an account.
import { describe, expect, test } from 'bun:test'
import { owner, server } from './panel-in-memory.ts'
import {
  begin,
  discovered,
  imported,
  map,
  offered,
  open,
  refused,
  row,
  rows,
  servers,
  settled,
  withheld,
} from './world.ts'

const of = (n: number, ownerId: string) => server(n, { ownerId, ownerEmail: `owner${ownerId}@source.test` })
const path = (p: { id: string }) => `/admin/migrations/${p.id}/mapping`
const emailOf = (p: { db: any }, id: string) =>
  (p.db.$client.query('SELECT email FROM accounts WHERE id = ?').get(id) as { email: string }).email
/** An import whose only owner has the address of this account. */
async function withOwner(p: Awaited<ReturnType<typeof open>>, email: string) {
  p.other.listed.owners = [owner('1', { email })]
  const id = await begin(p)
  await discovered(p, id)
  return Object.assign(p, { id })
}

describe('owners', () => {
  test('an owner without an account here becomes a new customer', async () => {
    using p = await imported()
    expect(await row(p, 'owners', '1')).toMatchObject({
      conflict: 'none',
      choice: 'create',
      isProposed: true,
      newEmail: 'owner1@source.test',
      account: null,
    })
    expect((await servers(p))[0].becomes).toEqual({
      packageId: p.pack,
      accountId: null,
      newEmail: 'owner1@source.test',
      externalId: '1',
    })
  })

  test(
    'For a customer or reseller account the choice is merge into it or import as a separate account ' +
      '(a plus-tagged variant of the address with a tag for the source kind).',
    async () => {
      for (const kind of ['customer', 'reseller'] as const) {
        using p = await open()
        const account = p.account(kind, 'Known')
        await withOwner(p, emailOf(p, account.id).toUpperCase())
        const q = Object.assign(p, { id: (await p.admin('GET', '/admin/migrations')).data[0].id })
        const found = await row(q, 'owners', '1')
        expect(found).toMatchObject({ conflict: kind, choice: null, account: { id: account.id } })
        expect(offered(found)).toEqual(['merge', 'separate', 'leave_out'])
        await map(p, q.id, { owners: [{ sourceId: '1', choice: 'merge' }] })
        expect((await servers(q))[0].becomes.accountId).toBe(account.id)
        await map(p, q.id, { owners: [{ sourceId: '1', choice: 'separate' }] })
        const [local, domain] = emailOf(p, account.id).split('@')
        expect((await servers(q))[0].becomes).toMatchObject({
          accountId: null,
          newEmail: `${local}+solusvm2@${domain}`,
        })
      }
    },
  )

  test('servers only go into an existing account that the operator chose.', async () => {
    using p = await open()
    const q = await withOwner(p, emailOf(p, p.customer.id))
    const [one] = await servers(q)
    expect(one).toMatchObject({ undecided: 2, isComplete: false, becomes: { accountId: null, newEmail: null } })
    expect(one.waitsFor).toContain('owner')
    expect(await refused(p, 'PATCH', path(q), { owners: [{ sourceId: '1', choice: 'create' }] })).toEqual([
      409,
      'choice_not_offered',
    ])
  })

  test(
    'For a staff member the servers never go into the staff account itself: they go into that ' +
      'person’s own client area, or are imported separately.',
    async () => {
      using p = await open()
      const { id: staff } = p.staff(['servers.power'])
      const email = emailOf(p, staff)
      const q = await withOwner(p, email)
      const found = await row(q, 'owners', '1')
      expect(found.conflict).toBe('staff')
      expect(offered(found)).toEqual(['client_area', 'separate', 'leave_out'])
      for (const choice of ['merge', 'existing', 'create'])
        expect(await refused(p, 'PATCH', path(q), { owners: [{ sourceId: '1', choice, accountId: staff }] })).toEqual([
          409,
          'choice_not_offered',
        ])
      const becomes = async (choice: string) => {
        await map(p, q.id, { owners: [{ sourceId: '1', choice }] })
        return (await servers(q))[0].becomes
      }
      const [local, domain] = email.split('@')
      expect(await becomes('client_area')).toMatchObject({ accountId: null, newEmail: `${local}+client@${domain}` })
      expect(await becomes('separate')).toMatchObject({ accountId: null, newEmail: `${local}+solusvm2@${domain}` })
      // Once that person is a customer too, it is that account.
      const { id } = await p.admin('POST', '/admin/customers', { name: 'Client', email: `${local}+client@${domain}` })
      expect(await becomes('client_area')).toMatchObject({ accountId: id, newEmail: null })
    },
  )

  test(
    'If the separate address is already used by an account this import did not create, that choice ' +
      'is not offered.',
    async () => {
      using p = await open()
      const email = emailOf(p, p.customer.id)
      const [local, domain] = email.split('@')
      const tagged = `${local}+solusvm2@${domain}`
      const { id: other } = await p.admin('POST', '/admin/customers', { name: 'Tagged', email: tagged })
      const q = await withOwner(p, email)
      expect(offered(await row(q, 'owners', '1'))).toEqual(['merge', 'leave_out'])
      expect(withheld(await row(q, 'owners', '1'), 'separate')).toContain('Rename that account first.')
      expect(await refused(p, 'PATCH', path(q), { owners: [{ sourceId: '1', choice: 'separate' }] })).toEqual([
        409,
        'choice_not_offered',
      ])
      // One that this import has made is its own.
      p.db.$client.run("UPDATE import_owners SET created_account_id = ? WHERE source_id = '1'", [other])
      expect(offered(await row(q, 'owners', '1'))).toContain('separate')
    },
  )

  test('Servers with unknown owner go to imports@<source host>, to a customer who is chosen, or stay.', async () => {
    using p = await imported({ servers: [server(1, { ownerId: null, ownerEmail: null }), server(2)] })
    const found = await row(p, 'owners', 'unknown')
    expect(found).toMatchObject({ conflict: 'unknown', choice: null, servers: 1 })
    expect(offered(found)).toEqual(['one_account', 'existing', 'leave_out'])
    await map(p, p.id, { owners: [{ sourceId: 'unknown', choice: 'one_account' }] })
    expect((await servers(p))[0].becomes.newEmail).toBe('imports@panel.source.test')
    await map(p, p.id, { owners: [{ sourceId: 'unknown', choice: 'existing', accountId: p.customer.id }] })
    expect((await servers(p))[0].becomes.accountId).toBe(p.customer.id)
    for (const accountId of [undefined, p.owner.id, `usr_${'0'.repeat(26)}`])
      expect(
        await refused(p, 'PATCH', path(p), { owners: [{ sourceId: 'unknown', choice: 'existing', accountId }] }),
      ).toEqual([422, 'validation_failed'])
    await p.admin('POST', '/admin/customers', { name: 'Imports', email: 'imports@panel.source.test' })
    expect(offered(await row(p, 'owners', 'unknown'))).toEqual(['existing', 'leave_out'])
  })

  test('a panel without a name has an address for unknown owners to which no mail can go', async () => {
    using p = await open({ servers: [server(1, { ownerId: null, ownerEmail: null })] })
    const id = await begin(p, { address: 'https://10.20.0.5:4085' })
    await discovered(p, id)
    await map(p, id, { owners: [{ sourceId: 'unknown', choice: 'one_account' }] })
    expect((await servers(Object.assign(p, { id })))[0].becomes.newEmail).toBe('imports@10-20-0-5.invalid')
  })

  test('two owners of one address do not end in one account unless the operator says so', async () => {
    using p = await imported({
      owners: [owner('1'), owner('2', { email: 'OWNER1@source.test' })],
      servers: [server(1), of(2, '2')],
    })
    const found = await row(p, 'owners', '2')
    expect(found).toMatchObject({ conflict: 'twice', choice: null })
    expect((await servers(p))[1].waitsFor).toContain('owner')
    await map(p, p.id, { owners: [{ sourceId: '2', choice: 'merge' }] })
    expect((await servers(p))[1].waitsFor).not.toContain('owner')
    await map(p, p.id, { owners: [{ sourceId: '1', choice: 'leave_out' }] })
    await settled(p, p.id)
    expect(await row(p, 'owners', '2')).toMatchObject({ choice: null })
  })

  test('a new account can be made for a reseller', async () => {
    using p = await imported()
    const reseller = p.account('reseller', 'Rita')
    await map(p, p.id, { owners: [{ sourceId: '1', choice: 'create', resellerId: reseller.id }] })
    expect(await row(p, 'owners', '1')).toMatchObject({ resellerId: reseller.id })
    expect(
      await refused(p, 'PATCH', path(p), {
        owners: [{ sourceId: '1', choice: 'create', resellerId: p.customer.id }],
      }),
    ).toEqual([422, 'validation_failed'])
  })
})

describe('a conflict that appeared since', () => {
  test(
    'Accounts are re-checked at the dry run and at start; a conflict that appeared since waits for ' + 'the choice.',
    async () => {
      using p = await imported()
      const { id } = await p.admin('POST', '/admin/customers', { name: 'Late', email: 'owner1@source.test' })
      await map(p, p.id, {})
      const read = await settled(p, p.id)
      expect(read.left.owners).toEqual({ rows: 1, servers: 2 })
      const found = await row(p, 'owners', '1')
      expect(found).toMatchObject({ conflict: 'customer', choice: null, account: { id } })
      expect(found.lapsed).toContain('There is an account with this address now: that of Late.')
      expect((await p.admin('GET', `/admin/migrations/${p.id}/mapping/owners?lapsed=true`)).total).toBe(1)
      await map(p, p.id, { owners: [{ sourceId: '1', choice: 'merge' }] })
      expect(await row(p, 'owners', '1')).toMatchObject({ choice: 'merge', lapsed: null, accountId: id })
    },
  )

  test('an account that was chosen and has another address now is not joined', async () => {
    using p = await open()
    const email = emailOf(p, p.customer.id)
    const q = await withOwner(p, email)
    await map(p, q.id, { owners: [{ sourceId: '1', choice: 'merge' }] })
    p.db.$client.run("UPDATE accounts SET email = 'moved@source.test' WHERE id = ?", [p.customer.id])
    await map(p, q.id, {})
    await settled(p, q.id)
    expect(await row(q, 'owners', '1')).toMatchObject({ choice: null, accountId: null, conflict: 'none' })
  })

  test('a chosen account whose address another account has now is not joined', async () => {
    using p = await open()
    const email = emailOf(p, p.customer.id)
    const q = await withOwner(p, email)
    await map(p, q.id, { owners: [{ sourceId: '1', choice: 'merge' }] })
    p.db.$client.run("UPDATE accounts SET email = 'moved@source.test' WHERE id = ?", [p.customer.id])
    await p.admin('POST', '/admin/customers', { name: 'Other', email })
    await map(p, q.id, {})
    await settled(p, q.id)
    expect((await row(q, 'owners', '1')).lapsed).toContain('Another account has this address now.')
    expect((await servers(q))[0].becomes.accountId).toBeNull()
  })
})

describe('rules', () => {
  test('same e-mail and same name: merge into the account; the rest is left and named', async () => {
    using p = await open()
    const known = p.account('customer', 'Ada')
    const locked = p.account('customer', 'Bo')
    p.db.$client.run("UPDATE accounts SET locked_at = 1, lock_reason = 'overdue' WHERE id = ?", [locked.id])
    p.other.listed.owners = [
      owner('1', { email: emailOf(p, known.id), name: 'ADA ' }),
      owner('2', { email: emailOf(p, locked.id), name: 'Somebody' }),
      owner('3'),
    ]
    p.other.listed.servers = [of(1, '1'), of(2, '2'), of(3, '3')]
    const id = await begin(p)
    await discovered(p, id)
    const q = Object.assign(p, { id })
    const rule = `${path(q)}/actions/apply-to-owners`
    const sameName = { where: { conflict: 'customer', hasSameName: true }, choice: 'merge' }
    expect(await p.admin('POST', `${rule}?dryRun=true`, sameName)).toMatchObject({ matched: 1, changed: 1 })
    expect((await row(q, 'owners', '1')).choice).toBeNull()
    await p.admin('POST', rule, sameName)
    expect((await row(q, 'owners', '1')).accountId).toBe(known.id)
    expect((await row(q, 'owners', '2')).choice).toBeNull()
    expect((await row(q, 'owners', '2')).offers[0].words).toContain('locked: overdue')
    expect(await p.admin('POST', rule, { where: { isUndecided: true }, choice: 'create' })).toMatchObject({
      matched: 1,
      changed: 0,
      withheld: [{ sourceId: '2' }],
    })
    expect(await p.admin('POST', rule, { where: { isLocked: true }, choice: 'leave_out' })).toMatchObject({
      changed: 1,
    })
    expect((await rows(q, 'owners', '&undecided=true')).length).toBe(0)
    expect((await rows(q, 'owners', '&q=server1')).map(({ sourceId }: any) => sourceId)).toEqual(['1'])
  })
})
