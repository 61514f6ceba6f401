import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { DryRuns } from './at-work.ts'
import { dryRun, exportDryRun, getDryRun } from './result.ts'
import { sessions } from './survey.ts'

export const dryRunFeature = feature({
  name: 'dry-run',
  operations: [dryRun, getDryRun, exportDryRun],
  settings: [sessions],
  services: () => ({ dryRuns: new DryRuns() }),
  schedule: [
    {
      everyMs: second,
      words: 'checking imports',
      work: ({ hub, db, app }) => app.dryRuns.turn(hub, db, app),
      atStop: ({ app }) => app.dryRuns.stop(),
    },
  ],
})
