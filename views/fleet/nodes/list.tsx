import { listLocations } from '../../../src/fleet/locations/locations.ts'
import { enrollNode } from '../../../src/fleet/nodes/enroll.ts'
import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { allIfAllowed, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { NodeState } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { DiskMeter, Load, MemoryMeter, type Node, virtualisation } from './load.tsx'

export const nodesPage = page({
  path: '/admin/nodes',
  reads: { nodes: listNodes, locations: allIfAllowed(listLocations) },
  title: 'Nodes',
  nav: 'nodes',
  view: ({ nodes, locations }) => (
    <>
      <Head
        title="Nodes"
        actions={
          <>
            <Enroll />
            {nodes.total > 0 && (
              <Link class="btn" to="/admin/rolling-maintenance">
                Rolling maintenance
              </Link>
            )}
          </>
        }
      />
      <List
        of={nodes}
        noun="node"
        sorts={columns}
        every={4}
        filters={[
          {
            name: 'state',
            label: 'State',
            options: [
              ['connected', 'Connected'],
              ['away', 'Not connected'],
            ],
          },
          locations && {
            name: 'locationId',
            label: 'Location',
            options: locations.data.map((l) => [l.id, l.name] as const),
          },
        ]}
        empty={
          <Empty title="No nodes yet" action={<Enroll />}>
            A node is a machine that runs servers.
          </Empty>
        }
      >
        <Table label="Nodes" rows={nodes.data} columns={columns} idOf={(n) => n.id} stick sortable />
      </List>
    </>
  ),
})

const Enroll = () =>
  useAt().may(enrollNode) ? (
    <Link class="btn pri" to="/admin/nodes/enroll">
      <Icon name="plus" />
      Enroll node
    </Link>
  ) : null

const columns: readonly Column<Node>[] = [
  {
    title: 'Node',
    kind: 'name',
    width: 20,
    sort: 'name',
    usual: true,
    cell: (n) => (
      <>
        <Link to="/admin/nodes/{id}" params={{ id: n.id }} title={n.name}>
          {n.name}
        </Link>
        <small>
          {n.fake ? 'Simulated' : virtualisation[n.virtualisation.kind]} · agent {n.agentVersion}
          {n.agentOutdated && ' (outdated)'}
        </small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 16, cell: (n) => <Connection of={n} /> },
  { title: 'Allocated memory', width: 18, cell: (n) => <MemoryMeter of={n} inline /> },
  { title: 'Allocated disk', width: 18, cell: (n) => <DiskMeter of={n} inline /> },
  {
    title: 'Servers',
    kind: 'mid',
    num: true,
    width: 8,
    cell: (n) =>
      n.servers ? (
        <Link to="/admin/servers" query={{ nodeId: n.id }}>
          {n.servers}
        </Link>
      ) : (
        '0'
      ),
  },
  { title: 'Location', kind: 'mid', width: 12, sort: 'location', cell: (n) => n.location.name },
  { title: 'Load', kind: 'lo', width: 12, cell: (n) => <Load of={n} /> },
]

const Connection = ({ of: n }: { of: Node }) => (
  <>
    <NodeState of={n} />
    {!n.connected && (
      <small>
        last seen <Time iso={n.seenAt} />
      </small>
    )}
    {n.differences > 0 && (
      <small class="keep">
        <Link href={`/admin/nodes/${n.id}#differences`}>{count(n.differences, 'difference')}</Link>
      </small>
    )}
  </>
)
