// Members of a team: how they come in, and that their access ends the moment the owner removes them.
import { describe, expect, test } from 'bun:test'
import { INVITATION_MS, PEOPLE_PER_ACCOUNT } from '../../../src/identity/team/model.ts'
import { minute } from '../../../src/kernel/db/clock.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { addressOf, invite, linkIn, share } from '../../support/world/team.ts'

const code = ({ status, body }: { status: number; body: any }) => `${status} ${body.error?.code ?? ''}`.trim()
/** Refused with this, and nothing is different afterwards. */
async function refused(
  p: World,
  who: Who | undefined,
  [method, path, body]: readonly [string, string, unknown?],
  expected: string,
) {
  const before = p.fingerprint(['audit'])
  expect(`${method} ${path} ${code(await p.call(who, method, path, body))}`).toBe(`${method} ${path} ${expected}`)
  expect(p.fingerprint(['audit'])).toBe(before)
}
const order = async (p: World, ownerId: string, hostname: string): Promise<string> => {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, ownerId, hostname })
  await p.settle()
  return serverId
}
const list = async (p: World, who: Who, query = '') => {
  const { body } = await p.call(who, 'GET', `/servers${query}`)
  return { hosts: body.data.map((s: any) => s.hostname).sort(), total: body.total }
}
const password = 'seven green bicycles'
const sessions = (p: World) => (p.db.$client.query('SELECT count(*) AS n FROM sessions').get() as { n: number }).n

