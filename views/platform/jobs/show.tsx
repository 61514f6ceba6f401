import type { Answers } from '../../../src/kernel/web/page.ts'
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
import { howLong, Moment } from '../../components/time.tsx'
import { JobLog } from './log.tsx'

const reads = { job: getJob, log: getJobLog }
type Data = Answers<typeof reads>
type Job = Data['job']

export const jobPages = inEveryArea({
  path: '/jobs/{jobId}',
  reads,
  title: ({ job }) => job.title,
  nav: 'jobs',
  view: (data, area) => <JobPage {...data} area={area} />,
})

function JobPage({ job, log, area }: Data & { area: Area }) {
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
        {job.error && (ended ? <Failure job={job} /> : <Trouble job={job} />)}
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
    {job.serverId && (
      <Link class="btn" href={`${area}/servers/${job.serverId}`}>
        <Icon name="server" />
        Open server
      </Link>
    )}
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

/** The state of the work of a failed job: undone, or still being undone. */
function afterError(job: Job, ended: boolean): string {
  if (job.undoPending) return 'It failed. What is left of it on the node is undone when the node is back.'
  if (ended) return 'It failed, and its changes were undone.'
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

const Trouble = ({ job }: { job: Job }) => (
  <Note level="warn">
    <strong>{afterError(job, false)}</strong>
    <br />
    {job.error?.message}
  </Note>
)

/** The cause, where it stopped, what became of the data, and the next step. */
const Failure = ({ job }: { job: Job }) => (
  <div class="sec first">
    <section class="fail" aria-labelledby="failure-t">
      <header>
        <Icon name="warning" />
        <div>
          <h2 id="failure-t">{job.error?.message}</h2>
          <p>{afterError(job, true)}</p>
        </div>
      </header>
      <dl>
        <div>
          <dt>Where it stopped</dt>
          <dd>
            <b>
              Step {job.step.n} of {job.step.of}
            </b>
            {job.step.name && `, ${job.step.name}`}
          </dd>
        </div>
      </dl>
    </section>
  </div>
)

const JobFacts = ({ job }: { job: Job }) => (
  <Section id="about" title="Job">
    <Facts
      of={[
        ['Step', `${job.state === 'succeeded' ? job.step.of : job.step.n} of ${job.step.of}`],
        ['Started by', job.startedBy.name],
        ['Cancelled by', job.cancelled && <CancelledBy of={job.cancelled} />],
        ['Node', job.nodeId && <Link href={`/admin/nodes/${job.nodeId}`}>{job.nodeName}</Link>],
        ['Started', <Moment iso={job.createdAt} />],
        ['Ended', job.finishedAt && <Moment iso={job.finishedAt} />],
        ['Id', <Copyable text={job.id} what="id" />],
      ]}
    />
  </Section>
)

const CancelledBy = ({ of: { by, at } }: { of: NonNullable<Job['cancelled']> }) => (
  <>
    {by.name}, <Moment iso={at} />
  </>
)
