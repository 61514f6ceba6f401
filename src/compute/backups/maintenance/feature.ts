import { minute } from '../../../kernel/db/clock.ts'
import { feature } from '../../../kernel/feature.ts'
import { checkingRepository } from './check.ts'
import { damaged, listRepositories } from './list.ts'
import { pruningRepository } from './prune.ts'
import { startDueMaintenance } from './scheduler.ts'
import { backupRepositories } from './tables.ts'

export const backupUpkeepFeature = feature({
  name: 'backup-upkeep',
  tables: [backupRepositories],
  jobs: [checkingRepository, pruningRepository],
  operations: [listRepositories],
  schedule: [{ everyMs: minute, words: 'looking after backups', work: ({ db, app }) => startDueMaintenance(db, app) }],
  attention: [damaged],
})
