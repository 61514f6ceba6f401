import { changeRole, createRole, listRoles, removeRole } from '../../../src/identity/staff/roles.ts'
import type { Permission } from '../../../src/kernel/api/access.ts'
import { type Answers, type At, page, readingAll } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, EditEntry, Menu, RemoveEntry } from '../../components/action.tsx'
import { Checks } from '../../components/choices.tsx'
import { Check, Field } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Count, Table } from '../../components/table.tsx'
import { count } from '../../components/words.ts'

const reads = { roles: readingAll(listRoles) }
type Role = Answers<typeof reads>['roles']['data'][number]

export const rolesPage = page({
  path: '/admin/roles',
  reads,
  title: 'Roles',
  nav: 'staff',
  view: ({ roles }) => (
    <>
      <Head
        title="Roles"
        trail={[['Staff', '/admin/staff']]}
        sub={
          <p>
            A role is a list of permissions. A change applies to all its members at once, including their API tokens.
          </p>
        }
        actions={<AddRole />}
      />
      <Section id="roles" title="Roles" quiet flush first>
        <RoleTable roles={roles.data} />
      </Section>
    </>
  ),
})

function RoleTable({ roles }: { roles: readonly Role[] }) {
  const { may } = useAt()
  const columns: (Column<Role> | false)[] = [
    { title: 'Role', kind: 'name', width: 24, cell: (r) => <RoleLink of={r} /> },
    { title: 'Second factor', kind: 'state', width: 18, cell: (r) => <SecondFactor of={r} /> },
    { title: 'Members', kind: 'addr', width: 12, cell: (r) => <Count n={r.staff} of="member" /> },
    { title: 'Permissions', kind: 'wide', cell: (r) => <Permissions of={r} /> },
    (may(changeRole) || may(removeRole)) && { title: 'Actions', kind: 'more', cell: (r) => <RoleMenu of={r} /> },
  ]
  const shown = columns.filter((c): c is Column<Role> => c !== false)
  return <Table label="Roles" rows={roles} columns={shown} idOf={(r) => r.id} />
}

const RoleLink = ({ of: r }: { of: Role }) => (
  <Link title={r.name} to="/admin/roles/{id}" params={{ id: r.id }}>
    {r.name}
  </Link>
)

const SecondFactor = ({ of: r }: { of: Role }) =>
  r.secondFactor ? (
    <State tone="ok" shape="tick">
      Required
    </State>
  ) : (
    <span class="muted">Optional</span>
  )

export const inWords = ({ registry }: At, name: string) => registry.permissions[name as Permission]?.words ?? name

function Permissions({ of: r }: { of: Role }) {
  const at = useAt()
  if (r.isOwner) return <span title="Including those that later versions add">All permissions</span>
  if (r.permissions.length === 0) return 'Nothing'
  return (
    <details class="row" id={`may-${r.id}`}>
      <summary>
        {count(r.permissions.length, 'permission')}
        <span class="sr"> of {r.name}</span>
      </summary>
      <ul class="will">
        {r.permissions.map((name) => (
          <li>{inWords(at, name)}</li>
        ))}
      </ul>
    </details>
  )
}

/** Offers the reader's own permissions: nobody can give more. */
function RoleFields({ scope, of: role }: { scope: string; of?: Role }) {
  const at = useAt()
  return (
    <>
      <Field scope={scope} name="name" label="Name" required value={role?.name} />
      {!role?.isOwner && (
        <Checks
          scope={scope}
          name="permissions"
          label="Permissions"
          values={role?.permissions ?? []}
          options={[...at.actor.permissions].map((value) => ({ value, label: inWords(at, value) }))}
        />
      )}
      {!role?.isOwner && (
        <Check
          scope={scope}
          name="secondFactor"
          label="Requires a second factor"
          checked={role?.secondFactor ?? false}
          hint={
            'Members without a second factor can only set one up. Their API tokens keep working. No longer requiring ' +
            'it takes effect after 24 hours, or when another owner confirms it under Settings.'
          }
        />
      )}
    </>
  )
}

const AddRole = () => (
  <Action
    op={createRole}
    label="Add role"
    icon="plus"
    tone="pri"
    wide
    done="{name} is added"
    fields={<RoleFields scope="role" />}
  />
)

function RoleMenu({ of: r }: { of: Role }) {
  const { actor } = useAt()
  const exceeds = r.permissions.some((name) => !actor.permissions.has(name as Permission))
  return (
    <Menu label={`Actions for ${r.name}`} small>
      <EditEntry
        op={changeRole}
        of={r}
        label="Edit"
        icon="pencil"
        done="Saved. It applies at once"
        wide
        disabledReason={exceeds && 'It has more permissions than your own role.'}
        fields={<RoleFields scope={`edit-${r.id}`} of={r} />}
      />
      {r.isOwner && <OwnersFactor of={r} />}
      <RemoveRole of={r} />
    </Menu>
  )
}

/** Owners have a second factor unless one of them decides otherwise, and all of them are told. */
const OwnersFactor = ({ of: r }: { of: Role }) =>
  r.secondFactor ? (
    <Action
      op={changeRole}
      params={{ id: r.id }}
      body={{ secondFactor: false }}
      label="Stop requiring a second factor"
      inMenu
      tone="bad"
      part="factor"
      title="Stop requiring a second factor of owners?"
      done="It takes effect in 24 hours, or when another owner confirms it under Settings"
      confirm={{
        keep: 'Keep requiring it',
        consequences: [
          "An owner's password alone then opens everything: every server, every customer, and these settings.",
          'All owners are told by e-mail. It takes effect after 24 hours, or when another owner confirms it.',
        ],
      }}
    />
  ) : (
    <Action
      op={changeRole}
      params={{ id: r.id }}
      body={{ secondFactor: true }}
      label="Require a second factor"
      inMenu
      part="factor"
      title="Require a second factor of owners?"
      done="Owners must have a second factor"
      confirm={{
        consequences: [
          'Owners without one have seven days from when they became an owner. After that they can only set one up.',
          'Their API tokens keep working. All owners are told by e-mail.',
        ],
      }}
    />
  )

const inUse = (r: Role) =>
  r.isOwner
    ? 'The role Owner cannot be removed: there must always be an owner.'
    : r.staff > 0 && `${count(r.staff, 'member')} of staff ${r.staff === 1 ? 'has' : 'have'} it.`

const RemoveRole = ({ of: r }: { of: Role }) => (
  <RemoveEntry
    op={removeRole}
    of={r}
    done="Removed"
    disabledReason={inUse(r)}
    keep="Keep role"
    consequences={['No member has it. You can create it again.']}
  />
)
