// Coming in by a link: the first password, a forgotten one, another address, and a billing system that vouches for its
// customer. A real SMTP server takes the mails, and their links are followed.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mailResetLinks } from '../../../../src/identity/auth/sign-in/password-links.ts'
import { presets } from '../../../../src/identity/tokens/presets.ts'
import { hour, minute, second } from '../../../../src/kernel/db/clock.ts'
import { mailbox } from '../../../support/services/mailbox.ts'
import { type Reply, type Who, type World, world } from '../../../support/world/panel.ts'

let box: Awaited<ReturnType<typeof mailbox>>
let p: World
beforeAll(async () => void (box = await mailbox()))
afterAll(() => box.close())
beforeEach(async () => {
  p = await world()
  await box.serve(p)
  box.taken.length = 0
})
afterEach(() => p.close())

const password = 'seven green bicycles'
const code = ({ status, body }: { status: number; body: any }) => `${status} ${body.error?.code ?? ''}`.trim()
const addressOf = (id: string) =>
  p.db.$client.query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?').get(id)!.email
const signIn = (email: string, password: string) => p.call(undefined, 'POST', '/sessions', { email, password })
const set = (token: string, password: string) => p.call(undefined, 'POST', '/passwords', { token, password })
const sessionIn = (reply: Reply): Who => ({ cookie: reply.headers.get('Set-Cookie')!.split(/[=;]/)[1]! })
const home = async (who: Who) => code(await p.call(who, 'GET', '/servers'))
async function refused(call: () => Promise<Reply>, expected: string) {
  const [before, lines] = [p.fingerprint(['audit']), p.auditLines().length]
  expect(code(await call())).toBe(expected)
  expect(p.fingerprint(['audit'])).toBe(before)
  // Attempts to sign in, and wrong passwords, are in the audit log.
  const written = p.auditLines().slice(lines)
  expect(written.length).toBe(noted(expected) ?? written.length)
  for (const line of written) expect(line.result).toBe(expected.split(' ')[1]!)
}
const noted = (expected: string) =>
  /link_not_valid|sign_in_failed/.test(expected) ? 1 : /^40/.test(expected) ? 0 : undefined
async function reset(email: string) {
  expect(code(await p.call(undefined, 'POST', '/password-resets', { email }))).toBe('200')
  mailResetLinks(p.db, p.controller.app)
  await box.deliver(p)
}

describe('an invitation', () => {
  test('is mailed with the account, leads to a first password, and signs in', async () => {
    const { body } = await p.call(p.owner, 'POST', '/admin/customers', {
      name: 'Dee',
      email: 'dee@example.com',
      invite: true,
    })
    await box.deliver(p)
    expect(box.taken.map((l) => [l.to, l.subject])).toEqual([['dee@example.com', 'Your account is ready']])
    const token = box.tokenFor('dee@example.com', '/welcome/')!
    expect(code(await set(token, 'short'))).toBe('422 validation_failed')
    const reply = await set(token, password)
    expect([reply.status, reply.body]).toEqual([201, { accountId: body.id, kind: 'customer', home: '/' }])
    expect(await home(sessionIn(reply))).toBe('200')
    expect(code(await signIn('dee@example.com', password))).toBe('201')
    await refused(() => set(token, 'another good password'), '401 link_not_valid')
    await refused(() => p.call(p.owner, 'POST', `/customers/${body.id}/actions/invite`), '409 already_done')
  })
  test('is not mailed unless it is asked for, and a newer one ends the one before', async () => {
    const { body } = await p.call(p.owner, 'POST', '/admin/customers', { name: 'Dee', email: 'dee@example.com' })
    await box.deliver(p)
    expect(box.taken).toEqual([])
    const tokens: string[] = []
    for (let i = 0; i < 2; i++) {
      await p.call(p.owner, 'POST', `/customers/${body.id}/actions/invite`)
      await box.deliver(p)
      tokens.push(box.tokenFor('dee@example.com', '/welcome/')!)
    }
    await refused(() => set(tokens[0]!, password), '401 link_not_valid')
    p.turnClock(7 * 24 * hour)
    await refused(() => set(tokens[1]!, password), '401 link_not_valid')
  })
  test('is how a member of staff without a password comes in, too', async () => {
    await p.call(p.owner, 'POST', '/admin/staff', { name: 'Bo', email: 'bo@example.com' })
    await box.deliver(p)
    expect((await set(box.tokenFor('bo@example.com', '/welcome/')!, password)).body.home).toBe('/admin')
  })
})