describe('an invitation', () => {
  test('is a mail with a link, and the same answer whether or not somebody has the address', async () => {
    using p = await world()
    const known = p.account('customer', 'Bo')
    const namedSchema = async (email: string) => {
      const { status, body } = await p.call(p.customer, 'POST', '/team', { email, role: 'operate' })
      expect(status).toBe(201)
      const { id, email: to, createdAt: _, expiresAt: __, ...rest } = body
      expect(to).toBe(email)
      const mail = p.mailed().at(-1)!
      expect([mail.to, mail.subject]).toEqual([email, 'Cal invites you to their servers'])
      return { rest, text: mail.text.replace(linkIn(mail.text), '…') }
    }
    const events = p.events().length
    expect(await namedSchema(addressOf(p, known))).toEqual(await namedSchema('nobody@nowhere.test'))
    expect(p.events().length).toBe(events)
  })
  test('is stored as a digest, and neither answer nor audit log has the link', async () => {
    using p = await world()
    const { token } = await invite(p, p.customer, 'bo@nowhere.test')
    const whole = JSON.stringify([
      p.db.$client.query('SELECT * FROM team_members').all(),
      p.db.$client.query('SELECT * FROM deliveries').all(),
      p.auditLines(),
      (await p.call(p.customer, 'GET', '/team')).body,
    ])
    expect(whole).not.toContain(token)
    expect(whole).toContain(new Bun.CryptoHasher('sha256').update(token).digest('hex'))
  })
  test('opens nothing until it is accepted', async () => {
    using p = await world()
    const serverId = await order(p, p.customer.id, 'web01')
    const friend = p.account('customer', 'Bo')
    await invite(p, p.customer, addressOf(p, friend), 'manage')
    expect(await list(p, friend)).toEqual({ hosts: [], total: 0 })
    await refused(p, friend, ['GET', `/servers/${serverId}`], '404 server_not_found')
  })
  test('is refused for what cannot be, and nothing happens', async () => {
    using p = await world()
    const other = p.account('customer', 'Eve')
    const foreign = await order(p, other.id, 'db01')
    const bo = { email: 'bo@nowhere.test', role: 'view' }
    await invite(p, p.customer, bo.email)
    for (const [body, expected] of [
      [{ ...bo, email: addressOf(p, p.customer).toUpperCase() }, '422 validation_failed'],
      [{ ...bo, email: 'a@b.test\r\nBcc: c@d.test' }, '422 validation_failed'],
      [{ ...bo, role: 'own' }, '422 validation_failed'],
      [{ ...bo, serverId: foreign }, '422 validation_failed'],
      [{ ...bo, serverId: `srv_${'0'.repeat(26)}` }, '422 validation_failed'],
      [bo, '409 already_done'],
      [{ ...bo, email: 'BO@nowhere.test' }, '409 already_done'],
    ] as const)
      await refused(p, p.customer, ['POST', '/team', body], expected)
    await refused(p, p.owner, ['POST', '/team', bo], '403 forbidden')
  })
  test('is not for a server that was only lent to whoever invites, nor for one in the care of a reseller', async () => {
    using p = await world()
    const serverId = await order(p, p.customer.id, 'web01')
    const friend = p.account('customer', 'Bo')
    await share(p, p.customer, friend, 'manage', serverId)
    await refused(
      p,
      friend,
      ['POST', '/team', { email: 'x@nowhere.test', role: 'view', serverId }],
      '422 validation_failed',
    )
    const reseller = p.account('reseller', 'Rae')
    await p.admin('PATCH', `/resellers/${reseller.id}`, { packageIds: [p.pack], locationIds: [p.location] })
    const cared = await order(p, p.account('customer', 'Kim', reseller.id).id, 'kim01')
    await refused(
      p,
      reseller,
      ['POST', '/team', { email: 'x@nowhere.test', role: 'view', serverId: cared }],
      '422 validation_failed',
    )
  })
  test('gives nothing that a token lacks: S26', async () => {
    using p = await world()
    const { id } = await invite(p, p.customer, 'ann@nowhere.test', 'view')
    const token = p.token(p.customer.id, ['account:write', 'servers:read'])
    await refused(p, token, ['POST', '/team', { email: 'bo@nowhere.test', role: 'operate' }], '403 scope_not_allowed')
    await refused(p, token, ['PATCH', `/team/${id}`, { role: 'manage' }], '403 scope_not_allowed')
    expect(code(await p.call(token, 'POST', '/team', { email: 'bo@nowhere.test', role: 'view' }))).toBe('201')
    await p.call(p.customer, 'PATCH', `/team/${id}`, { role: 'manage' })
    await refused(p, token, ['POST', `/team/${id}/actions/resend`], '403 scope_not_allowed')
  })
  test(
    `is for ${PEOPLE_PER_ACCOUNT} people at most, one on several servers counting once; and for ten a ` + 'minute',
    async () => {
      using p = await world()
      const serverId = await order(p, p.customer.id, 'web01')
      for (let i = 0; i < PEOPLE_PER_ACCOUNT; i++) await invite(p, p.customer, `p${i}@nowhere.test`)
      p.turnClock(minute)
      await refused(p, p.customer, ['POST', '/team', { email: 'more@nowhere.test', role: 'view' }], '422 limit_reached')
      await invite(p, p.customer, 'p7@nowhere.test', 'manage', serverId)
      const { body } = await p.call(p.customer, 'GET', '/team')
      expect([body.total, body.data.length]).toEqual([PEOPLE_PER_ACCOUNT + 1, 50])
      await p.call(p.customer, 'DELETE', `/team/${body.data[20].id}`)
      p.turnClock(minute)
      await invite(p, p.customer, 'more@nowhere.test')
      for (let i = 0; i < 9; i++) await p.call(p.customer, 'POST', `/team/${body.data[i].id}/actions/resend`)
      await refused(p, p.customer, ['POST', `/team/${body.data[9].id}/actions/resend`], '429 rate_limited')
    },
  )
})

