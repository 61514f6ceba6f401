import type { AssetName } from '../../../public/assets.ts'
import { getServer } from '../../../src/compute/servers/list.ts'
import { type Answers, ifNamed } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { cancelJob } from '../../../src/platform/jobs/cancel.ts'
import { getJob, getJobLog } from '../../../src/platform/jobs/jobs.ts'
import { Action } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Copyable, Facts, Note, Section } from '../../components/section.tsx'
import { JobState } from '../../components/state.tsx'
import { Exact, howLong, Moment } from '../../components/time.tsx'
import { Failure, OpenInstance } from './failure.tsx'
import { JobLog } from './log.tsx'
import { Steps } from './steps.tsx'

const reads = {
  job: getJob,
  log: getJobLog,
  server: ifNamed(getServer, (_, { job }) => (job.state === 'failed' ? serverOf(job) : undefined)),
}
const serverOf = ({ serverId }: { serverId: string | null }) => (serverId ? { params: { id: serverId } } : undefined)
type Data = Answers<typeof reads>
type Job = Data['job']

export const jobPages = inEveryArea({
  path: '/jobs/{jobId}',
  reads,
  title: ({ job }) => job.title,
  nav: 'jobs',
  files: ['alpine.js'] satisfies AssetName[],
  view: (data, area) => <JobPage {...data} area={area} />,
})

function JobPage({ job, log, server, area }: Data & { area: Area }) {
  const ended = job.state === 'succeeded' || job.state === 'failed'
  return (
    <>
      <Live id="job" every={ended ? undefined : 1}>
        <Head
          title={job.title}
          trail={[['Jobs', `${area}/jobs`]]}
          state={<JobState of={job} tag />}
          sub={<Took job={job} />}
          actions={<Actions job={job} area={area} />}
        />
        <p class="sr" role="status">
          {ended ? `${job.title}: ${job.state === 'failed' ? 'failed' : 'done'}.` : ''}
        </p>
        {!ended && <Running job={job} />}
        {job.error && (ended ? <Failure job={job} server={server} area={area} /> : <Trouble job={job} />)}
        {!ended && !job.undoing && job.waitingSince && <Waiting job={job} />}
        {!ended && !job.error && job.cancelled && (
          <Note level="info">
            <strong>It is being cancelled.</strong>
            <br />
            It stops after the current step, then undoes what it did.
          </Note>
        )}
      </Live>
      <div class="split">
        <div>
          <JobLog jobId={job.id} lines={log.lines} ended={ended} />
        </div>
        <div>
          <Live id="facts" every={ended ? undefined : 2}>
            <Steps job={job} ended={ended} />
            <JobFacts job={job} />
          </Live>
        </div>
      </div>
    </>
  )
}

const Actions = ({ job, area }: { job: Job; area: Area }) => (
  <>
    {job.cancellable && <CancelJob job={job} />}
    {job.serverId && job.state !== 'failed' && (
      <Link class="btn" href={`${area}/servers/${job.serverId}`}>
        <Icon name="server" />
        Open server
      </Link>
    )}
    {job.instanceId && <OpenInstance id={job.instanceId} area={area} />}
  </>
)

const CancelJob = ({ job }: { job: Job }) => (
  <Action
    op={cancelJob}
    params={{ jobId: job.id }}
    label="Cancel job"
    icon="stop"
    done="The job is being cancelled."
    confirm={{
      consequences: ['It stops before its next step.', 'Its changes are undone, so it ends as failed.'],
      keep: 'Keep it running',
    }}
  />
)

/** The work of a job that runs after an error. */
function afterError(job: Job): string {
  if (job.cancelled) return 'It was cancelled and is being undone.'
  return job.undoing ? 'It failed and is being undone.' : 'A step failed and is being retried.'
}

function Took({ job }: { job: Job }) {
  const { now } = useAt()
  return (
    <>
      <span>Started by {job.startedBy.name}</span>
      {job.startedAt && (
        <span>{`${job.finishedAt ? 'took' : 'running for'} ${howLong(job.startedAt, job.finishedAt, now)}`}</span>
      )}
    </>
  )
}

/** Always one line high. */
const Running = ({ job }: { job: Job }) => (
  <div class="job-bar on">
    <Icon name="refresh" />
    <span class="cut">
      <b>
        Step {job.step.n} of {job.step.of}
      </b>
      {job.step.name && `: ${job.step.name}`} · you can leave this page
    </span>
    <progress max={100} value={job.progress} aria-label="Progress">{`${job.progress} %`}</progress>
  </div>
)

const Waiting = ({ job }: { job: Job }) => (
  <Note level="warn">
    <strong>It waits for a node that is away.</strong>
    <br />
    {job.pointOfNoReturn === 'passed'
      ? 'It goes on when the node is back, or is declared lost. Nothing of it is undone any more.'
      : 'After 15 minutes it fails, and is undone.'}
  </Note>
)

const noReturnWords = {
  ahead: 'Ahead: it can still be undone',
  passed: 'Passed: every step is tried until it is done',
} as const

const Trouble = ({ job }: { job: Job }) => (
  <Note level="warn">
    <strong>{afterError(job)}</strong>
    <br />
    {job.cause}
  </Note>
)

const JobFacts = ({ job }: { job: Job }) => (
  <Section id="about" title="Job">
    <Facts
      of={[
        ['Started by', job.startedBy.name],
        ['Cancelled by', job.cancelled && <CancelledBy of={job.cancelled} />],
        ['Node', job.nodeId && <Link href={`/admin/nodes/${job.nodeId}`}>{job.nodeName}</Link>],
        ['Other node', job.otherNodeId && <Link href={`/admin/nodes/${job.otherNodeId}`}>{job.otherNodeName}</Link>],
        ['Point of no return', job.pointOfNoReturn && noReturnWords[job.pointOfNoReturn]],
        ['Started', <Moment iso={job.createdAt} />],
        ['Ended', job.finishedAt && <Moment iso={job.finishedAt} />],
        ['Id', <Copyable text={job.id} what="id" />],
      ]}
    />
  </Section>
)

const CancelledBy = ({ of: { by, at } }: { of: NonNullable<Job['cancelled']> }) => (
  <>
    {by.name}, <Exact iso={at} />
  </>
)
