// The own account is linked to a person at the identity provider by its holder, who is signed in.
import { Type as t } from 'typebox'
import { everybody } from '../../../kernel/api/access.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { addressKey } from '../../../kernel/api/limits.ts'
import { done, fields, operation } from '../../../kernel/api/operation.ts'
import { ownAccount } from '../../account-records/model.ts'
import { sessionCookie } from '../sessions/cookies.ts'
import { mustStillBeOpen } from '../sessions/sessions.ts'
import { accountForPerson, saveIdentity } from './identities.ts'
import { identitiesOf } from './queries.ts'

import { arrive, because, COOKIE, leave, reach, returned, tellLinked } from './visit.ts'

export const beginLink = operation({
  id: 'identities.begin-link',
  method: 'POST',
  path: '/account/identities/begin',
  summary: 'Begin to link the identity provider to the own account; answers a cookie, and the address to go to',
  past: 'Began to link the identity provider',
  access: everybody('account:write'),
  requiresSession: true,
  requiresRecentAuth: true,
  response: t.Object({ url: t.String() }),
  refuses: ['not_possible', 'source_unreachable', 'already_done', 'rate_limited'],
  prepare: (call) => reach(call, () => call.signIns.take(`provider ${addressKey(call.client.from)}`)),
  run(call) {
    const { tx, actor, prepared } = call
    const { id, kind } = ownAccount(tx, actor)
    const { provider } = prepared
    if (!provider.for.includes(kind))
      throw new ApiError('not_possible', 'Your kind of account does not sign in through the identity provider.')
    if (identitiesOf(tx, id).some(({ issuer }) => issuer === provider.issuer))
      throw new ApiError('already_done', 'This account is linked to the provider already. Unlink that sign-in first.')
    return leave(call, prepared, { linkTo: id, again: true })
  },
})

export const linkIdentity = operation({
  id: 'identities.link',
  method: 'POST',
  path: '/account/identities',
  summary: 'Link the own account to the person that the identity provider sent the browser back with',
  past: 'Linked the identity provider',
  access: everybody('account:write'),
  requiresSession: true,
  authAttempt: true,
  body: fields(returned),
  response: done,
  status: 201,
  refuses: ['sign_in_failed', 'source_unreachable', 'already_done', 'rate_limited'],
  example: { code: '<code>', state: '<state>' },
  prepare: (call) => arrive(call, call.actor.accountId),
  run(call) {
    const { tx, actor, clock, config, setCookie, prepared } = call
    const { provider, person } = prepared
    mustStillBeOpen(tx, actor)
    const account = ownAccount(tx, actor)
    const known = accountForPerson(tx, person, provider.for, account)
    if (typeof known === 'string' || known.identity)
      throw because(
        new ApiError(
          'already_done',
          'Nothing was linked: that sign-in belongs to an account here already, or this account to another sign-in.',
        ),
        { reason: typeof known === 'string' ? known : 'linked_already', subject: person.subject },
      )
    saveIdentity(tx, known, person, clock())
    tellLinked(call, account, provider)
    setCookie(sessionCookie(config.origin, '', 0, COOKIE))
    return {}
  },
})
