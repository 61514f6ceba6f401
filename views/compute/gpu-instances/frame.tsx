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
  const { instance: it, area } = of
  return inContext(
    { ...context, at: narrowed(context.at, it) },
    <>
      <Live id="instance" every={2}>
        <Head
          title={it.name}
          trail={[['GPU instances', pageOfList(area)]]}
          state={<InstanceState of={it} tag />}
          actions={<Actions instance={it} area={area} />}
          sub={<Summary instance={it} area={area} />}
        />
        <Notices instance={it} area={area} jobs={of.jobs} />
        <PageTabs
          label="GPU instance"
          of={[
            [pageOf(area, it.id), 'Overview'],
            [tabOf(area, it.id, '/metrics'), 'Metrics'],
            [tabOf(area, it.id, '/logs'), 'Logs'],
            [tabOf(area, it.id, '/settings'), 'Settings'],
            [tabOf(area, it.id, '/activity'), 'Activity'],
          ]}
        />
        <JobBar {...of} />
      </Live>
      {children}
    </>,
  )
}

/** The actions that fit the state as buttons, the others behind the three dots. */
function Actions({ instance: it, area }: { instance: Instance; area: Area }) {
  if (it.status === 'deleting' || it.status === 'deleted') return null
  const isOff = it.status === 'stopped' || it.status === 'failed'
  return (
    <>
      <PowerButton instance={it} action={isOff ? 'start' : 'restart'} />
      {!isOff && <PowerButton instance={it} action="stop" />}
      <Menu label="More actions">
        {isOff && <PowerButton instance={it} action="restart" inMenu />}
        <DeleteButton instance={it} area={area} inMenu />
      </Menu>
    </>
  )
}

const Summary = ({ instance: it, area }: { instance: Instance; area: Area }) => (
  <>
    <span>{cardWords(it)}</span>
    <span>{it.image.name}</span>
    <span>{it.location.name}</span>
    {area && (
      <span>
        {it.access === 'own' ? <Link href={`${area}/customers/${it.owner.id}`}>{it.owner.name}</Link> : it.owner.name}
      </span>
    )}
  </>
)

/** Sharing, and states in which something is wrong. */
function Notices({ instance: it, area, jobs }: Omit<FrameProps, 'children'>) {
  const failed = jobs.data.find(({ state }) => state === 'failed')
  return (
    <>
      {it.access !== 'own' && (
        <Note level="info">
          <strong>Shared by {it.owner.name}.</strong> {roleTitles[it.access]}: {roles[it.access].words}
        </Note>
      )}
      {!it.nodeConnected && it.status !== 'deleted' && (
        <Note level="bad" action={it.node && <Link href={`/admin/nodes/${it.node.id}`}>Open node</Link>}>
          <strong>{area ? 'Its host is not connected.' : 'It cannot be reached by the panel.'}</strong> It keeps running
          but cannot be changed until the connection is back.
        </Note>
      )}
      {it.status === 'failed' && (
        <Note level="bad" action={failed && <Link href={`${area}/jobs/${failed.id}`}>Why it failed</Link>}>
          <strong>It has failed.</strong> {it.failure} {HELD}
        </Note>
      )}
      {it.status === 'stopped' && it.lastEnd?.reason === 'crashed' && (
        <Note level="bad" action={<Link href={tabOf(area, it.id, '/logs')}>Open log</Link>}>
          <strong>It ended by itself</strong> <Time iso={it.lastEnd.at} />. {endWords(it.lastEnd)} {HELD}
        </Note>
      )}
      {it.status === 'suspended' && (
        <Note level="warn">
          <strong>Suspended.</strong> {area && it.suspendReason ? `Reason: ${it.suspendReason}` : 'Ask your provider.'}
        </Note>
      )}
    </>
  )
}

/** Always one line high, so that a job does not shift the page. */
function JobBar({ instance: it, jobs, area }: Omit<FrameProps, 'children'>) {
  const { now } = useAt()
  const job = it.job && jobs.data.find(({ id }) => id === it.job?.id)
  const last = jobs.data[0]
  return (
    <>
      <p class="sr" role="status">
        {job ? `${job.title} is running.` : ''}
      </p>
      <div class={it.job ? 'job-bar on' : 'job-bar'}>
        <Icon name={it.job ? 'refresh' : 'history'} />
        {it.job ? (
          <>
            <span class="cut">
              <b>{job?.title ?? 'A job is working on it'}</b>
              {job && ` · ${howLong(job.startedAt ?? job.createdAt, null, now)} · you can leave this page`}
            </span>
            <Link href={`${area}/jobs/${it.job.id}`}>Follow job</Link>
            <progress max={100} value={it.job.progress} aria-label="Progress">{`${it.job.progress} %`}</progress>
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
