// Signing in through the operator's identity provider: OpenID Connect, authorization code with PKCE, state and nonce. A
// row and a cookie of the browser tie the answer to the request; they are valid once, for ten minutes.
import { Type as t } from 'typebox'
import { ApiError } from '../../../kernel/api/errors.ts'
import { CONFIRMED_MS } from '../../../kernel/api/gate.ts'
import { addressKey } from '../../../kernel/api/limits.ts'
import { type Call, fields, nullable, operation, secret } from '../../../kernel/api/operation.ts'
import { digest, randomToken } from '../../../kernel/crypto/secrets.ts'
import { minute, second } from '../../../kernel/db/clock.ts'
import { encryptedColumn } from '../../../kernel/db/encrypted.ts'
import { type Tx, write } from '../../../kernel/db/open.ts'
import { log } from '../../../kernel/log.ts'
import { mailTo } from '../../../kernel/mail/mail.ts'
import { NoAnswer } from '../../../kernel/net/egress.ts'
import { SAFE_PATH } from '../../../kernel/web/safe-path.ts'
import { completeSignIn, SECOND_FACTOR_PAGE, signedIn } from '../complete-sign-in.ts'
import { cookieIn, cookieName, sessionCookie } from '../cookies.ts'
import { providerSignIns } from '../tables.ts'
import { accountForPerson, type NoAccountReason, saveIdentity } from './identities.ts'
import { authorizationUrl, NotBelieved } from './provider.ts'
import { CALLBACK_PAGE, providerFrom } from './provider-setting.ts'
import { insertProviderSignIn, takeProviderSignIn } from './queries.ts'

export const encryptedProviderSignIns = encryptedColumn(
  providerSignIns,
  'encrypted',
  ({ tokenHash }: { tokenHash: string }) => tokenHash,
)

/** The button is a link to this address, so that it works without scripts. */
export const START_PATH = '/login/oidc/start'

const COOKIE = 'panel-provider'
const LIFE_MS = 10 * minute

export const getProvider = operation({
  id: 'sessions.provider',
  method: 'GET',
  path: '/sessions/provider',
  summary: 'What the button for signing in through the identity provider says; null when there is none',
  access: 'anyone',
  response: t.Object({ label: nullable(t.String()) }),
  run: ({ tx, secrets }) => ({ label: providerFrom(tx, secrets)?.label ?? null }),
})

export const beginProviderSignIn = operation({
  id: 'sessions.begin-with-provider',
  method: 'POST',
  path: '/sessions/provider',
  summary: 'Begin to sign in through the identity provider; answers a cookie, and the address to go to',
  access: 'anyone',
  body: fields({
    next: t.Optional(t.String({ maxLength: 500, pattern: SAFE_PATH, title: 'a path of this panel' })),
    again: t.Optional(t.Boolean()),
  }),
  response: t.Object({ url: t.String() }),
  refuses: ['not_possible', 'source_unreachable', 'rate_limited'],
  example: { next: '/servers' },
  /**
   * Throttled apart from other sign-ins, and not at all without a provider: images on foreign pages must not use up the
   * limit.
   */
  async prepare({ db, secrets, signIns, from, providers }) {
    const provider = providerFrom(db, secrets)
    if (!provider) throw new ApiError('not_possible', 'There is no identity provider here. Sign in with your password.')
    signIns.take(`provider ${addressKey(from)}`)
    const found = await providers.discover(provider.issuer).catch((error) => {
      log.warning('the identity provider did not answer', { issuer: provider.issuer, error: (error as Error).message })
      throw unreachable()
    })
    return { provider, found }
  },
  run({ tx, body, clock, config, secrets, setCookie, prepared: { provider, found } }) {
    const [now, token, state, nonce, verifier] = [clock(), randomToken(), randomToken(), randomToken(), randomToken()]
    const tokenHash = digest(token)
    insertProviderSignIn(tx, {
      tokenHash,
      stateHash: digest(state),
      issuer: provider.issuer,
      encrypted: secrets.encrypt(encryptedProviderSignIns.about({ tokenHash }), JSON.stringify({ nonce, verifier })),
      next: body.next ?? null,
      createdAt: now,
      expiresAt: now + LIFE_MS,
    })
    setCookie(sessionCookie(config.origin, token, LIFE_MS / second, COOKIE))
    return {
      url: authorizationUrl(found, provider, {
        redirectUri: config.publicUrl + CALLBACK_PAGE,
        state,
        nonce,
        verifier,
        again: body.again ?? false,
      }),
    }
  },
})

