import type { ComponentChildren } from 'preact'
import type { listAllServers } from '../../../src/compute/servers/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { Area } from '../../components/area.ts'
import { Copyable } from '../../components/section.tsx'
import { ServerState } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { size, smallSize } from '../../components/words.ts'
import { OwnerLink, Place, SharedBy } from '../workloads/cells.tsx'

export type ListedServers = Answers<{ servers: typeof listAllServers }>['servers']
export type ListedServer = ListedServers['data'][number]

export type Shown = {
  owner?: boolean
  place?: boolean
  node?: boolean
  /** The box of a row that can be chosen, and the one in the head for all of them. */
  tick?: { all: ComponentChildren; one(s: ListedServer): ComponentChildren } | undefined
  actions?(s: ListedServer): ComponentChildren
  sortable?: boolean | undefined
}

const Name = ({ of: s, area }: { of: ListedServer; area: Area }) => (
  <>
    <a href={`${area}/servers/${s.id}`} title={s.name}>
      {s.name}
    </a>
    <small title={about(s)}>{about(s)}</small>
    <Labels of={s} />
    <SharedBy of={s} />
  </>
)

const Labels = ({ of: s }: { of: ListedServer }) => {
  const labels = [...(s.staffLabels ?? []), ...s.labels]
  return labels.length ? <small title={labels.join(', ')}>{labels.join(', ')}</small> : null
}

/** One line, so that a row has two: the hostname where the name is another, and the image. */
const about = ({ name, hostname, image }: ListedServer) =>
  `${name === hostname ? '' : `${hostname} · `}${image?.name ?? 'No image yet'}`

const Address = ({ of: s }: { of: ListedServer }) => {
  const address = s.ipv4 ?? s.ipv6
  return address ? <Copyable text={address} what={address} /> : '–'
}

/** The columns that a list of servers can be sorted by. */
export const serverSorts = {
  name: { title: 'Server', sort: 'name' },
  state: { title: 'State', sort: 'status' },
  package: { title: 'Package', sort: 'package' },
  location: { title: 'Location', sort: 'location' },
  owner: { title: 'Owner', sort: 'owner' },
} as const

type ServerTableProps = Shown & { servers: readonly ListedServer[]; area: Area }
/** Owner and node are shown to staff and resellers. */
export function ServerTable({
  servers,
  area,
  owner = true,
  place = true,
  node = true,
  tick,
  actions,
  sortable,
}: ServerTableProps) {
  const columns: (Column<ListedServer> | false)[] = [
    !!tick && { title: 'Choose', kind: 'tick', head: tick.all, cell: tick.one },
    { ...serverSorts.name, kind: 'name', width: 24, cell: (s) => <Name of={s} area={area} /> },
    {
      ...serverSorts.state,
      kind: 'state',
      width: 18,
      cell: (s) => (
        <>
          <ServerState of={s} />
          {s.status === 'failed' && s.failure && <small title={s.failure}>{s.failure}</small>}
        </>
      ),
    },
    { title: 'Address', kind: 'addr', width: 16, cell: (s) => <Address of={s} /> },
    {
      ...serverSorts.package,
      kind: 'a',
      width: 16,
      cell: (s) => (
        <>
          {s.package.name}
          <small title={size(s)}>{smallSize(s)}</small>
        </>
      ),
    },
    place && { ...serverSorts.location, kind: 'b', width: 12, cell: (s) => <Place of={s} node={node} /> },
    owner && {
      ...serverSorts.owner,
      kind: place ? 'mid' : 'b',
      width: 14,
      cell: (s) => <OwnerLink of={s} area={area} />,
    },
    !!actions && { title: 'Actions', kind: 'more', cell: actions },
  ]
  const shown = columns.filter((c): c is Column<ListedServer> => c !== false)
  return <Table label="Servers" rows={servers} columns={shown} idOf={(s) => s.id} stick sortable={sortable} />
}
