import { minute } from '../db/clock.ts'
import { feature } from '../feature.ts'
import { settleRefusals } from './refusals.ts'
import { audit, auditCounts } from './tables.ts'

export const auditLogFeature = feature({
  name: 'audit-log',
  tables: [audit, auditCounts],
  schedule: [
    {
      everyMs: minute,
      words: 'recording how many sign-ins were refused',
      work: ({ db, app }) => settleRefusals(db, app),
      atStop: true,
    },
  ],
})
