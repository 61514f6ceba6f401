// Text from outside: one form for each name, nothing that a statement, a path or a pattern would read.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operations } from '../../src/app/features.ts'
import { queryOf } from '../../src/kernel/api/operation.ts'
import { type Who, type World, world } from '../support/world/panel.ts'

let p: World
let stranger: { id: string } & Who
let reseller: { id: string } & Who
beforeAll(async () => {
  p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  reseller = p.account('reseller', 'Rosa')
  stranger = p.account('customer', 'Mallory')
})
afterAll(() => p.close())

describe('a name', () => {
  const decomposed = 'Zu\u0308rich'
  const composed = 'Z\u00fcrich'
  test('S1: is kept in its composed form, so two that look the same cannot both be', async () => {
    const first = await p.call(p.owner, 'POST', '/admin/node-groups', { name: decomposed })
    expect(first.body.name).toBe(composed)
    expect((await p.call(p.owner, 'POST', '/admin/node-groups', { name: composed })).body.error.code).toBe('name_taken')
    expect(JSON.stringify(p.auditLines().filter((line) => line.operation === 'locations.create'))).not.toContain(
      decomposed,
    )
  })
  test('S1: a password is not a name: it is taken as it was typed', async () => {
    const password = `seven green bicycle\u0308s`
    await p.admin('POST', '/admin/staff', { email: 'nfc@staff.test', name: 'N', role: 'Owner', password })
    const signIn = (password: string) => p.call(undefined, 'POST', '/sessions', { email: 'nfc@staff.test', password })
    expect((await signIn(password.normalize('NFC'))).status).toBe(401)
    expect((await signIn(password)).status).toBe(201)
  })
})

describe('a filter', () => {
  const nasty = [
    "' OR 1=1 --",
    "x' UNION SELECT password_hash FROM accounts --",
    '%',
    '_',
    '\\',
    '"',
    ';DROP TABLE servers;',
    '../../etc/passwd',
    '\u0000',
    '$(id)',
  ]
  for (const op of operations)
    if (op.pages && !op.path.includes('{'))
      test(`S3: ${op.id} finds no more by text that a statement could read`, async () => {
        const filters = Object.keys(queryOf(op)).filter((name) => name !== 'cursor' && name !== 'limit')
        const who = op.access !== 'anyone' && op.access.staff ? p.owner : reseller
        const all = (await p.call(who, 'GET', op.path)).body.total
        for (const name of filters)
          for (const value of nasty) {
            const { status, body } = await p.call(who, 'GET', `${op.path}?${name}=${encodeURIComponent(value)}`)
            expect([name, value, status === 200 || status === 400]).toEqual([name, value, true])
            if (status === 200 && value.includes("'")) expect([name, value, body.total]).toEqual([name, value, 0])
            if (status === 200) expect(body.total).toBeLessThanOrEqual(all)
          }
        expect((await p.call(p.owner, 'GET', '/admin/servers')).body.total).toBe(1)
      })
})

describe('who sees nothing of a thing', () => {
  test('S24: finds it in no list, no count and no search either', async () => {
    for (const op of operations) {
      if (!op.pages || op.path.includes('{') || op.access === 'anyone' || !op.access.customer) continue
      const own = new Set(['images.offered', 'tokens.list', 'sessions.list'])
      for (const query of ['', ...('q' in (op.query ?? {}) ? ['?q=web01', '?q=203.0.113'] : [])]) {
        const { status, body } = await p.call(stranger, 'GET', `${op.path}${query}`)
        expect([op.id, status]).toEqual([op.id, 200])
        if (!own.has(op.id)) expect([op.id, body.data.length, body.total]).toEqual([op.id, 0, 0])
      }
    }
  })
})
