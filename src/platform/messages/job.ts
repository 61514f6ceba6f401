import { forwardSaga } from '../../kernel/jobs/saga.ts'
import { changeMessage, messageById, recipientCounts } from './queries.ts'

export const BEGINS = 'Waiting for its time'

/** The job of a message: held while it is sent, slice by slice (`send.ts`). */
export const messaging = forwardSaga<{ messageId: string }>('message', { title: 'Message', forStaff: true }).record(
  'end',
  'Recording how it ended',
  {
    do(tx, { input: { messageId }, now, log }) {
      const { sent = 0, left_out = 0, cancelled = 0 } = recipientCounts(tx, messageId)
      log(`Sent: ${sent}. Left out: ${left_out}. Cancelled: ${cancelled}.`)
      const { state, finishedAt } = messageById(tx, messageId)!
      if (finishedAt === null)
        changeMessage(tx, messageId, { state: state === 'cancelled' ? 'cancelled' : 'sent', finishedAt: now })
    },
  },
)
