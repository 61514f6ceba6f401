import { INVITATIONS_PER_MINUTE, Limit } from '../../kernel/api/limits.ts'
import { feature } from '../../kernel/feature.ts'
import { acceptInvitation, getInvitation, joinTeam } from './accept.ts'
import { inviteMember, resendInvitation } from './invite.ts'
import { changeMember, listTeam, removeMember } from './members.ts'
import { leaveTeam, listMemberships } from './memberships.ts'
import { teamMembers } from './tables.ts'

const errors = {
  team_member_not_found: {
    status: 404,
    when: 'The team of this account has no member with this id.',
    remedy: 'Check the id.',
  },
  membership_not_found: {
    status: 404,
    when: 'Nothing with this id is shared with this account.',
    remedy: 'Check the id; the access may have ended.',
  },
  invitation_not_valid: {
    status: 409,
    when: 'The invitation was used, withdrawn, or has expired.',
    remedy: 'Ask whoever sent it for a new one.',
    audited: true,
  },
} as const

const ids = {
  teamMember: { prefix: 'tm', also: ['membership', 'team'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    team: { ids: typeof ids; errors: typeof errors }
  }
  interface Services {
    /** Refuses the 11th invitation of a minute from one account: each is a mail to an address that somebody typed. */
    invitations: Limit
  }
}

export const teamFeature = feature({
  name: 'team',
  ids,
  errors,
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
  services: ({ clock }) => ({ invitations: new Limit(INVITATIONS_PER_MINUTE, clock) }),
  nav: [
    {
      kinds: ['reseller'],
      group: 'Account',
      position: 380,
      name: 'team',
      title: 'Team',
      href: '/team',
      icon: 'user',
      sees: listTeam,
    },
    {
      kinds: ['customer'],
      group: '',
      position: 150,
      name: 'team',
      title: 'Team',
      href: '/team',
      icon: 'user',
      sees: listTeam,
    },
  ],
  actions: [
    {
      kinds: ['reseller', 'customer'],
      position: 200,
      title: 'Invite someone',
      page: '/team',
      dialog: true,
      does: inviteMember,
    },
  ],
})
