// A visit to the operator's identity provider and back: OpenID Connect, authorization code with PKCE, state and nonce.
// A row and a cookie of the browser tie the answer to the request; they are valid once, for ten minutes.
import { Type as t } from 'typebox'
import { ApiError } from '../../../kernel/api/errors.ts'
import { type Call, type PrepareContext, secret } from '../../../kernel/api/operation.ts'
import { digest, randomToken } from '../../../kernel/crypto/secrets.ts'
import { minute, second } from '../../../kernel/db/clock.ts'
import { encryptedColumn } from '../../../kernel/db/encrypted.ts'
import { type Tx, write } from '../../../kernel/db/open.ts'
import { log } from '../../../kernel/log.ts'
import { type MailContext, mailTo } from '../../../kernel/mail/mail.ts'
import { NoAnswer } from '../../../kernel/net/egress.ts'
import type { Account } from '../../account-records/model.ts'
import { cookieIn, cookieName, sessionCookie } from '../sessions/cookies.ts'
import type { NoAccountReason } from './identities.ts'
import { authorizationUrl, NotBelieved } from './provider.ts'
import { CALLBACK_PAGE, type Provider, providerFrom } from './provider-setting.ts'
import { insertProviderSignIn, takeProviderSignIn } from './queries.ts'
import { providerSignIns } from './tables.ts'

export const encryptedProviderSignIns = encryptedColumn(
  providerSignIns,
  'encrypted',
  ({ tokenHash }: { tokenHash: string }) => tokenHash,
)

export const COOKIE = 'panel-provider'
const LIFE_MS = 10 * minute

/** The state of a sign-in that links begins with it: the page that people return to makes the right call. */
export const LINKING = 'link.'

type ReachContext = Pick<PrepareContext, 'db' | 'secrets' | 'providers'>
/** The configured provider and its metadata. Throws `not_possible` without one, and `source_unreachable`. */
export async function reach({ db, secrets, providers }: ReachContext, allowed: () => void) {
  const provider = providerFrom(db, secrets)
  if (!provider) throw new ApiError('not_possible', 'There is no identity provider here. Sign in with your password.')
  allowed()
  const found = await providers.discover(provider.issuer).catch((error) => {
    log.warning('the identity provider did not answer', { issuer: provider.issuer, error: (error as Error).message })
    throw unreachable()
  })
  return { provider, found }
}
type Reached = Awaited<ReturnType<typeof reach>>

type Leaving = { next?: string | null; again?: boolean; linkTo?: string; invitationHash?: string }
/** Ties the answer to this browser by a row and a cookie. Answers the address to go to. */
export function leave(
  { tx, clock, config, secrets, setCookie }: Pick<Call, 'tx' | 'clock' | 'config' | 'secrets' | 'setCookie'>,
  { provider, found }: Reached,
  { next = null, again = false, linkTo, invitationHash }: Leaving,
) {
  const [now, token, nonce, verifier] = [clock(), randomToken(), randomToken(), randomToken()]
  const state = (linkTo ? LINKING : '') + randomToken()
  const tokenHash = digest(token)
  insertProviderSignIn(tx, {
    tokenHash,
    stateHash: digest(state),
    issuer: provider.issuer,
    encrypted: secrets.encrypt(encryptedProviderSignIns.about({ tokenHash }), JSON.stringify({ nonce, verifier })),
    next,
    linkTo: linkTo ?? null,
    invitationHash: invitationHash ?? null,
    createdAt: now,
    expiresAt: now + LIFE_MS,
  })
  setCookie(sessionCookie(config.origin, token, LIFE_MS / second, COOKIE))
  const redirectUri = config.publicUrl + CALLBACK_PAGE
  return { url: authorizationUrl(found, provider, { redirectUri, state, nonce, verifier, again }) }
}

export const returned = {
  code: secret(t.String({ minLength: 1, maxLength: 4000 })),
  state: secret(t.String({ minLength: 1, maxLength: 200 })),
  iss: t.Optional(t.String({ maxLength: 2000 })),
}
type Returned = { code: string; state: string; iss?: string }

/** The person that the provider answers with, and how this browser left. `linkTo`: null where nobody is signed in. */
export async function arrive(call: PrepareContext<unknown, Returned>, linkTo: string | null) {
  const { db, body, secrets, config, providers } = call
  const begun = write(db, (tx) => take(tx, call, linkTo))
  const provider = providerFrom(db, secrets)
  if (!begun || provider?.issuer !== begun.issuer) throw because(startAgain(), { reason: 'not_begun_here' })
  if (body.iss !== undefined && body.iss !== provider.issuer) throw because(startAgain(), { reason: 'another_issuer' })
  const { nonce, verifier } = JSON.parse(secrets.open(encryptedProviderSignIns.about(begun), begun.encrypted)) as {
    nonce: string
    verifier: string
  }
  const redirectUri = config.publicUrl + CALLBACK_PAGE
  const { code, state, iss } = body
  const person = await providers.redeem(provider, { code, state, iss, verifier, nonce, redirectUri }).catch((error) => {
    if (error instanceof NotBelieved)
      throw because(error.reason === 'another_issuer' ? startAgain() : notBelieved(), {
        reason: error.reason,
        what: error.what,
      })
    if (error instanceof NoAnswer) throw because(unreachable(), { reason: 'provider_unreachable', what: error.message })
    throw error
  })
  return { provider, person, begun }
}

/**
 * Consumes the row of this browser and this state, whatever the result will be. A wrong state consumes nothing.
 * `linkTo`: the account that it must link; null: a row that signs in.
 */
function take(
  tx: Tx,
  { body, clock, config, client }: Pick<Call<unknown, Returned>, 'body' | 'clock' | 'config' | 'client'>,
  linkTo: string | null,
) {
  const token = cookieIn(client.cookies, cookieName(config.origin, COOKIE))
  const begun = token ? takeProviderSignIn(tx, digest(token), digest(body.state), clock()) : undefined
  return begun?.linkTo === linkTo ? begun : undefined
}

export type Arrived = Awaited<ReturnType<typeof arrive>>

export const tellLinked = (call: MailContext & Pick<Call, 'tx'>, account: Account, { label }: Provider) =>
  mailTo(call.tx, call, account, {
    subject: 'Another way to sign in to your account',
    paragraphs: [`From now on you can also sign in with ${label}: it was linked to your account just now.`],
    closing: 'If this was not you, contact your administrator or provider. You can unlink it under Account.',
  })

/** For the audit log; the person reads less. */
type Why = {
  reason: NoAccountReason | NotBelieved['reason'] | 'not_begun_here' | 'linked_already' | 'provider_unreachable'
  what?: string
  subject?: string
}
export const because = (refusal: ApiError, why: Why) => refusal.of(undefined, why)

const startAgain = () =>
  new ApiError(
    'sign_in_failed',
    'This sign-in is no longer valid: it took too long, was used, or began in another browser. Start again.',
  )
const notBelieved = () =>
  new ApiError(
    'sign_in_failed',
    'The sign-in service gave an answer that cannot be used. Start again; if it happens again, ' +
      'tell whoever runs this panel.',
  )
const unreachable = () =>
  new ApiError(
    'source_unreachable',
    'The sign-in service is not responding. Try again in a minute, or sign in with your password.',
  )
