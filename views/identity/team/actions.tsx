// The actions on a share, from either side.
import { resendInvitation } from '../../../src/identity/team/invite.ts'
import { changeMember, type listTeam, removeMember } from '../../../src/identity/team/members.ts'
import { leaveTeam, type listMemberships } from '../../../src/identity/team/memberships.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action, Edit } from '../../components/action.tsx'
import { RoleChoice } from './fields.tsx'

type Member = Answers<{ team: typeof listTeam }>['team']['data'][number]
type Membership = Answers<{ m: typeof listMemberships }>['m']['data'][number]

/** The name of the account, or the address that was invited. */
export const nameOf = (m: Member) => m.name ?? m.email

export const ChangeRole = ({ of: m }: { of: Member }) => (
  <Edit
    op={changeMember}
    params={{ id: m.id }}
    label="Change role"
    icon="pencil"
    of={`of ${nameOf(m)} on ${m.server?.name ?? 'all servers'}`}
    inMenu
    wide
    title={`Role of ${nameOf(m)}`}
    done="Saved. It applies from now on"
    fields={<RoleChoice scope={`role-${m.id}`} value={m.role} />}
  />
)

/** Nothing for members, who have accepted already. */
export const Resend = ({ of: m }: { of: Member }) =>
  m.state === 'member' ? null : (
    <Action
      op={resendInvitation}
      params={{ id: m.id }}
      label="Send again"
      icon="mail"
      of={`to ${m.email}`}
      inMenu
      title={`Send the invitation to ${m.email} again?`}
      done="A new invitation is on its way to {email}"
      confirm={{ consequences: ['They get a new link, valid for seven days.', 'The link they have stops working.'] }}
    />
  )

type RemoveProps = {
  of: Member
  /** Whether the same person has access to other servers. */
  hasOthers: boolean
}
export const RemoveMember = ({ of: m, hasOthers }: RemoveProps) =>
  m.state === 'member' ? <RemoveAccess of={m} hasOthers={hasOthers} /> : <Withdraw of={m} />

function RemoveAccess({ of: m, hasOthers }: RemoveProps) {
  const from = m.server?.name ?? 'all servers'
  return (
    <Action
      op={removeMember}
      params={{ id: m.id }}
      label="Remove"
      icon="trash"
      of={`${nameOf(m)} from ${from}`}
      inMenu
      tone="bad"
      title={`Remove ${nameOf(m)} from ${from}?`}
      done={`${nameOf(m)} is removed from ${from}`}
      confirm={{
        keep: 'Keep access',
        consequences: [
          `They lose ${m.server?.name ?? 'all your servers'} at once, in open pages and with their API tokens.`,
          hasOthers && 'Other servers that you share with them are listed separately and stay shared.',
          'Jobs that they started continue.',
          'They may still know root passwords and have SSH keys on the servers: change and remove those.',
        ],
      }}
    />
  )
}

const Withdraw = ({ of: m }: { of: Member }) => (
  <Action
    op={removeMember}
    params={{ id: m.id }}
    label="Withdraw"
    icon="trash"
    of={`the invitation of ${m.email} to ${m.server?.name ?? 'all servers'}`}
    inMenu
    tone="bad"
    title={`Withdraw the invitation of ${m.email}?`}
    done="The invitation is withdrawn"
    confirm={{ keep: 'Keep invitation', consequences: ['The link in the mail stops working.'] }}
  />
)

/** Ends the reader's own access to servers of somebody else; `leadsTo`: the page to go to then. */
export function Leave({ of: m, leadsTo }: { of: Membership; leadsTo?: string }) {
  const what = m.server?.name ?? `all servers of ${m.owner.name}`
  return (
    <Action
      op={leaveTeam}
      params={{ id: m.id }}
      label="Leave"
      icon="out"
      of={what}
      small
      title={`Leave ${what}?`}
      done="You have left"
      {...(leadsTo && { leadsTo })}
      confirm={{
        keep: 'Stay',
        consequences: [
          `You lose access to ${m.server?.name ?? `the servers of ${m.owner.name}`} at once.`,
          `Only ${m.owner.name} can invite you again.`,
        ],
      }}
    />
  )
}
