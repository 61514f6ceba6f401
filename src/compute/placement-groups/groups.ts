import { and } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { groupPolicies } from '../../fleet/placement-group-records/model.ts'
import {
  countGroups,
  deleteGroup,
  groupsWhere,
  insertGroup,
  pageOfGroups,
  updateGroup,
} from '../../fleet/placement-group-records/queries.ts'
import { customer, mustNotBeLocked } from '../../identity/account-records/model.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { described, done, fields, line, operation } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import { newId } from '../../kernel/db/ids.ts'
import { placementGroup } from '../ordered-group.ts'
import { tellChange } from './events.ts'
import { groupResponse, MOST_GROUPS, showGroup } from './model.ts'
import { visibleTo } from './queries.ts'

const policy = t.Enum([...groupPolicies])
const hard = described(t.Boolean(), 'Left out: true.')

export const createGroup = operation({
  id: 'placement-groups.create',
  method: 'POST',
  path: '/customers/{id}/placement-groups',
  summary: 'Add a placement group: servers that are to be on one node, or each on a node of its own',
  access: { ...everybody('servers:settings'), reseller: ['reseller:servers', 'account:write'] },
  on: customer,
  body: fields({ name: line(64), policy, hard: t.Optional(hard) }),
  response: groupResponse,
  status: 201,
  idempotent: true,
  refuses: ['account_locked', 'limit_reached', 'name_taken'],
  example: { name: 'databases', policy: 'anti_affinity' },
  run(call) {
    const { tx, target, body, clock } = call
    mustNotBeLocked(target)
    if (countGroups(tx, target.id) >= MOST_GROUPS)
      throw new ApiError(
        'limit_reached',
        `An account has at most ${MOST_GROUPS} placement groups. Remove one that is not used.`,
      )
    const made = named('placement group', () =>
      insertGroup(tx, {
        id: newId('plg'),
        ownerId: target.id,
        resellerId: target.resellerId,
        name: body.name,
        policy: body.policy,
        hard: body.hard ?? true,
        createdAt: clock(),
      }),
    )
    tellChange(tx, clock(), made, { change: 'created' })
    return showGroup(call, made)
  },
})

export const listGroups = operation({
  id: 'placement-groups.list',
  method: 'GET',
  path: '/placement-groups',
  summary: 'Placement groups, newest first, with their servers and whether the rule is kept',
  access: everybody('servers:read'),
  query: {
    ownerId: idOf('usr', 'Only those of this account.'),
    serverId: idOf('srv', 'Only the one in which this server is.'),
  },
  response: page(groupResponse),
  run(call) {
    const { tx, actor, query } = call
    const where = groupsWhere(tx, { ownerId: query['ownerId'], workloadId: query['serverId'] })
    return pageOfGroups(call, and(visibleTo(tx, actor), where), (group) => showGroup(call, group))
  },
})

export const getGroup = operation({
  id: 'placement-groups.get',
  method: 'GET',
  path: '/placement-groups/{id}',
  summary: 'One placement group',
  access: everybody('servers:read'),
  on: placementGroup,
  response: groupResponse,
  run: (call) => showGroup(call, call.target),
})

export const changeGroup = operation({
  id: 'placement-groups.update',
  method: 'PATCH',
  path: '/placement-groups/{id}',
  summary: 'Rename a placement group, or change its rule; no server is moved by it',
  past: 'Changed a placement group',
  access: everybody('servers:settings'),
  on: placementGroup,
  body: fields({ name: t.Optional(line(64)), policy: t.Optional(policy), hard: t.Optional(t.Boolean()) }),
  response: groupResponse,
  refuses: ['name_taken'],
  example: { hard: false },
  run(call) {
    const { tx, target, body, clock } = call
    const changed = named('placement group', () => updateGroup(tx, target, body))
    tellChange(tx, clock(), changed, { change: 'updated' })
    return showGroup(call, changed)
  },
})

export const removeGroup = operation({
  id: 'placement-groups.remove',
  destroys: [],
  method: 'DELETE',
  path: '/placement-groups/{id}',
  summary: 'Remove a placement group; its servers stay where they are',
  access: everybody('servers:settings'),
  on: placementGroup,
  response: done,
  run({ tx, target, clock }) {
    deleteGroup(tx, target.id)
    tellChange(tx, clock(), target, { change: 'removed' })
    return {}
  },
})
