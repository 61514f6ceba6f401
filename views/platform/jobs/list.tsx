import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { type Choices, chooserFiles, filterChoices } from '../../components/forms/chooser.tsx'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { Tabs } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { JobTable, jobSorts } from './table.tsx'

const none: Record<string, string> = {
  running: 'No job is running.',
  done: 'No job is done yet.',
  failed: 'No job has failed.',
}

export const jobsPages = inEveryArea({
  path: '/jobs',
  reads: { jobs: listJobs, nodes: filterChoices('node', 'nodeId') },
  title: 'Jobs',
  nav: 'jobs',
  files: chooserFiles,
  view: ({ jobs, nodes }, area) => <JobList jobs={jobs} nodes={nodes} area={area} />,
})

type ListProps = Answers<{ jobs: typeof listJobs }> & {
  /** Undefined for readers who see no nodes. */
  nodes: Choices | undefined
  area: Area
}
function JobList({ jobs, nodes, area }: ListProps) {
  const { query, registry } = useAt()
  const kinds = registry.jobs
    .filter(({ options }) => area === '/admin' || !options.forStaff)
    .map(({ kind, title }) => [kind, title] as const)
    .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
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
        filters={[
          { name: 'q', label: 'Search', placeholder: 'Server or job' },
          { name: 'kind', label: 'Kind', options: kinds },
          nodes?.data.length ? { name: 'nodeId', label: 'Node', of: 'node', choices: nodes } : undefined,
          ...(['serverId', 'instanceId'] as const)
            .filter((name) => query[name])
            .map((name) => ({ name, label: narrowedBy[name], value: query[name] })),
        ]}
        empty={<Empty title="No jobs yet">A job is work on a node: installing, starting, suspending.</Empty>}
        emptyWhenFiltered={none[query['state'] ?? '']}
      >
        <JobTable jobs={jobs.data} area={area} sortable />
      </List>
    </>
  )
}

const narrowedBy = { serverId: 'Server', instanceId: 'GPU instance' } as const
