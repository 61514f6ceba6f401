import { listServers } from '../../../src/compute/servers/list.ts'
import { type Answers, ifAllowed } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listFloatingIps, renameFloatingIp } from '../../../src/network/floating-ips/list.ts'
import { assignFloatingIp, unassignFloatingIp } from '../../../src/network/floating-ips/move.ts'
import { releaseFloatingIp } from '../../../src/network/floating-ips/release.ts'
import { reserveFloatingIp } from '../../../src/network/floating-ips/reserve.ts'
import { Action, Menu, RenameEntry } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Radios } from '../../components/choices.tsx'
import { Field, Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Live } from '../../components/live.tsx'
import { Copyable, Empty } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'

const reads = {
  floating: listFloatingIps,
  servers: ifAllowed(listServers, () => ({ query: { limit: '100' } })),
}
type Data = Answers<typeof reads>
type Floating = Data['floating']['data'][number]
type Servers = NonNullable<Data['servers']>['data']

export const floatingIpsPages = inEveryArea({
  path: '/floating-ips',
  reads,
  title: 'Floating addresses',
  nav: 'floating-ips',
  view: ({ floating, servers }, area) => (
    <>
      <Head
        title="Floating addresses"
        actions={area !== '/admin' && <Reserve servers={servers?.data ?? []} />}
        sub={
          <span>
            Addresses that stay yours and move between servers in the same location, for example to a replacement before
            the old server goes.
          </span>
        }
      />
      <Live id="list" every={4}>
        <List
          of={floating}
          noun="floating address"
          plural="floating addresses"
          empty={
            <Empty title="No floating addresses yet">
              {area === '/admin'
                ? 'Customers reserve them; on the network page of a server you can do it for them.'
                : 'Reserve one, then assign it to a server.'}
            </Empty>
          }
        >
          <Table
            label="Floating addresses"
            rows={floating.data}
            columns={columnsFor(area, servers?.data ?? [])}
            idOf={(f) => f.id}
          />
        </List>
      </Live>
    </>
  ),
})

const columnsFor = (area: Area, servers: Servers): Column<Floating>[] => [
  { title: 'Address', kind: 'name', width: 30, cell: (f) => <Copyable text={f.address} what="floating address" /> },
  {
    title: 'State',
    kind: 'state',
    width: 14,
    cell: (f) =>
      f.jobId ? (
        <State tone="work" shape="work">
          Moving
        </State>
      ) : f.server ? (
        <State tone="ok" shape="tick">
          Assigned
        </State>
      ) : (
        <State tone="idle" shape="dot">
          Free
        </State>
      ),
  },
  {
    title: 'Server',
    kind: 'addr',
    width: 24,
    cell: (f) =>
      f.server ? (
        <Link href={`${area}/servers/${f.server.id}/network`}>{f.server.hostname}</Link>
      ) : (
        <span class="muted">None</span>
      ),
  },
  { title: 'Name', kind: 'mid', width: 16, cell: (f) => (f.name === f.address ? '' : f.name) },
  {
    title: area === '' ? 'Location' : 'Owner',
    kind: 'a',
    width: 16,
    cell: (f) => (area === '' ? f.location.name : f.owner.name),
  },
  { title: 'Actions', kind: 'more', cell: (f) => <RowMenu of={f} servers={servers} /> },
]

function RowMenu({ of: f, servers }: { of: Floating; servers: Servers }) {
  const near = servers.filter(
    (s) => s.owner.id === f.owner.id && s.location.id === f.location.id && s.id !== f.server?.id,
  )
  const busy = f.jobId !== null && `A job is moving ${f.address}.`
  return (
    <Menu label={`Actions for ${f.address}`} small>
      <Action
        op={assignFloatingIp}
        params={{ id: f.id }}
        label="Assign to a server"
        icon="link"
        inMenu
        title={`Assign ${f.address} to a server`}
        submit="Move address"
        disabledReason={busy || (near.length === 0 && `There is no other server in ${f.location.name}.`)}
        done={`${f.address} is on its way`}
        fields={
          <Select
            scope={`to-${f.id}`}
            name="serverId"
            label="Server"
            value={near[0]?.id ?? ''}
            options={near.map((s) => ({ value: s.id, label: s.name }))}
            hint="The server that has it now loses it."
          />
        }
      />
      {f.server && (
        <Action
          op={unassignFloatingIp}
          params={{ id: f.id }}
          label="Unassign"
          icon="unplug"
          inMenu
          title={`Unassign ${f.address}?`}
          submit="Unassign"
          disabledReason={busy}
          done={`${f.address} is being unassigned`}
          confirm={{ consequences: [`${f.server.hostname} cannot be reached at ${f.address} any more.`] }}
        />
      )}
      <RenameEntry op={renameFloatingIp} of={f} />
      <Action
        op={releaseFloatingIp}
        params={{ id: f.id }}
        label="Release"
        icon="trash"
        inMenu
        tone="bad"
        title={`Release ${f.address}?`}
        submit="Release address"
        disabledReason={busy || (f.server !== null && `It is assigned to ${f.server.hostname}. Unassign it first.`)}
        done={`${f.address} is released`}
        confirm={{ consequences: ['Somebody else may get the address.', 'It is no longer billed.'] }}
      />
    </Menu>
  )
}

function Reserve({ servers }: { servers: Servers }) {
  const { actor } = useAt()
  const own = servers.filter((s) => s.owner.id === actor.accountId)
  const locations = [...new Map(own.map(({ location }) => [location.id, location.name]))]
  return (
    <Action
      op={reserveFloatingIp}
      params={{ id: actor.accountId }}
      label="Reserve address"
      icon="plus"
      tone="pri"
      disabledReason={locations.length === 0 && 'You need a server first: an address is reserved in its location.'}
      title="Reserve a floating address"
      submit="Reserve address"
      done="{address} is reserved"
      fields={
        <>
          <Select
            scope="reserve"
            name="locationId"
            label="Location"
            value={locations[0]?.[0] ?? ''}
            options={locations.map(([value, label]) => ({ value, label }))}
          />
          <Radios
            scope="reserve"
            name="version"
            label="Version"
            as="number"
            value="4"
            options={[
              { value: '4', label: 'IPv4' },
              { value: '6', label: 'IPv6' },
            ]}
          />
          <Field scope="reserve" name="name" label="Name" hint="Leave empty to use the address." />
        </>
      }
    />
  )
}
