// The job of a drain, the parent of its moves. It is held while servers move, and released when all have ended; its one
// step records the end. `advance.ts` drives it: every turn reads the tables, so a restart loses nothing.

import { system } from '../../kernel/api/actor.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { forwardSaga } from '../../kernel/jobs/saga.ts'
import { cancelJob } from '../../kernel/jobs/start.ts'
import { tellFinished } from './model.ts'
import { changeDrain, countsOf, type Drain, drainById } from './queries.ts'

/** The lock of a node that is emptied or filled. */
export const drainLockOf = (nodeId: string) => `drain ${nodeId}`
export const WAITS = 'Moving its servers'

export const draining = forwardSaga<{ drainId: string }>('drain', { title: 'Drain', forStaff: true }).record(
  'end',
  'Recording how it ended',
  {
    do(tx, { input: { drainId }, now, log }) {
      const { moved = 0, failed = 0, left = 0 } = countsOf(tx, drainId)
      log(`Moved: ${moved}. Failed: ${failed}. Could not move: ${left}.`, failed ? 'warning' : 'info')
      endDrain(tx, drainById(tx, drainId)!, 'done', now)
    },
  },
)

/** Ends the record of a drain, once. */
export function endDrain(tx: Tx, { id, finishedAt }: Drain, state: 'done' | 'cancelled', now: number) {
  if (finishedAt !== null) return
  changeDrain(tx, id, { state, finishedAt: now })
  tellFinished(tx, now, drainById(tx, id)!)
}

/** Ends one that was cancelled: its job has nothing left to do. */
export function endCancelled(tx: Tx, row: Drain, now: number) {
  endDrain(tx, row, 'cancelled', now)
  cancelJob(tx, row.jobId, { by: system, reason: 'The drain was cancelled.', now })
}
