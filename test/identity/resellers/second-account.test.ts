// A reseller who gives a customer an address that exists elsewhere learns nothing about it. The person who reads its
// mail does, and decides.
import { describe, expect, test } from 'bun:test'
import { mailResetLinks, mailSecondAccounts } from '../../../src/identity/auth/sign-in/password-links.ts'
import type { Reply } from '../../support/world/panel.ts'
import { code, shop } from './shop.ts'

const USED = 'ada@elsewhere.test'
const later = (p: Awaited<ReturnType<typeof shop>>) => mailSecondAccounts(p.controller.db, p.controller.app)
const linkIn = (mail: { text: string }, kind: string) => new RegExp(`/${kind}/(\\S+)`).exec(mail.text)![1]!
/** The answer without what every new account has of its own. */
const shape = ({ status, body }: Reply) => ({
  status,
  body: { ...body, id: 'usr', email: 'x', createdAt: 'now' },
  fields: Object.keys(body),
})
async function house() {
  const p = await shop()
  const ada = await p.admin('POST', '/admin/customers', { name: 'Ada', email: USED, invite: true })
  return Object.assign(p, { ada })
}

describe('a reseller who adds a customer with an address that exists elsewhere', () => {
  test('gets the answer, the list and the events of a new address', async () => {
    using p = await house()
    const taken = await p.join({ email: USED })
    const fresh = await p.join({ email: 'new@elsewhere.test' })
    expect(shape(taken)).toEqual(shape(fresh))
    expect(taken.body.email).toBe(USED)
    const { data } = (await p.call(p.rita, 'GET', '/reseller/customers')).body
    const [second, first] = data
    expect([first.email, second.email]).toEqual([USED, 'new@elsewhere.test'])
    expect(Object.keys(first)).toEqual(Object.keys(second))
    for (const { id } of [first, second]) {
      expect((await p.buy({ ownerId: id })).status).toBe(201)
      expect(code(await p.call(p.rita, 'POST', `/customers/${id}/actions/invite`))).toBe('200')
    }
    expect(code(await p.join({ email: USED }))).toBe('409 email_taken')
    expect(code(await p.join({ email: 'new@elsewhere.test' }))).toBe('409 email_taken')
  })
  test('may give it to a customer that it has, too; its own customers and itself it knows', async () => {
    using p = await house()
    const { id } = (await p.join({ email: 'first@client.test' })).body
    const own = (await p.join({ email: 'second@client.test' })).body
    const rita = (await p.call(p.rita, 'GET', '/account')).body.email
    const before = p.fingerprint(['audit', 'sessions'])
    for (const email of [own.email, rita])
      expect(code(await p.call(p.rita, 'PATCH', `/customers/${id}`, { email }))).toBe('409 email_taken')
    expect(code(await p.join({ email: rita }))).toBe('409 email_taken')
    expect(p.fingerprint(['audit', 'sessions'])).toBe(before)
    expect((await p.call(p.rita, 'PATCH', `/customers/${id}`, { email: USED })).body.email).toBe(USED)
    expect((await p.call(p.rita, 'PATCH', `/customers/${id}`, { email: 'free@client.test' })).status).toBe(200)
    later(p)
    // The address is free again before anybody learnt of it.
    expect(p.mailed().filter(({ to, text }) => to === USED && text.includes('second account'))).toEqual([])
  })
  test('leaves the other account as it is; its holder is told once, not with the call', async () => {
    using p = await house()
    const { id } = (await p.join({ email: USED })).body
    const told = () => p.mailed().filter(({ to, text }) => to === USED && text.includes('second account'))
    expect(told()).toEqual([])
    later(p)
    later(p)
    expect(told()).toHaveLength(1)

    const token = linkIn(told()[0]!, 'welcome')
    const password = 'four random words here'
    const entered = await p.call(undefined, 'POST', '/passwords', { token, password })
    const withPassword = "SELECT id FROM accounts WHERE kind = 'customer' AND password_hash IS NOT NULL"
    expect([entered.status, p.controller.db.$client.query(withPassword).all()]).toEqual([201, [{ id }]])
    // By the address, one signs in to the first account alone.
    const signIn = (email: string) => p.call(undefined, 'POST', '/sessions', { email, password })
    expect((await signIn(USED)).status).toBe(401)
    const holder = p.signIn(id)
    const asked = await p.call(holder, 'PUT', '/account/email', { email: 'ada+two@elsewhere.test', password })
    expect(asked.status).toBe(200)
    const confirm = linkIn(p.mailed().findLast(({ to }) => to === 'ada+two@elsewhere.test')!, 'confirm-email')
    expect((await p.call(undefined, 'POST', '/account/email/confirm', { token: confirm })).status).toBe(200)
    expect((await signIn('ada+two@elsewhere.test')).status).toBe(201)
    expect((await p.admin('GET', `/customers/${p.ada.id}`)).email).toBe(USED)
  })
  test('a forgotten password is mailed for each account with the address', async () => {
    using p = await house()
    await p.join({ email: USED, invite: true })
    await p.call(undefined, 'POST', '/password-resets', { email: USED })
    mailResetLinks(p.controller.db, p.controller.app)
    const resets = p.mailed().filter(({ subject }) => subject === 'Choose a new password')
    expect(resets.map(({ text }) => text.includes('second account'))).toEqual([false, true])
  })
  test('staff are told that an address is taken, and a second reseller learns as little as the first', async () => {
    using p = await house()
    const ron = p.account('reseller', 'Ron')
    expect([(await p.join({ email: USED })).status, (await p.join({ email: USED }, ron)).status]).toEqual([201, 201])
    const before = p.fingerprint(['audit'])
    const staff = await p.call(p.owner, 'POST', '/admin/customers', { name: 'X', email: USED })
    expect(code(staff)).toBe('409 email_taken')
    expect(p.fingerprint(['audit'])).toBe(before)
  })
})

describe('a customer who was added without an invitation', () => {
  for (const [kind, more] of Object.entries({
    'to set up': {},
    'with an image': { hostname: 'web01', access: { mode: 'password' } },
  }))
    test(`gets one mail that lets them in, with the first server ${kind}`, async () => {
      using p = await shop()
      const { id, email } = (await p.join()).body
      const welcomes = () => p.mailed().filter(({ to, subject }) => to === email && subject === 'Your account is ready')
      expect(welcomes()).toEqual([])
      const order = { ownerId: id, ...more, ...('hostname' in more && { imageId: p.image }) }
      expect((await p.buy(order)).status).toBe(201)
      expect(welcomes()).toHaveLength(1)
      expect((await p.buy({ ownerId: id })).status).toBe(201)
      expect(welcomes()).toHaveLength(1)
      const token = linkIn(welcomes()[0]!, 'welcome')
      expect(
        (await p.call(undefined, 'POST', '/passwords', { token, password: 'four random words here' })).status,
      ).toBe(201)
    })
  test('gets no second one when they were invited', async () => {
    using p = await shop()
    const { id, email } = (await p.join({ invite: true })).body
    await p.buy({ ownerId: id })
    expect(p.mailed().filter(({ to, subject }) => to === email && subject === 'Your account is ready')).toHaveLength(1)
  })
})
