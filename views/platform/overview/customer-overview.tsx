import { listInstances } from '../../../src/compute/gpu-instances/list.ts'
import { listServers } from '../../../src/compute/servers/list.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { getOwnOverview } from '../../../src/platform/overview/own-overview.ts'
import { areaOf } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Section } from '../../components/section.tsx'
import { reachable, serverCounts } from '../../components/state.tsx'
import { InstanceTable } from '../../compute/gpu-instances/table.tsx'
import { NoServers } from '../../compute/servers/list.tsx'
import { OwnServerTable } from '../../compute/servers/own.tsx'
import { Announcements } from '../announcements/banner.tsx'
import { JobTable } from '../jobs/table.tsx'
import { Checklist, NeedsAttention } from './attention.tsx'

const reads = {
  announcements: reading(listAnnouncements, () => ({})),
  overview: reading(getOwnOverview, () => ({})),
  servers: reading(listServers, () => ({ query: { limit: '8' } })),
  instances: reading(listInstances, () => ({ query: { limit: '8' } })),
  jobs: reading(listJobs, () => ({ query: { state: 'running', limit: '8' } })),
}
type Data = Answers<typeof reads>

/** Attention first, then servers, then the first steps; of announcements only warnings come before them. */
export const ownOverviewPage = page({
  path: '/',
  reads,
  title: 'Overview',
  nav: 'overview',
  elsewhere: (at) => areaOf(at) || undefined,
  view: ({ announcements, overview, servers, instances, jobs }) => (
    <>
      <Head title="Overview" />
      <Announcements of={announcements} urgent />
      <Live id="overview" every={5}>
        <NeedsAttention of={overview.attention} checkedAt={overview.checkedAt} />
        <Servers servers={servers} counted={serverCounts(reachable(overview.servers, overview.unreachable))} />
        {instances.total > 0 && <Instances instances={instances} />}
        {jobs.total > 0 && <RunningJobs jobs={jobs} />}
        <Checklist steps={overview.checklist} title="First steps" />
      </Live>
      <Announcements of={announcements} urgent={false} />
    </>
  ),
})

const Servers = ({ servers, counted }: { servers: Data['servers']; counted: string | undefined }) => (
  <Section
    id="servers"
    title="Servers"
    count={counted}
    actions={servers.nextCursor && <Link to="/servers">{`Show all ${servers.total.toLocaleString('en')}`}</Link>}
    flush
  >
    {servers.data.length > 0 ? <OwnServerTable of={servers} /> : <NoServers area="" />}
  </Section>
)

const Instances = ({ instances }: { instances: Data['instances'] }) => (
  <Section
    id="gpu-instances"
    title="GPU instances"
    count={instances.total}
    actions={instances.nextCursor && <Link to="/gpu">{`Show all ${instances.total.toLocaleString('en')}`}</Link>}
    flush
  >
    <InstanceTable instances={instances.data} area="" />
  </Section>
)

const RunningJobs = ({ jobs }: { jobs: Data['jobs'] }) => (
  <Section
    id="jobs"
    title="Running jobs"
    count={jobs.total}
    actions={jobs.nextCursor && <Link href="/jobs?state=running">Show all</Link>}
    flush
  >
    <JobTable jobs={jobs.data} area="" />
  </Section>
)
