// The header of every page of a GPU instance: its state, what can be done with it, its tabs, and the job that is
// changing it.

import type { ComponentChildren } from 'preact'
import { getInstance } from '../../../src/compute/gpu-instances/list.ts'
import { pageOf, pageOfList, gpuInstance as resource } from '../../../src/compute/gpu-instances/model.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { reading } from '../../../src/kernel/web/page.ts'
import { inContext, usePageContext } from '../../../src/kernel/web/page-context.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { Menu } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Note } from '../../components/section.tsx'
import { PageTabs } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { OwnerLink } from '../workloads/cells.tsx'
import { JobBar, NodeAway, narrowed, Shared } from '../workloads/frame.tsx'
import { DeleteButton, HELD, PowerButton } from './actions.tsx'
import { tabOf } from './area.ts'
import { InstanceState } from './state.tsx'
import { cardWords, endWords, type Instance } from './words.ts'

/** The reads of every page of an instance. */
export const instanceReads = {
  instance: reading(getInstance, ({ params }) => ({ params })),
  jobs: reading(listJobs, ({ params }) => ({ query: { instanceId: params['id'] ?? '', limit: '10' } })),
}
type FrameProps = Answers<typeof instanceReads> & { area: Area; children: ComponentChildren }

/** The frame around every tab of an instance. Below it, buttons are drawn by the rights on this instance. */
export function InstanceFrame({ children, ...of }: FrameProps) {
  const context = usePageContext()
  const { instance, area } = of
  return inContext(
    { ...context, at: narrowed(context.at, resource, instance) },
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
        <JobBar working={instance.job} jobs={of.jobs} area={area} />
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
        <OwnerLink of={instance} area={area} />
      </span>
    )}
  </>
)

/** Sharing, and states in which something is wrong. */
function Notices({ instance, area, jobs }: Omit<FrameProps, 'children'>) {
  const failed = jobs.data.find(({ state }) => state === 'failed')
  return (
    <>
      <Shared of={instance} />
      {!instance.nodeConnected && instance.status !== 'deleted' && <NodeAway of={instance} area={area} node="host" />}
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
          {instance.suspendReason ? `Reason: ${instance.suspendReason}` : 'Ask your provider.'}
        </Note>
      )}
    </>
  )
}
