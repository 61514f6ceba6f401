// The owner of a server takes back a move to another location, as long as the server belongs to its old node.

import { Type as t } from 'typebox'
import { locationOf, locationReferred } from '../../../fleet/locations/reference.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { isLockedFor } from '../../../identity/team/access.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { described, namedSchema, operation } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { jobFacts } from '../../../kernel/jobs/queries.ts'
import { cancelJob } from '../../../kernel/jobs/start.ts'
import { jobResponse, server } from '../../server-records/model.ts'
import { transferAtWork } from '../queries.ts'

export const relocationAtWork = namedSchema('RelocationAtWork', {
  location: locationReferred,
  cancellable: described(t.Boolean(), 'It has not passed its point of no return.'),
})

/** The move to another location for which the owner of the server has asked, and its job; undefined: there is none. */
function atWork(tx: Db, serverId: string) {
  const transfer = transferAtWork(tx, serverId)
  const job = transfer?.byOwner && transfer.jobId !== null ? jobFacts(tx, transfer.jobId) : undefined
  return transfer && job ? { transfer, job } : undefined
}
export function showAtWork(tx: Db, serverId: string) {
  const found = atWork(tx, serverId)
  if (!found) return null
  const { transfer, job } = found
  return {
    location: locationOf(tx, nodeById(tx, transfer.toNodeId)!),
    cancellable: job.pivotAt === null && job.cancelRequestedAt === null,
  }
}

export const cancelRelocation = operation({
  id: 'servers.cancel-relocation',
  method: 'POST',
  path: '/servers/{id}/actions/cancel-relocation',
  summary: 'Take back a move to another location before its point of no return: the server stays as it is',
  past: 'Cancelled a move to another location',
  access: { reseller: ['servers:settings'], customer: ['servers:settings'] },
  on: server,
  response: jobResponse,
  status: 202,
  refuses: ['account_locked', 'transfer_ended', 'job_not_cancellable'],
  run({ tx, actor, target, clock }) {
    if (isLockedFor(tx, actor, target))
      throw new ApiError('account_locked', 'The account is locked, so its servers cannot be changed.')
    const found = atWork(tx, target.id)
    if (!found)
      throw new ApiError(
        'transfer_ended',
        `No move to another location that its owner asked for is at work on ${target.hostname}.`,
      )
    const { transfer, job } = found
    if (job.pivotAt !== null)
      throw new ApiError(
        'job_not_cancellable',
        `${target.hostname} belongs to its next location already, so its move comes to its end. Move it back then.`,
      )
    cancelJob(tx, transfer.jobId!, { by: actor, reason: 'Its owner took the move back.', now: clock() })
    return { jobId: transfer.jobId, serverId: target.id }
  },
})
