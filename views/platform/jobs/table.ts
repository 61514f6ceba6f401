import { type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import type { listJobs } from '../../../src/platform/jobs/jobs.ts'
import type { Area } from '../../components/area.ts'
import { jobState } from '../../components/state.ts'
import { table } from '../../components/table.ts'
import { howLong, time } from '../../components/time.ts'

export type Job = Answers<{ jobs: typeof listJobs }>['jobs']['data'][number]

export const jobTable = (jobs: readonly Job[], at: At, area: Area, { server = true, node = true } = {}): Html =>
  table<Job>(
    'Jobs',
    jobs,
    [
      {
        title: 'Job',
        main: true,
        cell: (j) =>
          html`<a href="${area}/jobs/${j.id}">${j.title}</a>${j.error && html`<small>${j.error.message}</small>`}`,
      },
      { title: 'State', cell: (j) => jobState(j) },
      {
        title: 'Step',
        cell: (j) =>
          `${j.state === 'succeeded' ? j.step.of : j.step.n} of ${j.step.of}${j.step.name && j.state !== 'succeeded' ? `: ${j.step.name}` : ''}`,
      },
      ...(server && area
        ? [
            {
              title: 'Server',
              cell: (j: Job) => (j.serverId ? html`<a href="${area}/servers/${j.serverId}">Open server</a>` : '–'),
            },
          ]
        : []),
      ...(node && area === '/admin'
        ? [
            {
              title: 'Node',
              cell: (j: Job) => (j.nodeId ? html`<a href="/admin/nodes/${j.nodeId}">${j.nodeName}</a>` : '–'),
            },
          ]
        : []),
      { title: 'Started by', cell: (j) => j.startedBy.name },
      {
        title: 'Began',
        cell: (j) =>
          html`${time(j.createdAt, at)}<small>${j.startedAt ? `${j.finishedAt ? 'took' : 'for'} ${howLong(j.startedAt, j.finishedAt, at.now)}` : 'not started yet'}</small>`,
      },
    ],
    (j) => j.id,
  )
