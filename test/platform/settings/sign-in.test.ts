import { describe, expect, test } from 'bun:test'
import { provider } from '../../support/services/provider.ts'
import { panel } from '../../support/world/panel.ts'

const path = '/admin/settings/sign-in'

async function ready() {
  const p = await panel()
  const idp = await provider(p.now)
  const staff = p.staff()
  const full = { ...idp.settings, issuer: idp.issuer, for: ['staff'] }
  return Object.assign(p, {
    idp,
    full,
    set: (body: object) => p.call(staff, 'PUT', path, body),
    get: () => p.call(staff, 'GET', path).then((r) => r.body),
    owner: staff,
    [Symbol.dispose]() {
      idp.stop()
      p.close()
    },
  })
}

describe('the identity provider', () => {
  test('is asked, kept encrypted and shown without its secret; the button is there until it is off', async () => {
    using p = await ready()
    expect(await p.get()).toMatchObject({
      issuer: null,
      hasSecret: false,
      redirectUrl: 'https://panel.test/login/oidc',
    })
    expect((await p.call(undefined, 'GET', '/sessions/provider')).body).toEqual({ label: null, linkable: false })
    const { status, body } = await p.set(p.full)
    expect([status, body.hasSecret]).toEqual([200, true])
    expect(JSON.stringify(body)).not.toContain('s3cret')
    expect(JSON.stringify(p.db.$client.query('SELECT * FROM settings').all())).not.toContain('berth')
    expect(JSON.stringify(p.auditLines())).not.toContain('s3cret')
    expect(JSON.stringify(p.auditLines().at(-1))).toContain(p.idp.issuer)
    expect((await p.call(undefined, 'GET', '/sessions/provider')).body).toEqual({
      label: 'Sign in with Example',
      linkable: false,
    })
    expect((await p.call(p.owner, 'DELETE', path)).status).toBe(200)
    expect((await p.call(undefined, 'GET', '/sessions/provider')).body).toEqual({ label: null, linkable: false })
    expect((await p.call(undefined, 'POST', '/sessions/provider', {})).body.error.code).toBe('not_possible')
  })

  test('keeps its secret when none is sent, and asks for it again for another issuer or client', async () => {
    using p = await ready()
    using other = await provider(p.now)
    await p.set(p.full)
    const { clientSecret: _, ...rest } = p.full
    expect((await p.set({ ...rest, label: 'Company account' })).body).toMatchObject({
      hasSecret: true,
      label: 'Company account',
    })
    const before = p.fingerprint()
    for (const changed of [{ issuer: other.issuer }, { clientId: 'another' }])
      expect((await p.set({ ...rest, ...changed })).body.error.details.fields[0].field).toBe('clientSecret')
    expect(p.fingerprint()).toBe(before)
    expect(other.asked).toEqual([])
    expect((await p.set({ ...rest, clientSecret: null })).body.hasSecret).toBe(false)
  })

  test(
    'must be one that may be called: HTTPS unless it is on this machine, and no address that machines have for ' +
      'themselves',
    async () => {
      using p = await ready()
      const before = p.fingerprint()
      for (const issuer of [
        'http://id.example.com',
        'http://10.0.0.5',
        'https://169.254.169.254',
        'https://[fe80::1]/',
        'https://[::ffff:169.254.169.254]/',
        'https://[::ffff:10.0.0.1]/',
        'https://[64:ff9b::a9fe:a9fe]/',
        'https://[2002:a9fe:a9fe::]/',
        'https://[fd00:ec2::254]/',
        'https://168.63.129.16',
        'https://0.0.0.0',
        'https://[::]/',
        'https://224.0.0.1',
        'https://2852039166',
        'https://user:pass@id.example.com',
        'https://id.example.com.',
        'https://id.example.com/?a=b',
        'https://id.example.com/#a',
        'ftp://127.0.0.1',
        'id.example.com',
      ]) {
        const { status, body } = await p.set({ ...p.full, issuer })
        expect([issuer, status, body.error.details?.fields[0].field]).toEqual([issuer, 422, 'issuer'])
      }
      expect(p.fingerprint()).toBe(before)
    },
  )

  test('S12: is not on this machine, unless the settings of the installation allow it', async () => {
    using p = await panel({ localServices: '' })
    const staff = p.staff()
    const before = p.fingerprint()
    for (const issuer of ['http://127.0.0.1:9000', 'https://localhost', 'https://[::1]', 'https://169.254.169.254']) {
      const body = { issuer, clientId: 'berth', for: ['staff'], label: 'Sign in' }
      const { status, body: answer } = await p.call(staff, 'PUT', path, body)
      expect([issuer, status === 422 || answer.error.code === 'source_unreachable']).toEqual([issuer, true])
    }
    expect(p.fingerprint()).toBe(before)
  })
  test('must answer as one: otherwise nothing is saved', async () => {
    using p = await ready()
    const lie = (document: () => Response) => p.idp.lie({ instead: { '/.well-known/openid-configuration': document } })
    const honest = {
      issuer: p.idp.issuer,
      authorization_endpoint: `${p.idp.issuer}/a`,
      token_endpoint: `${p.idp.issuer}/t`,
      jwks_uri: `${p.idp.issuer}/k`,
    }
    const before = p.fingerprint()
    const said = new Set<string>()
    for (const document of [
      () => new Response('no', { status: 404 }),
      () => new Response('<html>'),
      () => Response.json({ ...honest, issuer: `${p.idp.issuer}/other` }),
      () => Response.json({ ...honest, token_endpoint: undefined }),
      () => Response.json({ ...honest, token_endpoint: 'https://169.254.169.254/t' }),
      () => Response.json({ ...honest, jwks_uri: 'http://10.0.0.1/k' }),
      () => Response.json({ ...honest, authorization_endpoint: 'javascript:alert(1)' }),
      () => Response.redirect(`${p.idp.issuer}/elsewhere`, 302),
    ]) {
      lie(document)
      const { code, message } = (await p.set(p.full)).body.error
      expect(code).toBe('source_unreachable')
      said.add(message)
    }
    // S14: one sentence for whatever answers there, and for nothing.
    expect(said.size).toBe(1)
    expect(p.fingerprint()).toBe(before)
    expect(p.idp.asked).not.toContain('/elsewhere')
  })

  test('is for a person who has just shown who they are', async () => {
    using p = await ready()
    const before = p.fingerprint()
    expect((await p.call(p.token(p.owner.id), 'PUT', path, p.full)).body.error.code).toBe('token_not_allowed')
    p.turnClock(600_001)
    expect((await p.set(p.full)).body.error.code).toBe('confirmation_required')
    expect(p.fingerprint().replace(/tokens .*/, '')).toBe(before.replace(/tokens .*/, ''))
  })
})
