import { createResellerServer, createServer } from '../../../src/compute/servers/create.ts'
import { exportAllServers, exportServers, listAllServers, listServers } from '../../../src/compute/servers/list.ts'
import { listCustomers } from '../../../src/identity/customers/customers.ts'
import { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import { page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { type ChoiceKind, type Choices, chooserFiles, filterChoices } from '../../components/forms/chooser.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Download, type Filter, List } from '../../components/list.tsx'
import { Empty, Note } from '../../components/section.tsx'
import { serverStates, stateOptions } from '../../components/state.tsx'
import { type Saved, SavedFilters, savedFilters } from '../../identity/saved-filters/saved.tsx'
import { ChosenOfMany, useManyTicks } from '../bulk-actions/bar.tsx'
import { manyServers } from '../bulk-actions/ways.ts'
import { MoveLink } from '../transfers/move-link.tsx'
import { linkedFilters } from '../workloads/cells.tsx'
import { Chosen, mayPower, tickFiles, useTicks } from './bulk.tsx'
import { PowerMenu } from './power-buttons.tsx'
import { type ListedServers, ServerTable, serverSorts } from './table.tsx'

const exportsOf = { '/admin': exportAllServers, '/reseller': exportServers } as const
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
  reads: {
    servers: listAllServers,
    packages: filterChoices('package', 'packageId'),
    locations: filterChoices('location', 'locationId'),
    nodes: filterChoices('node', 'nodeId'),
    saved: savedFilters,
  },
  title: 'Servers',
  nav: 'servers',
  files: [...tickFiles, ...chooserFiles],
  view: ({ servers, packages, locations, nodes, saved }) => (
    <ServerList servers={servers} packages={packages} locations={locations} nodes={nodes} saved={saved} area="/admin" />
  ),
})

export const resellerServersPage = page({
  path: '/reseller/servers',
  reads: { servers: listServers, account: reading(getResellerAccount, () => ({})), saved: savedFilters },
  title: 'Servers',
  nav: 'servers',
  files: [...tickFiles, ...chooserFiles],
  view: ({ servers, account, saved }) => (
    <ServerList
      servers={servers}
      packages={account.packages && { data: account.packages, more: false }}
      locations={account.locations && { data: account.locations, more: false }}
      saved={saved}
      area="/reseller"
    />
  ),
})

const oneOfThese = (name: string, label: string, of: ChoiceKind, choices: Choices | undefined): Filter | undefined =>
  choices?.data.length ? { name, label, of, choices } : undefined

/** A saved filter or a link may ask for the status as the API has it: the last that a node reported. */
export const lastSeenAs = (status: string | undefined): Filter => ({
  name: 'status',
  label: 'Last seen as',
  value: serverStates[status as keyof typeof serverStates] ?? status,
})

type ListProps = {
  servers: ListedServers
  packages: Choices | undefined
  locations: Choices | undefined
  nodes?: Choices | undefined
  saved: Saved
  area: Selling
}
function ServerList({ servers, packages, locations, nodes, saved, area }: ListProps) {
  const at = useAt()
  const { query } = at
  const first = servers.data[0]
  const ofStaff = useManyTicks(manyServers)
  const ofOthers = useTicks(servers.data)
  const tick = area === '/admin' ? ofStaff : ofOthers
  const menuOf = (s: ListedServers['data'][number]) =>
    mayPower(at, s) && <PowerMenu server={s}>{area === '/admin' && <MoveLink server={s} inMenu />}</PowerMenu>
  return (
    <>
      <Head
        title="Servers"
        actions={
          <>
            {area === '/admin' && (
              <Link class="btn" to="/admin/bulk-actions">
                Actions for many
              </Link>
            )}
            <Download op={exportsOf[area]} label="CSV" />
            <NewServerButton area={area} />
          </>
        }
      />
      <SavedFilters list="servers" of={saved} />
      <List
        of={servers}
        noun="server"
        every={4}
        sorts={Object.values(serverSorts)}
        filters={[
          { name: 'q', label: 'Search servers', placeholder: 'Name, address, owner, id' },
          { name: 'state', label: 'State', options: stateOptions(serverStates) },
          oneOfThese('locationId', 'Location', 'location', locations),
          oneOfThese('packageId', 'Package', 'package', packages),
          area === '/admin'
            ? { name: 'recoverable', label: 'Bring back', options: [['true', 'Terminated, can be brought back']] }
            : undefined,
          lastSeenAs(query['status']),
          { name: 'label', label: 'Label', value: query['label'] },
          ...linkedFilters(
            first,
            query,
            (nodes && nodes.data.length > 1 && oneOfThese('nodeId', 'Node', 'node', nodes)) || 'Node',
          ),
        ]}
        empty={<NoServers area={area} />}
      >
        <NodesAway of={servers.data} />
        <ServerTable servers={servers.data} area={area} tick={tick} actions={menuOf} sortable />
      </List>
      {tick && (area === '/admin' ? <ChosenOfMany of={manyServers} rows={servers} /> : <Chosen />)}
    </>
  )
}

/** For staff, who see nodes: those of the servers on this page that are away. */
function NodesAway({ of }: { of: ListedServers['data'] }) {
  const away = new Map(of.flatMap(({ node, nodeConnected }) => (node && !nodeConnected ? [[node.id, node.name]] : [])))
  return (
    <>
      {[...away].map(([id, name]) => (
        <Note level="bad" action={<Link href={`/admin/nodes/${id}`}>Open node</Link>}>
          <strong>{name} is not connected.</strong> Its servers have the state that was last seen.
        </Note>
      ))}
    </>
  )
}

export const NoServers = ({ area }: { area: Selling | '' }) => (
  <Empty title="No servers yet" action={area && <NewServerButton area={area} />}>
    {area === ''
      ? 'Your provider orders servers for you; they appear here automatically.'
      : area === '/admin'
        ? 'A server belongs to a customer and runs on a node with free capacity.'
        : 'A server belongs to you or to one of your customers.'}
  </Empty>
)
