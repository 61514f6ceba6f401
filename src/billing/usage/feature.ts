import { feature } from '../../kernel/feature.ts'
import { keepLedger } from './ledger.ts'
import { exportUsage, reportAccounts, reportIntervals, reportUsage } from './report.ts'
import { serverUsage } from './server-usage.ts'
import { usageDue, usageIntervals } from './tables.ts'

export const usageFeature = feature({
  name: 'usage',
  tables: [usageIntervals, usageDue],
  services({ db, clock }) {
    keepLedger(db, clock)
    return {}
  },
  operations: [reportUsage, exportUsage, reportAccounts, reportIntervals, serverUsage],
})
