import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { createPool, listPools } from '../../../src/network/ip-pools/pools.ts'
import { DEFAULT_QUARANTINE_HOURS } from '../../../src/network/ip-pools/quarantine/hours.ts'
import { Action } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Meter } from '../../components/figures.tsx'
import { type Choices, choicesOf, chooserFiles, ManyChooser } from '../../components/forms/chooser.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { QuarantineField } from './quarantine.tsx'
import { VlanField, vlanOf } from './vlan.tsx'

type Pool = Answers<{ p: typeof listPools }>['p']['data'][number]

export const poolsPage = page({
  path: '/admin/ip-pools',
  reads: { pools: listPools, nodes: choicesOf('node') },
  title: 'Address pools',
  nav: 'pools',
  files: chooserFiles,
  view: ({ pools, nodes }) => (
    <>
      <Head
        title="Address pools"
        actions={<AddPool nodes={nodes} />}
        sub={<span>Ranges that servers get their addresses from. A pool serves the nodes it is attached to.</span>}
      />
      <List
        of={pools}
        noun="address pool"
        sorts={columns}
        empty={<Empty title="No address pools yet">Without one, servers get no address.</Empty>}
      >
        <Table label="Address pools" rows={pools.data} columns={columns} idOf={(p) => p.id} sortable />
      </List>
    </>
  ),
})

/** A row names so many nodes of its pool. */
const NODES_NAMED = 3

const columns: readonly Column<Pool>[] = [
  {
    title: 'Pool',
    kind: 'name',
    width: 22,
    sort: 'name',
    usual: true,
    cell: (p) => (
      <Link to="/admin/ip-pools/{id}" params={{ id: p.id }} title={p.name}>
        {p.name}
      </Link>
    ),
  },
  { title: 'Version', kind: 'state', width: 10, sort: 'version', cell: (p) => `IPv${p.version}` },
  {
    title: 'Network',
    kind: 'addr',
    width: 18,
    cell: (p) => (
      <>
        <span class="mono">{p.network}</span> {vlanOf(p) && <small class="muted">{vlanOf(p)}</small>}
      </>
    ),
  },
  { title: 'Gateway', kind: 'mid', width: 16, cell: (p) => <span class="mono">{p.gateway}</span> },
  { title: 'Use', width: 24, cell: (p) => <PoolUse of={p} inline /> },
  {
    title: 'Nodes',
    kind: 'mid',
    width: 14,
    cell: (p) => <NodeLinks nodes={p.nodes.slice(0, NODES_NAMED)} count={p.nodeCount} />,
  },
]

type UseProps = { of: Pick<Pool, 'held' | 'reserved' | 'resting' | 'free' | 'total'>; inline?: boolean }
/** How much of a pool is taken. An IPv6 pool has more prefixes than anybody counts: only those in use are said. */
export const PoolUse = ({ of: p, inline = false }: UseProps) =>
  p.total === null ? (
    `${p.held.toLocaleString('en')} ${p.held === 1 ? 'prefix' : 'prefixes'} in use`
  ) : (
    <Meter
      label="In use, reserved or resting"
      value={p.held + p.reserved + p.resting}
      total={p.total}
      words={`${(p.held + p.reserved + p.resting).toLocaleString('en')} of ${p.total.toLocaleString('en')} taken`}
      inline={inline}
    />
  )

type NodeLinksProps = { nodes: Pool['nodes']; count?: number; none?: string }
/** The nodes of a pool, parted by commas. `count`: how many there are, where not all are named. */
export const NodeLinks = ({ nodes, count: all = nodes.length, none = 'None' }: NodeLinksProps) =>
  nodes.length ? (
    <>
      {nodes.map((n, i) => (
        <>
          {i > 0 && ', '}
          <Link to="/admin/nodes/{id}" params={{ id: n.id }}>
            {n.name}
          </Link>
        </>
      ))}
      {all > nodes.length && ` and ${(all - nodes.length).toLocaleString('en')} more`}
    </>
  ) : (
    <span class="muted">{none}</span>
  )

type ChecksProps = { scope: string; nodes: Choices; chosen: Pool['nodes'] }
export const NodeChecks = ({ scope, nodes, chosen }: ChecksProps) => (
  <ManyChooser
    scope={scope}
    name="nodeIds"
    label="Nodes"
    hint="Nodes that can route these addresses. Their servers get them."
    of="node"
    choices={nodes}
    chosen={chosen}
    empty={<p class="muted">There are no nodes yet. You can attach the pool to one later.</p>}
  />
)

const AddPool = ({ nodes }: { nodes: Choices }) => (
  <Action
    op={createPool}
    label="Add pool"
    icon="plus"
    tone="pri"
    wide
    done="{name} is added"
    leadsTo="/admin/ip-pools/{id}"
    fields={
      <>
        <Field scope="pool" name="name" label="Name" required placeholder="Frankfurt IPv4" />
        <div class="pair">
          <Field
            scope="pool"
            name="network"
            label="Network"
            required
            mono
            hint="For example 203.0.113.0/24 or 2001:db8::/48. A private range can be a pool of each location."
          />
          <Field scope="pool" name="gateway" label="Gateway" required mono hint="For example 203.0.113.1 or fe80::1" />
        </div>
        <div class="pair">
          <Field scope="pool" name="first" label="First address" mono />
          <Field scope="pool" name="last" label="Last address" mono />
        </div>
        <Field
          scope="pool"
          name="resolvers"
          label="Resolvers"
          as="words"
          mono
          value="9.9.9.9 1.1.1.1"
          hint="DNS resolvers that servers use, separated by spaces."
        />
        <div class="pair">
          <QuarantineField scope="pool" value={DEFAULT_QUARANTINE_HOURS} />
          <VlanField scope="pool" value={null} />
        </div>
        <NodeChecks scope="pool" nodes={nodes} chosen={nodes.data.length === 1 ? nodes.data : []} />
      </>
    }
  />
)
