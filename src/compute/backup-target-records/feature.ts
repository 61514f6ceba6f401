import { feature } from '../../kernel/feature.ts'
import { backupTargetLogins, backupTargets } from './tables.ts'

export const backupTargetRecordsFeature = feature({
  name: 'backup-target-records',
  tables: [backupTargets, backupTargetLogins],
})
