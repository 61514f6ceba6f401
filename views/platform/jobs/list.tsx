import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { SomeOnly } from '../../components/filters.tsx'
import { Head } from '../../components/head.tsx'
import { Live } from '../../components/live.tsx'
import { Empty } from '../../components/section.tsx'
import { Pager, Tabs } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { JobTable } from './table.tsx'

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
  const narrowed = query['serverId'] || query['nodeId'] || query['kind']
  return (
    <>
      <Head
        title="Jobs"
        state={<span class="muted">{count(jobs.total, 'job')}</span>}
        sub={narrowed && <SomeOnly>Some jobs only.</SomeOnly>}
      />
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
      <Live id="list" every={2} class="">
        {jobs.data.length > 0 ? (
          <JobTable jobs={jobs.data} area={area} />
        ) : (
          <Empty>
            {none[query['state'] ?? ''] ??
              'A job is work on a node: installing, starting, suspending. There is none yet.'}
          </Empty>
        )}
      </Live>
      <Pager of={jobs} />
    </>
  )
}
