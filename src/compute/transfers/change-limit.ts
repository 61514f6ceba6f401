import { ApiError } from '../../kernel/api/errors.ts'
import { fields, operation } from '../../kernel/api/operation.ts'
import { load } from '../server-records/model.ts'
import { limitOf } from './estimate.ts'
import { showTransfer, transfer, transferResponse } from './model.ts'
import { maxMbpsField } from './move.ts'
import { changeTransfer, isWaitingForTime, transferById } from './queries.ts'

export const changeLimit = operation({
  id: 'transfers.update',
  method: 'PATCH',
  path: '/admin/transfers/{id}',
  summary: 'Change the limit of a move on its way: the copy at work keeps it within seconds, and goes on where it is',
  past: 'Changed the limit of a move',
  access: { staff: ['servers:move'] },
  on: transfer,
  body: fields({ maxMbps: maxMbpsField }),
  response: transferResponse,
  refuses: ['transfer_ended'],
  example: { maxMbps: 400 },
  run(call) {
    const { tx, target, body, clock } = call
    if (target.finishedAt !== null)
      throw new ApiError(
        'transfer_ended',
        `The move of ${load(tx, target.serverId).hostname} has ended: nothing is copied any more.`,
      )
    const { maxMbps } = body
    changeTransfer(tx, target.id, {
      maxMbps: limitOf(tx, maxMbps ?? undefined),
      ...(isWaitingForTime(target) ? { asked: { ...target.asked!, maxMbps } } : { limitChangedAt: clock() }),
    })
    return showTransfer(call, transferById(tx, target.id)!)
  },
})
