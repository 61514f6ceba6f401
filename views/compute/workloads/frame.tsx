// Parts of the header of every page of a workload: the rights of its reader, and the job that is changing it.
import type { ComponentChildren } from 'preact'
import { rightsWith } from '../../../src/identity/team/access.ts'
import { roles } from '../../../src/identity/team/role.ts'
import { mayCallOn, type Resource } from '../../../src/kernel/api/operation.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { listJobs } from '../../../src/platform/jobs/jobs.ts'
import type { Area } from '../../components/area.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Note } from '../../components/section.tsx'
import { howLong, Time } from '../../components/time.tsx'
import { roleTitles } from '../../identity/team/fields.tsx'

export type Jobs = Answers<{ jobs: typeof listJobs }>['jobs']
type Job = Jobs['data'][number]
type Access = Parameters<typeof rightsWith>[0]

/** Narrowed to what the owner of a shared workload lets this reader do. */
export const narrowed = (at: At, resource: Resource<any>, { access }: { access: Access }): At => {
  const rights = rightsWith(access)
  return rights ? { ...at, may: (op) => at.may(op) && (op.on !== resource || mayCallOn(op, at.actor, rights)) } : at
}

type SharedProps = { of: { access: Access; owner: { name: string } }; action?: ComponentChildren }
/** The owner, and what this reader may do; nothing for the owner. */
export const Shared = ({ of: { access, owner }, action }: SharedProps) =>
  access === 'own' ? null : (
    <Note level="info" action={action}>
      <strong>Shared by {owner.name}.</strong> {roleTitles[access]}: {roles[access].words}
    </Note>
  )

type AwayProps = { of: { node: { id: string } | null }; area: Area; node: string }
/** `node`: the word for a node of such workloads. */
export const NodeAway = ({ of, area, node }: AwayProps) => (
  <Note level="bad" action={of.node && <Link href={`/admin/nodes/${of.node.id}`}>Open node</Link>}>
    <strong>{area ? `Its ${node} is not connected.` : 'It cannot be reached by the panel.'}</strong> It keeps running
    but cannot be changed until the connection is back.
  </Note>
)

type BarProps = {
  /** The job that is at work on it. */
  working: { id: string; progress: number } | null | undefined
  jobs: Jobs
  area: Area
  /** The words for a job at work, before the time that it takes. */
  stepOf?(job: Job): string
  /** Behind the last job, where it failed. */
  whenFailed?(last: Job): ComponentChildren
}
/** Always one line high, so that a job does not shift the page. */
export function JobBar({ working, jobs, area, stepOf, whenFailed }: BarProps) {
  const { now } = useAt()
  const job = jobs.data.find(({ id }) => id === working?.id)
  const last = jobs.data[0]
  return (
    <>
      <p class="sr" role="status">
        {job ? `${job.title} is running.` : ''}
      </p>
      <div class={working ? 'job-bar on' : 'job-bar'}>
        <Icon name={working ? 'refresh' : 'history'} />
        {working ? (
          <>
            <span class="cut">
              <b>{job?.title ?? 'A job is working on it'}</b>
              {job &&
                `${stepOf ? ` · ${stepOf(job)}` : ''} · ${howLong(job.startedAt ?? job.createdAt, null, now)}` +
                  ' · you can leave this page'}
            </span>
            <Link href={`${area}/jobs/${working.id}`}>Follow job</Link>
            <progress max={100} value={working.progress} aria-label="Progress">{`${working.progress} %`}</progress>
          </>
        ) : last ? (
          <span class="cut">
            Last job: <Link href={`${area}/jobs/${last.id}`}>{last.title}</Link>
            {last.state === 'failed' && ' failed'}, <Time iso={last.finishedAt ?? last.createdAt} />
            {last.state === 'failed' && whenFailed?.(last)}
          </span>
        ) : (
          <span class="cut">No jobs yet.</span>
        )}
      </div>
    </>
  )
}