describe('S16: a forgotten password', () => {
  test('is replaced by the link in the mail; every session ends, and the holder is told', async () => {
    const email = addressOf(p.customer.id)
    await reset(email)
    const reply = await set(box.tokenFor(email, '/reset/')!, password)
    expect(reply.status).toBe(201)
    expect(await home(p.customer)).toBe('401 not_authenticated')
    expect(await home(sessionIn(reply))).toBe('200')
    await box.deliver(p)
    expect(box.taken.map((l) => l.subject)).toEqual(['Choose a new password', 'Your password was changed'])
  })
  test('answers the same for an address that has no account, and mails nobody', async () => {
    const ask = (email: string) => p.call(undefined, 'POST', '/password-resets', { email })
    const [known, unknown] = [await ask(addressOf(p.customer.id)), await ask('nobody@example.com')]
    expect([unknown.status, JSON.stringify(unknown.body)]).toEqual([known.status, JSON.stringify(known.body)])
    mailResetLinks(p.db, p.controller.app)
    await box.deliver(p)
    expect(box.taken.map((l) => l.to)).toEqual([addressOf(p.customer.id)])
    const lines = p.auditLines().filter((l) => l.operation === 'password-resets.create')
    expect(lines.map((l) => [l.actorId, l.target])).toEqual([
      ['', null],
      ['', null],
    ])
  })
  test('is mailed at most three times an hour to one account, and only the newest link is good', async () => {
    const email = addressOf(p.customer.id)
    const tokens: string[] = []
    for (let i = 0; i < 5; i++) {
      await reset(email)
      tokens.push(box.tokenFor(email, '/reset/')!)
    }
    expect(box.taken.length).toBe(3)
    expect(new Set(tokens).size).toBe(3)
    await refused(() => set(tokens[0]!, password), '401 link_not_valid')
    expect(code(await set(tokens[4]!, password))).toBe('201')
  })
  test('is not for ever: after an hour the link is none', async () => {
    const email = addressOf(p.customer.id)
    await reset(email)
    p.turnClock(hour)
    await refused(() => set(box.tokenFor(email, '/reset/')!, password), '401 link_not_valid')
  })
  test('does not bring back a member of staff who was disabled', async () => {
    const bo = p.staff(['servers.power'])
    const email = addressOf(bo.id)
    await reset(email)
    await p.call(p.owner, 'POST', `/admin/staff/${bo.id}/actions/disable`)
    await refused(() => set(box.tokenFor(email, '/reset/')!, password), '401 link_not_valid')
    const before = box.taken.length
    await reset(email)
    expect(box.taken.length).toBe(before)
  })
  test('looking at its page spends nothing, and one link is good for one purpose only', async () => {
    const email = addressOf(p.customer.id)
    await reset(email)
    const token = box.tokenFor(email, '/reset/')!
    for (let i = 0; i < 2; i++)
      expect((await p.controller.router.fetch(new Request(`http://localhost/reset/${token}`))).status).toBe(200)
    await refused(() => p.call(undefined, 'POST', '/sessions/from-link', { token }), '401 link_not_valid')
    await refused(() => p.call(undefined, 'POST', '/account/email/confirm', { token }), '401 link_not_valid')
    expect(code(await set(token, password))).toBe('201')
  })
  test('two answers to one link at once: one password is set', async () => {
    const email = addressOf(p.customer.id)
    await reset(email)
    const token = box.tokenFor(email, '/reset/')!
    const replies = await Promise.all([set(token, 'the first of two words'), set(token, 'the second of two words')])
    expect(replies.map(code).sort()).toEqual(['201', '401 link_not_valid'])
  })
})

