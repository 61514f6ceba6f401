// The limit of copies that is changed on their way. Their commands read it from the import, also when they are sent
// again; the nodes that copy now are told beside them, until they have heard it.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { log } from '../../kernel/log.ts'
import { importsMigrating, openMoves } from '../import-records/moves/queries.ts'
import { importById } from '../import-records/queries.ts'

type Context = Pick<ScheduleContext, 'db' | 'hub'>
/** The limits that nodes have heard, by copy. Memory only: after a restart each is told again. */
export class ToldLimits {
  private told = new Map<string, number | null>()

  /** Tells each node that copies and is there the limit of its copies, where it has changed. */
  async turn({ db, hub }: Context): Promise<void> {
    const open = importsMigrating(db).flatMap((id) => {
      const { maxMbps } = importById(db, id)!.limits
      return openMoves(db, id).flatMap(({ way, state, workloadId, nodeId }) =>
        way === 'copy' && state === 'moving' && workloadId && nodeId ? [{ copy: workloadId, nodeId, maxMbps }] : [],
      )
    })
    const copies = new Set(open.map(({ copy }) => copy))
    for (const copy of this.told.keys()) if (!copies.has(copy)) this.told.delete(copy)
    await Promise.all(
      open.map(async ({ copy, nodeId, maxMbps }) => {
        const isNew = !this.told.has(copy)
        // The command of a new copy has it.
        if (isNew && maxMbps === null) return void this.told.set(copy, null)
        if ((!isNew && this.told.get(copy) === maxMbps) || !hub.connected(nodeId)) return
        try {
          await hub.send(`limit/${copy}/${maxMbps}`, nodeCommand(nodeId, 'source-host.limit', { copy, maxMbps }))
          this.told.set(copy, maxMbps)
        } catch (error) {
          if (!(error instanceof CommandFailed)) throw error
          if (error.failure !== 'stopping')
            log.warning('the limit of a copy could not be changed', { copy, reason: error.message })
        }
      }),
    )
  }
}

declare module '../../kernel/register.ts' {
  interface Services {
    importLimitsTold: ToldLimits
  }
}
