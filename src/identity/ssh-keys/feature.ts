import { feature } from '../../kernel/feature.ts'
import { addSshKey, listSshKeys, removeSshKey, renameSshKey } from './ssh-keys.ts'
import { sshKeys } from './tables.ts'

export const sshKeysFeature = feature({
  name: 'ssh-keys',
  tables: [sshKeys],
  operations: [addSshKey, listSshKeys, renameSshKey, removeSshKey],
})