describe('S16: a password', () => {
  test('of fewer than 12 characters, on the list, of one pattern, or of the own name is refused', async () => {
    const { body } = await p.call(p.owner, 'POST', '/admin/customers', {
      name: 'Dorothea Brooke',
      email: 'dorothea.b@middlemarch.com',
      invite: true,
    })
    await box.deliver(p)
    const token = box.tokenFor('dorothea.b@middlemarch.com', '/welcome/')!
    for (const poor of [
      'eleven char',
      'password1234',
      'abcabcabcabc',
      'zzzzzzzzzzzzz',
      'DorotheaBrooke',
      'dorothea.brooke1',
      'middlemarch12',
      'x'.repeat(201),
    ])
      await refused(() => set(token, poor), '422 validation_failed')
    expect(body.id).toBeString()
  })
  test('counts to its last character, in its case', async () => {
    const { body } = await p.call(p.owner, 'POST', '/admin/customers', {
      name: 'Dee',
      email: 'dee@example.com',
      invite: true,
    })
    await box.deliver(p)
    const long = `${'correct horse battery staple '.repeat(6)}END`
    await set(box.tokenFor('dee@example.com', '/welcome/')!, long)
    expect(body.kind).toBe('customer')
    expect(code(await signIn('dee@example.com', long.slice(0, -1)))).toBe('401 sign_in_failed')
    expect(code(await signIn('dee@example.com', long.toLowerCase()))).toBe('401 sign_in_failed')
    expect(code(await signIn('dee@example.com', long))).toBe('201')
  })
  test('S17: is not guessed where it is changed: after five failures a session waits', async () => {
    const email = addressOf(p.customer.id)
    await reset(email)
    const who = sessionIn(await set(box.tokenFor(email, '/reset/')!, password))
    const { csrf } = p.db.$client
      .query<{ csrf: string }, []>('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1')
      .get()!
    const guess = () =>
      p.call({ ...who, csrf }, 'PUT', '/account/password', {
        current: 'wrong wrong wrong',
        password: 'a much better one',
      })
    const answers: string[] = []
    for (let i = 0; i < 6; i++) answers.push(code(await guess()))
    expect(answers).toEqual([...Array(5).fill('422 validation_failed'), '429 rate_limited'])
  })
  test('is changed with the old one only; this session stays and the others end', async () => {
    const email = addressOf(p.customer.id)
    await reset(email)
    await set(box.tokenFor(email, '/reset/')!, password)
    const [here, there] = [await signIn(email, password), await signIn(email, password)].map(sessionIn) as [Who, Who]
    const { csrf } = p.db.$client
      .query<{ csrf: string }, []>('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1 OFFSET 1')
      .get()!
    const change = (body: object) => p.call({ ...here, csrf }, 'PUT', '/account/password', body)
    await refused(
      () => change({ current: 'wrong wrong wrong', password: 'a much better one' }),
      '422 validation_failed',
    )
    expect(code(await change({ current: password, password: 'a much better one' }))).toBe('200')
    expect([await home(here), await home(there)]).toEqual(['200', '401 not_authenticated'])
    expect(code(await signIn(email, password))).toBe('401 sign_in_failed')
    expect(
      code(await p.call(p.token(p.customer.id), 'PUT', '/account/password', { current: 'a', password: 'b' })),
    ).toBe('403 token_not_allowed')
  })
})

