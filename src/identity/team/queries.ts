import { type Db, prepared } from '../../kernel/db/open.ts'
import type { Role } from './share.ts'

// Raw and prepared: each call about a workload that is not the actor's own runs the first.
const statements = prepared(({ $client }) => ({
  roles: $client.prepare<{ role: Role }, [string, string, string]>(
    'SELECT role FROM team_members WHERE member_id = ? AND owner_id = ? AND (workload_id IS NULL OR workload_id = ?)',
  ),
  any: $client.prepare<unknown, [string]>('SELECT 1 FROM team_members WHERE member_id = ? LIMIT 1'),
}))

/** The roles that its owner gave the account on the workload: on it alone, or on all. */
export const rolesOn = (tx: Db, accountId: string, workload: { id: string; ownerId: string }): Role[] =>
  statements(tx)
    .roles.all(accountId, workload.ownerId, workload.id)
    .map(({ role }) => role)

/** Does anybody share workloads with this account? Most share with nobody, and their lists ask nothing more. */
export const isMember = (tx: Db, accountId: string): boolean => statements(tx).any.get(accountId) !== null

/**
 * SQL text by the same rule as `rolesOn`: `FROM` and `JOIN` of the workloads that are shared with an account. `join`
 * joins them under an alias on a condition; one parameter, the account.
 */
export const fromShared = (as: string, join: (condition: string) => string) =>
  `FROM team_members m ${join(`${as}.owner_id = m.owner_id AND (m.workload_id IS NULL OR m.workload_id = ${as}.id)`)}
   WHERE m.member_id = ?`
