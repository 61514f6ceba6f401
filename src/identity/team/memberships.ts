import { Type as t } from 'typebox'
import { page } from '../../kernel/api/list.ts'
import { described, done, namedSchema, nullable, operation, type Resource, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { accountById } from '../account-records/queries.ts'
import { changes, reads, workloadNamed } from './model.ts'
import { deleteMember, ownMembership, pageOfMemberships } from './queries.ts'
import { role } from './role.ts'
import type { TeamMember } from './tables.ts'

/** The member's view: the entries by which others share with the account. */
const membership: Resource<TeamMember> = {
  name: 'membership',
  notFound: 'membership_not_found',
  find: ownMembership,
}

export const membershipResponse = namedSchema('Membership', {
  id: t.String(),
  owner: described(t.Object({ id: t.String(), name: t.String() }), 'Whose servers these are.'),
  role,
  server: described(nullable(t.Object({ id: t.String(), name: t.String() })), 'Null: all servers of the owner.'),
  since: time,
})

export const listMemberships = operation({
  id: 'team.memberships',
  method: 'GET',
  path: '/team/memberships',
  summary: 'What others share with you, newest first',
  ...reads,
  response: page(membershipResponse),
  run(call) {
    const { tx, actor } = call
    return pageOfMemberships(call, actor.accountId, (membership) => ({
      id: membership.id,
      owner: { id: membership.ownerId, name: accountById(tx, membership.ownerId)!.name },
      role: membership.role,
      server: workloadNamed(tx, membership.workloadId),
      since: iso(membership.acceptedAt!),
    }))
  },
})

export const leaveTeam = operation({
  id: 'team.leave',
  destroys: [],
  method: 'DELETE',
  path: '/team/memberships/{id}',
  summary: 'Give up access to what somebody shares with you',
  past: 'Gave up shared access',
  ...changes,
  on: membership,
  response: done,
  run({ tx, target }) {
    deleteMember(tx, target.id)
    return {}
  },
})
