// A server joins a group wherever it is: the group then says whether its rule is kept.
import { Type as t } from 'typebox'
import type { PlacementGroup } from '../../fleet/placement-group-records/model.ts'
import { countMembers, groupOf, joinGroup, leaveGroup } from '../../fleet/placement-group-records/queries.ts'
import type { Workload } from '../../fleet/workloads/queries.ts'
import { isLockedFor } from '../../identity/team/access.ts'
import { everybody } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { fields, operation, see } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { placementGroup } from '../ordered-group.ts'
import { server } from '../server-records/model.ts'
import { tellChange } from './events.ts'
import { groupResponse, MOST_MEMBERS, showGroup } from './model.ts'

export const addToGroup = operation({
  id: 'placement-groups.add-server',
  method: 'POST',
  path: '/placement-groups/{id}/servers',
  summary: 'Put a server of the owner into a placement group; it is not moved by it',
  past: 'Added a server to a placement group',
  access: everybody('servers:settings'),
  on: placementGroup,
  body: fields({ serverId: t.String({ minLength: 1, maxLength: 40 }) }),
  response: groupResponse,
  refuses: ['account_locked', 'limit_reached', 'already_done', 'in_use'],
  example: { serverId: '<server_id>' },
  run(call) {
    const { tx, actor, target, body } = call
    const joining = see(tx, actor, server, body.serverId, 'serverId')
    // A group does not leave its owner, also by staff who see all servers.
    if (joining.ownerId !== target.ownerId || joining.terminatedAt !== null)
      throw invalid({ field: 'serverId', message: `No such ${server.name}.` })
    join(call, target, joining)
    return showGroup(call, target)
  },
})

export const takeOutOfGroup = operation({
  id: 'placement-groups.take-out-server',
  destroys: [],
  method: 'DELETE',
  path: '/placement-groups/{id}/servers/{serverId}',
  summary: 'Take a server out of a placement group; it stays where it is',
  access: everybody('servers:settings'),
  on: placementGroup,
  response: groupResponse,
  refuses: ['server_not_found'],
  run(call) {
    const { tx, actor, target, params, clock } = call
    const leaving = server.find(tx, actor, params['serverId'] ?? '')
    if (!leaving || groupOf(tx, leaving.id)?.id !== target.id)
      throw new ApiError('server_not_found', `There is no such server in ${target.name}. Check the id.`)
    leaveGroup(tx, leaving.id)
    tellChange(tx, clock(), target, { change: 'member_taken_out', member: leaving })
    return showGroup(call, target)
  },
})

type Joining = { tx: Tx; actor: Actor; clock: () => number }
/** Throws `account_locked`, `already_done`, `in_use` and `limit_reached`. */
export function join({ tx, actor, clock }: Joining, group: PlacementGroup, joining: Workload) {
  if (isLockedFor(tx, actor, joining))
    throw new ApiError('account_locked', 'The account is locked, so its groups cannot be changed.')
  const present = groupOf(tx, joining.id)
  if (present?.id === group.id) throw new ApiError('already_done', `${joining.hostname} is in ${group.name} already.`)
  if (present)
    throw new ApiError('in_use', `${joining.hostname} is in the group ${present.name}. Take it out of it first.`)
  if (countMembers(tx, group.id) >= MOST_MEMBERS)
    throw new ApiError('limit_reached', `A placement group has at most ${MOST_MEMBERS} members.`)
  joinGroup(tx, { workloadId: joining.id, groupId: group.id, createdAt: clock() })
  tellChange(tx, clock(), group, { change: 'member_added', member: joining })
}
