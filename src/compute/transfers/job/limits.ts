// The limit of a move that is changed on its way. The commands of the copy read it from the record, also when they are
// sent again; the node that copies now is told beside them, until it has heard it.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { second } from '../../../kernel/db/clock.ts'
import { write } from '../../../kernel/db/open.ts'
import type { ScheduleContext } from '../../../kernel/feature.ts'
import { CommandFailed } from '../../../kernel/jobs/failures.ts'
import { log } from '../../../kernel/log.ts'
import { changedLimits, noteLimitTold } from '../queries.ts'

export const TELL_LIMITS_EVERY_MS = second

/** Resolves when every node that copies and is there has heard of the changes, or has said why not. */
export async function tellLimits({ db, hub }: Pick<ScheduleContext, 'db' | 'hub'>) {
  await Promise.all(
    changedLimits(db)
      .filter(({ fromNodeId }) => hub.connected(fromNodeId))
      .map(async ({ id, serverId, fromNodeId, maxMbps, limitChangedAt }) => {
        const limit = { transfer: id, workload: serverId, maxMbps }
        try {
          await hub.send(`limit/${id}/${limitChangedAt}/${maxMbps}`, nodeCommand(fromNodeId, 'transfer.limit', limit))
          write(db, (tx) => noteLimitTold(tx, { id, maxMbps, limitChangedAt }))
        } catch (error) {
          if (!(error instanceof CommandFailed)) throw error
          // It is told again.
          if (error.failure !== 'stopping')
            log.warning('the limit of a move could not be changed', { transfer: id, reason: error.message })
        }
      }),
  )
}
