import type { AssetName } from '../../../public/assets.ts'
import { exportTransfers, listTransfers } from '../../../src/compute/transfers/list.ts'
import { transferFigures } from '../../../src/compute/transfers/progress/figures.ts'
import { type Answers, aroundParts, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Amount, Stats } from '../../components/figures.tsx'
import { chooserFiles, filterChoices } from '../../components/forms/chooser.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Download, type Filter, List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { instantsIn, Time } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import { downtime, duration, Flow, modeWords, type Transfer, TransferState, transferStates } from './words.tsx'

const reads = {
  transfers: reading(listTransfers, (at) => ({ query: instantsIn(at, ['since', 'until']) })),
  figures: aroundParts({ op: transferFigures, ask: () => ({}), optional: false }),
  nodes: filterChoices('node', 'nodeId'),
}
type Data = Answers<typeof reads>

export const transfersPage = page({
  path: '/admin/transfers',
  reads,
  title: 'Transfers',
  nav: 'transfers',
  files: ['moves.css', ...chooserFiles] satisfies AssetName[],
  view: (data) => <TransferList {...data} />,
})

const TransferList = ({ transfers, figures, nodes }: Data) => (
  <>
    <Head
      title="Transfers"
      sub={<span>Moves of servers between nodes</span>}
      actions={<Download op={exportTransfers} label="CSV" />}
    />
    {figures && figures.moves > 0 && <Figures of={figures} />}
    <List
      of={transfers}
      noun="transfer"
      every={4}
      filters={useFilters(transfers, nodes)}
      empty={
        <Empty title="No server has moved yet">
          On the page of a server you move it to another node: with its disks, addresses, firewall and private networks.
        </Empty>
      }
    >
      <Table label="Transfers" rows={transfers.data} idOf={(one) => one.id} columns={columns} stick />
    </List>
  </>
)

function useFilters(transfers: Data['transfers'], nodes: Data['nodes']): readonly (Filter | false)[] {
  const { query } = useAt()
  const first = transfers.data[0]
  return [
    { name: 'server', label: 'Server or id', placeholder: 'Server or id' },
    nodes?.data.length
      ? { name: 'nodeId', label: 'Node', of: 'node', choices: nodes }
      : !!query['nodeId'] && { name: 'nodeId', label: 'Node', value: query['nodeId'] },
    {
      name: 'state',
      label: 'State',
      options: Object.entries(transferStates).map(([state, { words }]) => [state, words] as const),
    },
    { name: 'mode', label: 'How', options: Object.entries(modeWords) },
    { name: 'since', label: 'From', time: true },
    { name: 'until', label: 'to', time: true },
    !!query['serverId'] && { name: 'serverId', label: 'Server', value: first?.server.hostname ?? query['serverId'] },
  ]
}

const Figures = ({ of }: { of: NonNullable<Data['figures']> }) => (
  <Stats>
    <Amount
      title="Last 30 days"
      value={of.moves.toLocaleString('en')}
      of={of.moves === 1 ? 'move' : 'moves'}
      words={`${of.finished.toLocaleString('en')} finished`}
    />
    <Amount
      title="Median downtime"
      value={of.medianDowntimeMs === null ? '–' : downtime(of.medianDowntimeMs)}
      words={of.medianDowntimeMs === null ? 'no server was off' : 'where a server was off'}
    />
    <Amount
      title="Longer than announced"
      value={of.longerThanAnnounced.toLocaleString('en')}
      of={`of ${of.announced.toLocaleString('en')}`}
      words={of.longestOverMs === null ? ' ' : `by at most ${duration(of.longestOverMs / 1000)}`}
    />
    <Amount
      title="Copied"
      value={bytes(of.bytesCopied)}
      words={of.averageBytesPerSecond === null ? ' ' : `${bytes(of.averageBytesPerSecond)}/s on average`}
    />
  </Stats>
)

const isOver = ({ finishedAt }: Transfer) => finishedAt !== null

const columns: Column<Transfer>[] = [
  {
    title: 'Server',
    kind: 'name',
    width: 24,
    cell: (one) => (
      <>
        <Link href={`/admin/transfers/${one.id}`}>{one.server.hostname}</Link>
        <small class={one.error ? undefined : 'mono'} title={one.error ?? one.id}>
          {one.error ?? one.id}
        </small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 16, cell: (one) => <TransferState of={one} /> },
  { title: 'From, to', kind: 'addr', width: 18, cell: ({ from, to }) => <Flow from={from.name} to={to.name} /> },
  { title: 'How', kind: 'a', width: 12, cell: ({ mode }) => modeWords[mode] },
  {
    title: 'Copied',
    kind: 'b',
    num: true,
    width: 9,
    cell: (one) => (one.mode === 'reassigned' ? 'nothing' : bytes(one.bytesCopied)),
  },
  {
    title: 'Downtime',
    kind: 'wide',
    num: true,
    width: 9,
    cell: (one) => (one.downtimeMs === null || (isOver(one) && one.downtimeMs === 0) ? '–' : downtime(one.downtimeMs)),
  },
  {
    title: 'When',
    kind: 'mid',
    num: true,
    width: 12,
    cell: ({ createdAt, startsAt }) => <Time iso={startsAt ?? createdAt} />,
  },
]
