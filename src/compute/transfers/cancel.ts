import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { fields, line, operation } from '../../kernel/api/operation.ts'
import { jobFacts } from '../../kernel/jobs/queries.ts'
import { cancelJob } from '../../kernel/jobs/start.ts'
import { load } from '../server-records/model.ts'
import { showTransfer, transfer, transferResponse } from './model.ts'
import { changeTransfer, isWaitingForTime, transferById } from './queries.ts'

export const cancelTransfer = operation({
  id: 'transfers.cancel',
  method: 'POST',
  path: '/admin/transfers/{id}/actions/cancel',
  summary: 'Cancel a move before its point of no return: the server runs on where it was, and its copy is deleted',
  past: 'Cancelled a move',
  access: { staff: ['servers:move'] },
  on: transfer,
  body: fields({ reason: t.Optional(line(200, 0)) }),
  response: transferResponse,
  status: 202,
  refuses: ['transfer_ended', 'job_not_cancellable'],
  example: { reason: 'The wrong node was chosen' },
  run(call) {
    const { tx, actor, target, body, clock } = call
    const job = target.jobId === null ? undefined : jobFacts(tx, target.jobId)
    const { hostname } = load(tx, target.serverId)
    if (isWaitingForTime(target)) {
      changeTransfer(tx, target.id, {
        state: 'cancelled',
        error: 'It was cancelled before its time.',
        finishedAt: clock(),
      })
      return showTransfer(call, transferById(tx, target.id)!)
    }
    if (!job || target.finishedAt !== null)
      throw new ApiError('transfer_ended', `The move of ${hostname} has ended: there is nothing to cancel.`)
    if (job.pivotAt !== null)
      throw new ApiError(
        'job_not_cancellable',
        `${hostname} belongs to its next node already, so its move comes to its end. Move it back afterwards.`,
      )
    cancelJob(tx, target.jobId!, { by: actor, reason: body.reason ?? '', now: clock() })
    return showTransfer(call, target)
  },
})
