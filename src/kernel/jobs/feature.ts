import { feature } from '../feature.ts'
import { events, jobLog, jobSteps, jobs } from './tables.ts'

export const jobRunnerFeature = feature({
  name: 'job-runner',
  tables: [jobs, jobSteps, jobLog, events],
})
