// What is asked of an OpenID Connect provider, and what of its answers is believed. Nothing here knows an account.
import { createHash } from 'node:crypto'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { type Static, type TSchema, Type as t } from 'typebox'
import { fits } from '../../../kernel/api/validate.ts'
import { type Clock, hour, minute, second } from '../../../kernel/db/clock.ts'
import {
  chosenByOperator,
  disabledReason,
  egress,
  isLoopback,
  NoAnswer,
  type Policy,
} from '../../../kernel/net/egress.ts'
import type { Provider } from './provider-setting.ts'

/** Signatures only, and none that a shared secret or nobody could make: `none` and HS256 are not among them. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
/** How far the clocks of two machines may be apart. */
const CLOCK_SECONDS = 60
const TOKEN_AGE_SECONDS = (10 * minute) / second
const CACHED_MS = hour

const Discovery = t.Object({
  issuer: t.String(),
  authorization_endpoint: t.String({ maxLength: 2000 }),
  token_endpoint: t.String({ maxLength: 2000 }),
  jwks_uri: t.String({ maxLength: 2000 }),
  token_endpoint_auth_methods_supported: t.Optional(t.Array(t.String())),
  authorization_response_iss_parameter_supported: t.Optional(t.Boolean()),
})
export type Discovery = Static<typeof Discovery>
const Keys = t.Object({ keys: t.Array(t.Object({ kty: t.String() }), { maxItems: 100 }) })
const Redeemed = t.Object({ id_token: t.String({ maxLength: 100_000 }) })

/** The provider said something that is not believed. `what` is for the audit log: no part of a token. */
export class NotBelieved extends Error {
  constructor(
    readonly reason: 'code_refused' | 'token_not_valid',
    readonly what: string,
  ) {
    super(`${reason}: ${what}`)
  }
}

/** Who somebody is for the provider. */
export type Person = {
  issuer: string
  subject: string
  email: string | undefined
  emailVerified: boolean
  /** When they last showed the provider who they are, if it says so; milliseconds. */
  authenticatedAt: number | undefined
}

/** Plain HTTP and this machine only where the issuer itself is on it: a lab. */
const policyFor = (issuer: string): Policy => ({ ...chosenByOperator, loopback: isLoopback(new URL(issuer)) })

/** Why this cannot be an issuer; undefined when it can, as far as its text tells. */
export function issuerHindrance(issuer: string): string | undefined {
  const url = URL.parse(issuer)
  if (!url || url.search || url.hash) return 'must be a URL like https://id.example.com/realms/staff.'
  return disabledReason(url, policyFor(issuer))
}

/** Remembers for an hour what providers publish. */
export class Providers {
  private kept = new Map<string, { at: number; it: Promise<unknown> }>()
  constructor(private clock: Clock) {}

