// The header of every page of a GPU instance: its state, what can be done with it, its tabs, and the job that is
// changing it.

import type { ComponentChildren } from 'preact'
import { getInstance } from '../../../src/compute/gpu-instances/list.ts'
import { pageOf, pageOfList, gpuInstance as resource } from '../../../src/compute/gpu-instances/model.ts'
import { rightsWith } from '../../../src/identity/team/access.ts'
import { roles } from '../../../src/identity/team/role.ts'
import { mayCallOn } from '../../../src/kernel/api/operation.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { type At, reading } from '../../../src/kernel/web/page.ts'
import { inContext, useAt, usePageContext } from '../../../src/kernel/web/page-context.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { Menu } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Note } from '../../components/section.tsx'
import { PageTabs } from '../../components/table.tsx'
import { howLong, Time } from '../../components/time.tsx'
import { roleTitles } from '../../identity/team/fields.tsx'
import { DeleteButton, HELD, PowerButton } from './actions.tsx'
import { tabOf } from './area.ts'
import { InstanceState } from './state.tsx'
import { cardWords, endWords, type Instance } from './words.ts'

/** The reads of every page of an instance. */
export const frameReads = {
  instance: reading(getInstance, ({ params }) => ({ params })),
  jobs: reading(listJobs, ({ params }) => ({ query: { instanceId: params['id'] ?? '', limit: '10' } })),
}
type FrameProps = Answers<typeof frameReads> & { area: Area; children: ComponentChildren }

/** Narrowed to what the owner of a shared instance lets this reader do. */
const narrowed = (at: At, { access }: Instance): At => {
  const rights = rightsWith(access)
  return rights ? { ...at, may: (op) => at.may(op) && (op.on !== resource || mayCallOn(op, at.actor, rights)) } : at
}

/** The frame around every tab of an instance. Below it, buttons are drawn by the rights on this instance. */
export function InstanceFrame({ children, ...of }: FrameProps) {
  const context = usePageContext()
  const { instance, area } = of
  return inContext(
    { ...context, at: narrowed(context.at, instance) },
    <>
      <Live id="instance" every={2}>
        <Head
          title={instance.name}
          trail={[['GPU instances', pageOfList(area)]]}
          state={<InstanceState of={instance} tag />}
          actions={<Actions instance={instance} area={area} />}
          sub={<Summary instance={instance} area={area} />}
        />
        <Notices instance={instance} area={area} jobs={of.jobs} />
        <PageTabs
          label="GPU instance"
          of={[
            [pageOf(area, instance.id), 'Overview'],
            [tabOf(area, instance.id, '/metrics'), 'Metrics'],
            [tabOf(area, instance.id, '/logs'), 'Logs'],
            [tabOf(area, instance.id, '/settings'), 'Settings'],
            [tabOf(area, instance.id, '/activity'), 'Activity'],
          ]}
        />
        <JobBar {...of} />
      </Live>
      {children}
    </>,
  )
}

/** The actions that fit the state as buttons, the others behind the three dots. */
function Actions({ instance, area }: { instance: Instance; area: Area }) {
  if (instance.status === 'deleting' || instance.status === 'deleted') return null
  const isOff = instance.status === 'stopped' || instance.status === 'failed'
  return (
    <>
      <PowerButton instance={instance} action={isOff ? 'start' : 'restart'} />
      {!isOff && <PowerButton instance={instance} action="stop" />}
      <Menu label="More actions">
        {isOff && <PowerButton instance={instance} action="restart" inMenu />}
        <DeleteButton instance={instance} area={area} inMenu />
      </Menu>
    </>
  )
}

const Summary = ({ instance, area }: { instance: Instance; area: Area }) => (
  <>
    <span>{cardWords(instance)}</span>
    <span>{instance.image.name}</span>
    <span>{instance.location.name}</span>
    {area && (
      <span>
        {instance.access === 'own' ? (
          <Link href={`${area}/customers/${instance.owner.id}`}>{instance.owner.name}</Link>
        ) : (
          instance.owner.name
        )}
      </span>
    )}
  </>
)

/** Sharing, and states in which something is wrong. */
function Notices({ instance, area, jobs }: Omit<FrameProps, 'children'>) {
  const failed = jobs.data.find(({ state }) => state === 'failed')
  return (
    <>
      {instance.access !== 'own' && (
        <Note level="info">
          <strong>Shared by {instance.owner.name}.</strong> {roleTitles[instance.access]}:{' '}
          {roles[instance.access].words}
        </Note>
      )}
      {!instance.nodeConnected && instance.status !== 'deleted' && (
        <Note level="bad" action={instance.node && <Link href={`/admin/nodes/${instance.node.id}`}>Open node</Link>}>
          <strong>{area ? 'Its host is not connected.' : 'It cannot be reached by the panel.'}</strong> It keeps running
          but cannot be changed until the connection is back.
        </Note>
      )}
      {instance.status === 'failed' && (
        <Note level="bad" action={failed && <Link href={`${area}/jobs/${failed.id}`}>Why it failed</Link>}>
          <strong>It has failed.</strong> {instance.failure} {HELD}
        </Note>
      )}
      {instance.status === 'stopped' && instance.lastEnd?.reason === 'crashed' && (
        <Note level="bad" action={<Link href={tabOf(area, instance.id, '/logs')}>Open log</Link>}>
          <strong>It ended by itself</strong> <Time iso={instance.lastEnd.at} />. {endWords(instance.lastEnd)} {HELD}
        </Note>
      )}
      {instance.status === 'suspended' && (
        <Note level="warn">
          <strong>Suspended.</strong>{' '}
          {area && instance.suspendReason ? `Reason: ${instance.suspendReason}` : 'Ask your provider.'}
        </Note>
      )}
    </>
  )
}

/** Always one line high, so that a job does not shift the page. */
function JobBar({ instance, jobs, area }: Omit<FrameProps, 'children'>) {
  const { now } = useAt()
  const job = instance.job && jobs.data.find(({ id }) => id === instance.job?.id)
  const last = jobs.data[0]
  return (
    <>
      <p class="sr" role="status">
        {job ? `${job.title} is running.` : ''}
      </p>
      <div class={instance.job ? 'job-bar on' : 'job-bar'}>
        <Icon name={instance.job ? 'refresh' : 'history'} />
        {instance.job ? (
          <>
            <span class="cut">
              <b>{job?.title ?? 'A job is working on it'}</b>
              {job && ` · ${howLong(job.startedAt ?? job.createdAt, null, now)} · you can leave this page`}
            </span>
            <Link href={`${area}/jobs/${instance.job.id}`}>Follow job</Link>
            <progress
              max={100}
              value={instance.job.progress}
              aria-label="Progress"
            >{`${instance.job.progress} %`}</progress>
          </>
        ) : last ? (
          <span class="cut">
            Last job: <Link href={`${area}/jobs/${last.id}`}>{last.title}</Link>
            {last.state === 'failed' && ' failed'}, <Time iso={last.finishedAt ?? last.createdAt} />
          </span>
        ) : (
          <span class="cut">No jobs yet.</span>
        )}
      </div>
    </>
  )
}
