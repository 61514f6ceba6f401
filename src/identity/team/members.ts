import { page } from '../../kernel/api/list.ts'
import { done, fields, operation } from '../../kernel/api/operation.ts'
import { changes, grantsRole, member, memberResponse, reads, showMember } from './model.ts'
import { deleteMember, pageOfTeam, updateMember } from './queries.ts'
import { role } from './role.ts'

export const listTeam = operation({
  id: 'team.list',
  method: 'GET',
  path: '/team',
  summary: 'Who has access to your servers, and who is invited, newest first',
  ...reads,
  response: page(memberResponse),
  run(call) {
    const now = call.clock()
    return pageOfTeam(call, call.actor.accountId, (member) => showMember(call.tx, member, now))
  },
})

export const changeMember = operation({
  id: 'team.update',
  method: 'PATCH',
  path: '/team/{id}',
  summary: 'Change the role of a member of your team; it applies from their next call',
  past: 'Changed the role of a member',
  ...changes,
  on: member,
  body: fields({ role }),
  ...grantsRole,
  response: memberResponse,
  refuses: ['scope_not_allowed'],
  example: { role: 'view' },
  run({ tx, target, body, clock }) {
    return showMember(tx, updateMember(tx, target, { role: body.role }), clock())
  },
})

export const removeMember = operation({
  id: 'team.remove',
  destroys: [],
  method: 'DELETE',
  path: '/team/{id}',
  summary: "End somebody's access at once, or withdraw an invitation",
  past: 'Ended the access of a member',
  ...changes,
  on: member,
  response: done,
  run({ tx, target }) {
    deleteMember(tx, target.id)
    return {}
  },
})
