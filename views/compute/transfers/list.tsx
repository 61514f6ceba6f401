import { listTransfers } from '../../../src/compute/transfers/list.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import { downtime, modeWords, type Transfer, TransferState, transferStates } from './words.tsx'

export const transfersPage = page({
  path: '/admin/transfers',
  reads: { transfers: listTransfers },
  title: 'Transfers',
  nav: 'transfers',
  view: (data) => <TransferList {...data} />,
})

function TransferList({ transfers }: Answers<{ transfers: typeof listTransfers }>) {
  const { query } = useAt()
  const first = transfers.data[0]
  const node = [first?.from, first?.to].find((one) => one?.id === query['nodeId'])
  return (
    <>
      <Head title="Transfers" sub={<span>Moves of servers between nodes</span>} />
      <List
        of={transfers}
        noun="transfer"
        every={4}
        filters={[
          {
            name: 'state',
            label: 'State',
            options: [
              ['', 'All'],
              ...Object.entries(transferStates).map(([state, { words }]) => [state, words] as const),
            ],
          },
          { name: 'since', label: 'From', time: true },
          !!query['nodeId'] && { name: 'nodeId', label: 'Node', value: node?.name ?? query['nodeId'] },
          !!query['serverId'] && {
            name: 'serverId',
            label: 'Server',
            value: first?.server.hostname ?? query['serverId'],
          },
        ]}
        empty={
          <Empty title="No server has moved yet">On the settings page of a server you move it to another node.</Empty>
        }
      >
        <Table label="Transfers" rows={transfers.data} idOf={(one) => one.id} columns={columns} />
      </List>
    </>
  )
}

const isOver = ({ finishedAt }: Transfer) => finishedAt !== null

const columns: Column<Transfer>[] = [
  {
    title: 'Server',
    kind: 'name',
    width: 22,
    cell: (one) => (
      <>
        <Link href={`/admin/transfers/${one.id}`}>{one.server.hostname}</Link>
        {one.error && <small title={one.error}>{one.error}</small>}
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 16, cell: (one) => <TransferState of={one} /> },
  {
    title: 'From, to',
    kind: 'addr',
    width: 18,
    cell: ({ from, to }) => `${from.name} to ${to.name}`,
  },
  { title: 'How', kind: 'mid', width: 12, cell: ({ mode }) => modeWords[mode] },
  {
    title: 'Copied',
    kind: 'mid',
    width: 10,
    cell: (one) => (one.mode === 'reassigned' ? 'nothing' : bytes(one.bytesCopied)),
  },
  {
    title: 'Downtime',
    kind: 'mid',
    width: 9,
    cell: (one) =>
      one.downtimeMs === null ? '–' : isOver(one) && one.downtimeMs === 0 ? '–' : downtime(one.downtimeMs),
  },
  { title: 'When', kind: 'mid', width: 13, cell: ({ createdAt }) => <Time iso={createdAt} /> },
]
