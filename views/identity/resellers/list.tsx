import { nearIn } from '../../../src/identity/resellers/quota.ts'
import { createReseller, listResellers } from '../../../src/identity/resellers/resellers.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { NewAccountFields } from '../customers/add.tsx'

type Reseller = Answers<{ r: typeof listResellers }>['r']['data'][number]

export const resellersPage = page({
  path: '/admin/resellers',
  reads: { resellers: listResellers },
  title: 'Resellers',
  nav: 'resellers',
  view: ({ resellers }) => (
    <>
      <Head
        title="Resellers"
        actions={<AddReseller />}
        sub={<p>They sell your servers to customers of their own, within quotas.</p>}
      />
      <List
        of={resellers}
        noun="reseller"
        sorts={columns}
        filters={[
          { name: 'q', label: 'Search resellers', placeholder: 'Name, organization or e-mail' },
          { name: 'externalId', label: 'External id', placeholder: 'External id' },
        ]}
        empty={
          <Empty title="No resellers yet">
            A reseller sells your servers to customers of its own. You decide which packages, where, and how many.
          </Empty>
        }
      >
        <Table label="Resellers" rows={resellers.data} columns={columns} idOf={(r) => r.id} stick sortable />
      </List>
    </>
  ),
})

const AddReseller = () => (
  <Action
    op={createReseller}
    label="Add reseller"
    icon="plus"
    tone="pri"
    done="{name} is added"
    leadsTo="/admin/resellers/{id}"
    fields={
      <>
        <p class="muted">Packages, locations and quotas are set next, on the reseller's page.</p>
        <NewAccountFields scope="reseller" emailHint="They sign in with it." />
      </>
    }
  />
)

type StateProps = { of: Pick<Reseller, 'suspendedAt' | 'lockedAt'>; tag?: boolean }
export const ResellerState = ({ of: { suspendedAt, lockedAt }, tag }: StateProps) => (
  <>
    <State tone={suspendedAt ? 'hold' : 'ok'} shape={suspendedAt ? 'hold' : 'dot'} tag={tag}>
      {suspendedAt ? 'Suspended' : 'Active'}
    </State>
    {lockedAt && (
      <>
        {' '}
        <State tone="hold" shape="hold" tag={tag}>
          Locked
        </State>
      </>
    )}
  </>
)

/** `3 of 10` */
const Share = ({ used, limit, of }: { used: number; limit: number | null; of: string }) => (
  <>
    {used.toLocaleString('en')}
    {limit !== null && <span class="muted"> of {limit.toLocaleString('en')}</span>}
    <span class="per"> {of}</span>
  </>
)

function NearQuotas({ of: r }: { of: Reseller }) {
  const near = nearIn(r).map(({ words }) => words)
  return near.length > 0 ? <span title={near.join('\n')}>{near.join(' · ')}</span> : '–'
}

const Name = ({ of: r }: { of: Reseller }) => (
  <>
    <Link to="/admin/resellers/{id}" params={{ id: r.id }} title={r.name}>
      {r.name}
    </Link>
    {r.organization && <small title={r.organization}>{r.organization}</small>}
  </>
)

const columns: readonly Column<Reseller>[] = [
  { title: 'Reseller', kind: 'name', width: 20, sort: 'name', cell: (r) => <Name of={r} /> },
  { title: 'State', kind: 'state', width: 12, cell: (r) => <ResellerState of={r} /> },
  { title: 'E-mail', kind: 'addr', width: 20, sort: 'email', cell: (r) => <span title={r.email}>{r.email}</span> },
  {
    title: 'Customers',
    kind: 'a',
    num: true,
    width: 12,
    cell: (r) => <Share used={r.used.customers} limit={r.quotas.customers} of="customers" />,
  },
  {
    title: 'Servers',
    kind: 'b',
    num: true,
    width: 12,
    cell: (r) => <Share used={r.used.servers} limit={r.quotas.servers} of="servers" />,
  },
  { title: 'Near a quota', kind: 'mid', width: 14, cell: (r) => <NearQuotas of={r} /> },
  {
    title: 'Reseller since',
    kind: 'lo',
    width: 10,
    sort: '-createdAt',
    usual: true,
    cell: (r) => <Time iso={r.createdAt} />,
  },
]