describe('another e-mail address', () => {
  const change = (who: Who, email: string) => p.call(who, 'PUT', '/account/email', { email, password })
  async function withPassword(): Promise<{ email: string; who: Who }> {
    const email = addressOf(p.customer.id)
    await reset(email)
    const who = sessionIn(await set(box.tokenFor(email, '/reset/')!, password))
    const { csrf } = p.db.$client
      .query<{ csrf: string }, []>('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1')
      .get()!
    box.taken.length = 0
    await box.deliver(p)
    box.taken.length = 0
    return { email, who: { ...who, csrf } }
  }
  test('counts once its own link was followed; the old address is told', async () => {
    const { email, who } = await withPassword()
    expect(code(await change(who, 'New@Example.com'))).toBe('200')
    await box.deliver(p)
    expect(box.taken.map((l) => l.to).sort()).toEqual([email, 'new@example.com'].sort())
    expect(addressOf(p.customer.id)).toBe(email)
    expect(box.tokenFor(email, '/confirm-email/')).toBeUndefined()
    const token = box.tokenFor('new@example.com', '/confirm-email/')!
    expect((await p.call(undefined, 'POST', '/account/email/confirm', { token })).body).toEqual({
      email: 'new@example.com',
    })
    expect(code(await signIn('new@example.com', password))).toBe('201')
    expect(code(await signIn(email, password))).toBe('401 sign_in_failed')
  })
  test(
    'S16: is not confirmed by a link from before a change of password; no other link of the account is ' + 'valid',
    async () => {
      const { email, who } = await withPassword()
      await change(who, 'new@example.com')
      await reset(email)
      const billing = p.token(p.owner.id, ['customers:write'])
      const signInLink = (await p.call(billing, 'POST', `/customers/${p.customer.id}/sign-in-links`)).body.url.slice(
        -43,
      )
      const [toNew, toReset] = [box.tokenFor('new@example.com', '/confirm-email/')!, box.tokenFor(email, '/reset/')!]
      expect(
        code(await p.call(who, 'PUT', '/account/password', { current: password, password: 'a much better one' })),
      ).toBe('200')
      await refused(() => p.call(undefined, 'POST', '/account/email/confirm', { token: toNew }), '401 link_not_valid')
      await refused(() => p.call(undefined, 'POST', '/sessions/from-link', { token: signInLink }), '401 link_not_valid')
      await refused(() => set(toReset, 'the third password here'), '401 link_not_valid')
      expect(addressOf(p.customer.id)).toBe(email)
    },
  )
  test('that somebody has already is answered the same, and nothing comes of it', async () => {
    const { email, who } = await withPassword()
    expect(code(await change(who, addressOf(p.owner.id)))).toBe('200')
    await box.deliver(p)
    expect(box.taken.map((l) => l.to)).toEqual([email])
  })
  test('is refused without the password, and when it was taken meanwhile', async () => {
    const { who } = await withPassword()
    await refused(
      () => p.call(who, 'PUT', '/account/email', { email: 'new@example.com', password: 'not the one' }),
      '422 validation_failed',
    )
    await change(who, 'new@example.com')
    await box.deliver(p)
    await p.admin('POST', '/admin/customers', { name: 'Quick', email: 'new@example.com' })
    const token = box.tokenFor('new@example.com', '/confirm-email/')!
    await refused(() => p.call(undefined, 'POST', '/account/email/confirm', { token }), '409 email_taken')
  })
})

test('a mail whose link is over is not sent any more, and says so', async () => {
  const email = addressOf(p.customer.id)
  const state = () =>
    p.db.$client.query('SELECT state, encrypted_payload AS body, error FROM deliveries ORDER BY id DESC LIMIT 1').get()
  expect(code(await p.call(undefined, 'POST', '/password-resets', { email }))).toBe('200')
  mailResetLinks(p.db, p.controller.app)
  p.turnClock(hour)
  await box.deliver(p)
  expect(box.taken).toEqual([])
  expect(state()).toEqual({ state: 'failed', body: '', error: 'The link in it expired before it could be sent.' })
  // Also while there is no mail server at all: nothing of a secret waits for one.
  p.db.$client.run("DELETE FROM settings WHERE name = 'mail.server'")
  await p.admin('POST', '/admin/customers', { name: 'Dee', email: 'dee@example.com', invite: true })
  p.turnClock(6 * 24 * hour)
  await p.controller.deliveries.settle()
  expect(state()).toMatchObject({ state: 'waiting' })
  p.turnClock(24 * hour)
  await p.controller.deliveries.settle()
  expect(state()).toMatchObject({ state: 'failed', body: '' })
})

