import { feature } from '../../../kernel/feature.ts'
import { changeRole, createRole, listRoles, removeRole } from './roles.ts'
import { changeStaff, createStaff, disableStaff, enableStaff, listStaff } from './staff.ts'

const errors = {
  staff_not_found: { status: 404, when: 'There is no such member of staff.', remedy: 'Check the id.' },
  role_not_found: { status: 404, when: 'There is no such role.', remedy: 'Check the id.' },
  last_owner: {
    status: 409,
    when: 'It would leave nobody who may manage staff.',
    remedy: 'Make somebody else an owner first.',
  },
} as const
type Errors = typeof errors

const ids = {
  role: { prefix: 'role' },
} as const
type Ids = typeof ids
declare module '../../../kernel/register.ts' {
  interface IdKinds extends Ids {}
  interface ErrorCodes extends Errors {}
}

export const staffFeature = feature({
  name: 'staff',
  ids,
  errors,
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
