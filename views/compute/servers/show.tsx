import { listOfferedImages } from '../../../src/catalog/images/images.ts'
import { detectOs } from '../../../src/compute/guest/detect.ts'
import { getInstallationCheck } from '../../../src/compute/guest/installation-check.ts'
import { setupServer } from '../../../src/compute/installation/setup.ts'
import { getAddressChange } from '../../../src/compute/readdressing/show.ts'
import { type Answers, type At, allIfAllowed, aroundParts, ifAllowed, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { getBandwidth } from '../../../src/network/traffic/top-up.ts'
import { listServerActivity } from '../../../src/platform/audit/activity.ts'
import { listAudit } from '../../../src/platform/audit/audit.ts'
import { getMetrics } from '../../../src/platform/metrics/show.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Field } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Command, Copyable, Facts, Note, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { size, traffic } from '../../components/words.ts'
import { ActivityRows } from '../../platform/audit/rows.tsx'
import { JobRows } from '../../platform/jobs/table.tsx'
import { OwnerLink } from '../workloads/cells.tsx'
import {
  AccessFields,
  accessFiles,
  defaultImage,
  imageOptions,
  NoImages,
  rootPassword,
  windowsAmong,
} from './access.tsx'
import { FirstBootFields, InstallationResult, ownScripts, StartupScriptResult, startupOfOwn } from './first-boot.tsx'
import { ServerFrame, serverReads } from './frame.tsx'
import { ImagePicks } from './image-picks.tsx'
import { away } from './power-buttons.tsx'
import { Use } from './use.tsx'
import { disabledReason, type Server, speedWords } from './words.ts'

const reads = {
  ...serverReads,
  images: allIfAllowed(listOfferedImages),
  scripts: ownScripts,
  startup: startupOfOwn,
  installed: ifAllowed(getInstallationCheck),
  inside: ifAllowed(getAddressChange),
  // Their values are new every few seconds: a part that is fetched again is compared without them.
  metrics: aroundParts(ifAllowed(getMetrics, ({ params }) => ({ params, query: { range: '1h' } }))),
  bandwidth: aroundParts(ifAllowed(getBandwidth)),
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

const Overview = (data: InArea) => (
  <>
    <Inside of={data.inside} server={data.server} area={data.area} />
    {data.server.status === 'pending_setup' && <Setup {...data} />}
    {data.server.status === 'running' && <Use {...data} />}
    <div class="split plain">
      <div>
        {data.server.status !== 'terminated' && (
          <Live id="connect-live" every={4}>
            <Connect server={data.server} />
          </Live>
        )}
        <Live id="startup-live" every={10}>
          <InstallationResult of={data.installed} />
          <StartupScriptResult of={data.startup} />
        </Live>
        <Live id="activity" every={4}>
          <Activity {...data} />
        </Live>
      </div>
      <div>
        <Live id="facts" every={4}>
          <About server={data.server} area={data.area} />
          <Jobs jobs={data.jobs} area={data.area} server={data.server} />
        </Live>
      </div>
    </div>
  </>
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

/** Members of a team see their own keys, never the owner's. */
export const keysOf = (s: Server, at: At) => (s.access === 'own' ? s.owner.id : at.actor.accountId)

function Setup({ server: s, images, scripts, area }: InArea) {
  const at = useAt()
  if (!at.may(setupServer)) return null
  if (!images)
    return (
      <Section id="setup" title="Waiting for setup">
        <p class="muted">Your provider installs this server for you.</p>
      </Section>
    )
  const options = imageOptions(images.data, s.diskGb)
  return (
    <Section id="setup" title="Set it up" words="Choose what to install. It takes about a minute.">
      <CallForm
        op={setupServer}
        params={{ id: s.id }}
        class="stack"
        done="Installation started"
        leadsTo={`${area}/servers/${s.id}`}
        secret={rootPassword(s.hostname, windowsAmong(images.data))}
      >
        <ImagePicks
          scope="setup"
          value={defaultImage(images.data, options)}
          options={options}
          empty={<NoImages staff={area === '/admin'} />}
        />
        <Field
          scope="setup"
          name="hostname"
          label="Hostname"
          required
          value={s.hostname}
          hint="Letters, numbers and hyphens, for example web01 or web01.example.com"
        />
        <Field
          scope="setup"
          name="name"
          label="Name"
          value={s.name === s.hostname ? '' : s.name}
          hint="Shown in lists. Leave empty to use the hostname."
        />
        <AccessFields scope="setup" ownerId={keysOf(s, at)} windows={windowsAmong(images.data)} />
        <FirstBootFields scope="setup" scripts={scripts} />
        <div class="bar">
          <button class="btn pri">Install</button>
        </div>
      </CallForm>
    </Section>
  )
}

const Connect = ({ server: s }: { server: Server }) => (
  <Section id="connect" title="Connect">
    <div class="stack">
      {s.sshCommand && <Command text={s.sshCommand} what="SSH command" />}
      <Facts
        pairs
        of={[
          ...(s.osFamily === 'windows' && !s.rescue
            ? ([
                ['Remote Desktop', <Copyable text={s.ipv4 ?? s.ipv6 ?? s.hostname} what="Remote Desktop address" />],
                ['User', s.user],
              ] as const)
            : []),
          ['IPv4', s.ipv4 && <Copyable text={s.ipv4} what="IPv4 address" />],
          ['IPv6', s.ipv6 && <Copyable text={s.ipv6} what="IPv6 address" />],
          ...s.addresses.map((a) => [networkTitle(s, a), <Network of={a} />] as const),
          ['MAC', <span class="mono">{s.mac}</span>],
        ]}
      />
    </div>
  </Section>
)

type Address = Server['addresses'][number]
const networkTitle = (s: Server, a: Address) =>
  a.version === 6 ? 'IPv6 prefix' : a.address === s.ipv4 ? 'Network' : 'Another IPv4'

const Network = ({ of: a }: { of: Address }) => (
  <>
    <span class="mono">{`${a.address}/${a.prefixLength}`}</span>{' '}
    <span class="muted">
      gateway <span class="mono">{a.gateway}</span>
    </span>
  </>
)

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

const About = ({ server: s, area }: { server: Server; area: Area }) => (
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
        ['Storage', storageOf(s)],
        ['Disk limits', diskLimitsOf(s)],
        ['Location', s.location.name],
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

/** `nvme, pool fast`; the pool for staff alone. */
const storageOf = ({ storageClass, storagePool }: Server) =>
  [storageClass, storagePool && `pool ${storagePool}`].filter(Boolean).join(', ')

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

const Jobs = ({ jobs, area, server }: { jobs: Data['jobs']; area: Area; server: Server }) => (
  <Section
    id="jobs"
    title="Jobs"
    count={jobs.total || undefined}
    actions={jobs.total > jobs.data.length && <Link href={`${area}/jobs?serverId=${server.id}`}>Show all</Link>}
  >
    {jobs.data.length > 0 ? <JobRows jobs={jobs.data} area={area} /> : <p class="muted">No jobs yet.</p>}
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
