import { areas } from '../../kernel/api/access.ts'
import { feature } from '../../kernel/feature.ts'
import { failedJobs, stuckJobs } from './attention.ts'
import { getJob, getJobLog, listJobs } from './jobs.ts'
import { jobTarget, searchJobs, visibleJobs } from './queries.ts'

const errors = {
  job_not_found: {
    status: 404,
    when: 'There is no such job, it is not yours, or it is older than the newest 1000.',
    remedy: 'Check the id; look at the server instead.',
  },
} as const
type Errors = typeof errors
declare module '../../kernel/register.ts' {
  interface ErrorCodes extends Errors {}
}

export const jobsFeature = feature({
  name: 'jobs',
  samples: {
    state: 'succeeded',
    kind: 'install',
    title: 'Install web01',
    progress: 100,
    undoing: false,
    error: null,
  },
  errors,
  operations: [listJobs, getJob, getJobLog],
  attention: [stuckJobs, failedJobs],
  auditTargets: [jobTarget],
  search: [
    {
      type: 'job',
      position: 40,
      place: ({ actor }) =>
        actor.scopes.has('servers:read') || (actor.kind === 'staff' && actor.scopes.has('nodes:read'))
          ? `${areas[actor.kind]}/jobs/`
          : undefined,
      find: ({ tx, actor }, part, id, most) => searchJobs(tx, visibleJobs(tx, actor), part, id, most),
    },
  ],
})
