import { listServers } from '../../../src/compute/servers/list.ts'
import { type Answers, ifAllowed } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { attachServer, detachServer } from '../../../src/network/private-networks/members.ts'
import {
  createNetwork,
  listNetworks,
  removeNetwork,
  renameNetwork,
} from '../../../src/network/private-networks/networks.ts'
import { Action, Menu, RemoveEntry, RenameEntry } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Field, Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Live } from '../../components/live.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'

const reads = {
  networks: listNetworks,
  servers: ifAllowed(listServers, () => ({ query: { limit: '100' } })),
}
type Data = Answers<typeof reads>
type Network = Data['networks']['data'][number]
type Servers = NonNullable<Data['servers']>['data']

export const networksPages = inEveryArea({
  path: '/networks',
  reads,
  title: 'Private networks',
  nav: 'networks',
  view: ({ networks, servers }, area) => (
    <>
      <Head
        title="Private networks"
        actions={area !== '/admin' && <Create servers={servers?.data ?? []} />}
        sub={
          <span>
            Servers of one owner in a location reach each other here, over addresses that nobody else can reach.
          </span>
        }
      />
      <Live id="list" every={4}>
        <List
          of={networks}
          noun="private network"
          empty={
            <Empty title="No private networks yet">
              {area === '/admin' ? 'Customers and resellers add them.' : 'Add one, then attach servers to it.'}
            </Empty>
          }
        >
          <Table
            label="Private networks"
            rows={networks.data}
            columns={columnsFor(area, servers?.data ?? [])}
            idOf={(n) => n.id}
          />
        </List>
      </Live>
    </>
  ),
})

const columnsFor = (area: Area, servers: Servers): Column<Network>[] => [
  { title: 'Name', kind: 'name', width: 18, cell: (n) => n.name },
  {
    title: 'Addresses',
    kind: 'addr',
    width: 22,
    cell: (n) => (
      <>
        <span class="mono">{n.ipv4}</span>
        {n.ipv6 && (
          <>
            <br />
            <small class="mono">{n.ipv6}</small>
          </>
        )}
      </>
    ),
  },
  { title: 'Servers', kind: area === '' ? 'b' : 'mid', width: 28, cell: (n) => <Members of={n} area={area} /> },
  { title: 'Location', kind: 'a', width: 16, cell: (n) => n.location.name },
  ...(area === '' ? [] : [{ title: 'Owner', kind: 'b', width: 16, cell: (n: Network) => n.owner.name } as const]),
  { title: 'Actions', kind: 'more', cell: (n) => <RowMenu of={n} servers={servers} /> },
]

const SHOWN = 3
const Members = ({ of: { members }, area }: { of: Network; area: Area }) =>
  members.length === 0 ? (
    <span class="muted">None</span>
  ) : (
    <>
      {members.slice(0, SHOWN).map(({ server, ipv4 }) => (
        <div>
          <Link href={`${area}/servers/${server.id}/network`}>{server.hostname}</Link>{' '}
          <small class="mono">{ipv4}</small>
        </div>
      ))}
      {members.length > SHOWN && <small class="muted">and {members.length - SHOWN} more</small>}
    </>
  )

/** Servers that can join: of the owner, in the location, and not in it yet. */
const outside = (n: Network, servers: Servers) =>
  servers.filter(
    (s) =>
      s.owner.id === n.owner.id &&
      s.location.id === n.location.id &&
      !n.members.some(({ server }) => server.id === s.id),
  )

function RowMenu({ of: n, servers }: { of: Network; servers: Servers }) {
  const near = outside(n, servers)
  return (
    <Menu label={`Actions for ${n.name}`} small>
      <Action
        op={attachServer}
        params={{ id: n.id }}
        label="Attach a server"
        icon="link"
        inMenu
        title={`Attach a server to ${n.name}`}
        submit="Attach server"
        disabledReason={near.length === 0 && `There is no other server in ${n.location.name}.`}
        done="The server is being attached"
        fields={
          <Select
            scope={`attach-${n.id}`}
            name="serverId"
            label="Server"
            value={near[0]?.id ?? ''}
            options={near.map((s) => ({ value: s.id, label: s.name }))}
            hint="It gets a network card and an address, also while it runs. Its guest agent sets the address up."
          />
        }
      />
      <RenameEntry op={renameNetwork} of={n} />
      {n.members.map(({ server }) => (
        <Action
          op={detachServer}
          params={{ id: n.id, serverId: server.id }}
          label={`Detach ${server.hostname}`}
          icon="unplug"
          inMenu
          title={`Detach ${server.hostname} from ${n.name}?`}
          submit="Detach server"
          done={`${server.hostname} is being detached`}
          confirm={{ consequences: [`${server.hostname} can no longer reach the other servers in ${n.name}.`] }}
        />
      ))}
      <RemoveEntry
        op={removeNetwork}
        of={n}
        keep="Keep network"
        consequences={['Its addresses are free again, for another network with the same range.']}
        disabledReason={n.members.length > 0 && 'Servers are in it. Detach them first.'}
      />
    </Menu>
  )
}

function Create({ servers }: { servers: Servers }) {
  const { actor } = useAt()
  const own = servers.filter((s) => s.owner.id === actor.accountId)
  const locations = [...new Map(own.map(({ location }) => [location.id, location.name]))]
  return (
    <Action
      op={createNetwork}
      params={{ id: actor.accountId }}
      label="Add network"
      icon="plus"
      tone="pri"
      disabledReason={locations.length === 0 && 'You need a server first: a network belongs to its location.'}
      title="Add a private network"
      submit="Add network"
      done="{name} is added"
      fields={
        <>
          <Field scope="network" name="name" label="Name" required placeholder="backend" />
          <Select
            scope="network"
            name="locationId"
            label="Location"
            value={locations[0]?.[0] ?? ''}
            options={locations.map(([value, label]) => ({ value, label }))}
          />
          <Field
            scope="network"
            name="ipv4"
            label="IPv4 range"
            required
            mono
            value="10.20.0.0/24"
            hint="A private range from /16 to /29. Servers get their addresses from it."
          />
          <Field scope="network" name="ipv6" label="IPv6 prefix" mono hint="A /64 of fd00::/8. Leave empty for none." />
        </>
      }
    />
  )
}
