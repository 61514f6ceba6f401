// Invitations are accepted with the account that has their address, or with a new account.
import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { fields, line, nullable, operation, secret, time } from '../../kernel/api/operation.ts'
import { text } from '../../kernel/api/query.ts'
import { iso } from '../../kernel/db/clock.ts'
import { type Db, isUniqueViolation, type Tx } from '../../kernel/db/open.ts'
import { homeOf } from '../account-records/areas.ts'
import { type Account, withPassword } from '../account-records/model.ts'
import { accountByEmail, accountById } from '../account-records/queries.ts'
import { hashPassword, mustBeGood } from '../auth/passwords/hash.ts'
import { completeSignIn, signedIn } from '../auth/sign-in/complete-sign-in.ts'
import { addAccount, tellCreated } from '../customers/model.ts'
import { mustAllowCustomer, resellerOf } from '../resellers/model.ts'
import { becomeMember, changes, type Invitation, invitationBy, workloadNamed } from './model.ts'
import { role } from './role.ts'

const token = secret(t.String({ minLength: 1, maxLength: 100 }))

export const getInvitation = operation({
  id: 'team.invitation',
  method: 'GET',
  path: '/team/invitation',
  summary: 'What an invitation is for, to whoever has its link',
  access: 'anyone',
  query: { token: text('From the link in the mail.') },
  response: t.Object({
    /** The sender. */
    owner: t.Object({ name: t.String() }),
    email: t.String(),
    role,
    server: nullable(t.Object({ name: t.String() })),
    expiresAt: time,
    /** The reader's next step. */
    next: t.Enum(['accept', 'sign_in', 'make_account', 'other_account']),
  }),
  refuses: ['invitation_not_valid'],
  run({ tx, actor, query, clock }) {
    const { member, owner } = invitationBy(tx, query['token'] ?? '', clock())
    const server = workloadNamed(tx, member.workloadId)
    const asks = accountById(tx, actor.accountId)
    const next = asks
      ? asks.kind !== 'staff' && asks.email.toLowerCase() === member.email
        ? ('accept' as const)
        : ('other_account' as const)
      : accountByEmail(tx, member.email)
        ? ('sign_in' as const)
        : ('make_account' as const)
    return {
      owner: { name: owner.name },
      email: member.email,
      role: member.role,
      server: server && { name: server.name },
      expiresAt: iso(member.expiresAt),
      next,
    }
  },
})

export const acceptInvitation = operation({
  id: 'team.accept',
  method: 'POST',
  path: '/team/accept',
  summary: 'Accept an invitation with the account that has its address',
  past: 'Accepted an invitation',
  ...changes,
  requiresSession: true,
  body: fields({ token }),
  response: t.Object({ id: t.String(), home: t.String() }),
  refuses: ['invitation_not_valid', 'forbidden', 'already_done'],
  example: { token: '<token>' },
  run({ tx, actor, body, clock }) {
    const now = clock()
    const { member } = invitationBy(tx, body.token, now)
    const account = accountById(tx, actor.accountId)!
    if (account.email.toLowerCase() !== member.email)
      throw new ApiError(
        'forbidden',
        'This invitation was sent to another address. Sign in with the account that has it, or ask to be invited ' +
          'under yours.',
      )
    if (account.id === member.ownerId) throw new ApiError('already_done', 'These servers are your own.')
    try {
      becomeMember(tx, member, account.id, now)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new ApiError('already_done', 'This is already shared with you, by an earlier invitation.')
    }
    return { id: member.id, home: homeOf(account.kind) }
  },
})

export const joinTeam = operation({
  id: 'team.join',
  method: 'POST',
  path: '/team/join',
  summary: 'Accept an invitation with a new account; answers a cookie',
  access: 'anyone',
  authAttempt: true,
  body: fields({ token, name: line(100), password: secret(t.String({ maxLength: 1000 })) }),
  response: signedIn,
  status: 201,
  refuses: ['invitation_not_valid', 'email_taken', 'quota_exceeded', 'reseller_suspended', 'rate_limited'],
  example: { token: '<token>', name: 'Bo', password: 'correct horse battery staple' },
  async prepare({ db, body, clock }) {
    const invitation = invitationBy(db, body.token, clock())
    mustBeNew(db, invitation)
    await mustBeGood(body.password, 'password', { name: body.name, email: invitation.member.email })
    return hashPassword(body.password)
  },
  run(call) {
    const { tx, body, prepared: passwordHash, clock } = call
    const now = clock()
    const invitation = invitationBy(tx, body.token, now)
    mustBeNew(tx, invitation)
    const account = makeAccount(tx, invitation, { name: body.name, passwordHash, now })
    becomeMember(tx, invitation.member, account.id, now)
    return completeSignIn(call, account)
  },
})

/** Throws `email_taken`. Only a reader of this address's mail has the link, so the refusal discloses nothing. */
function mustBeNew(tx: Db, { member }: Invitation) {
  if (accountByEmail(tx, member.email))
    throw new ApiError(
      'email_taken',
      'There is an account with this address already. Sign in with it and accept the invitation.',
    )
}

/**
 * The account gets the provider of its inviter; a reseller has one customer more then. Throws `quota_exceeded` or
 * `reseller_suspended`, without the reseller's name and numbers.
 */
function makeAccount(
  tx: Tx,
  { member, owner }: Invitation,
  { name, passwordHash, now }: { name: string; passwordHash: string; now: number },
): Account {
  const reseller = resellerOf(tx, owner)
  try {
    if (reseller) mustAllowCustomer(tx, now, reseller)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError(
      error.code,
      'The provider of whoever invited you accepts no new accounts now. Tell them, and try again with the same link.',
    )
  }
  const account = addAccount(
    tx,
    { name, email: member.email },
    { kind: 'customer', resellerId: reseller?.id ?? null, now },
  )
  tellCreated(tx, now, account)
  return withPassword(tx, account, passwordHash)
}
