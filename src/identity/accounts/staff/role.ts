// Roles: named lists of what staff may do. Nobody gives what they do not have, and nobody changes those who have more.
import { count, eq } from 'drizzle-orm'
import { Type as t } from 'typebox'
import type { Permission, Rights } from '../../../kernel/api/access.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { namedSchema, type Resource } from '../../../kernel/api/operation.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { rowBy } from '../../../kernel/db/rows.ts'
import { type Account, accounts, roles } from '../tables.ts'

export type Role = typeof roles.$inferSelect

const byId = rowBy(roles, roles.id)
const roleOf = (tx: Db, { roleId }: Account): Role | undefined => (roleId ? byId(tx, roleId) : undefined)
const heldBy = ({ permissions }: Rights, role: Role): readonly Permission[] =>
  role.isOwner ? (Object.keys(permissions) as Permission[]) : role.permissions

/** What this staff member may do now; an owner everything, also what later versions bring. */
export function permissionsOf(tx: Db, rights: Rights, account: Account): readonly Permission[] {
  const role = roleOf(tx, account)
  return role ? heldBy(rights, role) : []
}

/** Owner too, which is made with the first owner. */
export const roleNames = (tx: Tx): string[] => [
  ...new Set([
    'Owner',
    ...tx
      .select({ name: roles.name })
      .from(roles)
      .all()
      .map((r) => r.name),
  ]),
]

/** The role by name; Owner is made when the first owner is. Undefined when there is none of that name. */
export function roleNamed(tx: Tx, name: string): Role | undefined {
  const found = tx.select().from(roles).where(eq(roles.name, name)).get()
  if (found || name !== 'Owner') return found
  return tx
    .insert(roles)
    .values({ id: newId('role'), name, permissions: [], isOwner: true })
    .returning()
    .get()
}

// ---------------------------------------------------------------- who may give what
export const isOwner = (tx: Db, actor: Actor): boolean =>
  actor.via.type === 'system' ||
  !!tx
    .select({ is: roles.isOwner })
    .from(accounts)
    .innerJoin(roles, eq(roles.id, accounts.roleId))
    .where(eq(accounts.id, actor.accountId))
    .get()?.is

/** Throws `forbidden` when the role holds what the actor lacks: such a role is neither given, changed nor taken away by them. */
export function mustReach(tx: Db, actor: Actor, role: Role) {
  if (role.isOwner && !isOwner(tx, actor))
    throw new ApiError('forbidden', 'Only an owner may change, disable or help another owner. Ask one.')
  mustHold(actor, role.permissions)
}

export function mustHold(actor: Actor, wanted: readonly Permission[]) {
  const lacking = wanted.filter((p) => !actor.permissions.has(p))
  if (lacking.length)
    throw new ApiError(
      'forbidden',
      `You can only give or take what you have yourself. You do not have ${lacking.join(', ')}.`,
      {
        permissions: lacking,
      },
    )
}

/** As `mustReach`, for the account that has the role; one without a role is anybody's. */
export function mustOutrank(tx: Db, actor: Actor, account: Account) {
  const role = roleOf(tx, account)
  if (role) mustReach(tx, actor, role)
}

/** Throws `last_owner` when nobody else could give the rights back. */
export function mustNotBeLastOwner(tx: Db, account: Account) {
  if (!roleOf(tx, account)?.isOwner) return
  const others = tx.$client
    .query<{ n: number }, [string]>(
      'SELECT count(*) AS n FROM accounts a JOIN roles r ON r.id = a.role_id WHERE r.is_owner = 1 AND a.disabled_at IS NULL AND a.id <> ?',
    )
    .get(account.id)!.n
  if (!others)
    throw new ApiError(
      'last_owner',
      `${account.name} is the last owner: without one, nobody could change roles any more. Make another owner first.`,
    )
}

// ---------------------------------------------------------------- operations
export const role: Resource<Role> = { name: 'role', notFound: 'role_not_found', find: (tx, _, id) => byId(tx, id) }

export const roleAnswer = namedSchema('Role', {
  id: t.String(),
  name: t.String(),
  permissions: t.Array(t.String()),
  isOwner: t.Boolean(),
  secondFactor: t.Boolean(),
  staff: t.Integer(),
})
export const showRole = (tx: Db, rights: Rights, it: Role) => ({
  ...it,
  permissions: [...heldBy(rights, it)],
  staff: tx.select({ n: count() }).from(accounts).where(eq(accounts.roleId, it.id)).get()!.n,
})