describe('accepting', () => {
  test('with the account of the address makes a member, once', async () => {
    using p = await world()
    await order(p, p.customer.id, 'web01')
    const friend = p.account('customer', 'Bo')
    const { id, token } = await invite(p, p.customer, addressOf(p, friend), 'operate')
    expect((await p.call(p.customer, 'GET', '/team')).body.data).toMatchObject([
      { id, state: 'invited', name: null, server: null },
    ])
    expect(await p.call(friend, 'POST', '/team/accept', { token })).toMatchObject({
      status: 200,
      body: { id, home: '/' },
    })
    expect((await p.call(p.customer, 'GET', '/team')).body.data).toMatchObject([
      { id, state: 'member', name: 'Bo', expiresAt: null },
    ])
    expect((await p.call(friend, 'GET', '/team/memberships')).body.data).toMatchObject([
      { id, owner: { id: p.customer.id, name: 'Cal' }, role: 'operate', server: null },
    ])
    expect(await list(p, friend)).toEqual({ hosts: ['web01'], total: 1 })
    await refused(p, friend, ['POST', '/team/accept', { token }], '409 invitation_not_valid')
    await refused(p, undefined, ['POST', '/team/join', { token, name: 'X', password }], '409 invitation_not_valid')
    await refused(p, p.customer, ['POST', `/team/${id}/actions/resend`], '409 already_done')
  })
  test('is refused to another address, to staff, to tokens and in support sessions', async () => {
    using p = await world()
    const friend = p.account('customer', 'Bo')
    const { token } = await invite(p, p.customer, addressOf(p, friend))
    await refused(p, p.account('customer', 'Eve'), ['POST', '/team/accept', { token }], '403 forbidden')
    await refused(p, p.account('reseller', 'Rae'), ['POST', '/team/accept', { token }], '403 forbidden')
    await refused(p, p.owner, ['POST', '/team/accept', { token }], '403 forbidden')
    await refused(p, undefined, ['POST', '/team/accept', { token }], '401 not_authenticated')
    await refused(p, p.token(friend.id), ['POST', '/team/accept', { token }], '403 token_not_allowed')
    const staff = await p.call(p.owner, 'POST', `/customers/${friend.id}/support-session`, { reason: 'Ticket 1' })
    const cookie = /=([^;]+)/.exec(staff.headers.get('Set-Cookie')!)![1]!
    const { csrf } = p.db.$client
      .query<{ csrf: string }, []>('SELECT csrf FROM sessions WHERE support_of IS NOT NULL')
      .get()!
    await refused(p, { cookie, csrf }, ['POST', '/team/accept', { token }], '403 support_session')
    await refused(
      p,
      { cookie, csrf },
      ['POST', '/team', { email: 'x@nowhere.test', role: 'view' }],
      '403 support_session',
    )
  })
  test(
    'is refused when the seven days are over, or the invitation was taken back or sent again, or never ' + 'was',
    async () => {
      using p = await world()
      const friend = p.account('customer', 'Bo')
      const mine = addressOf(p, friend)
      const accept = (token: string) => ['POST', '/team/accept', { token }] as const
      const late = await invite(p, p.customer, mine)
      p.turnClock(INVITATION_MS)
      const again = p.account('customer', 'Eve')
      const cookie = p.token(p.customer.id)
      expect((await p.call(cookie, 'GET', '/team')).body.data[0].state).toBe('expired')
      // The sessions of a week ago are over too; the link is judged for whoever comes with it.
      await refused(p, undefined, ['GET', `/team/invitation?token=${late.token}`], '409 invitation_not_valid')
      await refused(
        p,
        undefined,
        ['POST', '/team/join', { token: late.token, name: 'X', password }],
        '409 invitation_not_valid',
      )
      await p.call(cookie, 'POST', `/team/${late.id}/actions/resend`)
      const fresh = linkIn(p.mailed().at(-1)!.text)
      expect(fresh).not.toBe(late.token)
      await refused(p, again, accept(late.token), '409 invitation_not_valid')
      expect((await p.call(undefined, 'GET', `/team/invitation?token=${fresh}`)).body.next).toBe('sign_in')
      await p.call(cookie, 'DELETE', `/team/${late.id}`)
      await refused(p, again, accept(fresh), '409 invitation_not_valid')
      await refused(p, again, accept('x'.repeat(43)), '409 invitation_not_valid')
    },
  )
  test('at the same moment twice makes one member', async () => {
    using p = await world()
    const friend = p.account('customer', 'Bo')
    const { token } = await invite(p, p.customer, addressOf(p, friend))
    const both = await Promise.all([1, 2].map(() => p.call(friend, 'POST', '/team/accept', { token })))
    expect(both.map(code).sort()).toEqual(['200', '409 invitation_not_valid'])
    expect((await p.call(friend, 'GET', '/team/memberships')).body.total).toBe(1)
  })
})

