import { areas } from '../../identity/account-records/areas.ts'
import { day, minute } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { failedJobs, jobBacklog, stuckJobs, waitingJobs } from './attention.ts'
import { cancelJob } from './cancel.ts'
import { getJob, getJobLog, listJobs } from './jobs.ts'
import { countFailedSince, jobTarget, searchJobs, timelineOfJobs, visibleJobs } from './queries.ts'
import { failuresTold } from './tables.ts'
import { jobNotices, tellFailures } from './told.ts'

const errors = {
  job_not_found: {
    status: 404,
    when: 'There is no such job, it is not yours, or it is older than the newest 1000.',
    remedy: 'Check the id; look at the server instead.',
  },
  job_ended: {
    status: 409,
    when: 'The job that is to be cancelled has ended.',
    remedy: 'Read its state: nothing is left to cancel.',
  },
  job_not_cancellable: {
    status: 409,
    when:
      'The job carries out what was promised, such as a suspension, or is past its point of no return: it cannot be ' +
      'undone and comes to its end.',
    remedy: 'Wait until it has ended.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    jobs: { errors: typeof errors; notices: typeof jobNotices }
  }
}

export const jobsFeature = feature({
  name: 'jobs',
  samples: {
    state: 'succeeded',
    kind: 'install',
    title: 'Install web01',
    progress: 100,
    undoing: false,
    undoPending: false,
    cancellable: false,
    cancelled: null,
    error: null,
    cause: null,
    dataLost: null,
    retry: null,
    kindTitle: 'Installation',
    providerToldAt: null,
  },
  errors,
  notices: jobNotices,
  tables: [failuresTold],
  schedule: [{ everyMs: minute / 2, words: 'telling of failed jobs', work: ({ db, app }) => tellFailures(db, app) }],
  operations: [listJobs, getJob, getJobLog, cancelJob],
  attention: [stuckJobs, waitingJobs, jobBacklog, failedJobs],
  timeline: [timelineOfJobs],
  auditTargets: [
    {
      ...jobTarget,
      page: ({ id, isGone }, { kind }) => (isGone ? undefined : `${areas[kind]}/jobs/${id}`),
    },
  ],
  search: [
    {
      type: 'job',
      position: 40,
      place: ({ actor }) =>
        actor.scopes.has('servers:read') || (actor.kind === 'staff' && actor.scopes.has('nodes:read'))
          ? `${areas[actor.kind]}/jobs/`
          : undefined,
      find: ({ tx, actor }, text, most) => searchJobs(tx, visibleJobs(tx, actor), text, most),
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: '',
      position: 140,
      name: 'jobs',
      title: 'Jobs',
      href: '/admin/jobs',
      icon: 'jobs',
      sees: listJobs,
      mark({ tx, actor, clock }) {
        const failed = countFailedSince(tx, visibleJobs(tx, actor), clock() - day)
        return failed > 0 ? { words: `${failed} failed`, bad: false } : undefined
      },
    },
    {
      kinds: ['reseller'],
      group: '',
      position: 140,
      name: 'jobs',
      title: 'Jobs',
      href: '/reseller/jobs',
      icon: 'jobs',
      sees: listJobs,
    },
    {
      kinds: ['customer'],
      group: '',
      position: 140,
      name: 'jobs',
      title: 'Jobs',
      href: '/jobs',
      icon: 'jobs',
      sees: listJobs,
    },
  ],
})
