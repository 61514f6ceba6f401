// The repositories of accounts, with what the daily check found in them.
import type { listRepositories } from '../../../src/compute/backups/maintenance/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'

type Repositories = Answers<{ r: typeof listRepositories }>['r']
type Repository = Repositories['data'][number]

/** Nothing before the first backup. */
export const RepositoriesOf = ({ of: { data, total } }: { of: Repositories }) =>
  data.length > 0 && (
    <Section
      id="repositories"
      title="Repositories"
      flush
      count={total > data.length ? `${data.length} of ${total}, damaged ones first` : total}
      words="One for each account in each target, and in the folder of each node. Each day a part of it is read back."
    >
      <Table
        label="Repositories"
        rows={data}
        columns={columns}
        idOf={(r) => `${r.target.id}-${r.owner.id}-${r.node?.id ?? ''}`}
        flow
      />
    </Section>
  )

const columns: readonly Column<Repository>[] = [
  {
    title: 'Account',
    kind: 'name',
    width: 26,
    cell: (r) => (
      <>
        <b>{r.owner.name}</b>
        <small>
          {r.target.name || 'A target that was removed'}
          {r.node && ` on ${r.node.name}`}
        </small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 16, cell: (r) => <Found of={r} /> },
  {
    title: 'Last check',
    kind: 'wide',
    width: 36,
    cell: (r) =>
      r.checkedAt ? (
        <>
          <Time iso={r.checkedAt} />, {r.partsRead} of {r.parts} parts read in this round
          {r.jobId && (
            <>
              ,{' '}
              <Link to="/admin/jobs/{jobId}" params={{ jobId: r.jobId }}>
                log
              </Link>
            </>
          )}
          {r.detail && <small>{r.detail}</small>}
        </>
      ) : (
        <span class="muted">None yet</span>
      ),
  },
  {
    title: 'Cleaned up',
    kind: 'wide',
    width: 22,
    cell: (r) =>
      r.prunedAt ? (
        <>
          <Time iso={r.prunedAt} />, {bytes(r.freedBytes ?? 0)} freed
        </>
      ) : (
        <span class="muted">{r.prunedHere ? 'Not yet' : 'By the holder of its second key, as it is append-only'}</span>
      ),
  },
]

function Found({ of: r }: { of: Repository }) {
  if (r.damagedAt) return <State {...{ tone: 'bad', shape: 'fail' }}>Damaged</State>
  if (!r.finding) return <State {...{ tone: 'idle', shape: 'wait' }}>Not checked</State>
  if (r.finding === 'works') return <State {...{ tone: 'ok', shape: 'tick' }}>Sound</State>
  return <State {...{ tone: 'warn', shape: 'away' }}>Check failed</State>
}
