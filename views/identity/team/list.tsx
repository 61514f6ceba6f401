// Both sides of sharing: the people with access to the own servers, and the servers that others share.
import { listServers } from '../../../src/compute/servers/list.ts'
import { inviteMember } from '../../../src/identity/team/invite.ts'
import { listTeam } from '../../../src/identity/team/members.ts'
import { listMemberships } from '../../../src/identity/team/memberships.ts'
import { roles } from '../../../src/identity/team/role.ts'
import { type Answers, page, reading, readingAll } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, Menu } from '../../components/action.tsx'
import { areaOf } from '../../components/area.ts'
import type { Option } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { ChangeRole, Leave, nameOf, RemoveMember, Resend } from './actions.tsx'
import { InviteFields, roleTitles } from './fields.tsx'

const reads = {
  team: listTeam,
  memberships: readingAll(listMemberships),
  servers: reading(listServers, ({ actor }) => ({ query: { ownerId: actor.accountId, limit: '100' } })),
}
type Data = Answers<typeof reads>
type Member = Data['team']['data'][number]
type Membership = Data['memberships']['data'][number]

export const teamPage = page({
  path: '/team',
  reads,
  title: 'Team',
  nav: 'team',
  view: ({ team, memberships, servers }) => (
    <>
      <Head
        title="Team"
        actions={<Invite servers={servers.data.map((s) => ({ value: s.id, label: s.name }))} />}
        sub={<p>Give other people access to your servers, with the role you choose. You can end it at any time.</p>}
      />
      <Section id="team" title="Your team" quiet flush first>
        <List of={team} noun="member" empty={<Empty>Only you have access so far.</Empty>}>
          <TeamTable members={team.data} />
        </List>
      </Section>
      {memberships.data.length > 0 && (
        <Section id="shared" title="Shared with you" count={memberships.total} flush>
          <SharedTable memberships={memberships.data} />
        </Section>
      )}
    </>
  ),
})

const Invite = ({ servers }: { servers: readonly Option[] }) => (
  <Action
    op={inviteMember}
    label="Invite someone"
    icon="plus"
    tone="pri"
    wide
    submit="Send invitation"
    done="An invitation is on its way to {email}"
    fields={<InviteFields scope="invite" servers={servers} />}
  />
)

const Servers = ({ of }: { of: Pick<Member, 'server'> }) => {
  const area = areaOf(useAt())
  return of.server ? (
    <Link to={`${area}/servers/{id}`} params={{ id: of.server.id }}>
      {of.server.name}
    </Link>
  ) : (
    'All servers'
  )
}

const RoleCell = ({ role }: { role: Member['role'] }) => (
  <>
    {roleTitles[role]}
    <small title={roles[role].words}>{roles[role].words}</small>
  </>
)

const states = {
  member: ['ok', 'tick', 'Member', 'since '],
  invited: ['warn', 'wait', 'Invited', 'expires '],
  expired: ['idle', 'fail', 'Expired', ''],
} as const
function MemberState({ of: m }: { of: Member }) {
  const [tone, shape, words, when] = states[m.state]
  const time = m.state === 'member' ? m.acceptedAt : m.expiresAt
  return (
    <>
      <State tone={tone} shape={shape}>
        {words}
      </State>
      {time && (
        <small>
          {when}
          <Time iso={time} />
        </small>
      )}
    </>
  )
}

const TeamTable = ({ members }: { members: readonly Member[] }) => (
  <Table
    label="Your team"
    rows={members}
    idOf={(m) => m.id}
    columns={[
      {
        title: 'Person',
        kind: 'name',
        width: 28,
        cell: (m) => (
          <>
            <b title={nameOf(m)}>{nameOf(m)}</b>
            {m.name && <small title={m.email}>{m.email}</small>}
          </>
        ),
      },
      { title: 'State', kind: 'state', width: 18, cell: (m) => <MemberState of={m} /> },
      { title: 'Servers', kind: 'addr', width: 20, cell: (m) => <Servers of={m} /> },
      { title: 'Role', kind: 'wide', cell: (m) => <RoleCell role={m.role} /> },
      {
        title: 'Actions',
        kind: 'more',
        cell: (m) => (
          <Menu label={`Actions for ${nameOf(m)} on ${m.server?.name ?? 'all servers'}`} small>
            <Resend of={m} />
            <ChangeRole of={m} />
            <RemoveMember of={m} hasOthers={members.some((o) => o.id !== m.id && o.email === m.email)} />
          </Menu>
        ),
      },
    ]}
  />
)

const SharedTable = ({ memberships }: { memberships: readonly Membership[] }) => (
  <Table
    label="Shared with you"
    rows={memberships}
    idOf={(m) => m.id}
    columns={[
      { title: 'Servers', kind: 'name', width: 28, cell: (m) => <Servers of={m} /> },
      { title: 'Owner', kind: 'addr', width: 18, cell: (m) => m.owner.name },
      { title: 'Your role', kind: 'a', cell: (m) => <RoleCell role={m.role} /> },
      { title: 'Shared since', kind: 'b', width: 12, cell: (m) => <Time iso={m.since} /> },
      {
        title: 'Actions',
        kind: 'state',
        width: 12,
        head: <span class="sr">Actions</span>,
        cell: (m) => <Leave of={m} />,
      },
    ]}
  />
)
