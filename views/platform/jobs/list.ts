import { type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import { listJobs } from '../../../src/platform/jobs/jobs.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { empty } from '../../components/card.ts'
import { head } from '../../components/head.ts'
import { live } from '../../components/live.ts'
import { pager, tabs } from '../../components/table.ts'
import { count } from '../../components/words.ts'
import { jobTable } from './table.ts'

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
  view: (data, area) => view(data, area),
})

const view = ({ jobs, at }: Answers<{ jobs: typeof listJobs }> & { at: At }, area: Area): Html => html`
    ${head({ title: 'Jobs', sub: (at.query['serverId'] || at.query['nodeId'] || at.query['kind']) && html`Some only. <a href="${at.path}">Show all jobs</a>` })}
    <section class="card" aria-label="Jobs">
      ${tabs(at, 'Jobs by state', 'state', [
        ['', 'All'],
        ['running', 'Running'],
        ['done', 'Done'],
        ['failed', 'Failed'],
      ])}
      ${live(at, 'list', 2, html`${jobs.data.length ? jobTable(jobs.data, at, area) : empty(none[at.query['state'] ?? ''] ?? 'A job is work on a node: installing, starting, suspending. None was needed yet.')}`, '')}
      ${pager(at, jobs)}
    </section>
    <p class="muted">${count(jobs.total, 'job')}</p>`
