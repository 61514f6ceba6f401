import { describe, expect, test } from 'bun:test'
import { Type as t } from 'typebox'
import { visitor } from '../../../src/kernel/api/actor.ts'
import { fields, nullable, type Operation, secret } from '../../../src/kernel/api/operation.ts'
import { auditCall } from '../../../src/kernel/audit/audit.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { panel, world } from '../../support/world/panel.ts'

describe('the audit line of a change', () => {
  test('holds no secret of the body, whatever the call: password, set-up token', async () => {
    using p = await panel()
    const { setUpToken } = await import('../../../src/identity/set-up/first-account.ts')
    const token = setUpToken(p.db)!
    const set = await p.call(undefined, 'POST', '/setup', {
      token,
      email: 'ada@example.com',
      name: 'Ada',
      password: 'seven green bicycles',
    })
    expect(set.status).toBe(201)
    expect(
      (await p.call(undefined, 'POST', '/sessions', { email: 'ada@example.com', password: 'seven green bicycles' }))
        .status,
    ).toBe(201)
    expect(p.auditLines().map((l) => [l.operation, l.details])).toEqual([
      ['setup.finish', { token: '***', email: 'ada@example.com', name: 'Ada', password: '***' }],
      ['sessions.create', { email: 'ada@example.com', password: '***' }],
    ])
    const text = JSON.stringify(p.auditLines())
    for (const secret of [token, 'seven green']) expect(text).not.toContain(secret)
  })
  test('holds nothing of the answer: no root password, no token', async () => {
    using p = await world()
    const { body } = await p.call(p.owner, 'POST', '/admin/servers', p.order)
    const email = p.db.$client
      .query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?')
      .get(p.owner.id)!.email
    const { token } = await p.admin('POST', '/admin/tokens', { account: email, name: 'Billing', preset: 'billing' })
    await p.settle()
    const text = JSON.stringify(p.auditLines())
    expect(text).toContain('tokens.grant')
    expect(text).not.toContain(body.rootPassword)
    expect(text).not.toContain(token)
  })
  test('holds no secret however deep it stands, in a list or where it may be left out or null', async () => {
    using p = await panel()
    const deep = secret(t.String())
    const body = fields({
      one: t.Object({ open: t.String(), inner: t.Object({ deep }) }),
      many: t.Array(t.Object({ open: t.String(), deep })),
      perhaps: t.Optional(nullable(deep)),
    })
    const op = { id: 'things.make', method: 'POST', path: '/things', body } as unknown as Operation
    const sent = {
      one: { open: 'seen', inner: { deep: 'canary-1' } },
      many: [{ open: 'seen too', deep: 'canary-2' }],
      perhaps: 'canary-3',
    }
    write(p.db, (tx) =>
      auditCall(tx, p.controller.app, {
        op,
        actor: visitor,
        request: { body: sent },
        answer: { status: 201, body: {} },
        result: 'done',
        changes: null,
        beside: {},
      }),
    )
    expect(p.auditLines().at(-1)?.details).toEqual({
      one: { open: 'seen', inner: { deep: '***' } },
      many: [{ open: 'seen too', deep: '***' }],
      perhaps: '***',
    })
  })
  test('says by what it came: a page, a token, System', async () => {
    using p = await world()
    const token = p.token(p.owner.id)
    const body = (name: string) => ({ name, vcpus: 1, memoryMb: 64, diskGb: 1 })
    const before = p.auditLines().length
    await p.call(p.owner, 'POST', '/admin/packages', body('a'))
    await p.call(token, 'POST', '/admin/packages', body('b'))
    await p.admin('POST', '/admin/packages', body('c'))
    const lines = p.auditLines().slice(before)
    const tokenId = p.db.$client.query<{ id: string }, []>('SELECT id FROM tokens').get()!.id
    expect(lines.map((l) => [l.via, l.actorName])).toEqual([
      ['page', 'Ada'],
      [`token ${tokenId}`, 'Ada'],
      ['system', 'System'],
    ])
    expect(new Set(lines.map((l) => l.requestId)).size).toBe(3)
  })
  test('is not written for a read, a refusal or a replay', async () => {
    using p = await world()
    const before = p.auditLines().length
    await p.call(p.owner, 'GET', '/admin/nodes')
    await p.call(p.owner, 'POST', '/admin/packages', { name: 'x' })
    await p.call(p.owner, 'DELETE', `/admin/nodes/nod_${'0'.repeat(26)}`)
    expect(p.auditLines().length).toBe(before)
    for (let i = 0; i < 3; i++)
      await p.call(
        p.owner,
        'POST',
        '/admin/customers',
        { name: 'N', email: 'n@customer.test' },
        { 'Idempotency-Key': 'k' },
      )
    expect(p.auditLines().length).toBe(before + 1)
  })
})

describe('the audit log', () => {
  test('is read by filters that are no patterns', async () => {
    using p = await world()
    const ops = async (query: string) =>
      (await p.call(p.owner, 'GET', `/admin/audit?limit=1000&${query}`)).body.data.map((l: any) => l.operation)
    expect(new Set(await ops('operation=packages'))).toEqual(new Set(['packages.create']))
    expect(await ops('operation=%25')).toEqual([])
    expect(await ops('operation=p_ckages')).toEqual([])
    expect(await ops(`target=${p.pack}`)).toEqual(['packages.create'])
    expect(await ops("actorId=' OR 1=1 --")).toEqual([])
    expect(await ops('result=sign_in_failed')).toEqual([])
  })
})