describe('S18: a link and the address it was mailed to', () => {
  test('a welcome to a wrong address opens nothing once that is corrected, for every kind of account', async () => {
    const made = async (path: string, body: object) => (await p.call(p.owner, 'POST', path, body)).body.id as string
    const ids = [
      ['/customers/', await made('/admin/customers', { name: 'Dee', email: 'wrong1@example.com', invite: true })],
      ['/resellers/', await made('/admin/resellers', { name: 'Rex', email: 'wrong2@example.com', invite: true })],
      ['/admin/staff/', await made('/admin/staff', { name: 'Bo', email: 'wrong3@example.com' })],
    ] as const
    await box.deliver(p)
    for (const [i, [path, id]] of ids.entries()) {
      const token = box.tokenFor(`wrong${i + 1}@example.com`, '/welcome/')!
      expect(code(await p.call(p.owner, 'PATCH', `${path}${id}`, { email: `right${i + 1}@example.com` }))).toBe('200')
      await refused(() => set(token, password), '401 link_not_valid')
    }
    // The old address is told, each time; the new one chooses a password by a link of its own.
    box.taken.length = 0
    await box.deliver(p)
    const described = box.taken.filter((l) => l.subject !== 'A change that affects all owners')
    expect(described.map((l) => [l.to, l.subject])).toEqual(
      [1, 2, 3].map((n) => [`wrong${n}@example.com`, 'The e-mail address of your account was changed']),
    )
    await reset('right3@example.com')
    expect(code(await set(box.tokenFor('right3@example.com', '/reset/')!, password))).toBe('201')
  })
  test('a reset in a lost mailbox does not outlive the change that its owner confirmed', async () => {
    const email = addressOf(p.customer.id)
    await reset(email)
    const who = sessionIn(await set(box.tokenFor(email, '/reset/')!, password))
    const { csrf } = p.db.$client
      .query<{ csrf: string }, []>('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1')
      .get()!
    await p.call({ ...who, csrf }, 'PUT', '/account/email', { email: 'new@example.com', password })
    await reset(email)
    const lost = box.tokenFor(email, '/reset/')!
    expect(
      code(
        await p.call(undefined, 'POST', '/account/email/confirm', {
          token: box.tokenFor('new@example.com', '/confirm-email/')!,
        }),
      ),
    ).toBe('200')
    await refused(() => set(lost, 'a much better one'), '401 link_not_valid')
    await box.deliver(p)
    expect(box.taken.findLast((l) => l.to === email)?.subject).toBe('The e-mail address of your account was changed')
  })
})

