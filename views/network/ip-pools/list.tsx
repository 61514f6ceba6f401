import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { type Answers, allIfAllowed, page } from '../../../src/kernel/web/page.ts'
import { createPool, listPools } from '../../../src/network/ip-pools/pools.ts'
import { DEFAULT_QUARANTINE_HOURS } from '../../../src/network/ip-pools/quarantine/hours.ts'
import { Action } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { Meter } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { QuarantineField } from './quarantine.tsx'
import { VlanField, vlanOf } from './vlan.tsx'

type Pool = Answers<{ p: typeof listPools }>['p']['data'][number]
export type Nodes = Answers<{ n: typeof listNodes }>['n'] | undefined

export const poolsPage = page({
  path: '/admin/ip-pools',
  reads: { pools: listPools, nodes: allIfAllowed(listNodes) },
  title: 'Address pools',
  nav: 'pools',
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

const columns: readonly Column<Pool>[] = [
  {
    title: 'Pool',
    kind: 'name',
    width: 22,
    sort: 'name',
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
  { title: 'Nodes', kind: 'mid', width: 14, cell: (p) => <NodeLinks nodes={p.nodes} /> },
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
      words={`${(p.free ?? 0).toLocaleString('en')} of ${p.total.toLocaleString('en')} free`}
      inline={inline}
    />
  )

/** The nodes of a pool, parted by commas. */
export const NodeLinks = ({ nodes, none = 'None' }: { nodes: Pool['nodes']; none?: string }) =>
  nodes.length ? (
    nodes.map((n, i) => (
      <>
        {i > 0 && ', '}
        <Link to="/admin/nodes/{id}" params={{ id: n.id }}>
          {n.name}
        </Link>
      </>
    ))
  ) : (
    <span class="muted">{none}</span>
  )

type ChecksProps = { scope: string; nodes: Nodes; values: readonly string[] }
export const NodeChecks = ({ scope, nodes, values }: ChecksProps) => (
  <Checks
    scope={scope}
    name="nodeIds"
    label="Nodes"
    hint="Nodes that can route these addresses. Their servers get them."
    values={values}
    options={(nodes?.data ?? []).map((n) => ({ value: n.id, label: n.name, hint: n.location.name }))}
    empty={<p class="muted">There are no nodes yet. You can attach the pool to one later.</p>}
  />
)

const AddPool = ({ nodes }: { nodes: Nodes }) => (
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
        <NodeChecks scope="pool" nodes={nodes} values={nodes?.data.length === 1 ? nodes.data.map((n) => n.id) : []} />
      </>
    }
  />
)
