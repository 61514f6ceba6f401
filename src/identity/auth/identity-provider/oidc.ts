// Signing in through the operator's identity provider.
import { Type as t } from 'typebox'
import { ApiError } from '../../../kernel/api/errors.ts'
import { CONFIRMED_MS } from '../../../kernel/api/gate.ts'
import { addressKey } from '../../../kernel/api/limits.ts'
import { described, fields, nullable, operation, secret } from '../../../kernel/api/operation.ts'
import { digest } from '../../../kernel/crypto/secrets.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { SAFE_PATH } from '../../../kernel/web/safe-path.ts'
import { consumeLinkByHash, linkByHash, linkFrom, linkNotValid } from '../links/links.ts'
import { sessionCookie } from '../sessions/cookies.ts'
import { completeSignIn, SECOND_FACTOR_PAGE, signedIn } from '../sign-in/complete-sign-in.ts'
import { accountForPerson, saveIdentity } from './identities.ts'
import { providerFrom } from './provider-setting.ts'

import { type Arrived, arrive, because, COOKIE, leave, reach, returned, tellLinked } from './visit.ts'

/** The button is a link to this address, so that it works without scripts. */
export const START_PATH = '/login/oidc/start'

export const getProvider = operation({
  id: 'sessions.provider',
  method: 'GET',
  path: '/sessions/provider',
  summary: 'What the button for signing in through the identity provider says; null when there is none',
  access: 'anyone',
  response: t.Object({
    label: nullable(t.String()),
    linkable: described(t.Boolean(), 'Whether the account that is signed in may link it.'),
  }),
  run({ tx, secrets, actor }) {
    const provider = providerFrom(tx, secrets)
    const linkable = actor.accountId !== '' && !!provider?.for.includes(actor.kind)
    return { label: provider?.label ?? null, linkable }
  },
})

export const beginProviderSignIn = operation({
  id: 'sessions.begin-with-provider',
  method: 'POST',
  path: '/sessions/provider',
  summary: 'Begin to sign in through the identity provider; answers a cookie, and the address to go to',
  past: 'Began to sign in with the identity provider',
  access: 'anyone',
  body: fields({
    next: t.Optional(t.String({ maxLength: 500, pattern: SAFE_PATH, title: 'a path of this panel' })),
    again: t.Optional(t.Boolean()),
    invitation: t.Optional(secret(t.String({ minLength: 1, maxLength: 100 }))),
  }),
  response: t.Object({ url: t.String() }),
  refuses: ['not_possible', 'source_unreachable', 'link_not_valid', 'rate_limited'],
  example: { next: '/servers' },
  /**
   * Throttled apart from other sign-ins, and not at all without a provider: images on foreign pages must not use up the
   * limit.
   */
  prepare: (call) => reach(call, () => call.signIns.take(`provider ${addressKey(call.client.from)}`)),
  run(call) {
    const { tx, clock, prepared } = call
    const { invitation, ...body } = call.body
    if (invitation === undefined) return leave(call, prepared, body)
    const link = linkFrom(tx, INVITED_BY, invitation, clock())
    if (!link) throw linkNotValid()
    if (!prepared.provider.for.includes(link.account.kind))
      throw new ApiError('not_possible', 'The sign-in service is not for your kind of account. Choose a password here.')
    return leave(call, prepared, { ...body, invitationHash: digest(invitation) })
  },
})

/** Only an invitation: a link to a new password is for an account that has a way to sign in, which links. */
const INVITED_BY = ['welcome'] as const

export const completeProviderSignIn = operation({
  id: 'sessions.from-provider',
  method: 'POST',
  path: '/sessions/from-provider',
  summary: 'Sign in with what the identity provider sent the browser back with',
  past: 'Signed in with the identity provider',
  access: 'anyone',
  authAttempt: true,
  body: fields(returned),
  response: signedIn,
  status: 201,
  refuses: ['sign_in_failed', 'source_unreachable', 'rate_limited'],
  example: { code: '<code>', state: '<state>' },
  async prepare(call) {
    const came = await arrive(call, null)
    knownAccount(call.db, came, call.clock())
    return came
  },
  run(call) {
    const { tx, clock, config, setCookie, prepared } = call
    const { provider, person, begun } = prepared
    const now = clock()
    const known = knownAccount(tx, prepared, now)
    if (begun.invitationHash) consumeLinkByHash(tx, INVITED_BY, begun.invitationHash, now)
    saveIdentity(tx, known, person, now)
    if (!known.identity) tellLinked(call, known.account, provider)
    setCookie(sessionCookie(config.origin, '', 0, COOKIE))
    // A session at the provider since this morning proves nothing now: dangerous changes ask for a confirmation.
    const { authenticatedAt } = person
    const confirmed = authenticatedAt !== undefined && Math.abs(now - authenticatedAt) <= CONFIRMED_MS
    const answer = completeSignIn(call, known.account, { confirmed })
    if (begun.next === null) return answer
    return {
      ...answer,
      home:
        answer.home === SECOND_FACTOR_PAGE
          ? `${SECOND_FACTOR_PAGE}?next=${encodeURIComponent(begun.next)}`
          : begun.next,
    }
  },
})

/** The account that the person is linked to, or that of the invitation. Throws `sign_in_failed`. */
function knownAccount(tx: Db, { provider, person, begun }: Arrived, now: number) {
  const { invitationHash } = begun
  const to = invitationHash ? linkByHash(tx, INVITED_BY, invitationHash, now)?.account : undefined
  const known = invitationHash && !to ? 'invitation_not_valid' : accountForPerson(tx, person, provider.for, to)
  if (typeof known === 'string') throw because(noAccount(), { reason: known, subject: person.subject })
  return known
}

const noAccount = () =>
  new ApiError(
    'sign_in_failed',
    'No account here is linked to this sign-in. Sign in with your password once and link it under Account. ' +
      'If you have no password yet, open your invitation.',
  )