describe('a sign-in link from billing', () => {
  const link = async (who: Who, path: string) => p.call(who, 'POST', `${path}/sign-in-links`)
  const use = (token: string) => p.call(undefined, 'POST', '/sessions/from-link', { token })
  const tokenOf = (reply: Reply) => /\/sign-in\/([\w-]{43})$/.exec(reply.body.url)![1]!

  test('signs the customer in, once, within 60 seconds', async () => {
    const billing = p.token(p.owner.id, ['customers:write'])
    const reply = await link(billing, `/customers/${p.customer.id}`)
    expect(reply.status).toBe(201)
    expect(reply.body.url).toStartWith('https://panel.test/sign-in/')
    expect(Date.parse(reply.body.expiresAt) - p.now()).toBeWithin(59 * second, 60 * second)
    const used = await use(tokenOf(reply))
    expect([used.status, used.body]).toEqual([201, { accountId: p.customer.id, kind: 'customer', home: '/' }])
    expect(await home(sessionIn(used))).toBe('200')
    await refused(() => use(tokenOf(reply)), '401 link_not_valid')
    const late = await link(billing, `/customers/${p.customer.id}`)
    p.turnClock(minute)
    await refused(() => use(tokenOf(late)), '401 link_not_valid')
  })
  test('leads to one server when it was made for one', async () => {
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    const reply = await link(p.token(p.owner.id, ['customers:write']), `/servers/${serverId}`)
    expect((await use(tokenOf(reply))).body).toEqual({
      accountId: p.customer.id,
      kind: 'customer',
      home: `/servers/${serverId}`,
    })
  })
  test('S21: is not enough for what is dangerous: that asks who is there', async () => {
    const used = await use(tokenOf(await link(p.token(p.owner.id, ['customers:write']), `/customers/${p.customer.id}`)))
    const { csrf } = p.db.$client
      .query<{ csrf: string }, []>('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1')
      .get()!
    expect(
      code(
        await p.call({ ...sessionIn(used), csrf }, 'POST', '/account/tokens', {
          name: 'Mine',
          scopes: ['servers:read'],
        }),
      ),
    ).toBe('403 confirmation_required')
  })
  test('is never into staff, never made by a person of staff, and never for another reseller', async () => {
    const billing = p.token(p.owner.id, ['customers:write'])
    await refused(() => link(billing, `/customers/${p.owner.id}`), '404 customer_not_found')
    await refused(() => link(p.owner, `/customers/${p.customer.id}`), '403 forbidden')
    const [eve, own] = [p.account('reseller', 'Eve'), p.account('reseller', 'Own')]
    const mine = p.account('customer', 'Mine', own.id)
    await refused(() => link(eve, `/customers/${mine.id}`), '404 customer_not_found')
    expect(code(await link(p.token(own.id, ['reseller:customers']), `/customers/${mine.id}`))).toBe('201')
  })
  test("S26: leads into the account of a customer in one's care and no other, by customer and by server", async () => {
    const reseller = p.account('reseller', 'Rita')
    const [mine, other] = [p.account('customer', 'Mine', reseller.id), p.account('customer', 'Other')]
    const order = async (ownerId: string) =>
      (await p.admin('POST', '/admin/servers', { ...p.order, ownerId, hostname: `h${ownerId.slice(-8)}` }))
        .serverId as string
    p.db.$client.run('INSERT INTO reseller_packages VALUES (?, ?)', [reseller.id, p.order.packageId])
    p.db.$client.run('INSERT INTO reseller_locations VALUES (?, ?)', [reseller.id, p.order.nodeGroupId])
    const [own, ofMine, ofOther] = [await order(reseller.id), await order(mine.id), await order(other.id)]
    await p.settle()
    // Shared with the reseller, who sees it then and is not its owner's keeper for that.
    p.db.$client.run(
      `INSERT INTO team_members
           (id, owner_id, email, member_id, workload_id, role, invited_by, created_at, expires_at, accepted_at)
       VALUES ('tmb_1', ?, 'rita@example.com', ?, ?, 'manage', 'Other', 1, 2, 2)`,
      [other.id, reseller.id, ofOther],
    )
    const billing = p.token(reseller.id, ['reseller:customers', 'reseller:servers', 'reseller:read', 'servers:read'])
    for (const path of [`/customers/${reseller.id}`, `/servers/${own}`, `/servers/${ofOther}`])
      await refused(() => link(billing, path), '403 forbidden')
    await refused(() => link(billing, `/customers/${other.id}`), '404 customer_not_found')
    expect(code(await link(billing, `/customers/${mine.id}`))).toBe('201')
    expect(code(await link(billing, `/servers/${ofMine}`))).toBe('201')
    // In person nobody makes one, neither staff nor reseller.
    for (const path of [`/customers/${mine.id}`, `/servers/${ofMine}`])
      for (const who of [reseller, p.owner]) await refused(() => link(who, path), '403 forbidden')
  })
  test("S51: never leads a staff token into a reseller's account, also where its maker manages resellers", async () => {
    const reseller = p.account('reseller', 'Rita')
    p.db.$client.run('INSERT INTO reseller_packages VALUES (?, ?)', [reseller.id, p.order.packageId])
    p.db.$client.run('INSERT INTO reseller_locations VALUES (?, ?)', [reseller.id, p.order.nodeGroupId])
    const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ownerId: reseller.id })
    await p.settle()
    const billing = p.token(p.owner.id, presets.billing)
    for (const path of [`/customers/${reseller.id}`, `/servers/${serverId}`])
      await refused(() => link(billing, path), '403 forbidden')
    const change = { email: 'eve@example.com' }
    await refused(() => p.call(billing, 'PATCH', `/customers/${reseller.id}`, change), '403 forbidden')
    expect(code(await p.call(p.owner, 'PATCH', `/customers/${reseller.id}`, change))).toBe('200')
  })
  test('S22: by a token of staff needs a maker who may open support sessions, as long as it is used', async () => {
    const role = ['customers.read', 'customers.write', 'servers.see_all'] as const
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const clerk = p.token(p.staff(role).id, ['customers:read', 'customers:write', 'servers:read'])
    for (const path of [`/customers/${p.customer.id}`, `/servers/${serverId}`])
      await refused(() => link(clerk, path), '403 forbidden')
    const keeper = p.staff([...role, 'support_session'])
    const billing = p.token(keeper.id, ['customers:write'])
    expect(code(await link(billing, `/customers/${p.customer.id}`))).toBe('201')
    p.db.$client.run('UPDATE roles SET permissions = ? WHERE id = (SELECT role_id FROM accounts WHERE id = ?)', [
      JSON.stringify(role),
      keeper.id,
    ])
    await refused(() => link(billing, `/customers/${p.customer.id}`), '403 forbidden')
  })
  test('stands in the activity of its account as what it was: a link, and whose', async () => {
    const reseller = p.account('reseller', 'Rita')
    const mine = p.account('customer', 'Mine', reseller.id)
    for (const maker of [p.token(reseller.id, ['reseller:customers']), p.token(p.owner.id, ['customers:write'])]) {
      const used = await use(tokenOf(await link(maker, `/customers/${mine.id}`)))
      expect(used.status).toBe(201)
    }
    const { body } = await p.call(mine, 'GET', '/account/activity')
    const lines = body.data.filter((l: any) => l.operation === 'sign-in-links.use').map((l: any) => l.who)
    expect(lines).toEqual([
      { name: 'Staff, by a link', you: false },
      { name: 'Staff, by a link', you: false },
    ])
    // Staff read the whole of it.
    expect(
      p
        .auditLines()
        .filter((l) => l.operation === 'sign-in-links.use')
        .map((l) => l.details),
    ).toEqual([
      { token: '***', linkOf: { kind: 'reseller', name: 'test (Rita)' } },
      { token: '***', linkOf: { kind: 'staff', name: 'test (Ada)' } },
    ])
  })
})

test('S33: no link is in the audit log, the mail queue or anywhere else in the database', async () => {
  const email = addressOf(p.customer.id)
  await reset(email)
  const mailed = box.tokenFor(email, '/reset/')!
  const reply = await p.call(
    p.token(p.owner.id, ['customers:write']),
    'POST',
    `/customers/${p.customer.id}/sign-in-links`,
  )
  const billing = reply.body.url.split('/').pop()
  await set(mailed, password)
  await p.call(undefined, 'POST', '/sessions/from-link', { token: billing })
  const whole = p.db.$client.serialize().toString('latin1')
  for (const secret of [mailed, billing, password]) expect(whole).not.toContain(secret)
})
