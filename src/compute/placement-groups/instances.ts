// GPU instances in a group. One stays with the cards of its host, so it joins where it is and servers keep to it.
import { Type as t } from 'typebox'
import { groupOf, leaveGroup } from '../../fleet/placement-group-records/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { fields, operation, see } from '../../kernel/api/operation.ts'
import { gpuInstance } from '../gpu-instances/model.ts'
import { placementGroup } from '../ordered-group.ts'
import { tellChange } from './events.ts'
import { join } from './members.ts'
import { groupResponse, showGroup } from './model.ts'

export const addInstance = operation({
  id: 'placement-groups.add-instance',
  method: 'POST',
  path: '/placement-groups/{id}/gpu-instances',
  summary: 'Put a GPU instance of the owner into a placement group: servers of the group keep the rule with it',
  past: 'Added a GPU instance to a placement group',
  access: everybody('servers:settings'),
  on: placementGroup,
  body: fields({ instanceId: t.String({ minLength: 1, maxLength: 40 }) }),
  response: groupResponse,
  refuses: ['account_locked', 'limit_reached', 'already_done', 'in_use'],
  example: { instanceId: '<instance_id>' },
  run(call) {
    const { tx, actor, target, body } = call
    const joining = see(tx, actor, gpuInstance, body.instanceId, 'instanceId')
    if (joining.ownerId !== target.ownerId || joining.terminatedAt !== null)
      throw invalid({ field: 'instanceId', message: `No such ${gpuInstance.name}.` })
    join(call, target, joining)
    return showGroup(call, target)
  },
})

export const takeOutInstance = operation({
  id: 'placement-groups.take-out-instance',
  destroys: [],
  method: 'DELETE',
  path: '/placement-groups/{id}/gpu-instances/{instanceId}',
  summary: 'Take a GPU instance out of a placement group',
  access: everybody('servers:settings'),
  on: placementGroup,
  response: groupResponse,
  refuses: ['gpu_instance_not_found'],
  run(call) {
    const { tx, actor, target, params, clock } = call
    const leaving = gpuInstance.find(tx, actor, params['instanceId'] ?? '')
    if (!leaving || groupOf(tx, leaving.id)?.id !== target.id)
      throw new ApiError('gpu_instance_not_found', `There is no such GPU instance in ${target.name}. Check the id.`)
    leaveGroup(tx, leaving.id)
    tellChange(tx, clock(), target, { change: 'member_taken_out', member: leaving })
    return showGroup(call, target)
  },
})
