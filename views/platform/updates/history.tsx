import { Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Exact } from '../../components/time.tsx'
import type { Updated } from './updated.ts'

type Ended = Updated['history'][number]

/** Updates of the past, and below them why some went back. */
export const History = ({ rows }: { rows: readonly Ended[] }) => (
  <Section id="history" title="History" flush>
    <Table label="Updates of the controller" rows={rows} columns={columns} />
    {rows.map((row) => row.reason !== null && <Why of={row} />)}
  </Section>
)

const Why = ({ of: { to, from, startedAt, result, reason } }: { of: Ended }) => (
  <p class="hint">
    <Exact iso={startedAt} />
    {`: ${to || 'An update'} ${result === 'refused' ? 'was refused' : 'took itself back'}. ${reason}`}
    {result === 'went_back' && ` ${from} and the database of before were put back.`}
  </p>
)

const columns: Column<Ended>[] = [
  { title: 'Version', kind: 'name', width: 11, cell: ({ to }) => <b>{to || '?'}</b> },
  { title: 'When', width: 37, cell: ({ startedAt }) => <Exact iso={startedAt} /> },
  { title: 'By', kind: 'a', width: 17, cell: ({ by }) => by },
  {
    title: 'Stopped for',
    kind: 'b',
    num: true,
    width: 14,
    cell: ({ result, stoppedSeconds }) => (result === 'refused' ? '' : `${stoppedSeconds} s`),
  },
  { title: 'Result', kind: 'state', width: 21, cell: (row) => <Result of={row} /> },
]

function Result({ of: { result } }: { of: Ended }) {
  const [tone, shape, words] = {
    done: ['ok', 'tick', 'Done'] as const,
    went_back: ['bad', 'fail', 'Went back'] as const,
    refused: ['bad', 'fail', 'Refused'] as const,
  }[result]
  return (
    <State tone={tone} shape={shape}>
      {words}
    </State>
  )
}
