import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { Tabs } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { type Job, JobTable, jobSorts } from './table.tsx'

const none: Record<string, string> = {
  running: 'No job is running.',
  done: 'No job is done yet.',
  failed: 'No job has failed.',
}

export const jobsPages = inEveryArea({
  path: '/jobs',
  reads: { jobs: listJobs },
  title: 'Jobs',
  nav: 'jobs',
  view: ({ jobs }, area) => <JobList jobs={jobs} area={area} />,
})

function JobList({ jobs, area }: Answers<{ jobs: typeof listJobs }> & { area: Area }) {
  const { query } = useAt()
  const first = jobs.data[0]
  return (
    <>
      <Head title="Jobs" state={<span class="muted">{count(jobs.total, 'job')}</span>} />
      <Tabs
        label="Jobs by state"
        name="state"
        options={[
          ['', 'All'],
          ['running', 'Running'],
          ['done', 'Done'],
          ['failed', 'Failed'],
        ]}
      />
      <List
        of={jobs}
        noun="job"
        sorts={Object.values(jobSorts)}
        every={2}
        filters={(['serverId', 'instanceId', 'nodeId', 'kind'] as const)
          .filter((name) => query[name])
          .map((name) => ({ name, label: narrowedBy[name], value: nameOf(first, name) ?? query[name] }))}
        empty={<Empty title="No jobs yet">A job is work on a node: installing, starting, suspending.</Empty>}
        emptyWhenFiltered={none[query['state'] ?? '']}
      >
        <JobTable jobs={jobs.data} area={area} sortable />
      </List>
    </>
  )
}

const narrowedBy = { serverId: 'Server', instanceId: 'GPU instance', nodeId: 'Node', kind: 'Kind' } as const
const nameOf = (job: Job | undefined, name: keyof typeof narrowedBy) => (name === 'nodeId' ? job?.nodeName : undefined)