describe('somebody without an account', () => {
  test('invited by a reseller itself makes one customer more of that reseller, within its quota', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Rae')
    await p.admin('PATCH', `/resellers/${reseller.id}`, { quotas: { customers: 1 } })
    const [first, second] = [
      await invite(p, reseller, 'bo@nowhere.test', 'view'),
      await invite(p, reseller, 'cy@nowhere.test', 'view'),
    ]
    const join = (token: string) => p.call(undefined, 'POST', '/team/join', { token, name: 'New', password })
    const { body } = await join(first.token)
    expect(await p.admin('GET', `/customers/${body.accountId}`)).toMatchObject({
      kind: 'customer',
      resellerId: reseller.id,
    })
    await refused(
      p,
      undefined,
      ['POST', '/team/join', { token: second.token, name: 'New', password }],
      '409 quota_exceeded',
    )
    await p.admin('PATCH', `/resellers/${reseller.id}`, { quotas: { customers: 5 } })
    await p.admin('POST', `/resellers/${reseller.id}/actions/suspend`, { reason: 'Unpaid' })
    await refused(
      p,
      undefined,
      ['POST', '/team/join', { token: second.token, name: 'New', password }],
      '409 reseller_suspended',
    )
  })
  test('makes one with the link: a customer of the same provider, signed in, and a member', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Rae')
    await p.admin('PATCH', `/resellers/${reseller.id}`, { packageIds: [p.pack], locationIds: [p.location] })
    const kim = p.account('customer', 'Kim', reseller.id)
    await order(p, kim.id, 'kim01')
    const { token } = await invite(p, kim, 'bo@nowhere.test', 'view')
    expect((await p.call(undefined, 'GET', `/team/invitation?token=${token}`)).body).toMatchObject({
      owner: { name: 'Kim' },
      email: 'bo@nowhere.test',
      next: 'make_account',
    })
    const { status, body, headers } = await p.call(undefined, 'POST', '/team/join', { token, name: 'Bo', password })
    expect([status, body.home]).toEqual([201, '/'])
    const cookie = /=([^;]+)/.exec(headers.get('Set-Cookie')!)![1]!
    expect(await list(p, { cookie, csrf: '' })).toEqual({ hosts: ['kim01'], total: 1 })
    expect(await p.admin('GET', `/customers/${body.accountId}`)).toMatchObject({
      kind: 'customer',
      name: 'Bo',
      resellerId: reseller.id,
    })
    expect(p.auditLines().at(-1)).toMatchObject({
      operation: 'team.join',
      actorName: 'Bo',
      details: { token: '***', password: '***' },
    })
    expect(p.events().at(-1)).toBe('customer.created')
    expect(code(await p.call(undefined, 'POST', '/sessions', { email: 'bo@nowhere.test', password }))).toBe('201')
  })
  test('is refused with a weak password, and with an address that has an account', async () => {
    using p = await world()
    const { token } = await invite(p, p.customer, 'bo@nowhere.test')
    await refused(
      p,
      undefined,
      ['POST', '/team/join', { token, name: 'Bo', password: 'short' }],
      '422 validation_failed',
    )
    const friend = p.account('customer', 'Ann')
    const other = await invite(p, p.customer, addressOf(p, friend))
    const before = sessions(p)
    await refused(
      p,
      undefined,
      ['POST', '/team/join', { token: other.token, name: 'Ann', password }],
      '409 email_taken',
    )
    expect(sessions(p)).toBe(before)
  })
  test('is one customer more for the reseller, and is told nothing of its numbers when that is too many', async () => {
    using p = await world()
    const reseller = p.account('reseller', 'Rae')
    const kim = p.account('customer', 'Kim', reseller.id)
    const { token } = await invite(p, kim, 'bo@nowhere.test')
    await p.admin('PATCH', `/resellers/${reseller.id}`, { quotas: { customers: 1 } })
    const join = ['POST', '/team/join', { token, name: 'Bo', password }] as const
    await refused(p, undefined, join, '409 quota_exceeded')
    expect(JSON.stringify((await p.call(undefined, ...join)).body)).not.toMatch(/Rae|1 of 1|details/)
    await p.admin('PATCH', `/resellers/${reseller.id}`, { quotas: { customers: 2 } })
    expect(code(await p.call(undefined, ...join))).toBe('201')
  })
  test('twice at the same moment makes one account, and guessing is limited like signing in', async () => {
    using p = await world()
    const { token } = await invite(p, p.customer, 'bo@nowhere.test')
    const join = (token: string) => p.call(undefined, 'POST', '/team/join', { token, name: 'Bo', password })
    expect((await Promise.all([join(token), join(token)])).map(code).sort()).toEqual([
      '201',
      '409 invitation_not_valid',
    ])
    expect(p.db.$client.query("SELECT 1 FROM accounts WHERE email = 'bo@nowhere.test'").all().length).toBe(1)
    const codes = []
    for (let i = 0; i < 20; i++) codes.push(code(await join('x'.repeat(43))))
    expect(codes.at(-1)).toBe('429 rate_limited')
  })
})

