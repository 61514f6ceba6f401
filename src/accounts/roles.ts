import { eq, sql } from 'drizzle-orm'
import { allPermissions, type Permission } from '../kernel/api/access.ts'
import { newId } from '../kernel/db/ids.ts'
import { type Db, prepared, type Tx } from '../kernel/db/open.ts'
import { type Account, roles } from './tables.ts'

const byId = prepared((db) =>
  db
    .select()
    .from(roles)
    .where(eq(roles.id, sql.placeholder('id')))
    .prepare(),
)

/** What this staff member may do now; an owner everything, also what later versions bring. */
export function permissionsOf(tx: Db, account: Account): readonly Permission[] {
  const role = account.roleId ? byId(tx).get({ id: account.roleId }) : undefined
  return role ? (role.isOwner ? allPermissions : role.permissions) : []
}

/** The role by name; Owner is made when the first owner is. Undefined when there is none of that name. */
export function roleNamed(tx: Tx, name: string) {
  const found = tx.select().from(roles).where(eq(roles.name, name)).get()
  if (found || name !== 'Owner') return found
  return tx
    .insert(roles)
    .values({ id: newId('role'), name, permissions: [], isOwner: true })
    .returning()
    .get()
}
