import { eq } from 'drizzle-orm'
import { newest, page } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import { done, fields, operation } from '../../kernel/api/operation.ts'
import { changes, grantsRole, member, memberAnswer, reads, showMember } from './member.ts'
import { role } from './share.ts'
import { teamMembers } from './tables.ts'

export const listTeam = operation({
  id: 'team.list',
  method: 'GET',
  path: '/team',
  summary: 'Who has access to your servers, and who is invited, newest first',
  ...reads,
  response: page(memberAnswer),
  run(call) {
    const { tx, actor } = call
    const ours = eq(teamMembers.ownerId, actor.accountId)
    const now = call.clock()
    return newest({
      call,
      name: 'team',
      table: teamMembers,
      where: ours,
      show: (it) => showMember(tx, it, now),
    })
  },
})

export const changeMember = operation({
  id: 'team.update',
  method: 'PATCH',
  path: '/team/{id}',
  summary: 'Change the role of a member of your team; it applies from their next call',
  ...changes,
  on: member,
  body: fields({ role }),
  ...grantsRole,
  response: memberAnswer,
  refuses: ['scope_not_allowed'],
  example: { role: 'view' },
  run({ tx, target, body, clock }) {
    return showMember(tx, patched(tx, teamMembers, target, { role: body.role }), clock())
  },
})

export const removeMember = operation({
  id: 'team.remove',
  method: 'DELETE',
  path: '/team/{id}',
  summary: "End somebody's access at once, or take an invitation back",
  ...changes,
  on: member,
  response: done,
  run({ tx, target }) {
    tx.delete(teamMembers).where(eq(teamMembers.id, target.id)).run()
    return {}
  },
})
