import { feature } from '../../../kernel/feature.ts'
import { changeRole, createRole, listRoles, removeRole } from './roles.ts'
import { changeStaff, createStaff, disableStaff, enableStaff, listStaff } from './staff.ts'

export const staffFeature = feature({
  name: 'staff',
  operations: [
    createStaff,
    listStaff,
    changeStaff,
    disableStaff,
    enableStaff,
    listRoles,
    createRole,
    changeRole,
    removeRole,
  ],
})
