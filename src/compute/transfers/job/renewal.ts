// The key of a move is let in for a short time. While the job goes on the controller puts its end off, so that a copy
// of days goes on, and one of which nobody hears any more ends.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { minute } from '../../../kernel/db/clock.ts'
import type { ScheduleContext } from '../../../kernel/feature.ts'
import { CommandFailed } from '../../../kernel/jobs/failures.ts'
import { log } from '../../../kernel/log.ts'
import { transfersToRenew } from '../queries.ts'
import { KEY_VALID_MS } from './moving.ts'

export const RENEW_EVERY_MS = 10 * minute

/** Resolves when every node that takes a server in has renewed its key, or has said why not. */
export async function renewKeys({ db, app, hub }: Pick<ScheduleContext, 'db' | 'app' | 'hub'>) {
  const now = app.clock()
  await Promise.all(
    transfersToRenew(db)
      .filter(({ toNodeId }) => hub.connected(toNodeId))
      .map(async ({ id, serverId, toNodeId }) => {
        const renew = { transfer: id, workload: serverId, expiresAt: now + KEY_VALID_MS }
        try {
          await hub.send(`renew/${id}/${now}`, nodeCommand(toNodeId, 'transfer.renew', renew))
        } catch (error) {
          if (!(error instanceof CommandFailed)) throw error
          // Its disks are not made there yet, or the move is over.
          if (error.failure === 'no_transfer' || error.failure === 'stopping') return
          log.warning('the key of a move could not be renewed', { transfer: id, reason: error.message })
        }
      }),
  )
}
