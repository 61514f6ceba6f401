import { feature } from '../../kernel/feature.ts'
import { acceptInvitation, getInvitation, joinTeam } from './accept.ts'
import { inviteMember, resendInvitation } from './invite.ts'
import { changeMember, listTeam, removeMember } from './members.ts'
import { leaveTeam, listMemberships } from './memberships.ts'
import { teamMembers } from './tables.ts'

export const teamFeature = feature({
  name: 'team',
  tables: [teamMembers],
  operations: [
    inviteMember,
    listTeam,
    changeMember,
    removeMember,
    resendInvitation,
    listMemberships,
    leaveTeam,
    getInvitation,
    acceptInvitation,
    joinTeam,
  ],
})
