import { resetStaffFactors } from '../../../src/identity/auth/second-factors/reset-factors.ts'
import { listRoles } from '../../../src/identity/staff/roles.ts'
import { changeStaff, createStaff, disableStaff, enableStaff, listStaff } from '../../../src/identity/staff/staff.ts'
import { type Answers, page, readingAll } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listRecipients } from '../../../src/platform/outages/recipients.ts'
import { Action, EditEntry, Menu } from '../../components/action.tsx'
import { Field, Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Pager, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { list } from '../../components/words.ts'
import { LostFactor } from '../auth/second-factors/lost-factor.tsx'

const reads = { staff: listStaff, roles: readingAll(listRoles), told: listRecipients }
type Data = Answers<typeof reads>
type Member = Data['staff']['data'][number]
type Roles = Data['roles']['data']

export const staffPage = page({
  path: '/admin/staff',
  reads,
  title: 'Staff',
  nav: 'staff',
  view: ({ staff, roles, told }) => (
    <>
      <Head
        title="Staff"
        actions={
          <>
            <Link class="btn" to="/admin/roles">
              Roles
            </Link>
            <AddMember roles={roles.data} />
          </>
        }
        sub={<p>The people who run this installation. Their role decides what they may do.</p>}
      />
      <Section id="staff" title="Staff" quiet flush first>
        <StaffTable members={staff.data} roles={roles.data} />
      </Section>
      <Pager of={staff} />
      <WhoIsTold of={told.kinds} />
    </>
  ),
})

function StaffTable({ members, roles }: { members: readonly Member[]; roles: Roles }) {
  const { may } = useAt()
  const columns: (Column<Member> | false)[] = [
    {
      title: 'Name',
      kind: 'name',
      width: 28,
      cell: (m) => (
        <>
          <b title={m.name}>{m.name}</b>
          <small title={m.email}>{m.email}</small>
        </>
      ),
    },
    {
      title: 'State',
      kind: 'state',
      width: 14,
      cell: (m) => (
        <State tone={m.disabledAt ? 'hold' : 'ok'} shape={m.disabledAt ? 'hold' : 'dot'}>
          {m.disabledAt ? 'Disabled' : 'Active'}
        </State>
      ),
    },
    { title: 'Role', kind: 'addr', width: 16, cell: (m) => m.role?.name ?? 'None' },
    {
      title: 'Second factor',
      kind: 'a',
      width: 14,
      cell: (m) => (m.secondFactor ? 'Second factor on' : <span class="muted">No second factor</span>),
    },
    { title: 'Last seen', kind: 'b', width: 14, cell: (m) => (m.seenAt ? <Time iso={m.seenAt} /> : 'Never signed in') },
    { title: 'Added', kind: 'mid', width: 12, cell: (m) => <Time iso={m.createdAt} /> },
    [changeStaff, disableStaff, resetStaffFactors].some((op) => may(op)) && {
      title: 'Actions',
      kind: 'more',
      cell: (m) => <MemberMenu member={m} roles={roles} />,
    },
  ]
  const shown = columns.filter((c): c is Column<Member> => c !== false)
  return <Table label="Staff" rows={members} columns={shown} idOf={(m) => m.id} stick />
}

const RoleSelect = ({ scope, roles, value }: { scope: string; roles: Roles; value: string | undefined }) => (
  <Select
    scope={scope}
    name="role"
    label="Role"
    hint="Decides what they may do. You cannot give a role with more permissions than your own."
    value={value}
    options={roles.map((r) => ({ value: r.name, label: r.name }))}
  />
)

const AddMember = ({ roles }: { roles: Roles }) => (
  <Action
    op={createStaff}
    label="Add member"
    icon="plus"
    tone="pri"
    title="Add a member of staff"
    done="{name} is added"
    fields={
      <>
        <Field scope="staff" name="name" label="Name" required />
        <Field scope="staff" name="email" label="E-mail address" type="email" required hint="They sign in with it." />
        <RoleSelect scope="staff" roles={roles} value={roles.find((r) => !r.isOwner)?.name} />
        <Field
          scope="staff"
          name="password"
          label="First password"
          type="password"
          autocomplete="new-password"
          hint="Leave empty to send them a link to choose one."
        />
      </>
    }
  />
)

const MemberMenu = ({ member: m, roles }: { member: Member; roles: Roles }) => (
  <Menu label={`Actions for ${m.name}`} small>
    <EditMember member={m} roles={roles} />
    {m.secondFactor && <LostFactor op={resetStaffFactors} id={m.id} name={m.name} label="Lost second factor" inMenu />}
    {m.disabledAt ? <EnableMember member={m} /> : <DisableMember member={m} />}
  </Menu>
)

const EditMember = ({ member: m, roles }: { member: Member; roles: Roles }) => (
  <EditEntry
    op={changeStaff}
    of={m}
    label="Edit"
    icon="pencil"
    fields={
      <>
        <Field scope={`edit-${m.id}`} name="name" label="Name" required value={m.name} />
        <Field scope={`edit-${m.id}`} name="email" label="E-mail address" type="email" required value={m.email} />
        <RoleSelect scope={`edit-${m.id}`} roles={roles} value={m.role?.name} />
        <p class="muted">A change of role signs them out.</p>
      </>
    }
  />
)

const EnableMember = ({ member: m }: { member: Member }) => (
  <Action
    op={enableStaff}
    params={{ id: m.id }}
    label="Enable"
    icon="play"
    of={m.name}
    inMenu
    done={`${m.name} may sign in again`}
  />
)

const DisableMember = ({ member: m }: { member: Member }) => (
  <Action
    op={disableStaff}
    params={{ id: m.id }}
    label="Disable"
    icon="lock"
    of={m.name}
    inMenu
    tone="bad"
    title={`Disable ${m.name}?`}
    done={`${m.name} is disabled`}
    disabledReason={m.id === useAt().actor.accountId && 'You cannot disable your own account.'}
    confirm={{
      keep: 'Keep enabled',
      consequences: [
        'They are signed out everywhere at once, and cannot sign in.',
        'Their API tokens are revoked for good. Programs that use them stop working.',
        'Their entries in the audit log stay. They can be enabled again, and then create new tokens.',
      ],
    }}
  />
)

type Told = Data['told']['kinds'][number]
type Recipient = Told['staff'][number]

/** The members who learn of an outage, each as chosen under Notices. */
const WhoIsTold = ({ of: kinds }: { of: readonly Told[] }) => (
  <>
    {kinds.map((told) => (
      <Section
        id={told.kind === 'node_away' ? 'told' : `told-${told.kind}`}
        title={`Who is told when ${told.when}`}
        flush
      >
        {told.withoutMail.length > 0 && (
          <div class="sec">
            <Note level="warn">
              <strong>Nobody gets a mail about {list(told.withoutMail.map(({ name }) => name))}.</strong> Each member of
              staff chooses this under Notices.
            </Note>
          </div>
        )}
        {told.staff.length > 0 ? (
          <RecipientTable of={told} />
        ) : (
          <p class="muted">No member of staff may see nodes, so nobody is told.</p>
        )}
      </Section>
    ))}
  </>
)

const told = ({ inPanel, byMail }: Recipient) =>
  inPanel && byMail
    ? 'In the panel and by mail'
    : inPanel
      ? 'In the panel alone'
      : byMail
        ? 'By mail alone'
        : 'Not told'

const RecipientTable = ({ of: { when, staff } }: { of: Told }) => (
  <Table<Recipient>
    label={`Who is told when ${when}`}
    rows={staff}
    columns={[
      { title: 'Name', kind: 'name', width: 30, cell: (one) => <b title={one.name}>{one.name}</b> },
      {
        title: 'How',
        kind: 'state',
        width: 30,
        cell: (one) => (
          <State tone={one.byMail ? 'ok' : 'idle'} shape={one.byMail ? 'tick' : 'dot'}>
            {told(one)}
          </State>
        ),
      },
      {
        title: 'Where',
        kind: 'addr',
        width: 40,
        cell: ({ locations }) => (locations.length ? list(locations.map(({ name }) => name)) : 'Everywhere'),
      },
    ]}
  />
)
