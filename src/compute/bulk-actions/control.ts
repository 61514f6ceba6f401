// Reading actions for many, and cancelling one.

import { ApiError } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { operation } from '../../kernel/api/operation.ts'
import { oneOf } from '../../kernel/api/query.ts'
import { bulkAction, bulkActionResponse, bulkWorkloadResponse, showBulkAction, showWorkload } from './model.ts'
import {
  type BulkWorkloadState,
  bulkActionById,
  cancelWaiting,
  changeBulkAction,
  pageOfBulkActions,
  pageOfWorkloads,
} from './queries.ts'
import { bulkWorkloadStates } from './tables.ts'

const access = { staff: ['servers:read'] } as const

export const listBulkActions = operation({
  id: 'bulk-actions.list',
  method: 'GET',
  path: '/admin/bulk-actions',
  summary: 'Actions for many servers or GPU instances, newest first',
  access,
  response: page(bulkActionResponse),
  run: (call) => pageOfBulkActions(call, (row) => showBulkAction(call.tx, row)),
})

export const getBulkAction = operation({
  id: 'bulk-actions.get',
  method: 'GET',
  path: '/admin/bulk-actions/{id}',
  summary: 'How far an action for many is; follow it until `finishedAt` is set',
  access,
  on: bulkAction,
  response: bulkActionResponse,
  run: ({ tx, target }) => showBulkAction(tx, target),
})

export const listBulkWorkloads = operation({
  id: 'bulk-actions.servers',
  method: 'GET',
  path: '/admin/bulk-actions/{id}/servers',
  summary: 'What became of each of its servers or GPU instances, in their order',
  access,
  on: bulkAction,
  query: { state: oneOf(bulkWorkloadStates, 'Only those in this state.') },
  response: page(bulkWorkloadResponse),
  run: (call) =>
    pageOfWorkloads(
      call,
      { id: call.target.id, state: call.query['state'] as BulkWorkloadState | undefined },
      showWorkload,
    ),
})

export const cancelBulkAction = operation({
  id: 'bulk-actions.cancel',
  method: 'POST',
  path: '/admin/bulk-actions/{id}/actions/cancel',
  summary: 'Cancel an action for many: what has begun comes to its end, and nothing more begins',
  access: { staff: ['servers:power', 'servers:suspend'] },
  on: bulkAction,
  response: bulkActionResponse,
  status: 202,
  refuses: ['bulk_action_ended'],
  run({ tx, target, clock }) {
    if (target.state !== 'running')
      throw new ApiError('bulk_action_ended', 'The action has ended, or is being cancelled already.')
    changeBulkAction(tx, target.id, { state: 'cancelling' })
    cancelWaiting(tx, target.id, clock())
    return showBulkAction(tx, bulkActionById(tx, target.id)!)
  },
})
