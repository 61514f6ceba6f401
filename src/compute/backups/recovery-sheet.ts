// The recovery sheet: the key of an account's backups with the commands that bring a disk back without the panel. It
// opens every backup of the account, so only the account's holder gets it, in person.

import { Type as t } from 'typebox'
import { described, namedSchema, operation } from '../../kernel/api/operation.ts'
import { dayText } from '../../kernel/db/clock.ts'
import { ensureBackupKey, openBackupKey } from './keys.ts'

export const showRecoverySheet = operation({
  id: 'backups.recovery-sheet',
  method: 'POST',
  path: '/account/recovery-sheet',
  summary: 'The key of your backups, and how to get a disk back with restic alone',
  past: 'Showed the recovery sheet',
  access: { reseller: ['servers:reinstall'], customer: ['servers:reinstall'] },
  requiresSession: true,
  requiresRecentAuth: true,
  response: namedSchema('RecoverySheet', {
    sheet: described(t.String(), 'A text to print. Whoever has it can read your backups.'),
    repository: described(t.String(), 'The folder of your repository in each backup target.'),
  }),
  run({ tx, actor, secrets, clock }) {
    ensureBackupKey(tx, secrets, actor.accountId, clock())
    return {
      sheet: sheetOf(actor.accountId, openBackupKey(tx, secrets, actor.accountId)!, new Date(clock())),
      repository: actor.accountId,
    }
  },
})

const sheetOf = (repository: string, key: string, at: Date): string =>
  [
    `Recovery sheet for backups, ${dayText(at.getTime())}`,
    '',
    'Your backups lie in a repository of restic (https://restic.net) in this folder of the place for backups:',
    `  ${repository}`,
    'Ask your provider for a copy of the folder. The key that opens it:',
    `  ${key}`,
    '',
    'To get a disk back on a machine with restic:',
    '  1. Write the key into a file: key.txt',
    `  2. restic -r ./${repository} -p key.txt snapshots`,
    '     The host is the id of a server, the tag that of a backup.',
    `  3. restic -r ./${repository} -p key.txt dump SNAPSHOT /disk.raw > disk.raw`,
    '     disk.raw is the whole disk, as large as that of the server.',
  ].join('\n')