describe('revoking', () => {
  for (const how of ['removed by the owner', 'left by the member', 'made less by the owner'])
    test(`${how}: counts at the very next call, with session and token alike`, async () => {
      using p = await world()
      const serverId = await order(p, p.customer.id, 'web01')
      const friend = p.account('customer', 'Bo')
      const token = p.token(friend.id)
      const id = await share(p, p.customer, friend, 'operate', serverId)
      const power = ['POST', `/servers/${serverId}/actions/power`, { action: 'restart' }] as const
      const { jobId } = (await p.call(token, ...power)).body
      await p.settle()
      if (how === 'made less by the owner') {
        await p.call(p.customer, 'PATCH', `/team/${id}`, { role: 'view' })
        for (const who of [friend, token]) {
          await refused(p, who, power, '403 forbidden')
          expect(code(await p.call(who, 'GET', `/servers/${serverId}`))).toBe('200')
        }
        return
      }
      if (how === 'removed by the owner') await p.call(p.customer, 'DELETE', `/team/${id}`)
      else await p.call(friend, 'DELETE', `/team/memberships/${id}`)
      for (const who of [friend, token]) {
        await refused(p, who, power, '404 server_not_found')
        for (const path of [`/servers/${serverId}`, `/jobs/${jobId}`, `/jobs/${jobId}/log`])
          expect((await p.call(who, 'GET', path)).status).toBe(404)
        expect(await list(p, who)).toEqual({ hosts: [], total: 0 })
        expect((await p.call(who, 'GET', '/jobs')).body.total).toBe(0)
      }
      expect((await p.call(p.customer, 'GET', '/team')).body.total).toBe(0)
      await refused(p, friend, ['DELETE', `/team/memberships/${id}`], '404 membership_not_found')
    })
  test("is the owner's, and leaving the member's: neither does the other's", async () => {
    using p = await world()
    const friend = p.account('customer', 'Bo')
    const eve = p.account('customer', 'Eve')
    const id = await share(p, p.customer, friend, 'manage')
    await refused(p, friend, ['DELETE', `/team/${id}`], '404 team_member_not_found')
    await refused(p, friend, ['PATCH', `/team/${id}`, { role: 'view' }], '404 team_member_not_found')
    await refused(p, eve, ['DELETE', `/team/${id}`], '404 team_member_not_found')
    await refused(p, p.customer, ['DELETE', `/team/memberships/${id}`], '404 membership_not_found')
    await refused(p, eve, ['DELETE', `/team/memberships/${id}`], '404 membership_not_found')
    expect((await p.call(friend, 'GET', '/team')).body.total).toBe(0)
  })
})

