// Tidying a repository: the space of what nothing needs any more becomes free.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { bytes } from '../../../kernel/words.ts'
import { repositoryIn } from '../keys.ts'
import { NEVER, type RepositoryKey, updateRepository } from './queries.ts'

type Pruning = RepositoryKey & { nodeId: string }

export const pruningRepository = saga<Pruning>('prune_backups', {
  title: 'Backup space recovery',
  forStaff: true,
  lane: 'bulk',
  cancelWith: 'settings:write',
})
  .record('begin', 'Beginning', {
    do: () => ({}),
    undo(tx, { input, error }) {
      if (error?.code === 'backup_append_only') updateRepository(tx, input, { pruneDueAt: NEVER })
    },
  })
  .command('prune', 'Freeing what nothing needs any more', {
    do: ({ input }, { db, secrets }) =>
      nodeCommand(input.nodeId, 'backup.prune', { target: repositoryIn(db, secrets, input.nodeId, input) }),
  })
  .record('note', 'Recording it', {
    do(tx, { input, out: { prune }, now, log }) {
      updateRepository(tx, input, { prunedAt: now, freedBytes: prune.freedBytes })
      log(`${bytes(prune.freedBytes)} are free again.`)
    },
  })
