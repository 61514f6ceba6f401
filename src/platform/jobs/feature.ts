import { feature } from '../../kernel/feature.ts'
import { failedJobs, stuckJobs } from './attention.ts'
import { getJob, getJobLog, listJobs } from './jobs.ts'

export const jobsFeature = feature({
  name: 'jobs',
  operations: [listJobs, getJob, getJobLog],
  attention: [stuckJobs, failedJobs],
})
