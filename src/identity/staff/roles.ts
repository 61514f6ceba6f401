import { Type as t } from 'typebox'
import type { Permission, Rights } from '../../kernel/api/access.ts'
import { nameOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page, paginateAll } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { done, fields, line, namedSchema, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db } from '../../kernel/db/open.ts'
import { declaredName } from '../../kernel/declared-names.ts'
import { tellOfOwner } from '../account-records/owner-changes.ts'
import {
  allRoles,
  countStaffWith,
  deleteRole,
  insertRole,
  roleById,
  updateRole,
} from '../account-records/roles/queries.ts'
import { mustHold, mustReach, permissionsOf, type Role, role } from '../account-records/roles/role.ts'
import { endWait, mustWait, type WeakeningKind } from '../weakenings/wait.ts'

const held = t.Array(
  declaredName<Permission>((features) => features.flatMap(({ permissions = {} }) => Object.keys(permissions))),
  { maxItems: 100, uniqueItems: true },
)
const who = { staff: ['staff.write'] } as const

const roleResponse = namedSchema('Role', {
  id: t.String(),
  name: t.String(),
  permissions: t.Array(t.String()),
  isOwner: t.Boolean(),
  secondFactor: t.Boolean(),
  staff: t.Integer(),
})
const showRole = (tx: Db, rights: Rights, role: Role) => ({
  ...role,
  permissions: [...permissionsOf(rights, role)],
  staff: countStaffWith(tx, role.id),
})

export const listRoles = operation({
  id: 'roles.list',
  method: 'GET',
  path: '/admin/roles',
  summary: 'The roles of staff, each with what it may do and how many have it',
  access: who,
  response: page(roleResponse),
  run: (call) =>
    paginateAll({
      call,
      name: 'roles',
      all: allRoles(call.tx),
      order: 'names',
      keyOf: ({ name }) => name,
      show: (role) => showRole(call.tx, call.registry, role),
    }),
})

export const getRole = operation({
  id: 'roles.get',
  method: 'GET',
  path: '/admin/roles/{id}',
  summary: 'One role of staff, with what it may do',
  access: who,
  on: role,
  response: roleResponse,
  run: ({ tx, target, registry }) => showRole(tx, registry, target),
})

export const createRole = operation({
  id: 'roles.create',
  method: 'POST',
  path: '/admin/roles',
  summary: 'Add a role; it may do no more than its maker',
  access: who,
  requiresSession: true,
  requiresRecentAuth: true,
  body: fields({ name: line(60), permissions: held, secondFactor: t.Optional(t.Boolean()) }),
  response: roleResponse,
  status: 201,
  refuses: ['name_taken'],
  example: { name: 'Support', permissions: ['servers.see_all', 'servers.power', 'customers.read'], secondFactor: true },
  run({ tx, actor, body, registry }) {
    mustHold({ actor, registry }, body.permissions)
    const made = named('role', () =>
      insertRole(tx, {
        id: newId('role'),
        name: body.name,
        permissions: body.permissions,
        secondFactor: body.secondFactor ?? false,
      }),
    )
    return showRole(tx, registry, made)
  },
})

/** A role that demands no second factor any more. */
export const roleWeakening: WeakeningKind = {
  kind: 'role',
  apply(tx, { name }) {
    const target = roleById(tx, name)
    if (target) updateRole(tx, target, { secondFactor: false })
  },
}

export const changeRole = operation({
  id: 'roles.update',
  method: 'PATCH',
  path: '/admin/roles/{id}',
  summary: 'Change a role; it applies at once to everybody who has it',
  access: who,
  requiresSession: true,
  requiresRecentAuth: true,
  on: role,
  body: fields({ name: t.Optional(line(60)), permissions: t.Optional(held), secondFactor: t.Optional(t.Boolean()) }),
  response: roleResponse,
  refuses: ['name_taken', 'in_use'],
  example: { permissions: ['servers.see_all', 'servers.power'] },
  run(call) {
    const { tx, target, body, registry } = call
    mustReach(call, target)
    const about = { kind: roleWeakening.kind, name: target.id }
    const isWeaker = target.secondFactor && body.secondFactor === false
    const title = `Second factor of the role ${target.name}`
    const waits = isWeaker && mustWait(call, { ...about, title, value: false, from: 'required', to: 'not required' })
    if (body.secondFactor !== undefined && !waits) {
      endWait(tx, about, { decision: 'replaced', by: nameOf(call.actor), now: call.clock() })
      if (target.isOwner && body.secondFactor !== target.secondFactor)
        tellOfOwner(call, `Owners ${body.secondFactor ? 'must now have a' : 'need no'} second factor.`)
    }
    if (body.permissions) {
      if (target.isOwner)
        throw new ApiError(
          'in_use',
          'The role Owner always has every permission and cannot be changed. Make another role instead.',
        )
      mustHold(call, body.permissions)
    }
    return showRole(
      tx,
      registry,
      named('role', () => updateRole(tx, target, waits ? { ...body, secondFactor: true } : body)),
    )
  },
})

export const removeRole = operation({
  id: 'roles.remove',
  destroys: [],
  method: 'DELETE',
  path: '/admin/roles/{id}',
  summary: 'Remove a role that nobody has',
  past: 'Removed a role',
  access: who,
  requiresSession: true,
  requiresRecentAuth: true,
  on: role,
  response: done,
  refuses: ['in_use'],
  run({ tx, actor, target, registry }) {
    mustReach({ actor, registry }, target)
    const { staff } = showRole(tx, registry, target)
    if (staff || target.isOwner)
      throw new ApiError(
        'in_use',
        target.isOwner
          ? 'The role Owner cannot be removed: there must always be an owner.'
          : `${staff} of your staff have this role. Give them another one first.`,
      )
    deleteRole(tx, target.id)
    return {}
  },
})
