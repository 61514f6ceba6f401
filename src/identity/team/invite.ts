import { Type as t } from 'typebox'
import { nameOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { type Call, fields, nullable, operation, see } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { isUniqueViolation, type Tx } from '../../kernel/db/open.ts'
import { type MailContext, mailTo } from '../../kernel/mail/mail.ts'
import { type Account, mailAddress, mailField } from '../account-records/model.ts'
import { accountById } from '../account-records/queries.ts'
import {
  changes,
  grantsRole,
  member,
  memberResponse,
  mustHold,
  newLink,
  ownWorkload,
  PEOPLE_PER_ACCOUNT,
  showMember,
  workloadNamed,
} from './model.ts'
import { countOthers, insertMember, updateMember } from './queries.ts'
import { role, roles } from './role.ts'
import type { TeamMember } from './tables.ts'

export const inviteMember = operation({
  id: 'team.invite',
  method: 'POST',
  path: '/team',
  summary: 'Invite someone by mail to one of your servers, or to all of them',
  past: 'Sent an invitation',
  ...changes,
  body: fields({
    email: mailField,
    role,
    serverId: t.Optional(nullable(t.String({ minLength: 1, maxLength: 40 }))),
  }),
  response: memberResponse,
  status: 201,
  ...grantsRole,
  refuses: ['scope_not_allowed', 'limit_reached', 'already_done', 'rate_limited'],
  example: { email: 'bo@example.com', role: 'operate', serverId: '<server_id>' },
  /** The response does not tell whether an account has this address. */
  run(call) {
    const { tx, actor, body, clock } = call
    const owner = accountById(tx, actor.accountId)!
    const email = mailAddress(body.email)
    if (email === owner.email.toLowerCase())
      throw invalid({ field: 'email', message: 'is your own: you can already do everything.' })
    const workloadId = body.serverId == null ? null : see(tx, actor, ownWorkload, body.serverId, 'serverId').id
    mustHaveSpace(tx, owner.id, email)
    const now = clock()
    const { token, stored } = newLink(now)
    try {
      const invited = insertMember(tx, {
        id: newId('tm'),
        ownerId: owner.id,
        email,
        workloadId,
        role: body.role,
        invitedBy: nameOf(actor),
        createdAt: now,
        ...stored,
      })
      send(call, owner, invited, token)
      return showMember(tx, invited, now)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new ApiError(
        'already_done',
        'This address is already in your team. Change its role, or send the invitation again.',
      )
    }
  },
})

export const resendInvitation = operation({
  id: 'team.resend',
  method: 'POST',
  path: '/team/{id}/actions/resend',
  summary: 'Send an invitation again, with a new link for another seven days; the old link ends',
  ...changes,
  on: member,
  response: memberResponse,
  refuses: ['scope_not_allowed', 'already_done', 'rate_limited'],
  run(call) {
    const { tx, target, clock } = call
    if (target.acceptedAt !== null) throw new ApiError('already_done', 'They have already accepted.')
    mustHold(call, target.role)
    const now = clock()
    const { token, stored } = newLink(now)
    const invited = updateMember(tx, target, stored)
    send(call, accountById(tx, target.ownerId)!, invited, token)
    return showMember(tx, invited, now)
  },
})

/** Throws `limit_reached`. */
function mustHaveSpace(tx: Tx, ownerId: string, email: string) {
  if (countOthers(tx, ownerId, email) >= PEOPLE_PER_ACCOUNT)
    throw new ApiError(
      'limit_reached',
      `A team has at most ${PEOPLE_PER_ACCOUNT} people, with those who are invited. Remove somebody who does not ` +
        'need access any longer.',
    )
}

/**
 * Throws `rate_limited`. The mail has the brand that the owner sees: the reader knows the owner, not the installation.
 */
function send(
  call: MailContext & Pick<Call, 'invitations'> & { tx: Tx },
  owner: Account,
  member: TeamMember,
  token: string,
) {
  call.invitations.take(owner.id)
  const on = workloadNamed(call.tx, member.workloadId)
  mailTo(
    call.tx,
    call,
    { id: owner.id, email: member.email, name: '' },
    {
      subject: `${owner.name} invites you to ${on ? `the server ${on.name}` : 'their servers'}`,
      greeting: 'Hello,',
      paragraphs: [
        `${owner.name} would like to share ${on ? `the server ${on.name}` : 'all their servers'} with you. What ` +
          'you could do there:',
        roles[member.role].words,
      ],
      button: { words: 'Open the invitation', path: `/join?token=${token}`, expiresAt: member.expiresAt },
      closing: 'The link can be used once, within seven days. If you do not know who sent this, ignore this mail.',
    },
  )
}