  /** What the provider says about itself. Throws `NoAnswer`. */
  async discover(issuer: string, fresh = false): Promise<Discovery> {
    const it = await this.document(
      issuer,
      `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
      Discovery,
      fresh,
    )
    if (it.issuer !== issuer) throw new NoAnswer(`It calls itself another issuer: ${it.issuer.slice(0, 200)}`)
    for (const url of [it.authorization_endpoint, it.token_endpoint, it.jwks_uri]) {
      const why = URL.canParse(url) ? disabledReason(new URL(url), policyFor(issuer)) : 'is no URL.'
      if (why) throw new NoAnswer(`One of its addresses ${why}`)
    }
    return it
  }

  /** What the code stands for. Throws `NoAnswer` or `NotBelieved`. */
  async redeem(
    p: Provider,
    { code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string },
  ): Promise<string> {
    const found = await this.discover(p.issuer)
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    })
    const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' }
    // What is not said means Basic (OpenID Connect Discovery, section 3).
    const basic = (found.token_endpoint_auth_methods_supported ?? ['client_secret_basic']).includes(
      'client_secret_basic',
    )
    if (p.clientSecret !== null && basic)
      headers['Authorization'] = `Basic ${btoa(`${formed(p.clientId)}:${formed(p.clientSecret)}`)}`
    else {
      form.set('client_id', p.clientId)
      if (p.clientSecret !== null) form.set('client_secret', p.clientSecret)
    }
    const { status, text } = await egress(new URL(found.token_endpoint), policyFor(p.issuer), {
      method: 'POST',
      headers,
      body: form.toString(),
    })
    const answer = parsed(text)
    if (status !== 200) throw new NotBelieved('code_refused', `${status} ${errorIn(answer)}`.trim())
    if (!fits(Redeemed, answer)) throw new NotBelieved('token_not_valid', 'none')
    return (answer as Static<typeof Redeemed>).id_token
  }

  /** Whose the token is, once its signature and every claim are right. Throws `NoAnswer` or `NotBelieved`. */
  async verify(p: Provider, token: string, nonce: string): Promise<Person> {
    const { jwks_uri } = await this.discover(p.issuer)
    const claims = await this.claims(p, token, jwks_uri, false)
      .catch((error) => {
        // Providers change their keys; then the ones that are remembered are too old, once.
        if (error instanceof errors.JWKSNoMatchingKey) return this.claims(p, token, jwks_uri, true)
        throw error
      })
      .catch((error) => {
        throw error instanceof errors.JOSEError ? new NotBelieved('token_not_valid', whatOf(error)) : error
      })
    const { sub, nonce: said, azp, aud, email, email_verified, auth_time } = claims
    const refused = (what: string) => new NotBelieved('token_not_valid', what)
    if (said !== nonce) throw refused('nonce')
    if (azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== p.clientId) throw refused('azp')
    if (!sub || sub.length > 255) throw refused('sub')
    return {
      issuer: p.issuer,
      subject: sub,
      email: typeof email === 'string' ? email : undefined,
      emailVerified: email_verified === true,
      authenticatedAt: typeof auth_time === 'number' ? auth_time * second : undefined,
    }
  }

  private async claims(p: Provider, token: string, jwksUri: string, fresh: boolean): Promise<JWTPayload> {
    const keys = createLocalJWKSet((await this.document(p.issuer, jwksUri, Keys, fresh)) as JSONWebKeySet)
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ALGORITHMS,
      issuer: p.issuer,
      audience: p.clientId,
      requiredClaims: ['sub', 'exp', 'nonce'],
      maxTokenAge: TOKEN_AGE_SECONDS,
      clockTolerance: CLOCK_SECONDS,
      currentDate: new Date(this.clock()),
    })
    return payload
  }

  private document<S extends TSchema>(issuer: string, url: string, schema: S, fresh: boolean): Promise<Static<S>> {
    const now = this.clock()
    for (const [key, { at }] of this.kept) if (now - at > CACHED_MS) this.kept.delete(key)
    const known = fresh ? undefined : this.kept.get(url)
    if (known) return known.it as Promise<Static<S>>
    const it = fetchDocument(issuer, url, schema)
    this.kept.set(url, { at: now, it })
    // A failure is not remembered.
    it.catch(() => this.kept.get(url)?.it === it && this.kept.delete(url))
    return it
  }
}

async function fetchDocument<S extends TSchema>(issuer: string, url: string, schema: S): Promise<Static<S>> {
  const { status, text } = await egress(new URL(url), policyFor(issuer))
  const it = parsed(text)
  if (status !== 200)
    throw new NoAnswer(`${new URL(url).host} answered ${status} for ${new URL(url).pathname.slice(0, 200)}.`)
  if (!fits(schema, it)) throw new NoAnswer(`${new URL(url).host} does not answer like an OpenID Connect provider.`)
  return it as Static<S>
}

/** Where the browser goes. */
export function authorizationUrl(found: Discovery, p: Provider, asked: RequestContext): string {
  const url = new URL(found.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: p.clientId,
    redirect_uri: asked.redirectUri,
    scope: 'openid email',
    state: asked.state,
    nonce: asked.nonce,
    code_challenge: createHash('sha256').update(asked.verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(asked.again && { prompt: 'login', max_age: '0' }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
type RequestContext = { redirectUri: string; state: string; nonce: string; verifier: string; again: boolean }

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** OAuth 2 wants both parts of Basic form-encoded first (RFC 6749, section 2.3.1). */
const formed = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)

/** Its error code, when it is one: nothing else of an answer is kept. */
function errorIn(answer: unknown): string {
  const error = (answer as { error?: unknown } | null | undefined)?.error
  return typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? error : ''
}

const whatOf = (error: InstanceType<typeof errors.JOSEError>): string =>
  error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired ? error.claim : error.code
