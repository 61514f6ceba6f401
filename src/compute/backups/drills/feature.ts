import { minute } from '../../../kernel/db/clock.ts'
import { feature } from '../../../kernel/feature.ts'
import { drillBackup, drilling } from './drill.ts'
import { drillAtNight, drillHour, drillsOn, failedDrillsShown, getDrills } from './night.ts'
import { drillFailures, drillNights } from './tables.ts'

const errors = {
  drill_running: {
    status: 409,
    when: 'A backup is being restored in a drill; there is one at a time.',
    remedy: 'Wait until it has ended.',
  },
} as const

const ids = { drill: { prefix: 'drl' } } as const

declare module '../../../kernel/register.ts' {
  interface Names {
    'restore-drills': { ids: typeof ids; errors: typeof errors }
  }
}

const EVERY_MS = 10 * minute

export const restoreDrillsFeature = feature({
  name: 'restore-drills',
  ids,
  errors,
  samples: { drillError: null, proof: 'agent', runningJobId: null, skipped: null },
  settings: [drillsOn, drillHour],
  tables: [drillNights, drillFailures],
  jobs: [drilling],
  operations: [getDrills, drillBackup],
  schedule: [{ everyMs: EVERY_MS, words: 'starting the restore drill', work: ({ db, app }) => drillAtNight(db, app) }],
  attention: [failedDrillsShown],
})
