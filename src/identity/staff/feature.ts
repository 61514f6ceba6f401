import { feature } from '../../kernel/feature.ts'
import { changeRole, createRole, getRole, listRoles, removeRole, roleWeakening } from './roles.ts'
import { changeStaff, createStaff, disableStaff, enableStaff, listStaff } from './staff.ts'

const errors = {
  last_owner: {
    status: 409,
    when: 'It would leave nobody who may manage staff.',
    remedy: 'Make somebody else an owner first.',
  },
} as const

const permissions = {
  'staff.write': { words: 'Manage staff and roles', opens: [] },
  'reports.read': { words: 'Read reports', opens: [] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    staff: { permissions: typeof permissions; errors: typeof errors }
  }
}

export const staffFeature = feature({
  name: 'staff',
  permissions,
  errors,
  weakenings: [roleWeakening],
  operations: [
    createStaff,
    listStaff,
    changeStaff,
    disableStaff,
    enableStaff,
    listRoles,
    getRole,
    createRole,
    changeRole,
    removeRole,
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Platform',
      position: 310,
      name: 'staff',
      title: 'Staff',
      href: '/admin/staff',
      icon: 'customers',
      within: 'settings',
      sees: listStaff,
    },
  ],
  actions: [
    { kinds: ['staff'], position: 100, title: 'Add staff', page: '/admin/staff', dialog: true, does: createStaff },
    { kinds: ['staff'], position: 110, title: 'Roles and permissions', page: '/admin/roles', does: createRole },
  ],
  fixture: async ({ admin }) => ({
    role: (await admin('POST', '/admin/roles', { name: 'Fixture', permissions: ['servers.power'] })).id,
  }),
})
