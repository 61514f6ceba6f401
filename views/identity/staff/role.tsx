import { getRole } from '../../../src/identity/staff/roles.ts'
import { listRoleTokens } from '../../../src/identity/tokens/of-role.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Facts, Section } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { ExpiryTime, LastUse, ScopeList } from '../tokens/list.tsx'
import { inWords } from './role-list.tsx'

const reads = { role: getRole, tokens: listRoleTokens }
type Role = Answers<typeof reads>['role']
type RoleToken = Answers<typeof reads>['tokens']['data'][number]

export const rolePage = page({
  path: '/admin/roles/{id}',
  reads,
  title: ({ role }) => role.name,
  nav: 'staff',
  view: ({ role, tokens }) => (
    <>
      <Head
        title={role.name}
        trail={[
          ['Staff', '/admin/staff'],
          ['Roles', '/admin/roles'],
        ]}
        sub={<span>{count(role.staff, 'member')}</span>}
      />
      <Section id="about" title="Role">
        <Facts
          of={[
            ['Second factor', role.secondFactor ? 'Required of people; their API tokens keep working' : 'Optional'],
            ['Permissions', <Permissions of={role} />],
          ]}
        />
      </Section>
      <Section
        id="tokens"
        title="API tokens"
        count={tokens.total || undefined}
        words="Tokens of its members. They act within their scopes and never beyond the permissions of the role."
        flush
      >
        <List of={tokens} noun="token" empty={<Empty>No member has an API token.</Empty>}>
          <Table label="API tokens" rows={tokens.data} columns={columns} idOf={(k) => k.id} />
        </List>
      </Section>
    </>
  ),
})

function Permissions({ of: role }: { of: Role }) {
  const at = useAt()
  if (role.isOwner) return <>All permissions, including those that later versions add</>
  if (role.permissions.length === 0) return <>None</>
  return (
    <ul class="will">
      {role.permissions.map((name) => (
        <li>{inWords(at, name)}</li>
      ))}
    </ul>
  )
}

const columns: readonly Column<RoleToken>[] = [
  {
    title: 'Token',
    kind: 'name',
    width: 24,
    cell: (k) => (
      <>
        <b title={k.name}>{k.name}</b>
        <small class="mono">pnl_…{k.ending}</small>
      </>
    ),
  },
  { title: 'Member', kind: 'a', width: 18, cell: (k) => k.owner.name },
  { title: 'Scopes', kind: 'wide', cell: (k) => <ScopeList of={k} /> },
  { title: 'Last used', kind: 'addr', width: 16, cell: (k) => <LastUse of={k} /> },
  { title: 'Expires', kind: 'wide', width: 14, cell: (k) => <ExpiryTime expiresAt={k.expiresAt} /> },
  { title: 'Created', kind: 'lo', width: 10, cell: (k) => <Time iso={k.createdAt} /> },
]
