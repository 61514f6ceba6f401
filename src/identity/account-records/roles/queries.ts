// Roles, and who has them.
import { count, eq } from 'drizzle-orm'
import { patched } from '../../../kernel/api/named.ts'
import { newId } from '../../../kernel/db/ids.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { rowBy } from '../../../kernel/db/rows.ts'
import { accounts, roles } from '../tables.ts'

export type Role = typeof roles.$inferSelect

export const roleById = rowBy(roles, roles.id)
const byName = rowBy(roles, roles.name)
export const allRoles = (tx: Db): Role[] => tx.select().from(roles).all()
/** The role of this name; `Owner` is inserted when it is asked for first. Undefined when there is none. */
export function roleNamed(tx: Tx, name: string): Role | undefined {
  const found = byName(tx, name)
  return found || name !== 'Owner'
    ? found
    : insertRole(tx, { id: newId('role'), name, permissions: [], isOwner: true, secondFactor: true })
}

/** Throws a unique violation when the name is taken. */
export const insertRole = (tx: Tx, row: typeof roles.$inferInsert): Role =>
  tx.insert(roles).values(row).returning().get()
/** Throws a unique violation when the name is taken. */
export const updateRole = (tx: Tx, row: Role, given: Partial<Role>): Role => patched(tx, roles, row, given)
export const deleteRole = (tx: Tx, id: string) => void tx.delete(roles).where(eq(roles.id, id)).run()

/** The ids of the accounts with this role, disabled ones too. */
export const accountsWithRole = (tx: Db, roleId: string): string[] =>
  tx
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(accounts.roleId, roleId))
    .all()
    .map(({ id }) => id)
/** How many members of staff have the role, disabled ones too. */
export const countStaffWith = (tx: Db, roleId: string): number =>
  tx.select({ n: count() }).from(accounts).where(eq(accounts.roleId, roleId)).get()!.n

const statements = prepared(({ $client }) => ({
  otherOwner: $client.prepare<unknown, [string]>(
    `SELECT 1 FROM accounts a JOIN roles r ON r.id = a.role_id
     WHERE r.is_owner = 1 AND a.disabled_at IS NULL AND a.id <> ? LIMIT 1`,
  ),
  owners: $client.prepare<{ id: string; email: string; name: string }, []>(
    `SELECT a.id, a.email, a.name FROM accounts a JOIN roles r ON r.id = a.role_id
     WHERE r.is_owner = 1 AND a.disabled_at IS NULL ORDER BY a.id`,
  ),
}))
/** Is there an owner besides this account who can sign in? */
export const hasOtherOwner = (tx: Db, accountId: string): boolean => statements(tx).otherOwner.get(accountId) !== null
export const ownersWhoCanSignIn = (tx: Db) => statements(tx).owners.all()
