// Checking a repository: each day one part of its data is read back, so that after so many days all of it was.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { day } from '../../../kernel/db/clock.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { repositoryIn } from '../keys.ts'
import { proveBackups, type RepositoryKey, repositoryByKey, updateRepository } from './queries.ts'

/** So many parts are all of it. */
export const PARTS = 28

type Checking = RepositoryKey & { nodeId: string; part: number }

export const checkingRepository = saga<Checking>('check_backups', {
  title: 'Backup check',
  forStaff: true,
  lane: 'bulk',
  cancelWith: 'settings:write',
})
  .command('check', 'Reading a part of the backups back', {
    abandonable: true,
    do: ({ input }, { db, secrets }) =>
      nodeCommand(input.nodeId, 'backup.check', {
        target: repositoryIn(db, secrets, input.nodeId, input),
        part: input.part,
        of: PARTS,
      }),
  })
  .record('note', 'Recording the result', {
    do(tx, { input, out: { check }, now, log }) {
      const row = repositoryByKey(tx, input)
      if (!row) return
      const { finding, detail } = check
      log(`Part ${input.part} of ${PARTS}: ${finding}`, finding === 'works' ? 'info' : 'warning')
      const found = { checkedAt: now, finding, detail, checkDueAt: now + day }
      if (finding === 'damaged') updateRepository(tx, input, { ...found, damagedAt: row.damagedAt ?? now })
      else if (finding !== 'works') updateRepository(tx, input, found)
      else if (input.part < PARTS) updateRepository(tx, input, { ...found, damagedAt: null, nextPart: input.part + 1 })
      else {
        updateRepository(tx, input, { ...found, damagedAt: null, nextPart: 1, roundBeganAt: now })
        proveBackups(tx, input, now, row.roundBeganAt)
      }
    },
  })
