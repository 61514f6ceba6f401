import type { listCustomers } from '../../../src/identity/customers/customers.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Link } from '../../components/link.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Count, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import type { SellingArea } from './add.tsx'

type Customer = Answers<{ c: typeof listCustomers }>['c']['data'][number]

type TableProps = {
  customers: readonly Customer[]
  area: SellingArea
  /** False where all of them are customers of the same reseller. */
  reseller?: boolean
  /** They are the list that the page's address asks for. */
  sortable?: boolean
}
/** The columns that a list of customers can be sorted by. */
export const customerSorts = {
  name: { title: 'Customer', sort: 'name' },
  state: { title: 'State', sort: '-lockedAt' },
  email: { title: 'E-mail', sort: 'email' },
  externalId: { title: 'External id', sort: 'externalId' },
  since: { title: 'Customer since', sort: '-createdAt', usual: true },
} as const

export function CustomerTable({ customers, area, reseller = true, sortable }: TableProps) {
  const columns: (Column<Customer> | false)[] = [
    { ...customerSorts.name, kind: 'name', width: 24, cell: (c) => <Name of={c} area={area} /> },
    { ...customerSorts.state, kind: 'state', width: 12, cell: (c) => <CustomerState of={c} /> },
    { ...customerSorts.email, kind: 'addr', width: 22, cell: (c) => <span title={c.email}>{c.email}</span> },
    reseller && area === '/admin' && { title: 'Reseller', kind: 'mid', width: 14, cell: (c) => <Reseller of={c} /> },
    {
      ...customerSorts.externalId,
      kind: 'lo',
      width: 12,
      cell: (c) => (c.externalId ? <span class="mono">{c.externalId}</span> : '–'),
    },
    { title: 'Servers', kind: 'a', num: true, width: 10, cell: (c) => <Servers of={c} area={area} /> },
    { ...customerSorts.since, kind: 'b', width: 14, cell: (c) => <Time iso={c.createdAt} /> },
  ]
  const shown = columns.filter((c): c is Column<Customer> => c !== false)
  return <Table label="Customers" rows={customers} columns={shown} idOf={(c) => c.id} stick sortable={sortable} />
}

const Name = ({ of: c, area }: { of: Customer; area: SellingArea }) => (
  <>
    <Link to={`${area}/customers/{id}`} params={{ id: c.id }} title={c.name}>
      {c.name}
    </Link>
    {c.organization && <small title={c.organization}>{c.organization}</small>}
  </>
)

const CustomerState = ({ of: { lockedAt } }: { of: Customer }) => (
  <State tone={lockedAt ? 'hold' : 'ok'} shape={lockedAt ? 'hold' : 'dot'}>
    {lockedAt ? 'Locked' : 'Active'}
  </State>
)

/** A reseller has a page of its own beside that of its account. */
const Reseller = ({ of: c }: { of: Customer }) =>
  c.kind === 'reseller' ? (
    <Link to="/admin/resellers/{id}" params={{ id: c.id }}>
      Is a reseller
    </Link>
  ) : c.resellerId ? (
    <Link to="/admin/resellers/{id}" params={{ id: c.resellerId }}>
      {c.resellerName}
    </Link>
  ) : (
    '–'
  )

const Servers = ({ of: c, area }: { of: Customer; area: SellingArea }) =>
  c.servers > 0 ? (
    <Link to={`${area}/servers`} query={{ ownerId: c.id }}>
      <Count n={c.servers} of="server" />
    </Link>
  ) : (
    <Count n={0} of="server" />
  )