export const completeProviderSignIn = operation({
  id: 'sessions.from-provider',
  method: 'POST',
  path: '/sessions/from-provider',
  summary: 'Sign in with what the identity provider sent the browser back with',
  access: 'anyone',
  authAttempt: true,
  body: fields({
    code: secret(t.String({ minLength: 1, maxLength: 4000 })),
    state: secret(t.String({ minLength: 1, maxLength: 200 })),
    iss: t.Optional(t.String({ maxLength: 2000 })),
  }),
  response: signedIn,
  status: 201,
  refuses: ['sign_in_failed', 'source_unreachable', 'rate_limited'],
  example: { code: '<code>', state: '<state>' },
  async prepare(call) {
    const { db, body, secrets, config, providers } = call
    const begun = write(db, (tx) => take(tx, call))
    const provider = providerFrom(db, secrets)
    if (!begun || provider?.issuer !== begun.issuer) throw because(startAgain(), { reason: 'not_begun_here' })
    if (body.iss !== undefined && body.iss !== provider.issuer)
      throw because(startAgain(), { reason: 'another_issuer' })
    const { nonce, verifier } = JSON.parse(secrets.open(encryptedProviderSignIns.about(begun), begun.encrypted)) as {
      nonce: string
      verifier: string
    }
    const person = await providers
      .redeem(provider, {
        code: body.code,
        state: body.state,
        iss: body.iss,
        verifier,
        nonce,
        redirectUri: config.publicUrl + CALLBACK_PAGE,
      })
      .catch((error) => {
        if (error instanceof NotBelieved)
          throw because(error.reason === 'another_issuer' ? startAgain() : notBelieved(), {
            reason: error.reason,
            what: error.what,
          })
        if (error instanceof NoAnswer)
          throw because(unreachable(), { reason: 'provider_unreachable', what: error.message })
        throw error
      })
    const known = accountForPerson(db, person, provider.for)
    if (typeof known === 'string') throw because(noAccount(), { reason: known, subject: person.subject })
    return { provider, person, next: begun.next }
  },
  run(call) {
    const { tx, clock, wallClock, config, setCookie, prepared } = call
    const { provider, person, next } = prepared
    const known = accountForPerson(tx, person, provider.for)
    if (typeof known === 'string') throw because(noAccount(), { reason: known, subject: person.subject })
    const now = clock()
    saveIdentity(tx, known, person, now)
    if (!known.identity)
      mailTo(tx, call, known.account, {
        subject: 'Another way to sign in to your account',
        paragraphs: [
          `From now on you can also sign in with ${provider.label}: it was used for the first time just now.`,
        ],
        closing: 'If it was not you, ask whoever runs this panel. Under Account you can unlink it.',
      })
    setCookie(sessionCookie(config.origin, '', 0, COOKIE))
    // A session at the provider since this morning proves nothing now: dangerous changes ask for a confirmation.
    const { authenticatedAt } = person
    const confirmed = authenticatedAt !== undefined && Math.abs(wallClock() - authenticatedAt) <= CONFIRMED_MS
    const answer = completeSignIn(call, known.account, { confirmed })
    if (next === null) return answer
    return {
      ...answer,
      home: answer.home === SECOND_FACTOR_PAGE ? `${SECOND_FACTOR_PAGE}?next=${encodeURIComponent(next)}` : next,
    }
  },
})

/** Consumes the row of this browser and this state, whatever the result will be. A wrong state consumes nothing. */
function take(
  tx: Tx,
  { body, clock, config, cookies }: Pick<Call<unknown, { state: string }>, 'body' | 'clock' | 'config' | 'cookies'>,
) {
  const token = cookieIn(cookies, cookieName(config.origin, COOKIE))
  return token ? takeProviderSignIn(tx, digest(token), digest(body.state), clock()) : undefined
}

/** For the audit log; the person reads less. */
type Why = {
  reason: NoAccountReason | NotBelieved['reason'] | 'not_begun_here' | 'provider_unreachable'
  what?: string
  subject?: string
}
const because = (refusal: ApiError, why: Why) => refusal.of(undefined, why)

const startAgain = () =>
  new ApiError(
    'sign_in_failed',
    'This sign-in is not valid any more: it took too long, was used, or began in another browser. Start again.',
  )
const notBelieved = () =>
  new ApiError(
    'sign_in_failed',
    'The sign-in service gave an answer that cannot be used. Start again; if it happens again, ' +
      'tell whoever runs this panel.',
  )
const noAccount = () =>
  new ApiError(
    'sign_in_failed',
    'No account here belongs to this sign-in. Sign in with your password, or ask whoever runs this panel.',
  )
const unreachable = () =>
  new ApiError(
    'source_unreachable',
    'The sign-in service does not answer. Try again in a minute, or sign in with your password.',
  )
