// One server of an import that moves: it is tried again after a failure, or cancelled before its point of no return.
import { Type as t } from 'typebox'
import { node } from '../../fleet/node-records/model.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, fields, nullable, operation, see } from '../../kernel/api/operation.ts'
import { jobFacts } from '../../kernel/jobs/queries.ts'
import { cancelJob } from '../../kernel/jobs/start.ts'
import { noteConflict } from '../import-records/choices/queries.ts'
import {
  type ImportRecord,
  type ImportServer,
  importAccess,
  importServer,
  moveMethods,
} from '../import-records/model.ts'
import { changeMove, type ImportMove, moveOf } from '../import-records/moves/queries.ts'
import { changeImport, importById, noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { tellMore } from '../messages/tell.ts'
import { moveResponse, showMove } from './show.ts'

/** The import and the move of a server. Throws `server_not_moving` where it was never to be moved. */
function moved(tx: Parameters<typeof moveOf>[0], target: ImportServer): { of: ImportRecord; move: ImportMove } {
  const move = moveOf(tx, target.id)
  if (!move)
    throw new ApiError('server_not_moving', `${target.hostname} is not among the servers that were to be moved.`)
  return { of: importById(tx, target.importId)!, move }
}

export const retryMove = operation({
  id: 'import-servers.retry',
  method: 'POST',
  path: '/admin/migration-servers/{id}/actions/retry',
  summary: 'Try a server again that failed or was rolled back: a new job, from the beginning',
  past: 'Retried a server of an import',
  access: importAccess,
  on: importServer,
  body: fields({
    nodeId: t.Optional(
      described(nullable(t.String({ minLength: 1, maxLength: 40 })), 'The node that takes a copy. Null: by the rule.'),
    ),
    method: t.Optional(described(t.Enum([...moveMethods]), 'plain: its disk is copied while it is off.')),
  }),
  response: moveResponse,
  refuses: ['server_not_moving', 'import_not_migrating', 'import_ended'],
  example: { method: 'plain' },
  run(call) {
    const { tx, target, body, actor, clock } = call
    const { of, move } = moved(tx, target)
    mustAllow(of, 'retry')
    const mayRetry = move.state === 'failed' || move.state === 'rolled_back' || isLeft(of, move)
    if (!mayRetry)
      throw new ApiError('server_not_moving', `${target.hostname} has not failed: there is nothing to try again.`)
    if (body.nodeId && move.way === 'adopt')
      throw invalid({ field: 'nodeId', message: 'is for copies: an adopted server stays where it is.' })
    if (body.nodeId) see(tx, actor, node, body.nodeId, 'nodeId')
    // The next attempt looks at what stood against it itself.
    noteConflict(tx, target.id, undefined)
    changeMove(tx, target.id, {
      state: 'waiting',
      askedAt: clock(),
      ...(body.method && { method: body.method }),
      ...(body.nodeId !== undefined && { wantedNodeId: body.nodeId }),
    })
    // Those that were left when the import was stopped stay.
    if (of.status === 'verifying') changeImport(tx, of.id, { status: 'migrating', migratedAt: null })
    tellMore(tx, of.id)
    noteIn(tx, of.id, clock(), 'info', `${target.hostname} is tried again.`)
    return showMove(call, moveOf(tx, target.id)!)
  },
})
/** The import was stopped before its turn came. */
const isLeft = ({ status }: ImportRecord, { state }: ImportMove) => status === 'verifying' && state === 'waiting'

export const cancelMove = operation({
  id: 'import-servers.cancel',
  method: 'POST',
  path: '/admin/migration-servers/{id}/actions/cancel',
  summary: 'Take a server back before it has moved: it runs at its source as before',
  past: 'Cancelled a server of an import',
  access: importAccess,
  on: importServer,
  response: moveResponse,
  refuses: ['server_not_moving', 'import_not_migrating', 'import_ended'],
  run(call) {
    const { tx, target, actor, clock } = call
    const { of, move } = moved(tx, target)
    mustAllow(of, 'cancel-server')
    const now = clock()
    if (move.state === 'waiting') {
      const failure = { failure: 'cancelled', failureWords: 'It was cancelled before it began.' }
      changeMove(tx, target.id, { state: 'failed', failedAt: now, ...failure })
    } else {
      const job = move.jobId === null ? undefined : jobFacts(tx, move.jobId)
      if (move.state !== 'moving' || !job || job.pivotAt !== null)
        throw new ApiError('server_not_moving', `${target.hostname} is not on its way any more. Roll it back instead.`)
      cancelJob(tx, move.jobId!, { by: actor, reason: '', now })
    }
    noteIn(tx, of.id, now, 'info', `${target.hostname} was cancelled.`)
    return showMove(call, moveOf(tx, target.id)!)
  },
})
