import { Type as t } from 'typebox'
import { type Actor, sessionOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { fields, line, operation, secret } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type Account, mailAddress, mailField, refuseTaken, staffMember } from '../account-records/model.ts'
import { tellOldAddress } from '../account-records/new-address.ts'
import { tellOfOwner } from '../account-records/owner-changes.ts'
import { pageOfAccounts, updateAccount } from '../account-records/queries.ts'
import { hasOtherOwner } from '../account-records/roles/queries.ts'
import { mustOutrank, mustReach, roleOf } from '../account-records/roles/role.ts'
import { endLinks } from '../auth/links/queries.ts'
import { sendWelcome } from '../auth/passwords/change.ts'
import { hashPassword, mustBeGood } from '../auth/passwords/hash.ts'
import { sessionCookie } from '../auth/sessions/cookies.ts'
import { endSessionsOf, rotateToken, SESSION_SECONDS } from '../auth/sessions/sessions.ts'
import { revokeTokensOf } from '../tokens/queries.ts'
import { addStaff, mustBeRole, showStaff, staffResponse } from './staff-member.ts'

const who = { staff: ['staff.write'] } as const

export const listStaff = operation({
  id: 'staff.list',
  method: 'GET',
  path: '/admin/staff',
  summary: 'Everybody who runs this installation',
  access: who,
  response: page(staffResponse),
  run: (call) =>
    pageOfAccounts(call, { name: 'staff', group: { kind: 'staff' }, show: (member) => showStaff(call.tx, member) }),
})

export const createStaff = operation({
  id: 'staff.create',
  method: 'POST',
  path: '/admin/staff',
  summary: 'Add a member of staff, with a role that may do no more than you',
  access: who,
  requiresSession: true,
  requiresRecentAuth: true,
  body: fields({
    email: mailField,
    name: line(100),
    role: t.Optional(line(60)),
    password: t.Optional(secret(t.String({ maxLength: 1000 }))),
  }),
  response: staffResponse,
  status: 201,
  refuses: ['email_taken'],
  example: { email: 'bo@example.com', name: 'Bo', role: 'Owner', password: 'correct horse battery staple' },
  async prepare({ body }) {
    if (body.password === undefined) return null
    await mustBeGood(body.password, 'password', body)
    return hashPassword(body.password)
  },
  /** Without a password they are mailed a link to choose one. */
  run(call) {
    const { tx, body, prepared: passwordHash, clock } = call
    const role = mustBeRole(tx, body.role ?? 'Owner')
    mustReach(call, role)
    if (role.isOwner) tellOfOwner(call, `${body.name} (${body.email}) was added as an owner.`)
    const member = addStaff(tx, { ...body, role: role.name, passwordHash, now: clock() })
    if (passwordHash === null) sendWelcome(tx, call, member)
    return showStaff(tx, member)
  },
})

export const changeStaff = operation({
  id: 'staff.update',
  method: 'PATCH',
  path: '/admin/staff/{id}',
  summary: 'Change the name, the address or the role of a member of staff; with another role they sign in anew',
  past: 'Changed a member of staff',
  access: who,
  requiresSession: true,
  requiresRecentAuth: true,
  on: staffMember,
  body: fields({
    name: t.Optional(line(100)),
    email: t.Optional(mailField),
    role: t.Optional(line(60)),
  }),
  response: staffResponse,
  refuses: ['email_taken', 'last_owner'],
  example: { role: 'Support' },
  run(call) {
    const {
      tx,
      actor,
      target,
      config,
      clock,
      setCookie,
      body: { role: roleName, ...body },
    } = call
    mustOutrank(tx, call, target)
    const role = roleName === undefined ? undefined : mustBeRole(tx, roleName)
    if (role) {
      mustReach(call, role)
      if (!role.isOwner) mustNotBeLastOwner(tx, target)
    }
    const wasOwner = roleOf(tx, target)?.isOwner === true
    const isOwner = role?.isOwner ?? wasOwner
    if (isOwner !== wasOwner)
      tellOfOwner(call, `${named(target)} ${isOwner ? 'was made an' : 'is no longer an'} owner.`)
    if (wasOwner && body.email !== undefined)
      tellOfOwner(call, `The owner ${named(target)} has another e-mail address: ${body.email}.`)
    const given = {
      ...body,
      ...(body.email !== undefined && { email: mailAddress(body.email) }),
      ...(role && { roleId: role.id }),
      ...(isOwner !== wasOwner && { ownerSince: isOwner ? clock() : null }),
    }
    if (role && role.id !== target.roleId) {
      // A session is opened for what its holder was then.
      const here = actor.accountId === target.id ? sessionOf(actor)?.sessionId : undefined
      endSessionsOf(tx, target.id, here)
      if (here) setCookie(sessionCookie(config.origin, rotateToken(tx, here), SESSION_SECONDS))
    }
    try {
      return showStaff(tx, tellOldAddress(tx, call, target, updateAccount(tx, target, given)))
    } catch (error) {
      return refuseTaken(error)
    }
  },
})

export const disableStaff = operation({
  id: 'staff.disable',
  method: 'POST',
  path: '/admin/staff/{id}/actions/disable',
  summary:
    'Disable a member of staff: sessions, tokens and links end at once and for good, what they did stays on record',
  access: who,
  requiresSession: true,
  requiresRecentAuth: true,
  on: staffMember,
  response: staffResponse,
  refuses: ['already_done', 'last_owner'],
  run({ tx, actor, registry, target, clock }) {
    mustOutrank(tx, { actor, registry }, target)
    mustBeAnother(actor, target)
    if (target.disabledAt !== null) throw new ApiError('already_done', `${target.name} is already disabled.`)
    mustNotBeLastOwner(tx, target)
    const now = clock()
    endSessionsOf(tx, target.id)
    endLinks(tx, target.id, now)
    revokeTokensOf(tx, target.id, now)
    return showStaff(tx, updateAccount(tx, target, { disabledAt: now }))
  },
})

export const enableStaff = operation({
  id: 'staff.enable',
  method: 'POST',
  path: '/admin/staff/{id}/actions/enable',
  summary: 'Enable a disabled member of staff again; their tokens stay revoked',
  past: 'Enabled a member of staff',
  access: who,
  requiresSession: true,
  requiresRecentAuth: true,
  on: staffMember,
  response: staffResponse,
  refuses: ['already_done'],
  run(call) {
    const { tx, target } = call
    mustOutrank(tx, call, target)
    if (target.disabledAt === null) throw new ApiError('already_done', `${target.name} is not disabled.`)
    if (roleOf(tx, target)?.isOwner) tellOfOwner(call, `The owner ${named(target)} can sign in again.`)
    return showStaff(tx, updateAccount(tx, target, { disabledAt: null }))
  },
})

const named = ({ name, email }: Pick<Account, 'name' | 'email'>) => `${name} (${email})`

/** Throws `forbidden` for the own account: only another account could undo it. */
function mustBeAnother(actor: Actor, target: Account) {
  if (actor.accountId === target.id)
    throw new ApiError('forbidden', 'You cannot disable your own account. Ask another administrator.')
}

/** Throws `last_owner` when nobody else could give the rights back. */
function mustNotBeLastOwner(tx: Db, account: Account) {
  if (!roleOf(tx, account)?.isOwner) return
  if (!hasOtherOwner(tx, account.id))
    throw new ApiError(
      'last_owner',
      `${account.name} is the last owner: without one, nobody could change roles any more. Make another owner first.`,
    )
}
