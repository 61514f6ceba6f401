// Finds the account of a person at the identity provider by the provider's own identifier of the person, which its
// holder linked. The provider's e-mail address decides nothing, and no account is ever created.

import { Type as t } from 'typebox'
import { everybody } from '../../../kernel/api/access.ts'
import { sessionOf } from '../../../kernel/api/actor.ts'
import { page } from '../../../kernel/api/list.ts'
import { done, operation, type Resource, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import type { Account } from '../../account-records/model.ts'
import { accountById } from '../../account-records/queries.ts'
import { endSessionsOf } from '../sessions/sessions.ts'
import type { Person } from './provider.ts'
import type { Provider } from './provider-setting.ts'
import {
  deleteIdentity,
  identitiesOf,
  identityBySubject,
  insertIdentity,
  markIdentityUsed,
  pageOfIdentities,
} from './queries.ts'
import type { AccountIdentity } from './tables.ts'

/** Why a sign-in has no account, for the audit log. The person reads the same words for each. */
export type NoAccountReason =
  | 'not_linked'
  | 'invitation_not_valid'
  | 'linked_to_another'
  | 'kind_not_allowed'
  | 'account_disabled'
type KnownAccount = { account: Account; identity: AccountIdentity | undefined }

/**
 * The account of a person, or why there is none. `to` is the account that a person without one may be linked to: the
 * one that is signed in, or that of the invitation they opened. An e-mail address of the provider is no reason to link.
 */
export function accountForPerson(
  tx: Db,
  { issuer, subject }: Person,
  allowed: Provider['for'],
  to?: Account,
): KnownAccount | NoAccountReason {
  const identity = identityBySubject(tx, issuer, subject)
  const account = identity ? accountById(tx, identity.accountId) : to
  if (!account) return 'not_linked'
  if (to && to.id !== account.id) return 'linked_to_another'
  if (!identity && identitiesOf(tx, account.id).some((i) => i.issuer === issuer)) return 'linked_to_another'
  if (!allowed.includes(account.kind)) return 'kind_not_allowed'
  if (account.disabledAt !== null) return 'account_disabled'
  return { account, identity }
}

/** Links the person to the account, or records that the link was used. */
export function saveIdentity(tx: Tx, { account, identity }: KnownAccount, { issuer, subject }: Person, now: number) {
  if (identity) markIdentityUsed(tx, identity.id, now)
  else insertIdentity(tx, { id: newId('idn'), accountId: account.id, issuer, subject, createdAt: now, usedAt: now })
}

export const identity: Resource<AccountIdentity> = {
  name: 'identity',
  notFound: 'identity_not_found',
  find: (tx, actor, id) => identitiesOf(tx, actor.accountId).find((i) => i.id === id),
}

export const listIdentities = operation({
  id: 'identities.list',
  method: 'GET',
  path: '/account/identities',
  summary: 'The identity providers through which the own account has signed in',
  access: everybody('account:read'),
  withoutSecondFactor: true,
  response: page(t.Object({ id: t.String(), issuer: t.String(), subject: t.String(), createdAt: time, usedAt: time })),
  run: (call) =>
    pageOfIdentities(call, call.actor.accountId, ({ id, issuer, subject, createdAt, usedAt }) => ({
      id,
      issuer,
      subject,
      createdAt: iso(createdAt),
      usedAt: iso(usedAt),
    })),
})

export const removeIdentity = operation({
  id: 'identities.remove',
  destroys: [],
  method: 'DELETE',
  path: '/account/identities/{id}',
  summary: 'Unlink an identity provider from the own account; every other session ends',
  past: 'Unlinked the identity provider',
  access: everybody('account:write'),
  requiresSession: true,
  requiresRecentAuth: true,
  on: identity,
  response: done,
  run({ tx, actor, target }) {
    deleteIdentity(tx, target.id)
    endSessionsOf(tx, actor.accountId, sessionOf(actor)?.sessionId)
    return {}
  },
})
