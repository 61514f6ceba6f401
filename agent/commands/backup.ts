import type { Handlers } from '../host/host.ts'
import type { backupCommands } from '../protocol/commands/backup.ts'

export const backup = {
  'backup-target.test': (target, { backups }) => backups.test(target),
  'backup.make': (input, { backupRuns }) => backupRuns.make(input),
  'backup.restore': (input, { backupRuns }) => backupRuns.restore(input),
  'backup.forget': (input, { backupRuns }) => backupRuns.forget(input),
  'backup.prune': async ({ target }, { backups }) => ({ freedBytes: await backups.prune(target) }),
  'backup.check': ({ target, part, of }, { backups }) => backups.check(target, part, of),
} satisfies Handlers<typeof backupCommands>
