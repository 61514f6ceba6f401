import type { ComponentChildren } from 'preact'
import { listPackages } from '../../../src/catalog/packages/packages.ts'
import { createResellerServer, createServer } from '../../../src/compute/servers/create.ts'
import { listAllServers, listServers } from '../../../src/compute/servers/list.ts'
import { listCustomers } from '../../../src/identity/accounts/customers.ts'
import { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import { recordsOf } from '../../../src/kernel/api/list.ts'
import { allIfAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { FilterChoice, Filters, FilterText, KeptFilter, SomeOnly } from '../../components/filters.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty } from '../../components/section.tsx'
import { serverStates } from '../../components/state.tsx'
import { Pager } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { type ListedServer, type ListedServers, ServerTable } from './table.tsx'

const orders = { '/admin': createServer, '/reseller': createResellerServer } as const
type Selling = keyof typeof orders

/** For readers who may order, and may see the customers that the order can be for. */
function NewServerButton({ area }: { area: Selling }) {
  const at = useAt()
  if (!at.may(orders[area]) || (area === '/admin' && !at.may(listCustomers))) return null
  return (
    <Link class="btn pri" to={`${area}/servers/new`}>
      <Icon name="plus" />
      Create server
    </Link>
  )
}

export const serversPage = page({
  path: '/admin/servers',
  reads: { servers: listAllServers, offer: allIfAllowed(listPackages) },
  title: 'Servers',
  nav: 'servers',
  view: ({ servers, offer }) => (
    <ServerList servers={servers} packages={offer?.data} locations={offer?.locations} area="/admin" />
  ),
})

export const resellerServersPage = page({
  path: '/reseller/servers',
  reads: { servers: listServers, account: reading(getResellerAccount, () => ({})) },
  title: 'Servers',
  nav: 'servers',
  view: ({ servers, account }) => (
    <ServerList servers={servers} packages={account.packages} locations={account.locations} area="/reseller" />
  ),
})

type Named = readonly { id: string; name: string }[] | undefined
const ThingFilter = ({ name, label, things }: { name: string; label: string; things: Named }) =>
  things ? <FilterChoice name={name} label={label} options={things.map((thing) => [thing.id, thing.name])} /> : null

/** The filter that a link set; by name where a row has it. */
function Narrowed({ first }: { first: ListedServer | undefined }) {
  const { query } = useAt()
  const to: ComponentChildren = query['ownerId'] ? (
    <>
      Only servers of <strong>{first?.owner.name ?? query['ownerId']}</strong>.
    </>
  ) : query['nodeId'] ? (
    <>
      Only servers on <strong>{first?.node?.name ?? query['nodeId']}</strong>.
    </>
  ) : (
    query['resellerId'] && 'Only servers of one reseller and its customers.'
  )
  return to ? <SomeOnly>{to}</SomeOnly> : null
}

type ListProps = { servers: ListedServers; packages: Named; locations: Named; area: Selling }
const ServerList = ({ servers, packages, locations, area }: ListProps) => (
  <>
    <Head title="Servers" actions={<NewServerButton area={area} />} sub={<Narrowed first={servers.data[0]} />} />
    <Filters count={count(servers.total, 'server')}>
      <FilterText name="q" label="Search servers" placeholder="Name, address, owner or srv_…" />
      <FilterChoice name="status" label="State" options={Object.entries(serverStates)} />
      <ThingFilter name="locationId" label="Location" things={locations} />
      <ThingFilter name="packageId" label="Package" things={packages} />
      {['nodeId', 'ownerId', 'resellerId'].map((name) => (
        <KeptFilter name={name} />
      ))}
    </Filters>
    <Live id="list" every={4} class="">
      {servers.data.length > 0 ? (
        <ServerTable servers={servers.data} area={area} records={recordsOf(servers)} />
      ) : (
        <NoServers area={area} />
      )}
    </Live>
    <Pager of={servers} />
  </>
)

export function NoServers({ area }: { area: Selling | '' }) {
  const at = useAt()
  if (Object.keys(at.query).length > 0)
    return (
      <Empty
        action={
          <a class="btn" href={at.path}>
            Clear filters
          </a>
        }
      >
        No server matches these filters.
      </Empty>
    )
  return (
    <Empty action={area && <NewServerButton area={area} />}>
      {area === ''
        ? 'You have no server yet. Your provider orders servers for you; they appear here automatically.'
        : area === '/admin'
          ? 'A server belongs to a customer and runs on a node with free capacity.'
          : 'A server belongs to you or to one of your customers.'}
    </Empty>
  )
}