describe('a member of one server', () => {
  test('sees that one and nothing else: no list, count, filter, search, job or log shows more', async () => {
    using p = await world()
    const [one, two] = [await order(p, p.customer.id, 'web01'), await order(p, p.customer.id, 'secret02')]
    const friend = p.account('customer', 'Bo')
    const own = await order(p, friend.id, 'mine01')
    await share(p, p.customer, friend, 'manage', one)
    expect(await list(p, friend)).toEqual({ hosts: ['mine01', 'web01'], total: 2 })
    expect(await list(p, friend, `?ownerId=${p.customer.id}`)).toEqual({ hosts: ['web01'], total: 1 })
    expect(await list(p, friend, '?q=secret')).toEqual({ hosts: [], total: 0 })
    expect(await list(p, friend, '?q=203.0.113')).toEqual({ hosts: ['mine01', 'web01'], total: 2 })
    expect(await list(p, friend, `?q=${two}`)).toEqual({ hosts: [], total: 0 })
    // The name of who shares it is known to the member; the address is not, and cannot be found out by searching.
    expect((await list(p, friend, '?q=Cal')).hosts).toEqual(['web01'])
    expect((await list(p, friend, `?q=${encodeURIComponent(addressOf(p, p.customer))}`)).hosts).toEqual([])
    expect((await list(p, friend, `?q=${encodeURIComponent(addressOf(p, friend))}`)).hosts).toEqual(['mine01'])
    expect((await list(p, p.customer, `?q=${encodeURIComponent(addressOf(p, p.customer))}`)).total).toBe(2)

    const jobs = (await p.call(friend, 'GET', '/jobs')).body
    expect([jobs.total, jobs.data.map((j: any) => j.serverId).sort()]).toEqual([2, [one, own].sort()])
    expect((await p.call(friend, 'GET', `/jobs?serverId=${two}`)).body).toMatchObject({ total: 0, data: [] })
    const hidden = (await p.call(p.customer, 'GET', `/jobs?serverId=${two}`)).body.data[0].id
    for (const path of [
      `/servers/${two}`,
      `/jobs/${hidden}`,
      `/jobs/${hidden}/log`,
      `/customers/${p.customer.id}`,
      `/customers/${p.customer.id}/ssh-keys`,
    ])
      expect([path, (await p.call(friend, 'GET', path)).status]).toEqual([path, 404])
    expect(JSON.stringify((await p.call(friend, 'GET', '/servers')).body)).not.toContain(addressOf(p, p.customer))
    // And the owner nothing of the member's.
    expect(await list(p, p.customer)).toEqual({ hosts: ['secret02', 'web01'], total: 2 })
    expect((await p.call(p.customer, 'GET', `/servers/${own}`)).status).toBe(404)
  })
  test('pages through a mixed list without doubles or gaps', async () => {
    using p = await world()
    const friend = p.account('customer', 'Bo')
    for (let i = 0; i < 4; i++) await order(p, i % 2 ? friend.id : p.customer.id, `web0${i}`)
    await share(p, p.customer, friend, 'view')
    await share(p, p.customer, friend, 'manage', (await p.call(p.customer, 'GET', '/servers')).body.data[0].id)
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await p.call(friend, 'GET', `/servers?limit=1${cursor && `&cursor=${cursor}`}`)
      seen.push(body.data[0].hostname)
      expect(body.total).toBe(4)
      if (!body.nextCursor) break
      cursor = body.nextCursor
    }
    expect(seen).toEqual(['web03', 'web02', 'web01', 'web00'])
  })
})

