import { Type as t } from 'typebox'
import { customerData } from '../../identity/account-records/model.ts'
import { hour } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { serverData } from '../server-records/model.ts'
import { failedBackupsShown } from './attention.ts'
import { deleteBackupById, forgetDue, forgetting, removeBackup } from './delete.ts'
import { getBackup, listAllBackups, listBackups } from './list.ts'
import { backingUp, droppingLeftOver, makeBackup } from './make.ts'
import { backupActions, keptAfterTermination, mostManual } from './model.ts'
import { backupNotices, tellOfFailure } from './notices.ts'
import { backupOfAudit, encryptedKey, hasLeftBackups } from './queries.ts'
import { showRecoverySheet } from './recovery-sheet.ts'
import { restoreBackup, restoringBackup } from './restore/restore.ts'
import { restoreToNewServer, restoringToNew } from './restore/to-new-server.ts'
import { backupKeys, backupKinds, backups } from './tables.ts'

const errors = {
  backup_not_found: { status: 404, when: 'There is no such backup, or it is not yours.', remedy: 'Check the id.' },
  backup_not_ready: {
    status: 409,
    when: 'The backup is being made or deleted, or it failed.',
    remedy: 'Follow its job, or choose another backup.',
  },
  backup_limit: {
    status: 409,
    when: 'The server has as many backups made by hand as its owner may make.',
    remedy: 'Delete one first, or have a backup plan added.',
  },
  backup_elsewhere: {
    status: 409,
    when: 'The backup lies in a folder of another node than that of the server.',
    remedy: 'Staff copy it, or restore it to a new server there.',
  },
  no_backup_target: {
    status: 409,
    when: 'Staff have chosen no target for backups.',
    remedy: 'Staff choose one on the page Backup targets.',
  },
} as const

const ids = { backup: { prefix: 'bkp' } } as const

const events = {
  'backup.failed': event(
    'resellers and customers',
    'A backup fails',
    t.Object({
      server: serverData,
      customer: customerData,
      backup: t.Object({ id: t.String(), kind: t.Enum([...backupKinds]), error: t.String() }),
    }),
  ),
}

declare module '../../kernel/register.ts' {
  interface Names {
    backups: { ids: typeof ids; errors: typeof errors; events: typeof events; notices: typeof backupNotices }
  }
}

/** Those of a server are on its page. */
const nav = (kind: 'staff' | 'reseller' | 'customer', group: string, position: number, href: string) =>
  ({
    kinds: [kind],
    group,
    position,
    name: 'backups',
    title: 'Backups',
    href,
    icon: 'history',
    sees: listAllBackups,
    has: hasLeftBackups,
  }) as const

const DUE_EVERY_MS = 6 * hour

/** Causes of failed jobs, in words for everybody. */
const failures = {
  drill_no_answer: 'The restored system did not answer.',
  drill_off: 'The restored system switched itself off.',
  drill_panic: 'The restored system stopped with an error while it started.',
} as const

export const backupsFeature = feature({
  name: 'backups',
  workloadActions: [backupActions],
  failures,
  ids,
  errors,
  events,
  samples: { addedBytes: 312_000_000, diskBytes: 21_474_836_480, keptAt: null, verifiedAt: null, lastFailure: null },
  tables: [backups, backupKeys],
  encrypted: [encryptedKey],
  jobs: [backingUp, droppingLeftOver, forgetting, restoringBackup, restoringToNew],
  operations: [
    listBackups,
    makeBackup,
    getBackup,
    restoreBackup,
    removeBackup,
    deleteBackupById,
    listAllBackups,
    restoreToNewServer,
    showRecoverySheet,
  ],
  settings: [mostManual, keptAfterTermination],
  attention: [failedBackupsShown],
  notices: backupNotices,
  onEvent: tellOfFailure,
  schedule: [
    {
      everyMs: DUE_EVERY_MS,
      words: 'deleting backups whose time has come',
      work: ({ db, app }) => forgetDue(db, app.clock()),
    },
  ],
  auditTargets: [backupOfAudit],
  nav: [
    nav('staff', 'Infrastructure', 233, '/admin/backups'),
    nav('reseller', '', 116, '/reseller/backups'),
    nav('customer', '', 116, '/backups'),
  ],
})
