// Roles: named lists of what staff may do. Nobody gives what they do not have, and nobody changes those who have more.
import { Type as t } from 'typebox'
import { type AccountKind, type Permission, type Rights, type Scope, scopesOf } from '../../../kernel/api/access.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { type Call, namedSchema, type Resource } from '../../../kernel/api/operation.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import type { Account } from '../tables.ts'
import { allRoles, countStaffWith, hasOtherOwner, type Role, roleById } from './queries.ts'

export type { Role }

/** The role of this member of staff; undefined for every other account. */
export const roleOf = (tx: Db, { roleId }: Account): Role | undefined => (roleId ? roleById(tx, roleId) : undefined)
/** The permissions of a role; an owner has all, also those of later versions. */
const permissionsOf = ({ permissions }: Rights, role: GivenRole | undefined): readonly Permission[] =>
  role?.isOwner ? (Object.keys(permissions) as Permission[]) : (role?.permissions ?? [])

/** The part of a role that gives rights. */
type GivenRole = Pick<Role, 'permissions' | 'isOwner'>
/** A token and the role of its maker, as they are stored: `permissions` and `scopes` are JSON. Null: without a role. */
type MadeToken = { kind: AccountKind; permissions: string | null; isOwner: number | null; scopes: string }
export type Held = { permissions: ReadonlySet<Permission>; scopes: ReadonlySet<Scope> }

/**
 * The rights that roles and tokens give. They are computed once per text of the rights, never per account or token:
 * each call reads its rows, so a change of a role counts at once.
 */
export class HeldRights {
  private computed = new Map<string, Held>()
  constructor(
    private readonly rights: Rights,
    private readonly most: number,
  ) {}

  /** The rights of an account with this role. */
  of(kind: AccountKind, role: GivenRole | undefined): Held {
    return this.kept(`account\n${kind}\n${role?.isOwner}\n${role?.permissions}`, () => {
      const permissions = permissionsOf(this.rights, kind === 'staff' ? role : undefined)
      return { permissions: new Set(permissions), scopes: scopesOf(this.rights, kind, permissions) }
    })
  }

  /** The rights of a token: of its scopes, those that its maker has now. */
  ofToken({ kind, permissions, isOwner, scopes }: MadeToken): Held {
    return this.kept(`token\n${kind}\n${isOwner}\n${permissions}\n${scopes}`, () => {
      const role = permissions === null ? undefined : { permissions: JSON.parse(permissions), isOwner: isOwner === 1 }
      const maker = this.of(kind, role)
      return {
        permissions: new Set([...maker.permissions].filter((name) => this.rights.permissions[name]?.limitsTokens)),
        scopes: new Set((JSON.parse(scopes) as Scope[]).filter((name) => maker.scopes.has(name))),
      }
    })
  }

  private kept(key: string, compute: () => Held): Held {
    const known = this.computed.get(key)
    if (known) return known
    const held = compute()
    if (this.computed.size >= this.most) this.computed.delete(this.computed.keys().next().value!)
    this.computed.set(key, held)
    return held
  }
}

/** Owner too, which is made with the first owner. */
export const roleNames = (tx: Tx): string[] => [...new Set(['Owner', ...allRoles(tx).map(({ name }) => name)])]

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

/** Throws `last_owner` when nobody else could give the rights back. */
export function mustNotBeLastOwner(tx: Db, account: Account) {
  if (!roleOf(tx, account)?.isOwner) return
  if (!hasOtherOwner(tx, account.id))
    throw new ApiError(
      'last_owner',
      `${account.name} is the last owner: without one, nobody could change roles any more. Make another owner first.`,
    )
}

// ---------------------------------------------------------------- operations
export const role: Resource<Role> = { name: 'role', notFound: 'role_not_found', find: (tx, _, id) => roleById(tx, id) }

export const roleResponse = namedSchema('Role', {
  id: t.String(),
  name: t.String(),
  permissions: t.Array(t.String()),
  isOwner: t.Boolean(),
  secondFactor: t.Boolean(),
  staff: t.Integer(),
})
export const showRole = (tx: Db, rights: Rights, role: Role) => ({
  ...role,
  permissions: [...permissionsOf(rights, role)],
  staff: countStaffWith(tx, role.id),
})
