import { mayCall } from '../../kernel/api/operation.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { findingWords } from '../backup-target-records/model.ts'
import { failingTargetRows } from '../backup-target-records/queries.ts'
import { listBackupTargets } from './targets.ts'

/** Backup targets whose last test went wrong. */
export const failingTargets: Source = ({ tx, actor }) =>
  mayCall(listBackupTargets, actor)
    ? failingTargetRows(tx, MOST_SHOWN).map(({ name, testFinding, testedAt }) => ({
        level: 'warn',
        what: `The backup target ${name} does not work.`,
        effect: findingWords[testFinding!],
        since: isoOrNull(testedAt),
        action: 'Show backup targets',
        href: '/admin/backup-targets',
      }))
    : []
