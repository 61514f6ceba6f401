import { applyBalance, getBalance } from '../../../src/compute/balance/balance.ts'
import { getBaseline } from '../../../src/compute/cpu-baseline/baseline.ts'
import { getLocation, listLocations } from '../../../src/fleet/locations/locations.ts'
import { type Answers, ifAllowed, page, readingAll } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Facts, Section } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { bytes, count, gb, list, mb } from '../../components/words.ts'
import { duration, modeWords } from '../../compute/transfers/words.tsx'
import { CpuBaseline } from './cpu-baseline.tsx'
import { LocationMenu, Moves, placementWords } from './list.tsx'
import { LocationState, nodesOf, ordersOf } from './state.tsx'

const reads = {
  location: getLocation,
  locations: readingAll(listLocations),
  balance: ifAllowed(getBalance),
  cpu: ifAllowed(getBaseline),
}
type Data = Answers<typeof reads>
type Location = Data['location']
type Balance = NonNullable<Data['balance']>
type Move = Balance['moves'][number]

export const locationPage = page({
  path: '/admin/node-groups/{id}',
  reads,
  title: ({ location }) => location.name,
  nav: 'locations',
  view: ({ location: l, locations, balance, cpu }) => (
    <Live id="location" every={10}>
      <Head
        title={l.name}
        trail={[['Locations', '/admin/node-groups']]}
        state={<LocationState of={l} tag />}
        sub={<span>{placementWords(l)}</span>}
        actions={
          <>
            <Link class="btn" to="/admin/nodes" query={{ locationId: l.id }}>
              Show nodes
            </Link>
            <LocationMenu of={l} />
          </>
        }
      />
      <Section id="figures" title="Capacity" first>
        <Facts of={figures(l)} />
      </Section>
      {locations.data.length > 1 && <Pairs of={l} all={locations.data} />}
      {balance && <Suggestions of={balance} />}
      {cpu && <CpuBaseline of={cpu} />}
    </Live>
  ),
})

const figures = (l: Location) =>
  [
    ['Nodes', nodesOf(l)],
    ['New servers', ordersOf(l)],
    ['Memory', `${mb(l.heldMemoryMb)} of ${mb(l.memoryMb)} allocated`],
    ['Reserve', l.reserve > 0 ? mb(l.reserveMb) : 'None'],
    ['Left for orders', mb(l.orderableMemoryMb)],
    ['Disk', `${gb(l.heldDiskGb)} of ${gb(l.diskGb)} allocated`],
    ['Free IPv4', l.freeIpv4.toLocaleString('en')],
  ] as const

type Pair = { id: string; name: string; to: string; from: string }
/** The moves that are allowed between this location and each other one. */
const Pairs = ({ of: l, all }: { of: Location; all: readonly Location[] }) => (
  <Section
    id="moves"
    title="Moves to other locations"
    words="A server that moves to another location gets new addresses there."
    actions={<Moves of={l} all={all} inMenu={false} />}
    flush
  >
    <Table label="Moves to other locations" rows={pairsOf(l, all)} idOf={({ id }) => id} columns={pairColumns} />
  </Section>
)
const pairsOf = (l: Location, all: readonly Location[]): Pair[] =>
  all
    .filter(({ id }) => id !== l.id)
    .map((other) => ({ id: other.id, name: other.name, to: allowed(l, other), from: allowed(other, l) }))
const allowed = ({ movesTo, movesOffered }: Location, { id }: Pick<Location, 'id'>) =>
  movesOffered.includes(id) ? 'Staff and owners' : movesTo.includes(id) ? 'Staff' : 'Nobody'
