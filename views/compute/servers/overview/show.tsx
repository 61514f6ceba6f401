import { listOfferedImages } from '../../../../src/catalog/images/images.ts'
import { getServerBackupPlan } from '../../../../src/compute/backups/plans/assign.ts'
import { detectOs } from '../../../../src/compute/guest/detect.ts'
import { listFileSystems } from '../../../../src/compute/guest/file-systems.ts'
import { getInstallationCheck } from '../../../../src/compute/guest/installation-check.ts'
import { getAddressChange } from '../../../../src/compute/readdressing/show.ts'
import { hour, iso } from '../../../../src/kernel/db/clock.ts'
import { type Answers, allIfAllowed, ifAllowed, inPart, reading } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { getBandwidth } from '../../../../src/network/traffic/top-up.ts'
import { listServerActivity } from '../../../../src/platform/audit/activity.ts'
import { listAudit } from '../../../../src/platform/audit/audit.ts'
import { getMetrics } from '../../../../src/platform/metrics/show.ts'
import { Action } from '../../../components/action.tsx'
import { type Area, inEveryArea } from '../../../components/area.ts'
import { Link } from '../../../components/link.tsx'
import { Beside, Live } from '../../../components/live.tsx'
import { Copyable, Facts, Note, Section } from '../../../components/section.tsx'
import { Time } from '../../../components/time.tsx'
import { size, traffic } from '../../../components/words.ts'
import { ActivityRows } from '../../../platform/audit/rows.tsx'
import { JobRows } from '../../../platform/jobs/table.tsx'
import { OwnerLink } from '../../workloads/cells.tsx'
import { accessFiles } from '../access.tsx'
import { InstallationResult, ownScripts, StartupScriptResult, startupOfOwn } from '../first-boot.tsx'
import { ServerFrame, serverReads } from '../frame.tsx'
import { away } from '../power-buttons.tsx'
import { Unsuspend } from '../settings/unsuspend.tsx'
import { disabledReason, type Server, speedWords, suspensionWords } from '../words.ts'
import { Connect } from './connect.tsx'
import { Disks } from './disks.tsx'
import { Setup } from './setup.tsx'
import { USE_HOURS, Use } from './use.tsx'

const reads = {
  ...serverReads,
  images: allIfAllowed(listOfferedImages),
  scripts: ownScripts,
  startup: startupOfOwn,
  installed: ifAllowed(getInstallationCheck),
  inside: ifAllowed(getAddressChange),
  metrics: inPart(
    'use',
    ifAllowed(getMetrics, ({ params, now }) => ({
      params,
      query: { from: iso(now - USE_HOURS * hour), resolution: '60' },
    })),
  ),
  bandwidth: inPart('use', ifAllowed(getBandwidth)),
  backupPlan: ifAllowed(getServerBackupPlan),
  fileSystems: ifAllowed(listFileSystems),
  done: reading(listServerActivity, ({ params }) => ({ params, query: { limit: '10' } })),
}
type Data = Answers<typeof reads>
type InArea = Data & { area: Area }

export const serverPages = inEveryArea({
  path: '/servers/{id}',
  reads,
  title: ({ server }) => server.name,
  nav: 'servers',
  files: accessFiles,
  view: (data, area) => (
    <ServerFrame {...data} area={area}>
      <Overview {...data} area={area} />
    </ServerFrame>
  ),
})

/** In each state what helps then: nothing leads to what cannot work. */
const Overview = (data: InArea) => (
  <>
    <Inside of={data.inside} server={data.server} area={data.area} />
    {data.server.status === 'pending_setup' && <Setup {...data} />}
    {data.server.status === 'running' && (
      <Live id="use" every={60}>
        <Use {...data} />
      </Live>
    )}
    <Beside of="server" id="overview">
      <div class="split plain">
        <div>
          {data.server.status === 'suspended' && <Suspended server={data.server} area={data.area} />}
          <Connect server={data.server} />
          <Disks of={data.fileSystems} />
          <InstallationResult of={data.installed} />
          <StartupScriptResult of={data.startup} />
          <Activity {...data} />
        </div>
        <div>
          <About server={data.server} backupPlan={data.backupPlan} area={data.area} />
          <Jobs jobs={data.jobs} area={data.area} server={data.server} />
        </div>
      </div>
    </Beside>
  </>
)

/** A page body of its own: what is the matter, what is kept, and the one who can change it. */
const Suspended = ({ server: s, area }: { server: Server; area: Area }) => (
  <Section id="suspended" title="Suspended">
    <p>
      <strong>{suspensionWords(s)}</strong>
    </p>
    <p class="muted">
      It is switched off. Its disk, addresses and backups are kept.{' '}
      {s.allowed.includes('unsuspend')
        ? 'Its owner can use it again once it is unsuspended.'
        : 'Ask your provider what to do so that you can use it again.'}
    </p>
    <div class="bar">
      <Unsuspend server={s} tone="pri" />
      <Link href={`${area}/servers/${s.id}/backups`}>Backups</Link>
    </div>
  </Section>
)

/** A system that has no other way to learn of its new addresses. */
const Inside = ({ of, server: s, area }: { of: Data['inside']; server: Server; area: Area }) =>
  of?.state === 'waiting' && of.error !== null ? (
    <Note level="warn" action={<Link href={`${area}/servers/${s.id}/console`}>Open console</Link>}>
      <strong>Its system does not have its new addresses yet.</strong> {of.error} Until it has them, it cannot be
      reached by them. It is asked on. Start its guest agent, or set{' '}
      {s.addresses.map(({ address }) => address).join(', ')} in it by the console.
    </Note>
  ) : null

