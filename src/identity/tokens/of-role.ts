// The tokens of everybody who has a role. They keep working when the role demands a second factor of people.
import { Type as t } from 'typebox'
import { page } from '../../kernel/api/list.ts'
import { namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { accountById } from '../account-records/queries.ts'
import { role } from '../account-records/roles/role.ts'
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
    pageOfRoleTokens(call, call.target.id, (token) => ({
      id: token.id,
      name: token.name,
      ending: token.ending,
      owner: { id: token.accountId, name: accountById(call.tx, token.accountId)!.name },
      scopes: token.scopes,
      createdAt: iso(token.createdAt),
      expiresAt: isoOrNull(token.expiresAt),
      usedAt: isoOrNull(token.usedAt),
      usedFrom: token.usedFrom,
    })),
})
