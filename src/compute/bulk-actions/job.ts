// The job of an action for many, the parent of the jobs of its workloads. It is held while they wait or work, and
// released when all have ended. `advance.ts` drives it: every turn reads the tables, so a restart loses nothing.
import type { Tx } from '../../kernel/db/open.ts'
import { forwardSaga } from '../../kernel/jobs/saga.ts'
import { bulkActionById, changeBulkAction, countsOf } from './queries.ts'

export const BEGINS = 'Beginning'

export const bulkActing = forwardSaga<{ bulkActionId: string }>('bulk_action', {
  title: 'Action for many',
  forStaff: true,
}).record('end', 'Recording how it ended', {
  do(tx, { input: { bulkActionId }, now, log }) {
    const { done = 0, failed = 0, refused = 0, cancelled = 0 } = countsOf(tx, bulkActionId)
    const isWhole = failed + refused + cancelled === 0
    log(`Done: ${done}. Failed: ${failed}. Refused: ${refused}. Cancelled: ${cancelled}.`, isWhole ? 'info' : 'warning')
    endBulkAction(tx, bulkActionId, now)
  },
})

/** Ends the record, once. */
function endBulkAction(tx: Tx, id: string, now: number) {
  const { finishedAt, state } = bulkActionById(tx, id)!
  if (finishedAt !== null) return
  changeBulkAction(tx, id, { state: state === 'cancelling' ? 'cancelled' : 'done', finishedAt: now })
}
