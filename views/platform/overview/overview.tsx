import { isStep } from '../../../src/compute/console/visit.ts'
import { createServer } from '../../../src/compute/servers/create.ts'
import { listCustomers } from '../../../src/identity/customers/customers.ts'
import { type Answers, ifAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { listAudit } from '../../../src/platform/audit/audit.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { getOverview } from '../../../src/platform/overview/overview.ts'
import { Meter, Stat, Stats } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Command, Empty, Section } from '../../components/section.tsx'
import { reachable, serverCounts } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { count, gb, list, mb } from '../../components/words.ts'
import { LocationState, nodesOf } from '../../fleet/locations/state.tsx'
import { Announcements } from '../announcements/banner.tsx'
import { ChangeRows } from '../audit/rows.tsx'
import { ChapterLink } from '../documents/chapter-link.tsx'
import { JobRows } from '../jobs/table.tsx'
import { Checklist, ChecklistChip, NeedsAttention } from './attention.tsx'

const reads = {
  overview: reading(getOverview, () => ({})),
  announcements: reading(listAnnouncements, () => ({})),
  jobs: ifAllowed(listJobs, () => ({ query: { state: 'running', limit: '8' } })),
  changes: ifAllowed(listAudit, () => ({ query: { limit: '20' } })),
}
const HTTPS = '/admin#https'
type Data = Answers<typeof reads>
type Overview = Data['overview']

export const overviewPage = page({
  path: '/admin',
  reads,
  title: 'Overview',
  nav: 'overview',
  view: ({ overview, announcements, jobs, changes }) => (
    <>
      <Head
        title="Overview"
        actions={
          <>
            <ChecklistChip steps={overview.checklist} title="Setup" />
            <NewServer />
          </>
        }
      />
      <Announcements of={announcements} />
      <Live id="overview" every={10}>
        <Figures of={overview} />
        <div class="split plain">
          <div>
            <NeedsAttention of={overview.attention} checkedAt={overview.checkedAt} />
            {overview.locations && <Capacity of={overview.locations} />}
            <Checklist steps={overview.checklist} title="Setup" />
          </div>
          <div>
            {jobs && <RunningJobs jobs={jobs} />}
            {changes && <LatestChanges lines={changes.data} />}
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
function Figures({ of: { servers, unreachable, jobs, nodes, gpus } }: { of: Overview }) {
  if (!servers && !jobs && !nodes) return null
  const total = Object.values(servers ?? {}).reduce((all, n) => all + n, 0)
  const { running = 0, ...others } = reachable(servers ?? {}, unreachable ?? {})
  return (
    <Stats>
      {servers && (
        <Stat
          href="/admin/servers"
          title="Servers running"
          n={running}
          of={`of ${total.toLocaleString('en')}`}
          // A number stays with its word where the line breaks.
          words={serverCounts(others)?.replaceAll(/(\d) /g, '$1\u00a0')}
        />
      )}
      {nodes && (
        <Stat
          href={nodes.connected < nodes.total ? '/admin/nodes?state=away' : '/admin/nodes'}
          title="Nodes connected"
          n={nodes.connected}
          of={`of ${count(nodes.total, 'node')}`}
          words={agentVersions(nodes.versions)}
          bad={nodes.connected < nodes.total}
        />
      )}
      {gpus && <Cards of={gpus} />}
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

/** `All 7 agents run 0.1.0`, or how many run which. */
function agentVersions(versions: Readonly<Record<string, number>>): string | undefined {
  const each = Object.entries(versions)
  const [first] = each
  if (!first) return undefined
  if (each.length > 1) return `Agents: ${each.map(([version, n]) => `${n} run ${version}`).join(' · ')}`
  return first[1] === 1 ? `Its agent runs ${first[0]}` : `All ${first[1]} agents run ${first[0]}`
}

/** Nothing where no node has a card. */
function Cards({ of: { held, free, broken, missing, checking, closed } }: { of: NonNullable<Overview['gpus']> }) {
  const total = held + free + broken + missing + checking + closed
  if (!total) return null
  const others = [
    `${free.toLocaleString('en')} free`,
    ...Object.entries({ broken, missing, closed, 'being checked': checking }).flatMap(([state, n]) =>
      n ? `${n.toLocaleString('en')} ${state}` : [],
    ),
  ]
  return (
    <Stat
      href="/admin/gpu"
      title="GPUs in use"
      n={held}
      of={`of ${count(total, 'card')}`}
      words={list(others)}
      bad={broken + missing > 0}
    />
  )
}

type Changes = NonNullable<Data['changes']>
const MOST_CHANGES = 6
/** One line of a visit to the console. */
const shownOf = (lines: Changes['data']) => lines.filter((line) => !isStep(line)).slice(0, MOST_CHANGES)
const LatestChanges = ({ lines }: { lines: Changes['data'] }) => (
  <Section id="changes" title="Latest changes" actions={<Link to="/admin/audit">Audit log</Link>}>
    {lines.length > 0 ? <ChangeRows lines={shownOf(lines)} /> : <p class="muted">No changes yet.</p>}
  </Section>
)

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
          { title: 'Location', kind: 'name', width: 22, cell: (l) => <LocationName of={l} /> },
          { title: 'State', kind: 'state', width: 27, cell: (l) => <LocationState of={l} /> },
          {
            title: 'Memory',
            width: 19,
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
            width: 19,
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
    <small>{nodesOf(l)}</small>
  </>
)

const asksForHttps = ({ attention, checklist }: Overview) =>
  attention.some((a) => a.href === HTTPS) || checklist.some((s) => !s.done && s.href === HTTPS)

const HTTPS_COMMAND = 'sudo ./install.sh --controller --domain panel.example.com'

const Https = () => (
  <Section id="https" title="Set up HTTPS">
    <div class="stack">
      <p>
        Berth is reached at <code>{useAt().origin}</code>. Passwords and sessions should not cross a network without
        HTTPS, and nodes refuse it.
      </p>
      <p>
        Point a name to this machine, open ports 80 and 443, and run this where <code>install.sh</code> is, with that
        name:
      </p>
      <Command text={HTTPS_COMMAND} what="the command" />
      <p class="muted">
        It puts Caddy in front, which gets a certificate and renews it. Data, settings and servers stay. For a proxy or
        a certificate of your own see <ChapterLink of="proxy" />.
      </p>
    </div>
  </Section>
)
