// The client of an OpenID Connect provider. The protocol is the library's; what goes over the network leaves through
// `egress`, and a few checks are stricter than the standard. Nothing here knows an account.
import { createHash } from 'node:crypto'
import type { AuthorizationServer, Client, IDToken } from 'oauth4webapi'
import { type Clock, hour, minute, second } from '../../../kernel/db/clock.ts'
import { disabledReason, egress, forOperator, isLoopback, NoAnswer, type Policy } from '../../../kernel/net/egress.ts'
import { urlFrom } from '../../../kernel/net/typed-url.ts'
import type { Provider } from './provider-setting.ts'

/** Signatures only, and none that a shared secret or nobody could make: `none` and HS256 are not among them. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
/** How far the clocks of two machines may be apart. */
const CLOCK_SECONDS = 60
const TOKEN_AGE_SECONDS = (10 * minute) / second
const CACHED_MS = hour
const LONGEST_URL = 2000

/** Loaded with the first sign-in through a provider. */
const library = () => import('oauth4webapi')
type Library = Awaited<ReturnType<typeof library>>

/** A provider's metadata, with the three addresses that a sign-in needs. */
export type Discovery = AuthorizationServer & Record<(typeof endpoints)[number], string>
const endpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const

/** The provider's answer is refused. `what` is for the audit log: no part of a token. */
export class NotBelieved extends Error {
  constructor(
    readonly reason: 'code_refused' | 'token_not_valid' | 'another_issuer',
    readonly what: string,
  ) {
    super(`${reason}: ${what}`)
  }
}

/** A person, as the provider identifies them. */
export type Person = {
  issuer: string
  subject: string
  /** When they last proved to the provider who they are, if it says so; milliseconds. */
  authenticatedAt: number | undefined
}

/** The parameters that the browser came back with, and the values stored when it left. */
export type Redemption = {
  code: string
  state: string
  iss?: string | undefined
  verifier: string
  nonce: string
  redirectUri: string
}

/** Plain HTTP and this machine only where the issuer itself is on it and the settings allow that: a lab. */
const policyFor = (issuer: string, local: readonly string[]): Policy => ({
  ...forOperator(local),
  loopback: local.length > 0 && isLoopback(new URL(issuer)),
})

/** Why this cannot be an issuer; undefined when it can, as far as its text tells. */
export function issuerDisabledReason(issuer: string, local: readonly string[]): string | undefined {
  const url = urlFrom(issuer)
  if (!url || url.search || url.hash) return 'must be a URL like https://id.example.com/realms/staff.'
  return disabledReason(url, policyFor(issuer, local))
}

/** Talks to identity providers; remembers for an hour what they publish about themselves. */
export class Providers {
  private cache = new Map<string, { at: number; discovery: Promise<Discovery> }>()
  constructor(
    private clock: Clock,
    /** The times in tokens are compared with it. */
    private wallClock: Clock,
    /** PANEL_LOCAL_SERVICES. */
    private local: readonly string[],
  ) {}

  /** The provider's metadata; `fresh` fetches it again. Throws `NoAnswer`. */
  discover(issuer: string, fresh = false): Promise<Discovery> {
    const now = this.clock()
    for (const [key, { at }] of this.cache) if (now - at > CACHED_MS) this.cache.delete(key)
    const known = fresh ? undefined : this.cache.get(issuer)
    if (known) return known.discovery
    const discovery = fetchDiscovery(issuer, policyFor(issuer, this.local))
    this.cache.set(issuer, { at: now, discovery })
    // A failure is not remembered.
    discovery.catch(() => this.cache.get(issuer)?.discovery === discovery && this.cache.delete(issuer))
    return discovery
  }

