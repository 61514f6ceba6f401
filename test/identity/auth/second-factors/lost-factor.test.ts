// A lost second factor is taken away by those who may, and nobody else.
import { expect, test } from 'bun:test'
import { type Who, type World, world } from '../../../support/world/panel.ts'

const code = ({ status, body }: { status: number; body: any }) => `${status} ${body.error?.code ?? ''}`.trim()
const withFactor = (p: World, accountId: string) => {
  p.db.$client.run(
    'INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at) ' +
      "VALUES (?1, ?1, ?1, 'AA', 0, '[]', 'Key', 1)",
    [accountId],
  )
  p.db.$client.run('INSERT INTO recovery_codes (account_id, hash, created_at) VALUES (?, ?, 1)', [accountId, accountId])
}
const factors = (p: World, accountId: string) =>
  p.db.$client
    .query<{ n: number }, [string]>(
      'SELECT (SELECT count(*) FROM passkeys WHERE account_id = ?1) + (SELECT count(*) FROM recovery_codes WHERE ' +
        'account_id = ?1) AS n',
    )
    .get(accountId)!.n
const reset = (p: World, who: Who, path: string) =>
  p.call(who, 'POST', `${path}/actions/reset-second-factor`, { reason: 'Lost phone' })

test('S18: a customer without their phone is freed of it by staff, signed out, and told', async () => {
  using p = await world()
  withFactor(p, p.customer.id)
  expect(code(await reset(p, p.owner, `/customers/${p.customer.id}`))).toBe('200')
  expect(factors(p, p.customer.id)).toBe(0)
  expect(code(await p.call(p.customer, 'GET', '/servers'))).toBe('401 not_authenticated')
  expect(p.mailed().at(-1)).toMatchObject({ subject: 'Your second factor was removed' })
  expect(p.auditLines().at(-1)).toMatchObject({
    operation: 'customers.reset-second-factor',
    details: { reason: 'Lost phone' },
  })
  expect(code(await reset(p, p.owner, `/customers/${p.customer.id}`))).toBe('409 already_done')
})

test('S26: nobody takes it off those who have more, off others, by a token, or after ten minutes', async () => {
  using p = await world()
  const [rival, lead] = [p.account('reseller', 'Rival'), p.staff(['staff.write'])]
  for (const id of [p.customer.id, p.owner.id as string]) withFactor(p, id)
  const tries: [Who, string, string][] = [
    [lead, `/admin/staff/${p.owner.id}`, '403 forbidden'],
    [lead, `/customers/${p.customer.id}`, '403 forbidden'],
    [rival, `/customers/${p.customer.id}`, '404 customer_not_found'],
    [p.token(rival.id), `/customers/${p.customer.id}`, '403 token_not_allowed'],
    [p.customer, `/customers/${p.customer.id}`, '403 forbidden'],
  ]
  const before = p.fingerprint()
  for (const [who, path, expected] of tries) expect(code(await reset(p, who, path))).toBe(expected)
  p.turnClock(11 * 60_000)
  expect(code(await reset(p, p.owner, `/customers/${p.customer.id}`))).toBe('403 confirmation_required')
  expect(p.fingerprint()).toBe(before)
  expect(factors(p, p.customer.id)).toBe(2)
})
