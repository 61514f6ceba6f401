import { changeRole, createRole, listRoles, removeRole } from '../../../src/identity/accounts/staff/roles.ts'
import type { Permission } from '../../../src/kernel/api/access.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, readingAll } from '../../../src/kernel/web/page.ts'
import { count } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { check, checks, field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pill } from '../../html/state.ts'
import { table } from '../../html/table.ts'

const reads = { roles: readingAll(listRoles) }
type Role = Answers<typeof reads>['roles']['data'][number]

const words = ({ registry }: At, name: string) => registry.permissions[name as Permission]?.words ?? name

/** Only what the viewer has: nobody gives more. */
const fields = (at: At, scope: string, role?: Role): Html => html`
  ${field(scope, 'name', { label: 'Name', required: true, value: role?.name })}
  ${
    !role?.isOwner &&
    checks(scope, 'permissions', {
      label: 'May',
      values: role?.permissions ?? [],
      options: [...at.actor.permissions].map((value) => ({ value, label: words(at, value) })),
    })
  }
  ${check(scope, 'secondFactor', { label: 'Requires a second factor', checked: role?.secondFactor ?? false, hint: 'People with this role who have no second factor can do nothing but set one up.' })}`

const beyond = (at: At, role: Role) => role.permissions.some((p) => !at.actor.permissions.has(p as Permission))

const edit = (at: At, role: Role): Html =>
  act(at, changeRole, { id: role.id }, 'Edit', {
    of: role.name,
    title: `Edit ${role.name}`,
    submit: 'Save',
    done: 'Saved. It applies at once',
    wide: true,
    disabledReason: beyond(at, role) && 'It may do more than your own role.',
    fields: fields(at, `edit-${role.id}`, role),
  })

const remove = (at: At, role: Role): Html =>
  act(at, removeRole, { id: role.id }, 'Remove', {
    of: role.name,
    tone: 'bad',
    title: `Remove ${role.name}?`,
    done: 'Removed',
    disabledReason: role.isOwner
      ? 'The role Owner cannot be removed: there must always be an owner.'
      : role.staff > 0
        ? `${count(role.staff, 'member')} of staff have it.`
        : undefined,
    confirm: { keep: 'Keep role', consequences: ['Nobody has it. It can be made again.'] },
  })

const holds = (at: At, role: Role): Html =>
  role.isOwner
    ? html`Everything, also what later versions bring`
    : role.permissions.length
      ? html`<details class="row" id="may-${role.id}"><summary>${count(role.permissions.length, 'permission')}<span class="sr"> of ${role.name}</span></summary><ul class="will">${role.permissions.map((p) => html`<li>${words(at, p)}</li>`)}</ul></details>`
      : html`Nothing`

export const rolesPage = page({
  path: '/admin/roles',
  reads,
  title: 'Roles',
  nav: 'staff',
  view: ({ roles, at }) => html`
    ${head({
      title: 'Roles',
      trail: [['Staff', '/admin/staff']],
      sub: 'A role is a list of what its members may do. A change applies to all of them at once, including their tokens.',
      actions: act(at, createRole, {}, 'Add role', {
        icon: 'plus',
        tone: 'pri',
        wide: true,
        done: '{name} is added',
        fields: fields(at, 'role'),
      }),
    })}
    <section class="sec" aria-label="Roles">${table<Role>(
      'Roles',
      roles.data,
      [
        { title: 'Role', main: true, cell: (r) => html`<strong>${r.name}</strong>` },
        { title: 'May', cell: (role) => holds(at, role) },
        {
          title: 'Second factor',
          cell: (r) => (r.secondFactor ? pill('ok', 'tick', 'Demanded') : 'Each as they like'),
        },
        { title: 'Staff', num: true, cell: (r) => r.staff },
        { title: 'Actions', actions: true, cell: (r) => html`<div class="bar">${edit(at, r)}${remove(at, r)}</div>` },
      ],
      (r) => r.id,
    )}</section>`,
})