  /** Redeems the code and checks the signature and every claim of the token. Throws `NoAnswer` or `NotBelieved`. */
  async redeem(provider: Provider, redemption: Redemption): Promise<Person> {
    const oauth = await library()
    const discovery = await this.discover(provider.issuer)
    const now = Math.floor(this.wallClock() / second)
    const client: Client = {
      client_id: provider.clientId,
      [oauth.clockSkew]: now - Math.floor(Date.now() / second),
      [oauth.clockTolerance]: CLOCK_SECONDS,
    }
    const policy = policyFor(provider.issuer, this.local)
    const claims = await verifiedClaims(oauth, discovery, client, policy, provider, redemption, (renewed) => {
      this.cache.set(provider.issuer, { at: this.clock(), discovery: Promise.resolve(renewed) })
    })
    const { sub, iat, azp, auth_time } = claims
    const refused = (what: string) => new NotBelieved('token_not_valid', what)
    if (azp !== undefined && azp !== provider.clientId) throw refused('azp')
    if (iat > now + CLOCK_SECONDS || iat < now - TOKEN_AGE_SECONDS - CLOCK_SECONDS) throw refused('iat')
    if (!sub || sub.length > 255) throw refused('sub')
    return {
      issuer: provider.issuer,
      subject: sub,
      authenticatedAt: typeof auth_time === 'number' ? auth_time * second : undefined,
    }
  }
}

async function fetchDiscovery(issuer: string, policy: Policy): Promise<Discovery> {
  const oauth = await library()
  const found = await oauth
    .discoveryRequest(new URL(issuer), {
      [oauth.customFetch]: documentFetch(policy),
      [oauth.allowInsecureRequests]: policy.loopback,
    })
    .then((response) => oauth.processDiscoveryResponse(new URL(issuer), response))
    .catch((error) => {
      if (error instanceof oauth.OperationProcessingError)
        throw error.code === oauth.JSON_ATTRIBUTE_COMPARISON ? anotherIssuer(error.cause) : notAProvider(issuer, error)
      throw error
    })
  // The library takes two spellings of a URL for one issuer; tokens are compared letter by letter.
  if (found.issuer !== issuer) throw anotherIssuer({ body: found })
  for (const name of endpoints) {
    const url = found[name]
    if (typeof url !== 'string' || url.length > LONGEST_URL) throw notAProvider(issuer)
    const why = URL.canParse(url) ? disabledReason(new URL(url), policy) : 'is no URL.'
    if (why) throw new NoAnswer(`One of its addresses ${why}`)
  }
  return { ...(found as Discovery), id_token_signing_alg_values_supported: ALGORITHMS }
}
const anotherIssuer = (cause: unknown) =>
  new NoAnswer(`It calls itself another issuer: ${String((cause as any)?.body?.issuer).slice(0, 200)}`)
const notAProvider = (url: string, cause?: unknown) =>
  new NoAnswer(`${new URL(url).host} does not answer like an OpenID Connect provider.`, { cause })

