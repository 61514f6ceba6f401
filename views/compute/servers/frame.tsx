// The header of every page of a server: its state, what can be done with it, its tabs, and the job that is changing it.
import type { ComponentChildren } from 'preact'
import { reinstallServer } from '../../../src/compute/installation/reinstall.ts'
import { rescueServer } from '../../../src/compute/rescue/boot.ts'
import { server as resource } from '../../../src/compute/server-records/model.ts'
import { terminateServer } from '../../../src/compute/servers/life/terminate.ts'
import { undeleteServer } from '../../../src/compute/servers/life/undelete.ts'
import { getServer } from '../../../src/compute/servers/list.ts'
import { listMemberships } from '../../../src/identity/team/memberships.ts'
import { type Answers, allIfAllowed, reading } from '../../../src/kernel/web/page.ts'
import { inContext, useAt, usePageContext } from '../../../src/kernel/web/page-context.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { OsTile } from '../../catalog/images/os.tsx'
import { Action, Menu } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Copyable, Note } from '../../components/section.tsx'
import { ServerState } from '../../components/state.tsx'
import { PageTabs } from '../../components/table.tsx'
import { Deadline, Time } from '../../components/time.tsx'
import { Leave } from '../../identity/team/actions.tsx'
import { MoveLink } from '../transfers/move-link.tsx'
import { OwnerLink } from '../workloads/cells.tsx'
import { JobBar, NodeAway, narrowed, Shared } from '../workloads/frame.tsx'
import { ForceOff, PowerButton, quickPower } from './power-buttons.tsx'
import { type Server, suspensionWords } from './words.ts'

/** The reads of every page of a server. */
export const serverReads = {
  server: reading(getServer, ({ params }) => ({ params })),
  jobs: reading(listJobs, ({ params }) => ({ query: { serverId: params['id'] ?? '', limit: '10' } })),
  memberships: allIfAllowed(listMemberships),
}
type FrameProps = Answers<typeof serverReads> & { area: Area; children: ComponentChildren }

/** The frame around every tab of a server. Below it, buttons are drawn by the rights on this server. */
export function ServerFrame({ children, ...of }: FrameProps) {
  const context = usePageContext()
  const { server: s, area } = of
  return inContext(
    { ...context, at: narrowed(context.at, resource, s) },
    <>
      <Live id="server" every={isAtWork(of) ? 2 : 4} class={s.nodeConnected ? 'live' : 'live away'}>
        <Head
          title={s.name}
          tile={s.image && <OsTile name={s.image.name} large />}
          trail={[['Servers', `${area}/servers`]]}
          state={<ServerState of={s} tag />}
          actions={<Actions server={s} area={area} />}
          sub={<Summary server={s} area={area} />}
        />
        <Notices {...of} />
        <PageTabs label="Server" of={tabsOf(s, area)} />
        <JobBar
          // One that leaves the server to others, such as a backup, is shown while it is at work, too.
          working={s.job ?? of.jobs.data.find(({ state }) => state === 'running')}
          jobs={of.jobs}
          area={area}
          stepOf={stepOf}
          whenFailed={({ id }) => (
            <>
              . <Link href={`${area}/jobs/${id}`}>Why it failed</Link>
            </>
          )}
        />
      </Live>
      {children}
    </>,
  )
}

/** A job changes it, or is at work beside it: its progress is asked for more often. */
const isAtWork = ({ server, jobs }: Pick<FrameProps, 'server' | 'jobs'>) =>
  server.job !== null || jobs.data.some(({ state }) => state === 'running' || state === 'queued')

/** Eight at most. Nothing can be set on a server that has ended, but its backups outlive it. */
const tabs: readonly { path: string; title: string; ofEnded?: true }[] = [
  { path: '', title: 'Overview', ofEnded: true },
  { path: '/console', title: 'Console' },
  { path: '/metrics', title: 'Metrics', ofEnded: true },
  { path: '/network', title: 'Network' },
  { path: '/backups', title: 'Disks & backups', ofEnded: true },
  { path: '/access', title: 'Access' },
  { path: '/settings', title: 'Settings' },
  { path: '/activity', title: 'Activity', ofEnded: true },
]
const tabsOf = (s: Server, area: Area): [href: string, title: string][] =>
  tabs
    .filter(({ ofEnded }) => ofEnded || s.status !== 'terminated')
    .filter(({ path }) => path !== '/console' || hasConsole(s))
    .map(({ path, title }) => [`${area}/servers/${s.id}${path}`, title])

/** While it is suspended or waits for its setup there is nothing to connect to. */
const hasConsole = ({ status }: Server) => !withoutConsole.has(status)
const withoutConsole: ReadonlySet<Server['status']> = new Set(['suspended', 'pending_setup', 'terminated'])

/** The console and the power action that fits the state as buttons, the others behind the three dots. */
function Actions({ server: s, area }: { server: Server; area: Area }) {
  if (s.status === 'terminated') return null
  const shown = s.status === 'stopped' ? 'start' : 'restart'
  const isOff = s.status === 'suspended' || s.status === 'pending_setup'
  return (
    <>
      {hasConsole(s) && (
        <Link class="btn" href={`${area}/servers/${s.id}/console`}>
          <Icon name="terminal" />
          Console
        </Link>
      )}
      {!isOff && <PowerButton server={s} action={shown} />}
      <Menu label="More actions">
        {!isOff && quickPower.map((action) => action !== shown && <PowerButton server={s} action={action} inMenu />)}
        {!isOff && <ForceOff server={s} />}
        <Elsewhere server={s} area={area} />
      </Menu>
    </>
  )
}

