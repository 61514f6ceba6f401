import type { AssetName } from '../../../public/assets.ts'
import { type Answers, ifAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { listPoolHistory } from '../../../src/network/address-history/show.ts'
import { attachPool, getPool, listPoolAddresses, removePool } from '../../../src/network/ip-pools/pools.ts'
import { Action, Edit } from '../../components/action.tsx'
import { type Choices, choicesOf, chooserFiles } from '../../components/forms/chooser.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Copyable, Empty, Facts, Note, Section } from '../../components/section.tsx'
import { type Column, Pager, Table } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { History } from '../address-history/history.tsx'
import { CELLS, ChosenAddress, type PoolAddress, PoolMap, stateWords } from './addresses.tsx'
import { NodeChecks, NodeLinks, PoolUse } from './list.tsx'
import { SetQuarantine } from './quarantine.tsx'
import { SetVlan, vlanOf } from './vlan.tsx'

/** So many nodes of the pool are named. */
const NODES_NAMED = 20
/** As many as one looks over; each address has a page with all of its own. */
const RECENT = 10

const reads = {
  pool: reading(getPool, ({ params }) => ({ params })),
  addresses: reading(listPoolAddresses, ({ params, query }) => ({
    params,
    query: { limit: String(CELLS), ...(query['cursor'] ? { cursor: query['cursor'] } : {}) },
  })),
  nodes: choicesOf('node'),
  history: ifAllowed(listPoolHistory, ({ params }) => ({ params, query: { limit: String(RECENT) } })),
}
type Data = Answers<typeof reads>
type Pool = Data['pool']

export const poolPage = page({
  path: '/admin/ip-pools/{id}',
  reads,
  title: ({ pool }) => pool.name,
  nav: 'pools',
  files: ['addresses.css', ...chooserFiles] satisfies AssetName[],
  view: ({ pool, addresses, nodes, history }) => (
    <>
      <Head
        title={pool.name}
        trail={[['Address pools', '/admin/ip-pools']]}
        sub={<span class="mono">{pool.network}</span>}
        actions={<PoolActions pool={pool} nodes={nodes} />}
      />
      <Awaiting pool={pool} />
      <Uncarried pool={pool} />
      <ChosenAddress addresses={addresses.data} />
      <div class="split">
        <div>
          {pool.version === 4 ? <PoolMap addresses={addresses} /> : <Prefixes addresses={addresses} />}
          {history && <Recent history={history} />}
        </div>
        <div>
          <Details pool={pool} />
        </div>
      </div>
    </>
  ),
})

const Recent = ({ history }: { history: NonNullable<Data['history']> }) => (
  <Section
    id="history"
    title="Who had its addresses"
    count={history.total ? 'the last to get one first' : undefined}
    flush
  >
    {history.data.length ? <History holdings={history.data} ofPool /> : <Empty>Nobody had one yet.</Empty>}
  </Section>
)

const Awaiting = ({ pool: p }: { pool: Pool }) =>
  p.awaited.length > 0 && (
    <Note level="bad">
      <strong>It gives no addresses yet.</strong> The database was restored, and it is not known since which addresses
      are in use on <NodeLinks nodes={p.awaited.slice(0, NODES_NAMED)} count={p.awaited.length} none="" />.
    </Note>
  )

const Uncarried = ({ pool: p }: { pool: Pool }) =>
  p.uncarried.length > 0 && (
    <Note level="bad">
      <strong>
        VLAN {p.vlan} is not carried by{' '}
        <NodeLinks nodes={p.uncarried.slice(0, NODES_NAMED)} count={p.uncarried.length} />.
      </strong>{' '}
      Nothing new gets addresses of this pool there. Servers that are there stay in the VLAN as far as the switch port
      has it. Say on the node with <code>berth agent uplink</code> that it carries the VLAN, or choose other nodes.
    </Note>
  )

const PoolActions = ({ pool: p, nodes }: { pool: Pool; nodes: Choices }) => (
  <>
    <Edit
      op={attachPool}
      params={{ id: p.id }}
      label="Choose nodes"
      title={`Nodes of ${p.name}`}
      disabledReason={
        p.nodeCount > p.nodes.length && 'It has more nodes than a page can show. Change them through the API.'
      }
      fields={<NodeChecks scope={`attach-${p.id}`} nodes={nodes} chosen={p.nodes} />}
    />
    <SetQuarantine pool={p} />
    <SetVlan pool={p} />
    <Action
      op={removePool}
      params={{ id: p.id }}
      label="Remove pool"
      tone="bad"
      disabledReason={
        p.held > 0 && `Servers use ${count(p.held, 'address', 'addresses')} of it. Terminate those servers first.`
      }
      title={`Remove ${p.name}?`}
      done={`${p.name} is removed`}
      leadsTo="/admin/ip-pools"
      confirm={{
        type: p.name,
        keep: 'Keep pool',
        consequences: [
          `New servers no longer get addresses from ${p.network}.`,
          p.reserved > 0 && `${count(p.reserved, 'reservation')} ${p.reserved === 1 ? 'is' : 'are'} deleted.`,
          p.nodeCount > 0 && `It is detached from ${count(p.nodeCount, 'node')}.`,
        ],
      }}
    />
  </>
)

const Details = ({ pool: p }: { pool: Pool }) => (
  <Section id="about" title="Details">
    <div class="stack">
      {p.total !== null && <PoolUse of={p} />}
      <Facts
        of={[
          ['Gateway', <code>{p.gateway}</code>],
          [
            'Range',
            <>
              <code>{p.first}</code> to <code>{p.last}</code>
            </>,
          ],
          [
            'Resolvers',
            p.resolvers.length
              ? p.resolvers.map((r) => <div class="mono">{r}</div>)
              : 'None: servers cannot resolve names.',
          ],
          ['VLAN', vlanOf(p) || 'None: servers are on the bridge of their node.'],
          [
            'Nodes',
            <NodeLinks
              nodes={p.nodes.slice(0, NODES_NAMED)}
              count={p.nodeCount}
              none="None: no server gets an address from it."
            />,
          ],
          ['Unique', (p.uniqueAt || p.nodeCount > 0) && <UniqueAt pool={p} />],
          ['In use', count(p.held, 'address', 'addresses')],
          ['Reserved', count(p.reserved, 'address', 'addresses')],
          ['Resting', count(p.resting, 'address', 'addresses')],
          ['Rest of freed addresses', p.quarantineHours ? count(p.quarantineHours, 'hour') : 'None'],
          ['Id', <Copyable text={p.id} what="id" />],
        ]}
      />
    </div>
  </Section>
)

const UniqueAt = ({ pool: { uniqueAt } }: { pool: Pool }) =>
  uniqueAt ? `At ${uniqueAt.name}: another location can have the same private range.` : 'At all locations'

/** IPv6 is more than anyone can draw: only what is in use is listed. */
const Prefixes = ({ addresses }: { addresses: Data['addresses'] }) => (
  <Section id="map" title="Prefixes in use" flush count={addresses.total || undefined}>
    {addresses.data.length ? (
      <Table label="Prefixes" rows={addresses.data} columns={prefixColumns} idOf={(a) => a.id} />
    ) : (
      <Empty>No server has a prefix from it yet.</Empty>
    )}
    <Pager of={addresses} />
  </Section>
)

const prefixColumns: readonly Column<PoolAddress>[] = [
  {
    title: 'Prefix',
    kind: 'name',
    width: 34,
    cell: (a) => <a class="mono" href={`?address=${a.id}#address`}>{`${a.address}/${a.prefixLength}`}</a>,
  },
  { title: 'State', kind: 'state', width: 20, cell: (a) => stateWords[a.state] },
  {
    title: 'Server',
    kind: 'addr',
    width: 28,
    cell: (a) =>
      a.workload ? (
        <Link to="/admin/servers/{id}" params={{ id: a.workload.id }}>
          {a.workload.hostname}
        </Link>
      ) : (
        (a.reservedFor ?? '–')
      ),
  },
]
