import { type BackupTrouble, backupFailureCode } from '../../../agent/protocol/backup.ts'
import { feature } from '../../kernel/feature.ts'
import {
  backupTargetOfAudit,
  deleteLoginsOf,
  encryptedLoginSecret,
  encryptedPassword,
  encryptedSecret,
} from '../backup-target-records/queries.ts'
import { failingTargets } from './attention.ts'
import { removeNodeLogin, setNodeLogin } from './node-logins.ts'
import {
  addLocalTarget,
  addRestTarget,
  addS3Target,
  addSftpTarget,
  changeBackupTarget,
  forgottenBackup,
  listBackupTargets,
  makeDefaultTarget,
  removeBackupTarget,
} from './targets.ts'
import { testBackupTarget, testingBackupTarget } from './testing.ts'

const errors = {
  backup_target_not_found: { status: 404, when: 'There is no such backup target.', remedy: 'Check the id.' },
} as const

const ids = { backupTarget: { prefix: 'bkt', sample: 'Backups in Oslo', also: ['backup target'] } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    'backup-targets': { ids: typeof ids; errors: typeof errors }
  }
}

/** The troubles of backups, for people who have no access to the place where they are kept. */
const troubles: Readonly<Record<BackupTrouble, string>> = {
  restic_missing: 'The node lacks the program for backups.',
  not_prepared: 'The place for backups is not mounted on the node.',
  unreachable: 'The place for backups does not answer.',
  certificate: 'The certificate of the place for backups is not trusted.',
  host_key: 'The place for backups is not the host that it was.',
  login_refused: 'The place for backups refuses the login.',
  not_writable: 'The place for backups cannot be written.',
  wrong_password: 'What lies in the place for backups cannot be opened with the key of this account.',
  locked: 'Another backup is being made or removed in the same place. It can be tried again later.',
  full: 'The place for backups is full.',
  slow: 'The place for backups answers too slowly.',
  unreliable: 'The place for backups gave back something else than it was given.',
  backups_missing: 'The backups are no longer in the place for backups.',
  failed: 'The backup program on the node failed.',
  no_snapshot: 'The backup is no longer in the place for backups.',
  damaged: 'The backup is damaged.',
  append_only: 'The place for backups lets nobody remove anything.',
  interrupted: 'The backup was stopped before it was complete.',
}
const failures = Object.fromEntries(
  Object.entries(troubles).map(([trouble, words]) => [backupFailureCode(trouble as BackupTrouble), words]),
)

export const backupTargetsFeature = feature({
  name: 'backup-targets',
  failures,
  ids,
  errors,
  encrypted: [encryptedSecret, encryptedPassword, encryptedLoginSecret],
  jobs: [testingBackupTarget],
  operations: [
    listBackupTargets,
    addRestTarget,
    addSftpTarget,
    addS3Target,
    addLocalTarget,
    changeBackupTarget,
    makeDefaultTarget,
    removeBackupTarget,
    testBackupTarget,
    setNodeLogin,
    removeNodeLogin,
  ],
  heldDestructions: [forgottenBackup],
  forgetNode: deleteLoginsOf,
  attention: [failingTargets],
  auditTargets: [backupTargetOfAudit],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 234,
      name: 'backup-targets',
      title: 'Backup targets',
      href: '/admin/backup-targets',
      icon: 'anchor',
      within: 'backups',
      sees: listBackupTargets,
    },
  ],
  async fixture({ admin }) {
    const body = { name: 'fixture', address: '/srv/fixture' }
    return { 'backup target': (await admin('POST', '/admin/backup-targets/local', body)).id }
  },
})