/** Entries that lead to a place on another tab, where each says what it does before it asks. */
function Elsewhere({ server: s, area }: { server: Server; area: Area }) {
  const { may } = useAt()
  const at = `${area}/servers/${s.id}`
  const isSetUp = s.status !== 'pending_setup' && s.status !== 'suspended'
  return (
    <>
      <hr />
      {isSetUp && may(reinstallServer) && (
        <Link href={`${at}/settings#reinstall`}>
          <Icon name="reinstall" />
          Reinstall…
        </Link>
      )}
      {isSetUp && may(rescueServer) && (
        <Link href={`${at}/access#rescue`}>
          <Icon name="anchor" />
          Boot rescue system…
        </Link>
      )}
      {area === '/admin' && <MoveLink server={s} inMenu />}
      {may(terminateServer) && (
        <Link href={`${at}/settings#terminate`} class="bad">
          <Icon name="trash" />
          Terminate…
        </Link>
      )}
    </>
  )
}

const Summary = ({ server: s, area }: { server: Server; area: Area }) => {
  const address = s.ipv4 ?? s.ipv6
  return (
    <>
      {address && <Copyable text={address} what="address" />}
      {s.hostname !== s.name && <span>{s.hostname}</span>}
      <span>{s.image?.name ?? 'No image yet'}</span>
      <span>{s.package.name}</span>
      <span>{area ? <OwnerLink of={s} area={area} /> : s.location.name}</span>
    </>
  )
}

/** One that is suspended does not run: its owner cannot change it with the connection, either. */
const isThere = ({ status }: Server, area: Area) =>
  status !== 'terminated' && (status !== 'suspended' || area === '/admin')

/** Sharing, and states in which something is wrong. */
function Notices({ server: s, jobs, memberships, area }: Omit<FrameProps, 'children'>) {
  const rescuePage = `${area}/servers/${s.id}/access`
  return (
    <>
      <Shared of={s} action={memberships?.data.filter(isOf(s)).map((m) => <Leave of={m} leadsTo="/servers" />) ?? []} />
      {!s.nodeConnected && isThere(s, area) && <NodeAway of={s} area={area} node="node" />}
      {s.powerKnownAt && s.status !== 'terminated' && (
        <Note level="warn" action={s.node && <Link href={`/admin/nodes/${s.node.id}`}>Open node</Link>}>
          <strong>Its state is the last known.</strong>{' '}
          {area ? 'libvirt on its node does not answer' : 'Its node does not tell whether it runs'} since{' '}
          <Time iso={s.powerKnownAt} />. It may have stopped or started meanwhile, and cannot be changed until this is
          over.
        </Note>
      )}
      {s.status === 'failed' && (
        <Note level="bad" action={<WhyItFailed jobs={jobs} area={area} />}>
          <strong>The installation failed.</strong> {s.failure}
        </Note>
      )}
      {s.rescue && s.status !== 'suspended' && (
        <Note
          level="warn"
          action={useAt().path !== rescuePage && <Link href={`${rescuePage}#rescue`}>Open rescue</Link>}
        >
          <strong>In rescue.</strong> The rescue system is running; the server's own system is off.
        </Note>
      )}
      {s.status === 'suspended' && useAt().path !== `${area}/servers/${s.id}` && (
        <Note level="warn">
          <strong>Suspended.</strong> {suspensionWords(s)} Its disk and addresses are kept.
        </Note>
      )}
      {s.status === 'terminated' && (
        <Note level="warn" action={<BringBack server={s} />}>
          <strong>Terminated</strong> {s.terminatedAt && <Time iso={s.terminatedAt} />}.{' '}
          {s.purgeAt ? (
            <>
              Its disk and addresses are kept, and deleted on <Deadline iso={s.purgeAt} />. Until then it can be brought
              back as it was{s.allowed.includes('undelete') ? '' : ': ask your provider'}.
            </>
          ) : (
            'Its disk is deleted.'
          )}
        </Note>
      )}
    </>
  )
}

const BringBack = ({ server: s }: { server: Server }) =>
  s.allowed.includes('undelete') && (
    <Action
      op={undeleteServer}
      params={{ id: s.id }}
      label="Bring back"
      title={`Bring back ${s.hostname}?`}
      done={`${s.hostname} is back`}
      confirm={{
        consequences: [
          `${s.owner.name} has ${s.hostname} again, with its disk and addresses.`,
          'Usage and quotas count it again from now on. People it was shared with do not get it back.',
        ],
      }}
    />
  )

/** Leads to the newest job that failed; the newest job may be one of the power. */
function WhyItFailed({ jobs, area }: Pick<FrameProps, 'jobs' | 'area'>) {
  const failed = jobs.data.find(({ state }) => state === 'failed')
  return failed ? <Link href={`${area}/jobs/${failed.id}`}>Why it failed</Link> : null
}

/** Is it a membership by which its reader has this server? */
const isOf = (s: Server) => (m: NonNullable<FrameProps['memberships']>['data'][number]) =>
  m.server ? m.server.id === s.id : m.owner.id === s.owner.id

const stepOf = ({ step }: { step: { n: number; of: number; name: string | null } }) =>
  `step ${step.n} of ${step.of}${step.name ? `, ${step.name}` : ''}`
