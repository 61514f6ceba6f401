// The page on which staff give a server to another customer.
import { changeServerOwner } from '../../../../src/compute/servers/life/change-owner.ts'
import { getServer } from '../../../../src/compute/servers/list.ts'
import { listCustomers } from '../../../../src/identity/customers/customers.ts'
import { type Answers, type At, page, reading } from '../../../../src/kernel/web/page.ts'
import { Action } from '../../../components/action.tsx'
import { Head } from '../../../components/head.tsx'
import { Link } from '../../../components/link.tsx'
import { List } from '../../../components/list.tsx'
import { Empty } from '../../../components/section.tsx'
import { Table } from '../../../components/table.tsx'
import { Setting } from '../../workloads/settings-entry.tsx'
import { disabledReason, type Server } from '../words.ts'

const SHOWN = 10
const reads = {
  server: getServer,
  customers: reading(listCustomers, ({ query }: At) => ({
    query: { ...query, limit: String(SHOWN) },
  })),
}
type Data = Answers<typeof reads>
type Customer = Data['customers']['data'][number]

export const changeOwnerPage = page({
  path: '/admin/servers/{id}/owner',
  reads,
  title: ({ server }) => `Change the owner of ${server.name}`,
  nav: 'servers',
  view: (data) => <ChangeOwnerPage {...data} />,
})

function ChangeOwnerPage({ server: s, customers }: Data) {
  const others = customers.data.filter(({ id }) => id !== s.owner.id)
  return (
    <>
      <Head
        title="Change owner"
        trail={[
          ['Servers', '/admin/servers'],
          [s.name, `/admin/servers/${s.id}`],
        ]}
        sub={
          <p>
            {s.hostname} belongs to {s.owner.name}. It goes to its new owner with its disk and addresses.
          </p>
        }
      />
      <List
        of={customers}
        noun="customer"
        filters={[{ name: 'q', label: 'Find customer', placeholder: 'Name, organization or e-mail' }]}
        empty={<Empty>No customer matches.</Empty>}
      >
        <Table label="Customers" rows={others} idOf={(c) => c.id} columns={columnsFor(s)} />
      </List>
    </>
  )
}

const columnsFor = (s: Server) => [
  {
    title: 'Customer',
    kind: 'name' as const,
    width: 35,
    cell: (c: Customer) => <a href={`/admin/customers/${c.id}`}>{c.name}</a>,
  },
  { title: 'E-mail', kind: 'addr' as const, width: 45, cell: (c: Customer) => c.email },
  {
    title: 'Actions',
    kind: 'a' as const,
    width: 20,
    cell: (c: Customer) => (
      <Action
        op={changeServerOwner}
        params={{ id: s.id }}
        body={{ ownerId: c.id }}
        label="Choose"
        of={c.name}
        small
        title={`Give ${s.hostname} to ${c.name}?`}
        submit="Change owner"
        done={`${s.hostname} belongs to ${c.name}`}
        leadsTo={`/admin/servers/${s.id}`}
        disabledReason={(c.lockedAt && 'The account is locked.') || disabledReason(s, 'change_owner')}
        confirm={{
          type: s.hostname,
          keep: `Leave it with ${s.owner.name}`,
          consequences: [
            `${s.owner.name} and everybody whom the server was shared with lose access immediately.`,
            `${c.name} gets it with its disk, addresses, snapshots and backups, and pays for it from now on.`,
            `Private networks and shared firewalls of ${s.owner.name} are detached from it. Both get a notice.`,
          ],
        }}
      />
    ),
  },
]

/** The entry among the settings of a server, which leads to that page. */
export const ChangeOwner = ({ server: s }: { server: Server }) => (
  <Setting op={changeServerOwner} title="Owner" words={s.owner.name}>
    <Link class="btn" to="/admin/servers/{id}/owner" params={{ id: s.id }}>
      Change owner
    </Link>
  </Setting>
)
