// Roles: named lists of what staff may do. Nobody gives what they do not have, and nobody changes those who have more.
import { type Permission, type Rights, scopesOf } from '../../../kernel/api/access.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { Call, Resource } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { Account } from '../tables.ts'
import { type Role, roleById } from './queries.ts'

export type { Role }

export const role: Resource<Role> = { name: 'role', notFound: 'role_not_found', find: (tx, _, id) => roleById(tx, id) }

/** The role of this member of staff; undefined for every other account. */
export const roleOf = (tx: Db, { roleId }: Account): Role | undefined => (roleId ? roleById(tx, roleId) : undefined)
/** The part of a role that gives rights. */
export type GivenRole = Pick<Role, 'permissions' | 'isOwner'>
/** The permissions of a role; an owner has all, also those of later versions. */
export const permissionsOf = ({ permissions }: Rights, role: GivenRole | undefined): readonly Permission[] =>
  role?.isOwner ? (Object.keys(permissions) as Permission[]) : (role?.permissions ?? [])
/** All that a member of staff with this role may do: permissions and the scopes that they open. */
export function rightsOfRole(rights: Rights, role: GivenRole | undefined): ReadonlySet<string> {
  const permissions = permissionsOf(rights, role)
  return new Set([...permissions, ...scopesOf(rights, 'staff', permissions)])
}

// ---------------------------------------------------------------- rights over roles
type Granting = Pick<Call, 'actor' | 'registry'>

/**
 * Throws `forbidden` when the role has a permission that the actor lacks: the actor may not give, change or remove it.
 */
export function mustReach(call: Granting, role: Role) {
  if (role.isOwner && !call.actor.isOwner)
    throw new ApiError('forbidden', 'Only an owner may change, disable or help another owner. Ask one.')
  mustHold(call, role.permissions)
}

export function mustHold({ actor, registry }: Granting, wanted: readonly Permission[]) {
  const lacking = wanted.filter((p) => !actor.permissions.has(p))
  if (lacking.length)
    throw new ApiError(
      'forbidden',
      `You can only give or take what you have yourself. You do not have: ${lacking
        .map((p) => registry.permissions[p].words)
        .join('; ')}.`,
      {
        permissions: lacking,
      },
    )
}

/** As `mustReach`, for the account that has the role; one without a role is anybody's. */
export function mustOutrank(tx: Db, call: Granting, account: Account) {
  const role = roleOf(tx, account)
  if (role) mustReach(call, role)
}
