import type { Right, Rights } from '../../kernel/api/access.ts'
import type { Db } from '../../kernel/db/open.ts'
import { accountById } from './queries.ts'
import { accountsWithRole, allRoles } from './roles/queries.ts'
import { rightsOfRole } from './roles/role.ts'

/**
 * The members of staff who may sign in and have this right, a permission or a scope: those to whom a notice of its
 * matters goes.
 */
export function activeStaffWith(tx: Db, rights: Rights, right: Right) {
  const roles = allRoles(tx).filter((role) => rightsOfRole(rights, role).has(right))
  const ids = new Set(roles.flatMap((role) => accountsWithRole(tx, role.id)))
  return [...ids].flatMap((id) => {
    const account = accountById(tx, id)
    return account && account.disabledAt === null ? [account] : []
  })
}
