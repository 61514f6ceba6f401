// The move that mends a group, outside of any drain.
import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { placementGroup } from '../ordered-group.ts'
import { load } from '../server-records/model.ts'
import { beginMove } from '../transfers/job/begin.ts'
import { brokenRule, mendingMove } from './model.ts'

const idField = t.String({ minLength: 1, maxLength: 40 })
const aThing = t.Object({ id: t.String(), name: t.String() })

export const mendGroup = operation({
  id: 'placement-groups.mend',
  method: 'POST',
  path: '/placement-groups/{id}/actions/mend',
  summary: 'Move the server that the group suggests, to the node that it suggests, so that its rule is kept',
  past: 'Moved a server for a placement group',
  access: { staff: ['servers:move'] },
  on: placementGroup,
  body: fields({
    serverId: described(idField, 'That of the suggestion, to confirm.'),
    nodeId: described(idField, 'Likewise.'),
  }),
  response: namedSchema('GroupMended', {
    jobId: described(nullable(t.String()), 'Null where nothing is installed: it is moved at once.'),
    transferId: t.String(),
    server: t.Object({ id: t.String(), hostname: t.String() }),
    to: aThing,
  }),
  status: 202,
  refuses: ['suggestion_changed', 'not_movable', 'server_busy', 'no_capacity', 'placement_group_unmet', 'in_use'],
  example: { serverId: '<server_id>', nodeId: '<node_id>' },
  run(call) {
    const { tx, target, body } = call
    const broken = brokenRule(tx, target)
    if (!broken) throw new ApiError('suggestion_changed', `The rule of ${target.name} is kept: no move is needed.`)
    const move = mendingMove(call, broken.misplaced)
    if (!move) throw new ApiError('suggestion_changed', `No node with room would keep the rule of ${target.name} now.`)
    const { server, to } = move
    if (server.id !== body.serverId || to.id !== body.nodeId)
      throw new ApiError(
        'suggestion_changed',
        `By now the move that mends ${target.name} is that of ${server.hostname} to ${to.name}. Look at it again.`,
      )
    const { jobId, transferId } = beginMove({ ...call, target: load(tx, server.id), body: { nodeId: to.id } })
    return { jobId, transferId, server, to }
  },
})
