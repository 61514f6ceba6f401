import { describe, expect, test } from 'bun:test'
import { newId } from '../../../../src/kernel/db/ids.ts'
import { provider, unsigned, withHmac } from '../../../support/services/provider.ts'
import { type Panel, panel, type Who } from '../../../support/world/panel.ts'

const everybody = ['staff', 'reseller', 'customer']
const hour = 3_600_000

/** A panel whose staff have configured the provider, and a customer that the provider knows by address. */
async function shop(kinds: string[] = everybody) {
  const p = await panel()
  const idp = await provider(p.now)
  const staff = p.staff()
  const configured = await p.call(staff, 'PUT', '/admin/settings/sign-in', {
    ...idp.settings,
    issuer: idp.issuer,
    for: kinds,
  })
  expect(configured.status).toBe(200)
  const cal = p.account('customer', 'Cal')
  const email = emailOf(p, cal.id)
  idp.is({ sub: 'cal-1', email, email_verified: true })
  link(p, cal.id, idp.issuer, 'cal-1')
  return Object.assign(p, {
    idp,
    staffMember: staff,
    cal: { ...cal, email },
    [Symbol.dispose]() {
      idp.stop()
      p.close()
    },
  })
}
type Shop = Awaited<ReturnType<typeof shop>>

/** As its holder did once. */
const link = (p: Panel, accountId: string, issuer: string, subject: string) =>
  p.db.$client.run('INSERT INTO account_identities VALUES (?, ?, ?, ?, 1, 1)', [
    newId('idn'),
    accountId,
    issuer,
    subject,
  ])
const emailOf = (p: Panel, id: string) =>
  (p.db.$client.query('SELECT email FROM accounts WHERE id = ?').get(id) as { email: string }).email
const rows = (p: Panel, table: string) => p.db.$client.query<any, []>(`SELECT * FROM ${table}`).all()
/** A refused sign-in changes nothing but the audit log and the row that it consumes. */
const untouched = (p: Panel) => `${p.fingerprint(['audit', 'provider_sign_ins'])} ${rows(p, 'sessions').length}`
const lastLine = (p: Panel) => p.auditLines().at(-1)!

/** Presses the button: the address of the provider, and the cookie of this browser. */
async function begin(p: Panel, query = '') {
  const response = await p.controller.router.fetch(new Request(`http://localhost/login/oidc/start${query}`))
  return {
    status: response.status,
    location: response.headers.get('Location')!,
    setCookie: response.headers.get('Set-Cookie') ?? '',
    cookie: /^([^;]*)/.exec(response.headers.get('Set-Cookie') ?? '')![1]!,
  }
}
/** Goes to the provider and comes back with what it put into the address. */
async function visit(location: string) {
  const back = new URL((await fetch(location, { redirect: 'manual' })).headers.get('Location')!)
  return { back, code: back.searchParams.get('code')!, state: back.searchParams.get('state')! }
}
const finish = (p: Panel, cookie: string, { code, state }: { code: string; state: string }) =>
  p.call(
    undefined,
    'POST',
    '/sessions/from-provider',
    { code, state },
    { Cookie: cookie, Origin: 'https://panel.test' },
  )
async function walk(p: Panel) {
  const { location, cookie } = await begin(p)
  return finish(p, cookie, await visit(location))
}
const sessionIn = (p: Panel, headers: Headers): Who => ({
  cookie: /__Host-panel=([\w-]{20,})/.exec(headers.getSetCookie().join(' '))![1]!,
  csrf: p.db.$client.query<{ csrf: string }, []>('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1').get()!.csrf,
})

