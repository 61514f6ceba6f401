// The tokens of everybody who has a role. They keep working when the role demands a second factor of people.
import { Type as t } from 'typebox'
import { page } from '../../kernel/api/list.ts'
import { namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { accountById } from '../accounts/queries.ts'
import { role } from '../accounts/staff/role.ts'
import { pageOfRoleTokens } from './queries.ts'

export const listRoleTokens = operation({
  id: 'roles.tokens',
  method: 'GET',
  path: '/admin/roles/{id}/tokens',
  summary: 'The API tokens of the members of a role',
  access: { staff: ['staff.write'] },
  on: role,
  response: page(
    namedSchema('RoleToken', {
      id: t.String(),
      name: t.String(),
      ending: t.String(),
      owner: t.Object({ id: t.String(), name: t.String() }),
      scopes: t.Array(t.String()),
      createdAt: time,
      expiresAt: nullable(time),
      usedAt: nullable(time),
      usedFrom: nullable(t.String()),
    }),
  ),
  run: (call) =>
    pageOfRoleTokens(call, call.target.id, ({ id, name, ending, accountId, scopes, usedFrom, ...it }) => ({
      id,
      name,
      ending,
      owner: { id: accountId, name: accountById(call.tx, accountId)!.name },
      scopes,
      createdAt: iso(it.createdAt),
      expiresAt: isoOrNull(it.expiresAt),
      usedAt: isoOrNull(it.usedAt),
      usedFrom,
    })),
})
