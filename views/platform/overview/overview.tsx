import { createServer } from '../../../src/compute/servers/create.ts'
import { listCustomers } from '../../../src/identity/accounts/customers.ts'
import { type Answers, ifAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { getOverview } from '../../../src/platform/overview/overview.ts'
import { Meter, Stat, Stats } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { OpenState, serversIn } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { count, gb, list, mb } from '../../components/words.ts'
import { Announcements } from '../announcements/banner.tsx'
import { JobRows } from '../jobs/table.tsx'
import { Checklist, NeedsAttention } from './attention.tsx'

const reads = {
  overview: reading(getOverview, () => ({})),
  announcements: reading(listAnnouncements, () => ({})),
  jobs: ifAllowed(listJobs, () => ({ query: { state: 'running', limit: '8' } })),
}
const HTTPS = '/admin#https'
type Data = Answers<typeof reads>
type Overview = Data['overview']

export const overviewPage = page({
  path: '/admin',
  reads,
  title: 'Overview',
  nav: 'overview',
  view: ({ overview, announcements, jobs }) => (
    <>
      <Head title="Overview" actions={<NewServer />} />
      <Announcements of={announcements} />
      <Live id="overview" every={10}>
        <Figures of={overview} />
        <div class="split plain">
          <div>
            <NeedsAttention of={overview.attention} checkedAt={overview.checkedAt} />
            <Checklist steps={overview.checklist} title="Setup" />
            {overview.locations && <Capacity of={overview.locations} />}
          </div>
          <div>
            {jobs && <RunningJobs jobs={jobs} />}
            <Now of={overview} />
          </div>
        </div>
      </Live>
      {asksForHttps(overview) && <Https />}
    </>
  ),
})

function NewServer() {
  const at = useAt()
  return at.may(createServer) && at.may(listCustomers) ? (
    <Link class="btn" to="/admin/servers/new">
      <Icon name="plus" />
      Create server
    </Link>
  ) : null
}

/** Figures of what the reader may see. */
function Figures({ of: { servers, jobs, nodes } }: { of: Overview }) {
  if (!servers && !jobs && !nodes) return null
  const total = Object.values(servers ?? {}).reduce((all, n) => all + n, 0)
  return (
    <Stats>
      {servers && (
        <>
          <Stat href="/admin/servers" title="Servers" n={total} />
          <Stat
            href="/admin/servers?status=running"
            title="Servers running"
            n={servers['running'] ?? 0}
            of={`of ${total.toLocaleString('en')}`}
          />
        </>
      )}
      {nodes && (
        <Stat
          href="/admin/nodes"
          title="Nodes connected"
          n={nodes.connected}
          of={`of ${count(nodes.total, 'node')}`}
          bad={nodes.connected < nodes.total}
        />
      )}
      {jobs && (
        <>
          <Stat href="/admin/jobs?state=running" title="Jobs running" n={jobs.running} />
          <Stat href="/admin/jobs?state=failed" title="Jobs failed" n={jobs.failed24h} words="in 24 hours" />
          <Stat href="/admin/jobs?state=done" title="Jobs done" n={jobs.done24h} words="in 24 hours" />
        </>
      )}
    </Stats>
  )
}

/** Servers by state and agents by version, in words. */
function Now({ of: { servers, nodes } }: { of: Overview }) {
  if (!servers && !nodes) return null
  const states = Object.entries(servers ?? {}).map(([status, n]) => serversIn(status, n))
  const versions = Object.entries(nodes?.versions ?? {}).map(([version, n]) => `${version} on ${n}`)
  const words = [
    states.length > 0 && `${list(states)}.`,
    versions.length > 0 && `Agents: ${list(versions)}.`,
    servers && nodes && !states.length && !versions.length && 'No server and no node yet.',
  ].filter(Boolean)
  return words.length > 0 ? (
    <Section id="figures" title="Now">
      <p class="muted">{words.join(' ')}</p>
    </Section>
  ) : null
}

const RunningJobs = ({ jobs }: { jobs: NonNullable<Data['jobs']> }) => (
  <Section
    id="jobs"
    title="Running jobs"
    count={jobs.total || undefined}
    actions={<Link to="/admin/jobs">All jobs</Link>}
  >
    {jobs.data.length > 0 ? <JobRows jobs={jobs.data} area="/admin" /> : <p class="muted">No job is running.</p>}
  </Section>
)

type Location = NonNullable<Overview['locations']>[number]

const Capacity = ({ of: locations }: { of: readonly Location[] }) => (
  <Section id="capacity" title="Capacity by location" flush>
    {locations.length > 0 ? (
      <Table<Location>
        label="Capacity by location"
        rows={locations}
        columns={[
          { title: 'Location', kind: 'name', width: 28, cell: (l) => <LocationName of={l} /> },
          { title: 'State', kind: 'state', width: 16, cell: (l) => <OpenState open={l.open} /> },
          {
            title: 'Memory',
            width: 22,
            cell: (l) =>
              l.nodes > 0 && (
                <Meter
                  inline
                  label={`Memory of ${l.name}`}
                  value={l.heldMemoryMb}
                  total={l.memoryMb}
                  words={percent(l.heldMemoryMb, l.memoryMb)}
                  title={`${mb(l.heldMemoryMb)} of ${mb(l.memoryMb)}`}
                />
              ),
          },
          {
            title: 'Disk',
            width: 22,
            cell: (l) =>
              l.nodes > 0 && (
                <Meter
                  inline
                  label={`Disk of ${l.name}`}
                  value={l.heldDiskGb}
                  total={l.diskGb}
                  words={percent(l.heldDiskGb, l.diskGb)}
                  title={`${gb(l.heldDiskGb)} of ${gb(l.diskGb)}`}
                />
              ),
          },
          {
            title: 'Free IPv4',
            num: true,
            width: 12,
            cell: (l) => (l.nodes > 0 ? l.freeIpv4.toLocaleString('en') : '–'),
          },
        ]}
      />
    ) : (
      <Empty
        action={
          <Link class="btn" to="/admin/node-groups">
            Add location
          </Link>
        }
      >
        A location is a group of nodes that customers see as one place.
      </Empty>
    )}
  </Section>
)

const percent = (value: number, total: number) => `${total > 0 ? Math.round((value / total) * 100) : 0} %`

const LocationName = ({ of: l }: { of: Location }) => (
  <>
    <Link href={`/admin/nodes?locationId=${l.id}`}>{l.name}</Link>
    <small>{l.nodes ? `${l.connectedNodes} of ${count(l.nodes, 'node')} connected` : 'No node yet'}</small>
  </>
)

const asksForHttps = ({ attention, checklist }: Overview) =>
  attention.some((a) => a.href === HTTPS) || checklist.some((s) => !s.done && s.href === HTTPS)

const httpsSettings = `PANEL_PUBLIC_URL=https://panel.example.com
PANEL_TLS_CERT=/etc/berth/fullchain.pem   # only without a proxy
PANEL_TLS_KEY=/etc/berth/privkey.pem      # only without a proxy`

const Https = () => (
  <Section id="https" title="Set up HTTPS">
    <div class="stack">
      <p>
        Berth is reached at <code>{useAt().origin}</code>. Passwords and sessions should not cross a network without
        HTTPS, and nodes refuse it.
      </p>
      <p>
        Either put a reverse proxy with a certificate before it, or let Berth answer HTTPS itself. Then restart it with
        the address that browsers use:
      </p>
      <pre class="secret">{httpsSettings}</pre>
    </div>
  </Section>
)
