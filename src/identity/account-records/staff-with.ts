import type { Permission } from '../../kernel/api/access.ts'
import type { Db } from '../../kernel/db/open.ts'
import { accountById } from './queries.ts'
import { accountsWithRole, allRoles } from './roles/queries.ts'

/** The members of staff who may sign in and have this permission: those to whom a notice of its matters goes. */
export function activeStaffWith(tx: Db, permission: Permission) {
  const roles = allRoles(tx).filter(
    ({ isOwner, permissions }) => isOwner || (permissions as readonly string[]).includes(permission),
  )
  const ids = new Set(roles.flatMap((role) => accountsWithRole(tx, role.id)))
  return [...ids].flatMap((id) => {
    const account = accountById(tx, id)
    return account && account.disabledAt === null ? [account] : []
  })
}
