import { feature } from '../../kernel/feature.ts'
import { failingTargets } from './attention.ts'
import { removeNodeLogin, setNodeLogin } from './node-logins.ts'
import {
  backupTargetOfAudit,
  deleteLoginsOf,
  encryptedLoginSecret,
  encryptedPassword,
  encryptedSecret,
} from './queries.ts'
import { backupTargetLogins, backupTargets } from './tables.ts'
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
type Errors = typeof errors

const ids = { backupTarget: { prefix: 'bkt', sample: 'Backups in Oslo', also: ['backup target'] } } as const
type Ids = typeof ids
declare module '../../kernel/register.ts' {
  interface IdKinds extends Ids {}
  interface ErrorCodes extends Errors {}
}

export const backupTargetsFeature = feature({
  name: 'backup-targets',
  ids,
  errors,
  tables: [backupTargets, backupTargetLogins],
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
      sees: listBackupTargets,
    },
  ],
  async fixture({ admin }) {
    const body = { name: 'fixture', address: '/srv/fixture' }
    return { 'backup target': (await admin('POST', '/admin/backup-targets/local', body)).id }
  },
})
