// Roles: named lists of what staff may do. Nobody gives what they do not have, and nobody changes those who have more.
import { count, eq } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { allPermissions, type Permission } from '../kernel/api/access.ts'
import type { Actor } from '../kernel/api/actor.ts'
import { Refusal } from '../kernel/api/errors.ts'
import { page, paginateAll } from '../kernel/api/list.ts'
import { named, patched } from '../kernel/api/named.ts'
import { done, fields, line, operation, type Resource, shape } from '../kernel/api/operation.ts'
import { newId } from '../kernel/db/ids.ts'
import type { Db, Tx } from '../kernel/db/open.ts'
import { rowBy } from '../kernel/db/rows.ts'
import { type Account, accounts, roles } from './tables.ts'

export type Role = typeof roles.$inferSelect

const byId = rowBy(roles, roles.id)
const roleOf = (tx: Db, { roleId }: Account): Role | undefined => (roleId ? byId(tx, roleId) : undefined)
const heldBy = (role: Role): readonly Permission[] => (role.isOwner ? allPermissions : role.permissions)

/** What this staff member may do now; an owner everything, also what later versions bring. */
export function permissionsOf(tx: Db, account: Account): readonly Permission[] {
  const role = roleOf(tx, account)
  return role ? heldBy(role) : []
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
const isOwner = (tx: Db, actor: Actor): boolean =>
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
    throw new Refusal('forbidden', 'Only an owner may change, disable or help another owner. Ask one.')
  mustHold(actor, heldBy(role))
}

function mustHold(actor: Actor, wanted: readonly Permission[]) {
  const lacking = wanted.filter((p) => !actor.permissions.has(p))
  if (lacking.length)
    throw new Refusal('forbidden', `You can only give or take what you have yourself. You do not have ${lacking.join(', ')}.`, {
      permissions: lacking,
    })
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
    throw new Refusal(
      'last_owner',
      `${account.name} is the last owner: without one, nobody could change roles any more. Make another owner first.`,
    )
}

// ---------------------------------------------------------------- operations
const role: Resource<Role> = { name: 'role', notFound: 'role_not_found', find: (tx, _, id) => byId(tx, id) }

const roleAnswer = shape('Role', {
  id: t.String(),
  name: t.String(),
  permissions: t.Array(t.String()),
  isOwner: t.Boolean(),
  secondFactor: t.Boolean(),
  staff: t.Integer(),
})
const show = (tx: Db, it: Role) => ({
  ...it,
  permissions: [...heldBy(it)],
  staff: tx.select({ n: count() }).from(accounts).where(eq(accounts.roleId, it.id)).get()!.n,
})

const held = t.Array(t.Enum(allPermissions), { maxItems: allPermissions.length, uniqueItems: true })
const who = { staff: ['staff.write'] } as const

export const listRoles = operation({
  id: 'roles.list',
  method: 'GET',
  path: '/admin/roles',
  summary: 'The roles of staff, each with what it may do and how many have it',
  access: who,
  answer: page(roleAnswer),
  run: (call) =>
    paginateAll({
      call,
      name: 'roles',
      all: call.tx.select().from(roles).all(),
      order: 'names',
      keyOf: (it) => it.name,
      show: (it) => show(call.tx, it),
    }),
})

export const createRole = operation({
  id: 'roles.create',
  method: 'POST',
  path: '/admin/roles',
  summary: 'Add a role; it may do no more than its maker',
  access: who,
  inPerson: true,
  confirmed: true,
  body: fields({ name: line(60), permissions: held, secondFactor: t.Optional(t.Boolean()) }),
  answer: roleAnswer,
  status: 201,
  refuses: ['name_taken'],
  example: { name: 'Support', permissions: ['servers.see_all', 'servers.power', 'customers.read'], secondFactor: true },
  run({ tx, actor, body }) {
    mustHold(actor, body.permissions)
    const made = named('role', () =>
      tx
        .insert(roles)
        .values({ id: newId('role'), name: body.name, permissions: body.permissions, secondFactor: body.secondFactor ?? false })
        .returning()
        .get(),
    )
    return show(tx, made)
  },
})

export const changeRole = operation({
  id: 'roles.update',
  method: 'PATCH',
  path: '/admin/roles/{id}',
  summary: 'Change a role; it applies at once to everybody who has it',
  access: who,
  inPerson: true,
  confirmed: true,
  on: role,
  body: fields({ name: t.Optional(line(60)), permissions: t.Optional(held), secondFactor: t.Optional(t.Boolean()) }),
  answer: roleAnswer,
  refuses: ['name_taken', 'in_use'],
  example: { permissions: ['servers.see_all', 'servers.power'] },
  run({ tx, actor, target, body }) {
    mustReach(tx, actor, target)
    if (body.permissions) {
      if (target.isOwner)
        throw new Refusal('in_use', 'The role Owner always has every permission and cannot be changed. Make another role instead.')
      mustHold(actor, body.permissions)
    }
    return show(
      tx,
      named('role', () => patched(tx, roles, target, body)),
    )
  },
})

export const removeRole = operation({
  id: 'roles.remove',
  method: 'DELETE',
  path: '/admin/roles/{id}',
  summary: 'Remove a role that nobody has',
  access: who,
  inPerson: true,
  confirmed: true,
  on: role,
  answer: done,
  refuses: ['in_use'],
  run({ tx, actor, target }) {
    mustReach(tx, actor, target)
    const { staff } = show(tx, target)
    if (staff || target.isOwner)
      throw new Refusal(
        'in_use',
        target.isOwner
          ? 'The role Owner cannot be removed: there must always be an owner.'
          : `${staff} of your staff have this role. Give them another one first.`,
      )
    tx.delete(roles).where(eq(roles.id, target.id)).run()
    return {}
  },
})
