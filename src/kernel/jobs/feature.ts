import { minute, second } from '../db/clock.ts'
import { feature } from '../feature.ts'
import { kernelFailures } from './failures.ts'
import { expiredEvents } from './outbox.ts'
import { events, jobCounts, jobLog, jobSteps, jobs } from './tables.ts'

const ids = {
  job: { prefix: 'job' },
  event: { prefix: 'evt' },
} as const

declare module '../register.ts' {
  interface Names {
    'job-runner': { ids: typeof ids }
  }
}

export const jobRunnerFeature = feature({
  name: 'job-runner',
  failures: kernelFailures,
  ids,
  tables: [jobs, jobCounts, jobSteps, jobLog, events],
  expiring: [expiredEvents],
  schedule: [
    { everyMs: 5 * second, words: 'looking after jobs whose node is away', work: ({ runner }) => runner.sweep() },
    {
      everyMs: minute,
      words: 'picking up jobs that nothing looks after',
      work: ({ runner }) => runner.pickUpOrphans(),
    },
  ],
})