const pairColumns: readonly Column<Pair>[] = [
  {
    title: 'Location',
    kind: 'name',
    width: 34,
    cell: ({ id, name }) => (
      <Link to="/admin/node-groups/{id}" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Move there', kind: 'a', width: 33, cell: ({ to }) => to },
  { title: 'Move here', kind: 'b', width: 33, cell: ({ from }) => from },
]

const downtimeOf = (moves: readonly Move[]) => moves.reduce((sum, move) => sum + move.expectedDowntimeMs, 0)

const Suggestions = ({ of: balance }: { of: Balance }) => (
  <Section
    id="balance"
    title="Balance"
    words={`Nodes above ${balance.limitPercent} % of their memory or disk are relieved.`}
    actions={balance.moves.length > 0 && <Apply of={balance} />}
    flush
  >
    {balance.moves.length > 0 ? (
      <>
        <p class="words">{gain(balance)}</p>
        <Table label="Suggested moves" rows={balance.moves} idOf={({ server }) => server.id} columns={moveColumns} />
      </>
    ) : (
      <Empty>
        {isFull(balance)
          ? 'No server of the full nodes fits on another one.'
          : 'No node is that full: nothing to move.'}
      </Empty>
    )}
  </Section>
)

const isFull = ({ nodes, limitPercent }: Balance) =>
  nodes.some(({ memoryPercent, diskPercent }) => Math.max(memoryPercent ?? 0, diskPercent ?? 0) > limitPercent)

/** `Moving these 3 brings fra-2 from 91 % of its memory to 78 %.` */
function gain({ nodes, moves }: Balance) {
  const relieved = nodes.filter(({ node }) => moves.some(({ from }) => from.id === node.id))
  const words = relieved.map(({ node, ...n }) =>
    (n.memoryPercent ?? 0) >= (n.diskPercent ?? 0)
      ? `${node.name} from ${n.memoryPercent} % of its memory to ${n.memoryPercentAfter} %`
      : `${node.name} from ${n.diskPercent} % of its disk to ${n.diskPercentAfter} %`,
  )
  return `Moving ${moves.length === 1 ? 'this server' : `these ${moves.length}`} brings ${list(words)}.`
}

const moveColumns: readonly Column<Move>[] = [
  {
    title: 'Server',
    kind: 'name',
    width: 24,
    cell: ({ server }) => <Link href={`/admin/servers/${server.id}`}>{server.hostname}</Link>,
  },
  { title: 'From and to', kind: 'a', width: 32, cell: ({ from, to }) => `${from.name} → ${to.name}` },
  {
    title: 'How',
    kind: 'mid',
    width: 24,
    cell: ({ mode, bytes: size }) => (
      <>
        {modeWords[mode]}
        {size > 0 && <small>at most {bytes(size)}</small>}
      </>
    ),
  },
  {
    title: 'Off for',
    kind: 'b',
    width: 16,
    cell: ({ expectedDowntimeMs: ms }) => (ms > 0 ? `at most ${duration(ms / 1000)}` : 'Not off'),
  },
]

const Apply = ({ of: { location, moves } }: { of: Balance }) => (
  <Action
    op={applyBalance}
    params={{ id: location.id }}
    body={{ moves: moves.map(({ server, to }) => ({ serverId: server.id, nodeId: to.id })) }}
    label={moves.length === 1 ? 'Move it' : `Move these ${moves.length}`}
    icon="transfer"
    small
    title={`Move ${count(moves.length, 'server')} of ${location.name}?`}
    submit={moves.length === 1 ? 'Move it' : `Move these ${moves.length}`}
    done="The moves have begun"
    leadsTo="/admin/transfers"
    confirm={{
      keep: 'Leave them',
      consequences: [
        ...moves.map(
          ({ server, from, to, expectedSeconds: s, expectedDowntimeMs: ms }) =>
            `${server.hostname} moves from ${from.name} to ${to.name}${s > 0 ? `: at most ${duration(s)}` : ''}${
              ms > 0 ? `, off for at most ${duration(ms / 1000)}` : ''
            }.`,
        ),
        downtimeOf(moves) > 0 ? 'Servers that run are shut down and started again.' : 'No server is shut down.',
      ],
    }}
  />
)
