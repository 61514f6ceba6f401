// Tidying a repository: the space of what nothing needs any more becomes free.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { bytes } from '../../../kernel/words.ts'
import { repositoryIn } from '../keys.ts'
import { type RepositoryKey, updateRepository } from './queries.ts'

type Pruning = RepositoryKey & { nodeId: string }
/** Of a target that is append-only: whoever has its second key tidies it there. */
const NEVER = 9e15

export const pruningRepository = saga<Pruning>('prune_backups', { lane: 'bulk', cancelWith: 'settings:write' })
  .record('begin', 'Beginning', {
    do: () => ({}),
    undo(tx, { input, error }) {
      if (error?.code === 'backup_append_only') updateRepository(tx, input, { pruneDueAt: NEVER })
    },
  })
  .command('prune', 'Freeing what nothing needs any more', {
    do: ({ input }, { db, secrets }) =>
      nodeCommand(input.nodeId, 'backup.prune', { target: repositoryIn(db, secrets, input) }),
  })
  .record('note', 'Recording it', {
    do(tx, { input, out: { prune }, now, log }) {
      updateRepository(tx, input, { prunedAt: now, freedBytes: prune.freedBytes })
      log(`${bytes(prune.freedBytes)} are free again.`)
    },
  })
