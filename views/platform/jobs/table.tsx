import { pageOf } from '../../../src/compute/gpu-instances/model.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { listJobs } from '../../../src/platform/jobs/jobs.ts'
import type { Area } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import { JobState } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { howLong, Time } from '../../components/time.tsx'

export type Job = Answers<{ jobs: typeof listJobs }>['jobs']['data'][number]

const stepOf = ({ state, step }: Job) =>
  state === 'succeeded' ? `${step.of} of ${step.of}` : `${step.n} of ${step.of}${step.name && `: ${step.name}`}`

const Began = ({ of: j }: { of: Job }) => {
  const { now } = useAt()
  const words = j.startedAt
    ? `${j.finishedAt ? 'took' : 'for'} ${howLong(j.startedAt, j.finishedAt, now)}`
    : 'not started yet'
  return (
    <>
      <Time iso={j.createdAt} />
      <small>{words}</small>
    </>
  )
}

/** The columns that a list of jobs can be sorted by. */
export const jobSorts = {
  title: { title: 'Job', sort: 'title' },
  state: { title: 'State', sort: 'state' },
  startedBy: { title: 'Started by', sort: 'startedBy' },
  started: { title: 'Started', sort: '-createdAt', usual: true },
} as const

type JobTableProps = { jobs: readonly Job[]; area: Area; server?: boolean; node?: boolean; sortable?: boolean }
/** `server`, `node`: false where every job is about the same one. */
export function JobTable({ jobs, area, server = true, node = true, sortable }: JobTableProps) {
  const columns: (Column<Job> | false)[] = [
    {
      ...jobSorts.title,
      kind: 'name',
      width: 34,
      cell: (j) => (
        <>
          <Link href={`${area}/jobs/${j.id}`} title={j.title}>
            {j.title}
          </Link>
          {j.error && <small title={j.error.message}>{j.error.message}</small>}
        </>
      ),
    },
    { ...jobSorts.state, kind: 'state', width: 16, cell: (j) => <JobState of={j} /> },
    { title: 'Step', kind: 'addr', width: 24, cell: stepOf },
    server &&
      area !== '' && {
        title: 'For',
        kind: 'mid',
        width: 12,
        cell: (j) =>
          j.serverId ? (
            <Link href={`${area}/servers/${j.serverId}`}>Server</Link>
          ) : j.instanceId ? (
            <Link href={pageOf(area, j.instanceId)}>GPU instance</Link>
          ) : (
            '–'
          ),
      },
    node &&
      area === '/admin' && {
        title: 'Node',
        kind: 'lo',
        width: 12,
        cell: (j) => (j.nodeId ? <Link href={`/admin/nodes/${j.nodeId}`}>{j.nodeName}</Link> : '–'),
      },
    { ...jobSorts.startedBy, kind: 'a', width: 13, cell: (j) => j.startedBy.name },
    { ...jobSorts.started, kind: 'b', width: 15, cell: (j) => <Began of={j} /> },
  ]
  const shown = columns.filter((c): c is Column<Job> => c !== false)
  return <Table label="Jobs" rows={jobs} columns={shown} idOf={(j) => j.id} sortable={sortable} />
}

/** Jobs as rows, for a narrow column. */
export const JobRows = ({ jobs, area }: { jobs: readonly Job[]; area: Area }) => (
  <ul class="rows">
    {jobs.map((j) => (
      <li id={`row-${j.id}`}>
        <div class="grow">
          <Link href={`${area}/jobs/${j.id}`}>
            <b>{j.title}</b>
          </Link>
          <small class="bar">
            <span class="grow">{`Step ${stepOf(j)}`}</span>
            <Time iso={j.createdAt} />
          </small>
          {j.state === 'running' && (
            <progress max={100} value={j.progress} aria-label={j.title}>{`${j.progress} %`}</progress>
          )}
        </div>
        {(j.state !== 'running' || j.undoing || j.error) && <JobState of={j} />}
      </li>
    ))}
  </ul>
)