describe('what two owners allow', () => {
  test('does not mix: on each server counts what its own owner said', async () => {
    using p = await world()
    const eve = p.account('customer', 'Eve')
    const friend = p.account('customer', 'Bo')
    const [cals, eves] = [await order(p, p.customer.id, 'cal01'), await order(p, eve.id, 'eve01')]
    await share(p, p.customer, friend, 'manage')
    await share(p, eve, friend, 'view')
    const access = async (id: string) => (await p.call(friend, 'GET', `/servers/${id}`)).body.access
    expect([await access(cals), await access(eves)]).toEqual(['manage', 'view'])
    await refused(p, friend, ['POST', `/servers/${eves}/actions/power`, { action: 'restart' }], '403 forbidden')
    expect(await list(p, p.customer)).toEqual({ hosts: ['cal01'], total: 1 })
  })
  test('of one owner, the stronger of two roles counts, and what is left counts when it goes', async () => {
    using p = await world()
    const friend = p.account('customer', 'Bo')
    const [one, two] = [await order(p, p.customer.id, 'web01'), await order(p, p.customer.id, 'web02')]
    await share(p, p.customer, friend, 'view')
    const more = await share(p, p.customer, friend, 'manage', one)
    const access = async (id: string) => (await p.call(friend, 'GET', `/servers/${id}`)).body.access
    expect([await access(one), await access(two)]).toEqual(['manage', 'view'])
    await p.call(p.customer, 'DELETE', `/team/${more}`)
    expect([await access(one), await access(two)]).toEqual(['view', 'view'])
    expect((await list(p, friend)).total).toBe(2)
  })
})

describe('a server', () => {
  test('that comes later is in what was shared as all', async () => {
    using p = await world()
    const friend = p.account('customer', 'Bo')
    await share(p, p.customer, friend, 'view')
    await order(p, p.customer.id, 'later01')
    expect(await list(p, friend)).toEqual({ hosts: ['later01'], total: 1 })
  })
  test('that is terminated takes its members with it', async () => {
    using p = await world()
    const friend = p.account('customer', 'Bo')
    const [one, two] = [await order(p, p.customer.id, 'web01'), await order(p, p.customer.id, 'web02')]
    await share(p, p.customer, friend, 'manage', one)
    await share(p, p.customer, friend, 'view', two)
    await p.admin('DELETE', `/servers/${one}`)
    await p.settle()
    expect(await list(p, friend)).toEqual({ hosts: ['web02'], total: 1 })
    expect((await p.call(p.customer, 'GET', '/team')).body.total).toBe(1)
    expect((await p.call(friend, 'GET', '/team/memberships')).body.total).toBe(1)
  })
  test("that becomes another's is shared by nobody, also when it comes back", async () => {
    using p = await world()
    const friend = p.account('customer', 'Bo')
    const eve = p.account('customer', 'Eve')
    const serverId = await order(p, p.customer.id, 'web01')
    await share(p, p.customer, friend, 'manage', serverId)
    const { token } = await invite(p, p.customer, addressOf(p, eve), 'manage', serverId)
    const move = (to: string) =>
      write(p.db, () => p.db.$client.run('UPDATE workloads SET owner_id = ? WHERE id = ?', [to, serverId]))
    move(eve.id)
    await refused(p, friend, ['GET', `/servers/${serverId}`], '404 server_not_found')
    move(p.customer.id)
    await refused(p, friend, ['GET', `/servers/${serverId}`], '404 server_not_found')
    await refused(p, eve, ['POST', '/team/accept', { token }], '409 invitation_not_valid')
    expect((await p.call(p.customer, 'GET', `/servers/${serverId}`)).body.access).toBe('own')
  })
})