async function verifiedClaims(
  oauth: Library,
  discovery: Discovery,
  client: Client,
  policy: Policy,
  { clientSecret }: Provider,
  { code, state, iss, verifier, nonce, redirectUri }: Redemption,
  /** The provider has other keys than the ones that were remembered. */
  keysChanged: (renewed: Discovery) => void,
): Promise<IDToken> {
  const [insecure, tokenFetch] = [policy.loopback, fetchFor(policy)]
  try {
    const back = new URLSearchParams({ code, state, ...(iss !== undefined && { iss }) })
    const response = await oauth.authorizationCodeGrantRequest(
      discovery,
      client,
      authenticationOf(oauth, discovery, clientSecret),
      callbackOf(oauth, discovery, client, back, state),
      redirectUri,
      verifier,
      { [oauth.customFetch]: tokenFetch, [oauth.allowInsecureRequests]: insecure },
    )
    const result = await oauth.processAuthorizationCodeResponse(discovery, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    const options = { [oauth.customFetch]: documentFetch(policy), [oauth.allowInsecureRequests]: insecure }
    await oauth.validateApplicationLevelSignature(discovery, response, options).catch(async (error) => {
      // Providers change their keys: the library remembers the old ones by this object, and a copy of it asks for the
      // new ones.
      if (error?.code !== oauth.KEY_SELECTION) throw error
      const renewed = { ...discovery }
      await oauth.validateApplicationLevelSignature(renewed, response, options)
      keysChanged(renewed)
    })
    return oauth.getValidatedIdTokenClaims(result)!
  } catch (error) {
    throw refusalOf(oauth, discovery, error)
  }
}

function callbackOf(oauth: Library, discovery: Discovery, client: Client, back: URLSearchParams, state: string) {
  try {
    return oauth.validateAuthResponse(discovery, client, back, state)
  } catch {
    throw new NotBelieved('another_issuer', 'iss')
  }
}

/** Providers that do not say how a client authenticates mean Basic (OpenID Connect Discovery, section 3). */
function authenticationOf(oauth: Library, discovery: Discovery, clientSecret: string | null) {
  if (clientSecret === null) return oauth.None()
  const methods = discovery.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return methods.includes('client_secret_basic')
    ? oauth.ClientSecretBasic(clientSecret)
    : oauth.ClientSecretPost(clientSecret)
}

const CLAIMS = ['iss', 'aud', 'exp', 'iat', 'sub', 'nonce']

/** The library's error in our terms; the error itself when it is neither the library's nor one of a key. */
function refusalOf(oauth: Library, discovery: Discovery, error: unknown): unknown {
  if (error instanceof NoAnswer || error instanceof NotBelieved) return error
  if (error instanceof oauth.ResponseBodyError)
    return new NotBelieved('code_refused', `${error.status} ${codeIn(error.error)}`.trim())
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return new NotBelieved('code_refused', String(error.response.status))
  const refused = (what: string) => new NotBelieved('token_not_valid', what)
  if (error instanceof oauth.UnsupportedOperationError) return refused('not_supported')
  // A key that WebCrypto cannot import.
  if (error instanceof DOMException) return refused('key')
  if (!(error instanceof oauth.OperationProcessingError)) return error
  if (error.cause instanceof Response && error.cause.status !== 200)
    return new NotBelieved('code_refused', String(error.cause.status))
  if (error.code === oauth.KEY_SELECTION) return refused('key')
  const { claim, claims, header, signature, body } = (error.cause ?? {}) as Record<string, any>
  if (body?.keys !== undefined) return notAProvider(discovery.jwks_uri, error)
  if (signature) return refused('signature')
  if (header) return refused('algorithm')
  if (claims) return refused(claim ?? CLAIMS.find((name) => claims[name] === undefined) ?? 'claims')
  return refused('none')
}

/** The provider's error code, when it is one: nothing else of its answer is kept. */
const codeIn = (error: string) => (/^[a-z_]{1,60}$/.test(error) ? error : '')

type Fetch = (
  url: string,
  options: Pick<RequestInit, 'body' | 'method'> & { headers: Record<string, string> },
) => Promise<Response>

/** `fetch` through egress: a name is resolved once, redirects are not followed, time and size are limited. */
const fetchFor =
  (policy: Policy): Fetch =>
  async (url, { method, headers, body }) => {
    const { status, text, contentType } = await egress(new URL(url), policy, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body && { body: String(body) }),
    })
    if (status < 200 || status > 599) throw new NoAnswer(`${new URL(url).host} answered ${status}.`)
    const isEmpty = status === 204 || status === 205 || status === 304
    return new Response(isEmpty ? null : text, { status, headers: { 'Content-Type': contentType } })
  }

/** The same for published documents: anything but 200 and JSON counts as no answer. */
const documentFetch =
  (policy: Policy): Fetch =>
  async (url, options) => {
    const response = await fetchFor(policy)(url, options)
    const { host, pathname } = new URL(url)
    if (response.status !== 200)
      throw new NoAnswer(`${host} answered ${response.status} for ${pathname.slice(0, 200)}.`)
    const text = await response.text()
    try {
      JSON.parse(text)
    } catch (cause) {
      throw notAProvider(url, cause)
    }
    return new Response(text, { headers: { 'Content-Type': 'application/json' } })
  }

type Authorization = { redirectUri: string; state: string; nonce: string; verifier: string; again: boolean }

/**
 * The address that the browser is sent to. `again`: the provider asks for the password even when it knows the browser.
 */
export function authorizationUrl(
  discovery: Discovery,
  { clientId }: Provider,
  { redirectUri, state, nonce, verifier, again }: Authorization,
): string {
  const url = new URL(discovery.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid',
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(again && { prompt: 'login', max_age: '0' }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
