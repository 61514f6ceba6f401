import { ApiError } from '../../../kernel/api/errors.ts'
import { operation } from '../../../kernel/api/operation.ts'
import { awaitNoLonger, isAwaited } from '../../../network/ip-pools/awaited.ts'
import { node } from '../../node-records/model.ts'
import { confirmedName, mustBeTyped, nodeResponse, showNode } from '../model.ts'

export const stopAwaiting = operation({
  id: 'nodes.stop-awaiting',
  method: 'POST',
  path: '/admin/nodes/{id}/actions/stop-awaiting',
  summary: 'Give addresses of its pools again, although the node has not told which are in use on it',
  past: 'Stopped waiting for the addresses of a node',
  access: { staff: ['nodes:write'] },
  requiresRecentAuth: true,
  powers: ['lifts_protection'],
  on: node,
  body: confirmedName,
  response: nodeResponse,
  refuses: ['already_done'],
  example: { name: 'fra-01' },
  run(call) {
    const { tx, target, body } = call
    mustBeTyped(target, body.name)
    if (!isAwaited(tx, target.id))
      throw new ApiError('already_done', `${target.name} is not awaited: its pools give addresses.`)
    awaitNoLonger(tx, target.id)
    return showNode(call, target)
  },
})