describe('S20 what another site can do to its visitor', () => {
  const start = (p: Panel, headers: Record<string, string> = {}) =>
    p.controller.router.fetch(new Request('http://localhost/login/oidc/start', { headers }))
  const image = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' }
  const tries = async (p: Panel) =>
    (await p.call(undefined, 'POST', '/sessions', { email: 'nobody@customer.test', password: 'x' })).status

  test('pictures and frames that lead to the button begin nothing and ask the provider nothing', async () => {
    using p = await shop()
    const before = p.fingerprint()
    for (const headers of [image, { ...image, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' }]) {
      const response = await start(p, headers)
      expect([response.status, response.headers.get('Set-Cookie')]).toEqual([403, null])
    }
    expect(p.fingerprint()).toBe(before)
    for (const site of ['same-origin', 'none', 'cross-site'])
      expect(
        (await start(p, { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' })).status,
      ).toBe(303)
  })
  test('its addresses use up nothing of what is left for signing in, with a provider or without', async () => {
    using p = await shop()
    using none = await panel()
    for (let i = 0; i < 25; i++) {
      await start(p)
      expect((await start(none)).headers.get('Location')).toBe('/login?refused=not_possible')
    }
    expect((await start(p)).headers.get('Location')).toBe('/login?refused=rate_limited')
    expect([await tries(p), await tries(none)]).toEqual([401, 401])
  })
})

describe('signing in through a provider', () => {
  test('leads there with PKCE, state and nonce, and back into a session; nobody can read it later', async () => {
    using p = await shop()
    const { status, location, setCookie, cookie } = await begin(p, '?next=/servers')
    expect(status).toBe(303)
    expect(setCookie).toMatch(/^__Host-panel-provider=[\w-]{43}; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/)
    const asked = new URL(location).searchParams
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      client_id: 'berth',
      redirect_uri: 'https://panel.test/login/oidc',
      scope: 'openid',
      code_challenge_method: 'S256',
    })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked.get(name)).toMatch(/^[\w-]{43}$/)
    const kept = JSON.stringify(rows(p, 'provider_sign_ins'))
    for (const said of [asked.get('state')!, asked.get('nonce')!, cookie.split('=')[1]!])
      expect(kept).not.toContain(said)

    const came = await visit(location)
    expect(came.back.origin + came.back.pathname).toBe('https://panel.test/login/oidc')
    const { status: done, body, headers } = await finish(p, cookie, came)
    expect([done, body]).toEqual([201, { accountId: p.cal.id, kind: 'customer', home: '/servers' }])
    expect((await p.call(sessionIn(p, headers), 'GET', '/servers')).status).toBe(200)
    expect(headers.getSetCookie().some((c) => c.startsWith('__Host-panel-provider=;'))).toBe(true)
    expect(rows(p, 'provider_sign_ins')).toEqual([])
    expect(rows(p, 'account_identities')).toMatchObject([
      { account_id: p.cal.id, issuer: p.idp.issuer, subject: 'cal-1' },
    ])
    expect(lastLine(p)).toMatchObject({
      operation: 'sessions.from-provider',
      actorId: p.cal.id,
      details: { code: '***', state: '***' },
    })
    const written = JSON.stringify([p.auditLines(), rows(p, 'deliveries'), rows(p, 'settings')])
    for (const secret of [came.code, came.state, 'at-canary', 's3cret']) expect(written).not.toContain(secret)
  })

  test('knows the person by the provider’s identifier from then on, whatever becomes of the addresses', async () => {
    using p = await shop()
    await walk(p)
    p.idp.is({ sub: 'cal-1', email: 'other@example.net', email_verified: false })
    expect((await walk(p)).body.accountId).toBe(p.cal.id)
    p.db.$client.run("UPDATE accounts SET email = 'new@customer.test' WHERE id = ?", [p.cal.id])
    expect((await walk(p)).body.accountId).toBe(p.cal.id)
    expect([rows(p, 'account_identities').length, rows(p, 'deliveries').length]).toEqual([1, 0])
  })

  test('asks for the second factor afterwards, as after a password', async () => {
    using p = await shop()
    p.db.$client.run(
      "INSERT INTO totp (account_id, secret, last_step, created_at, confirmed_at) VALUES (?, 'x', 0, 1, 1)",
      [p.cal.id],
    )
    const before = rows(p, 'sessions').length
    const { body, headers } = await walk(p)
    expect(body).toEqual({ accountId: p.cal.id, kind: 'customer', home: '/login/2fa', secondFactor: ['totp'] })
    expect(headers.getSetCookie().some((c) => c.startsWith('__Host-panel='))).toBe(false)
    expect(rows(p, 'sessions').length).toBe(before)
  })

  test('counts as having shown who one is only when the provider says that it has just asked', async () => {
    using p = await shop()
    const identity = async () => (await p.call(p.cal, 'GET', '/account/identities')).body.data[0].id
    const unlink = async () => {
      const { headers } = await walk(p)
      return (await p.call(sessionIn(p, headers), 'DELETE', `/account/identities/${await identity()}`)).status
    }
    const of = { sub: 'cal-1', email: p.cal.email, email_verified: true }
    expect(await unlink()).toBe(403)
    p.idp.is({ ...of, auth_time: (p.now() - hour) / 1000 })
    expect(await unlink()).toBe(403)
    p.idp.is({ ...of, auth_time: p.now() / 1000 })
    expect(await unlink()).toBe(200)
  })

  test('can ask the provider to ask again, which is offered to who has nothing else to show', async () => {
    using p = await shop()
    const { headers } = await walk(p)
    const page = await p.controller.router.fetch(
      new Request('http://localhost/account/confirm', {
        headers: { Cookie: `__Host-panel=${sessionIn(p, headers).cookie}` },
      }),
    )
    expect(await page.text()).toContain('href="/login/oidc/start?again=1"')
    await visit((await begin(p, '?again=1')).location)
    expect(Object.fromEntries(p.idp.lastAuthorize)).toMatchObject({ prompt: 'login', max_age: '0' })
  })

  test('fetches rotated keys once, and remembers the others', async () => {
    using p = await shop()
    await walk(p)
    await walk(p)
    expect(p.idp.asked.filter((path) => path === '/keys').length).toBe(1)
    await p.idp.rotate()
    for (let i = 0; i < 2; i++) expect((await walk(p)).status).toBe(201)
    expect(p.idp.asked.filter((path) => path === '/keys').length).toBe(2)
    expect(p.idp.asked.filter((path) => path.startsWith('/.well-known')).length).toBe(1)
  })
})

test('keys of every algorithm that is taken are understood', async () => {
  using p = await shop()
  for (const alg of ['PS256', 'ES256', 'EdDSA', 'RS256'] as const) {
    await p.idp.rotate(alg)
    expect([alg, (await walk(p)).status]).toEqual([alg, 201])
  }
})

describe('what does not begin and end in one browser is refused', () => {
  const refused = async (p: Shop, does: () => Promise<{ status: number; body: any; headers: Headers }>) => {
    const before = untouched(p)
    const asked = p.idp.asked.length
    const { status, body, headers } = await does()
    expect([status, body.error.code, headers.get('Set-Cookie')]).toEqual([401, 'sign_in_failed', null])
    expect(lastLine(p)).toMatchObject({
      operation: 'sessions.from-provider',
      result: 'sign_in_failed',
      details: { reason: 'not_begun_here' },
    })
    expect(untouched(p)).toBe(before)
    expect(p.idp.asked.length).toBe(asked)
  }
  test('another state', async () => {
    using p = await shop()
    const { location, cookie } = await begin(p)
    const came = await visit(location)
    await refused(p, () => finish(p, cookie, { ...came, state: 'x'.repeat(43) }))
    // A stranger's link with a state of its own has not spoilt the sign-in that is under way.
    expect((await finish(p, cookie, came)).status).toBe(201)
  })
  test('no cookie, and the cookie of another browser', async () => {
    using p = await shop()
    const came = await visit((await begin(p)).location)
    const other = await begin(p)
    await refused(p, () => finish(p, '', came))
    await refused(p, () => finish(p, other.cookie, came))
  })
  test('the same state a second time', async () => {
    using p = await shop()
    const { location, cookie } = await begin(p)
    const came = await visit(location)
    expect((await finish(p, cookie, came)).status).toBe(201)
    await refused(p, () => finish(p, cookie, came))
  })
  test('one that took longer than ten minutes', async () => {
    using p = await shop()
    const { location, cookie } = await begin(p)
    const came = await visit(location)
    p.turnClock(600_001)
    await refused(p, () => finish(p, cookie, came))
  })
  test('one whose provider was replaced meanwhile', async () => {
    using p = await shop()
    const { location, cookie } = await begin(p)
    const came = await visit(location)
    await p.admin('DELETE', '/admin/settings/sign-in')
    await refused(p, () => finish(p, cookie, came))
  })
  test('one that comes back from another issuer, or from none where the provider names itself', async () => {
    using p = await shop()
    const issuer = async (iss?: string) => {
      const { location, cookie } = await begin(p)
      const { code, state } = await visit(location)
      const body = { code, state, ...(iss && { iss }) }
      const from = { Cookie: cookie, Origin: 'https://panel.test' }
      return p.call(undefined, 'POST', '/sessions/from-provider', body, from)
    }
    const refusedBy = async (iss?: string) => {
      const before = untouched(p)
      const { status, body } = await issuer(iss)
      expect([status, body.error.code]).toEqual([401, 'sign_in_failed'])
      expect(lastLine(p).details).toMatchObject({ reason: 'another_issuer' })
      expect(untouched(p)).toBe(before)
    }
    await refusedBy('https://id.evil.test')
    expect((await issuer(p.idp.issuer)).status).toBe(201)
    const documents = await (await fetch(`${p.idp.issuer}/.well-known/openid-configuration`)).json()
    const named = { ...(documents as object), authorization_response_iss_parameter_supported: true }
    p.idp.lie({ instead: { '/.well-known/openid-configuration': () => Response.json(named) } })
    p.turnClock(2 * hour)
    await refusedBy()
    expect((await issuer(p.idp.issuer)).status).toBe(201)
  })
  test('a call from another site', async () => {
    using p = await shop()
    const { location, cookie } = await begin(p)
    const came = await visit(location)
    const before = untouched(p)
    const { body } = await p.call(
      undefined,
      'POST',
      '/sessions/from-provider',
      { code: came.code, state: came.state },
      { Cookie: cookie, Origin: 'https://evil.test' },
    )
    expect(body.error.code).toBe('bad_origin')
    expect(untouched(p)).toBe(before)
  })
})

describe('what the provider says is not believed', () => {
  const lies: [string, (p: Shop) => Promise<unknown> | unknown, object][] = [
    ['another nonce', (p) => p.idp.lie({ claims: (c) => ({ ...c, nonce: 'another' }) }), { what: 'nonce' }],
    ['no nonce', (p) => p.idp.lie({ claims: ({ nonce: _, ...c }) => c }), { what: 'nonce' }],
    [
      'a token for somebody else',
      (p) => p.idp.lie({ claims: (c) => ({ ...c, aud: 'another-client' }) }),
      { what: 'aud' },
    ],
    [
      'a token for several that was issued to another',
      (p) => p.idp.lie({ claims: (c) => ({ ...c, aud: ['berth', 'another'], azp: 'another' }) }),
      { what: 'azp' },
    ],
    [
      'a token for several that does not say to whom',
      (p) => p.idp.lie({ claims: (c) => ({ ...c, aud: ['berth', 'another'] }) }),
      { what: 'aud' },
    ],
    [
      'a token of another issuer',
      (p) => p.idp.lie({ claims: (c) => ({ ...c, iss: 'https://id.evil.test' }) }),
      { what: 'iss' },
    ],
    ['an expired token', (p) => p.idp.lie({ claims: (c) => ({ ...c, exp: Number(c['iat']) - 61 }) }), { what: 'exp' }],
    ['a token that does not expire', (p) => p.idp.lie({ claims: ({ exp: _, ...c }) => c }), { what: 'exp' }],
    ['an old token', (p) => p.idp.lie({ claims: (c) => ({ ...c, iat: Number(c['iat']) - 3600 }) }), { what: 'iat' }],
    [
      'a token of the future',
      (p) => p.idp.lie({ claims: (c) => ({ ...c, iat: Number(c['iat']) + 3600, exp: Number(c['iat']) + 7200 }) }),
      { what: 'iat' },
    ],
    ['a token about nobody', (p) => p.idp.lie({ claims: ({ sub: _, ...c }) => c }), { what: 'sub' }],
    ['a token that nobody signed', (p) => p.idp.lie({ token: (c) => unsigned(c) }), { what: 'algorithm' }],
    [
      'a token signed with the public key as a shared secret',
      (p) => p.idp.lie({ token: (c, pem) => withHmac(c, pem, 'first') }),
      { what: 'algorithm' },
    ],
    ['a token signed with a key that is not published', (p) => p.idp.lie({ hiddenKey: true }), { what: 'key' }],
    ['a token whose claims were changed after signing', (p) => p.idp.lie({ forge: true }), { what: 'signature' }],
    [
      'no token',
      (p) => p.idp.lie({ instead: { '/token': () => Response.json({ access_token: 'x' }) } }),
      { what: 'none' },
    ],
    ['no JSON', (p) => p.idp.lie({ instead: { '/token': () => new Response('<html>') } }), { what: 'none' }],
    [
      'a redirect, which is not followed',
      (p) => p.idp.lie({ instead: { '/token': () => Response.redirect(`${p.idp.issuer}/keys`, 307) } }),
      { reason: 'code_refused', what: '307' },
    ],
  ]
  for (const [name, lie, why] of lies)
    test(name, async () => {
      using p = await shop()
      await lie(p)
      const before = untouched(p)
      const { status, body, headers } = await walk(p)
      expect([status, body.error.code, headers.get('Set-Cookie')]).toEqual([401, 'sign_in_failed', null])
      expect(lastLine(p)).toMatchObject({ result: 'sign_in_failed', details: { reason: 'token_not_valid', ...why } })
      expect(untouched(p)).toBe(before)
      p.idp.lie({})
      expect((await walk(p)).status).toBe(201)
    })
  test('an unknown key is asked for once more, and not again and again', async () => {
    using p = await shop()
    p.idp.lie({ hiddenKey: true })
    await walk(p)
    expect(p.idp.asked.filter((path) => path === '/keys').length).toBe(2)
  })
  test('a code that was used already, or belongs to another verifier', async () => {
    using p = await shop()
    const [first, second] = [await begin(p), await begin(p)]
    const [came, other] = [await visit(first.location), await visit(second.location)]
    expect((await finish(p, first.cookie, came)).status).toBe(201)
    const before = untouched(p)
    const { status, body } = await finish(p, second.cookie, { code: came.code, state: other.state })
    expect([status, body.error.code]).toEqual([401, 'sign_in_failed'])
    expect(lastLine(p).details).toEqual({ reason: 'code_refused', what: '400 invalid_grant' })
    expect(untouched(p)).toBe(before)

    const [mine, theirs] = [await begin(p), await begin(p)]
    const stolen = await visit(theirs.location)
    const own = await visit(mine.location)
    expect((await finish(p, mine.cookie, { code: stolen.code, state: own.state })).status).toBe(401)
    expect(lastLine(p).details).toEqual({ reason: 'code_refused', what: '400 invalid_grant' })
    expect(untouched(p)).toBe(before)
  })
})

describe('a provider that does not answer', () => {
  const silent: [string, (p: Shop) => void][] = [
    ['is down', (p) => p.idp.stop()],
    ['is slow', (p) => p.idp.lie({ instead: { '/token': () => Bun.sleep(20_000).then(() => new Response('late')) } })],
    [
      'drips',
      (p) =>
        p.idp.lie({
          instead: {
            '/token': () =>
              new Response(
                new ReadableStream({
                  async pull(c) {
                    await Bun.sleep(500)
                    c.enqueue('x')
                  },
                }),
              ),
          },
        }),
    ],
    ['answers without an end', (p) => p.idp.lie({ instead: { '/token': () => new Response('x'.repeat(2_000_000)) } })],
    ['has lost its keys', (p) => p.idp.lie({ instead: { '/keys': () => new Response('gone', { status: 500 }) } })],
  ]
  for (const [name, does] of silent)
    test(`and ${name}: nobody comes in, and it takes seconds`, async () => {
      using p = await shop()
      const { location, cookie } = await begin(p)
      const came = await visit(location)
      does(p)
      const before = untouched(p)
      const began = performance.now()
      const { status, body } = await finish(p, cookie, came)
      expect([status, body.error.code]).toEqual([409, 'source_unreachable'])
      expect(performance.now() - began).toBeLessThan(8000)
      expect(lastLine(p)).toMatchObject({ result: 'source_unreachable', details: { reason: 'provider_unreachable' } })
      expect(untouched(p)).toBe(before)
    }, 60_000)

  test('leaves the button leading back to the sign-in page, which says why', async () => {
    using p = await shop()
    p.idp.stop()
    p.turnClock(2 * hour)
    expect((await begin(p)).location).toBe('/login?refused=source_unreachable')
    const page = await (
      await p.controller.router.fetch(new Request('http://localhost/login?refused=source_unreachable'))
    ).text()
    expect(page).toContain('The sign-in service is not responding')
    expect(page).toContain('Sign in with Example')
  })
})

describe('who has no account here that may come this way', () => {
  const stranger = async (p: Shop, reason: string) => {
    const before = untouched(p)
    const { status, body, headers } = await walk(p)
    expect([status, body.error, headers.get('Set-Cookie')]).toEqual([
      401,
      {
        code: 'sign_in_failed',
        message:
          'No account here is linked to this sign-in. Sign in with your password once and link it under Account. ' +
          'If you have no password yet, open your invitation.',
      },
      null,
    ])
    expect(lastLine(p)).toMatchObject({ result: 'sign_in_failed', details: { reason } })
    expect(untouched(p)).toBe(before)
  }
  test('is told the same, and gets none, whatever address the provider vouches for: also an owner’s', async () => {
    using p = await shop()
    for (const { id } of [p.staffMember, p.account('reseller', 'Rita'), p.account('customer', 'Bo'), p.cal]) {
      p.idp.is({ sub: `new-${id}`, email: emailOf(p, id), email_verified: true })
      await stranger(p, 'not_linked')
    }
    p.idp.is({ sub: 'x', email: 'nobody@example.com', email_verified: true })
    await stranger(p, 'not_linked')
  })
  test('a kind of account that is not among those, also when it was linked before', async () => {
    using p = await shop()
    await p.admin('PUT', '/admin/settings/sign-in', { ...p.idp.settings, issuer: p.idp.issuer, for: ['staff'] })
    await stranger(p, 'kind_not_allowed')
  })
  test('staff who left', async () => {
    using p = await shop()
    const gone = p.staff()
    link(p, gone.id, p.idp.issuer, 'gone')
    p.idp.is({ sub: 'gone', email: emailOf(p, gone.id), email_verified: true })
    p.db.$client.run('UPDATE accounts SET disabled_at = 1 WHERE id = ?', [gone.id])
    await stranger(p, 'account_disabled')
  })
})

describe('S50: a provider is linked', () => {
  type Answer = { status: number; body: any; headers: Headers }
  const at = '/account/identities'
  const depart = async (p: Shop, who: Who): Promise<{ url: string; cookie: string }> => {
    const { status, body, headers } = await p.call(who, 'POST', `${at}/begin`)
    expect(status).toBe(200)
    return { url: body.url, cookie: headers.get('Set-Cookie')!.split(';')[0]! }
  }
  const come = async (p: Shop, who: Who, { url, cookie }: { url: string; cookie: string }): Promise<Answer> => {
    const { code, state } = await visit(url)
    return p.call(who, 'POST', at, { code, state }, { Cookie: `__Host-panel=${who.cookie}; ${cookie}` })
  }
  const code = ({ status, body }: Answer) => `${status} ${body.error?.code ?? ''}`.trim()

  test('by its holder who is signed in; they are mailed, and it signs them in from then on', async () => {
    using p = await shop()
    const bo = p.account('customer', 'Bo')
    p.idp.is({ sub: 'bo-1', email: 'anything@example.net', email_verified: false })
    expect((await walk(p)).body.error.message).toContain('Sign in with your password once and link it under Account')
    const left = await depart(p, bo)
    expect(new URL(left.url).searchParams.get('state')).toStartWith('link.')
    expect(new URL(left.url).searchParams.get('prompt')).toBe('login')
    expect(code(await come(p, bo, left))).toBe('201')
    expect(rows(p, 'deliveries')).toMatchObject([{ recipient: emailOf(p, bo.id) }])
    expect((await walk(p)).body.accountId).toBe(bo.id)
    expect(code(await p.call(bo, 'POST', `${at}/begin`))).toBe('409 already_done')
  })
  test(
    'by nobody else: another account, a visitor, a token, a session that did not confirm, or an answer to a ' +
      'sign-in',
    async () => {
      using p = await shop()
      const [bo, eve] = [p.account('customer', 'Bo'), p.account('customer', 'Eve')]
      p.idp.is({ sub: 'eve-1', email: emailOf(p, bo.id), email_verified: true })
      const before = untouched(p)
      expect(code(await come(p, eve, await depart(p, bo)))).toBe('401 sign_in_failed')
      const mine = await depart(p, eve)
      expect((await finish(p, mine.cookie, await visit(mine.url))).status).toBe(401)
      const signing = await begin(p)
      expect(code(await come(p, eve, { url: signing.location, cookie: signing.cookie }))).toBe('401 sign_in_failed')
      expect(untouched(p)).toBe(before)
      expect(code(await p.call(p.token(eve.id), 'POST', `${at}/begin`))).toBe('403 token_not_allowed')
      p.turnClock(11 * 60_000)
      expect(code(await p.call(eve, 'POST', `${at}/begin`))).toBe('403 confirmation_required')
      expect(rows(p, 'account_identities').length).toBe(1)
    },
  )
  test('to one account at most, and only of a kind that may come this way', async () => {
    using p = await shop(['customer'])
    const bo = p.account('customer', 'Bo')
    const before = rows(p, 'account_identities')
    expect(code(await come(p, bo, await depart(p, bo)))).toBe('409 already_done')
    expect(code(await p.call(p.staffMember, 'POST', `${at}/begin`))).toBe('409 not_possible')
    expect(rows(p, 'account_identities')).toEqual(before)
  })
  test('at an invitation that was opened, which is used up and needs no password', async () => {
    using p = await shop()
    const { body } = await p.call(p.staffMember, 'POST', '/admin/customers', {
      name: 'Dee',
      email: 'dee@example.com',
      invite: true,
    })
    const token = /\/welcome\/([\w-]{43})/.exec(p.mailed().find((mail) => mail.to === 'dee@example.com')!.text)![1]!
    const page = await (await p.controller.router.fetch(new Request(`http://localhost/welcome/${token}`))).text()
    expect(page).toContain('Or use an account that you have elsewhere')
    p.idp.is({ sub: 'dee-1', email: 'other@example.net' })
    const from = { Origin: 'https://panel.test' }
    const start = async (invitation: string) => {
      const { status, body, headers } = await p.call(undefined, 'POST', '/sessions/provider', { invitation }, from)
      return status === 200 ? { url: body.url, cookie: headers.get('Set-Cookie')!.split(';')[0]! } : body.error.code
    }
    expect(await start('x'.repeat(43))).toBe('link_not_valid')
    const [first, second] = [await start(token), await start(token)]
    const done = await finish(p, first.cookie, await visit(first.url))
    expect([done.status, done.body.accountId]).toEqual([201, body.id])
    expect((await walk(p)).body.accountId).toBe(body.id)
    expect((await finish(p, second.cookie, await visit(second.url))).status).toBe(401)
    expect(lastLine(p).details).toMatchObject({ reason: 'invitation_not_valid' })
    expect(await start(token)).toBe('link_not_valid')
  })
  test('on the account page, which offers it only to whom it is for', async () => {
    using p = await shop(['staff'])
    const page = async ({ cookie }: Who, path = '/account') =>
      (
        await p.controller.router.fetch(
          new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } }),
        )
      ).text()
    expect(await page(p.staffMember)).toContain('Link sign-in')
    expect(await page(p.account('customer', 'Bo'))).not.toContain('Linked sign-in')
    expect(await page(p.cal)).toContain('Unlink')
    expect(await page(p.staffMember, '/login/oidc?code=a&state=link.b')).toContain(
      'hx-post="/api/v1/account/identities"',
    )
    expect(await page(p.staffMember, '/login/oidc?code=a&state=b')).toContain(
      'hx-post="/api/v1/sessions/from-provider"',
    )
  })
})

describe('the own identities', () => {
  test(
    'are listed; unlinking one ends other sessions, and it signs nobody in any more, whatever its ' + 'address',
    async () => {
      using p = await shop()
      p.idp.is({ sub: 'cal-1', email: p.cal.email, email_verified: true, auth_time: p.now() / 1000 })
      const me = sessionIn(p, (await walk(p)).headers)
      const { data } = (await p.call(me, 'GET', '/account/identities')).body
      expect(data).toMatchObject([{ issuer: p.idp.issuer, subject: 'cal-1' }])
      expect((await p.call(me, 'DELETE', `/account/identities/${data[0].id}`)).status).toBe(200)
      expect(rows(p, 'account_identities')).toEqual([])
      expect([(await p.call(me, 'GET', '/account')).status, (await p.call(p.cal, 'GET', '/account')).status]).toEqual([
        200, 401,
      ])
      for (const sub of ['cal-1', 'cal-2']) {
        p.idp.is({ sub, email: p.cal.email, email_verified: true })
        expect((await walk(p)).status).toBe(401)
      }
    },
  )
})
