// An OpenID Connect provider on loopback: keys made at its start, codes that are good once, PKCE looked at. It can be
// told to lie.
import { createHash, createHmac } from 'node:crypto'

type Claims = Record<string, unknown>
type Lies = {
  /** Other claims than the true ones. */
  claims?: (claims: Claims) => Claims
  /** Another token than the one that was signed; of the claims, and the public key as PEM. */
  token?: (claims: Claims, publicKey: string) => string
  /** Replaces the response of an address. */
  instead?: Partial<
    Record<'/.well-known/openid-configuration' | '/keys' | '/token', () => Response | Promise<Response>>
  >
  /** Signs with a key that it does not publish. */
  hiddenKey?: boolean
  /** Changes the subject after signing. */
  forge?: boolean
}
export type Person = { sub: string; email: string; email_verified?: unknown; auth_time?: number }
type Pending = { nonce: string; challenge: string; redirectUri: string; person: Person; used: boolean }

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
/** How a key of each algorithm is made, and how it signs. */
const algorithms = {
  RS256: [{ name: 'RSASSA-PKCS1-v1_5', ...rsa }, { name: 'RSASSA-PKCS1-v1_5' }],
  PS256: [
    { name: 'RSA-PSS', ...rsa },
    { name: 'RSA-PSS', saltLength: 32 },
  ],
  ES256: [
    { name: 'ECDSA', namedCurve: 'P-256' },
    { name: 'ECDSA', hash: 'SHA-256' },
  ],
  EdDSA: [{ name: 'Ed25519' }, { name: 'Ed25519' }],
} as const
export type Algorithm = keyof typeof algorithms

export const unsigned = (claims: Claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`
export const withHmac = (claims: Claims, secret: string, kid: string) => {
  const head = `${encode({ alg: 'HS256', kid })}.${encode(claims)}`
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
}

type Key = Awaited<ReturnType<typeof makeKey>>
const signatureOf = async (head: string, { alg, privateKey }: Key) =>
  Buffer.from(await crypto.subtle.sign(algorithms[alg][1], privateKey, Buffer.from(head))).toString('base64url')
const makeKey = async (kid: string, alg: Algorithm = 'RS256') => {
  const { publicKey, privateKey } = (await crypto.subtle.generateKey(algorithms[alg][0], true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair
  const jwk = { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid, use: 'sig', alg }
  const pem =
    '-----BEGIN PUBLIC ' +
    `KEY-----\n${Buffer.from(await crypto.subtle.exportKey('spki', publicKey)).toString('base64')}\n-----END ` +
    'PUBLIC KEY-----\n'
  return { kid, alg, privateKey, jwk, pem }
}
/** Making one takes longer than a whole sign-in. */
const first = await makeKey('first')

export async function provider(now: () => number = Date.now) {
  const client = { id: 'berth', secret: 's3cret & more' }
  const codes = new Map<string, Pending>()
  /** Every request, by its path. */
  const asked: string[] = []
  let key = first
  let published = [key]
  let person: Person = { sub: 'ada-1', email: 'ada@example.com', email_verified: true }
  let lies: Lies = {}
  let lastAuthorize = new URLSearchParams()

  async function signed(claims: Claims) {
    const by = lies.hiddenKey ? await makeKey('hidden') : key
    const head = `${encode({ alg: by.alg, typ: 'JWT', kid: by.kid })}.${encode(claims)}`
    if (lies.forge)
      return `${head.split('.')[0]}.${encode({ ...claims, sub: 'forged' })}.${await signatureOf(head, by)}`
    return `${head}.${await signatureOf(head, by)}`
  }

  const no = (error: string, status = 400) => Response.json({ error }, { status })
  const routes: Record<string, (request: Request, url: URL) => Response | Promise<Response>> = {
    '/.well-known/openid-configuration': () =>
      Response.json({
        issuer: testProvider.issuer,
        authorization_endpoint: `${testProvider.issuer}/authorize`,
        token_endpoint: `${testProvider.issuer}/token`,
        jwks_uri: `${testProvider.issuer}/keys`,
        response_types_supported: ['code'],
      }),
    '/keys': () => Response.json({ keys: published.map((k) => k.jwk) }),
    /** Every visitor is signed in as `person` without a question. */
    '/authorize': (_, { searchParams: q }) => {
      lastAuthorize = q
      if (
        q.get('client_id') !== client.id ||
        q.get('response_type') !== 'code' ||
        q.get('code_challenge_method') !== 'S256'
      )
        return no('invalid_request')
      if (!q.get('scope')?.split(' ').includes('openid')) return no('invalid_scope')
      const code = crypto.randomUUID()
      const redirectUri = q.get('redirect_uri')!
      codes.set(code, { nonce: q.get('nonce')!, challenge: q.get('code_challenge')!, redirectUri, person, used: false })
      return new Response(null, {
        status: 303,
        headers: { Location: `${redirectUri}?${new URLSearchParams({ code, state: q.get('state')! })}` },
      })
    },
    '/token': async (request) => {
      const form = new URLSearchParams(await request.text())
      const basic = `Basic ${btoa(`${client.id}:s3cret+%26+more`)}`
      if (request.headers.get('Authorization') !== basic) return no('invalid_client', 401)
      const found = codes.get(form.get('code') ?? '')
      if (!found || found.used || found.redirectUri !== form.get('redirect_uri')) return no('invalid_grant')
      found.used = true
      const shown = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (shown !== found.challenge) return no('invalid_grant')
      const seconds = Math.floor(now() / 1000)
      const truth = {
        iss: testProvider.issuer,
        aud: client.id,
        iat: seconds,
        exp: seconds + 300,
        nonce: found.nonce,
        ...found.person,
      }
      const claims = lies.claims?.(truth) ?? truth
      return Response.json({
        access_token: 'at-canary',
        token_type: 'Bearer',
        id_token: lies.token?.(claims, key.pem) ?? (await signed(claims)),
      })
    },
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 30,
    fetch(request) {
      const url = new URL(request.url)
      asked.push(url.pathname)
      const instead = lies.instead?.[url.pathname as '/keys']
      return instead?.() ?? routes[url.pathname]?.(request, url) ?? new Response('no such page', { status: 404 })
    },
  })
  const testProvider = {
    issuer: `http://127.0.0.1:${server.port}`,
    client,
    asked,
    settings: { clientId: client.id, clientSecret: client.secret, label: 'Sign in with Example' },
    get lastAuthorize() {
      return lastAuthorize
    },
    is: (next: Person) => void (person = next),
    lie: (next: Lies) => void (lies = next),
    /** Signs with a new key from now on and forgets the old one. */
    async rotate(alg?: Algorithm) {
      key = await makeKey(`key ${crypto.randomUUID()}`, alg)
      published = [key]
    },
    stop: () => server.stop(true),
    [Symbol.dispose]() {
      void server.stop(true)
    },
  }
  return testProvider
}
export type TestProvider = Awaited<ReturnType<typeof provider>>