const Port = ({ server: { speed, trafficGb } }: { server: Server }) => (
  <>
    {speedWords(speed)}
    {trafficGb && ` · ${traffic(trafficGb)} a month`}
    {speed.throttledToMbps !== null && (
      <>
        <br />
        <small class="muted">
          Slowed down to {speed.throttledToMbps} Mbit/s: its traffic of this month is used up. It gets its speed back
          when the month ends or traffic is added.
        </small>
      </>
    )}
  </>
)

const About = ({ server: s, backupPlan, area }: Pick<InArea, 'server' | 'backupPlan' | 'area'>) => (
  <Section id="about" title="Server">
    <Facts
      of={[
        [
          'Package',
          <>
            {s.package.name}
            <br />
            <span class="muted">{size(s)}</span>
          </>,
        ],
        ['System', s.image && <System server={s} />],
        ['Port', <Port server={s} />],
        ['Processor', s.speed.cpuPercent !== null && `Limited to ${s.speed.cpuPercent} % of its vCPUs`],
        ['Storage', s.storageClass],
        ['Storage pool', s.storagePool],
        ['Disk limits', diskLimitsOf(s)],
        ['Location', s.location.name],
        ['Backups', backupPlan && s.status !== 'terminated' && <Backups server={s} plan={backupPlan} area={area} />],
        ['Protected', s.protected && 'Terminate and reinstall are refused'],
        ['Node', s.node && <NodeOf server={s} />],
        [
          'Owner',
          area && (
            <>
              <OwnerLink of={s} area={area} /> <span class="muted">{s.owner.email}</span>
            </>
          ),
        ],
        ['Labels', <Labels server={s} area={area} />],
        ['Created', <Time iso={s.createdAt} />],
        ['Id', <Copyable text={s.id} what="id" />],
      ]}
    />
  </Section>
)

type Plan = NonNullable<Data['backupPlan']>
const Backups = ({ server: s, plan: { plan, nextAt }, area }: { server: Server; plan: Plan; area: Area }) => (
  <>
    <Link href={`${area}/servers/${s.id}/backups`}>{plan?.name ?? 'By hand only'}</Link>
    {nextAt && (
      <>
        <br />
        <small class="muted">
          next <Time iso={nextAt} />
        </small>
      </>
    )}
  </>
)

const diskLimitsOf = ({ diskLimits: of }: Server) =>
  [
    of.readIops !== null && `${of.readIops.toLocaleString('en')} reads/s`,
    of.writeIops !== null && `${of.writeIops.toLocaleString('en')} writes/s`,
    of.readMbPerSecond !== null && `${of.readMbPerSecond.toLocaleString('en')} MiB/s read`,
    of.writeMbPerSecond !== null && `${of.writeMbPerSecond.toLocaleString('en')} MiB/s written`,
  ]
    .filter(Boolean)
    .join(', ')

/** As the guest names itself, which it may do as it likes. */
const System = ({ server: s }: { server: Server }) => (
  <>
    {s.os ? `${s.os.name} ${s.os.version}`.trim() || 'Without a name' : 'Unknown: no guest agent has answered'}
    <br />
    {s.os && (
      <small class="muted">
        {s.os.kernel && `${s.os.kernel} · `}detected <Time iso={s.os.detectedAt} />
      </small>
    )}{' '}
    {useAt().may(detectOs) && s.status === 'running' && (
      <Action
        op={detectOs}
        params={{ id: s.id }}
        label="Detect OS"
        done="The guest agent is being asked"
        disabledReason={away(s) ?? disabledReason(s, 'detect_os')}
      />
    )}
  </>
)

/** Each leads to the servers that have it. */
function Labels({ server: s, area }: { server: Server; area: Area }) {
  const labels = [...(s.staffLabels ?? []), ...s.labels]
  if (!labels.length) return 'None'
  return labels.map((label, i) => (
    <>
      {i > 0 && ', '}
      <a href={`${area}/servers?label=${encodeURIComponent(label)}`}>{label}</a>
    </>
  ))
}

const NodeOf = ({ server: { node, placement } }: { server: Server }) =>
  node && (
    <>
      <Link href={`/admin/nodes/${node.id}`}>{node.name}</Link>
      {placement && (
        <>
          <br />
          <small class="muted">{placement}</small>
        </>
      )}
    </>
  )

const MOST_JOBS = 5
const Jobs = ({ jobs, area, server }: { jobs: Data['jobs']; area: Area; server: Server }) => (
  <Section
    id="jobs"
    title="Jobs"
    count={jobs.total || undefined}
    actions={jobs.total > MOST_JOBS && <Link href={`${area}/jobs?serverId=${server.id}`}>Show all</Link>}
  >
    {jobs.data.length > 0 ? (
      <JobRows jobs={jobs.data.slice(0, MOST_JOBS)} area={area} />
    ) : (
      <p class="muted">No jobs yet.</p>
    )}
  </Section>
)

function Activity({ done, server: s, area }: InArea) {
  const at = useAt()
  return (
    <Section
      id="done"
      title="Activity"
      count={done.total || undefined}
      actions={
        <>
          {done.total > done.data.length && <Link href={`${area}/servers/${s.id}/activity`}>Show all</Link>}
          {at.may(listAudit) && <Link href={`/admin/audit?target=${s.id}`}>Show in audit log</Link>}
        </>
      }
    >
      {done.data.length > 0 ? <ActivityRows lines={done.data} area={area} /> : <p class="muted">No activity yet.</p>}
    </Section>
  )
}
