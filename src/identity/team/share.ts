// What an owner's word opens to others: the roles, and who has which on a server. Asked on every call, so what is taken back is
// gone at the next one.
import { Type as t } from 'typebox'
import type { Scope } from '../../kernel/api/access.ts'
import { type Db, prepared } from '../../kernel/db/open.ts'

/** From the least to the most; each holds what the ones before it hold. */
export const roles = {
  view: { words: 'See state, addresses and jobs.', opens: ['servers:read'] },
  operate: {
    words: 'See state, addresses and jobs; start, shut down and restart.',
    opens: ['servers:read', 'servers:power'],
  },
  manage: {
    words:
      'See state, addresses and jobs; start, shut down and restart; reinstall, and change settings and the root password.',
    opens: ['servers:read', 'servers:power', 'servers:reinstall', 'servers:settings'],
  },
} as const satisfies Record<string, { words: string; opens: readonly Scope[] }>
export type Role = keyof typeof roles
export const roleNames = Object.keys(roles) as Role[]
export const role = t.Enum(roleNames)

const opened = new Map<Role, ReadonlySet<Scope>>(roleNames.map((name) => [name, new Set(roles[name].opens)]))
/** The scopes that a role opens on what it is for. */
export const opens = (role: Role): ReadonlySet<Scope> => opened.get(role)!

const statements = prepared(({ $client }) => ({
  on: $client.prepare<{ role: Role }, [string, string, string]>(
    'SELECT role FROM team_members WHERE member_id = ? AND owner_id = ? AND (workload_id IS NULL OR workload_id = ?)',
  ),
  any: $client.prepare<{ found: 1 }, [string]>('SELECT 1 AS found FROM team_members WHERE member_id = ? LIMIT 1'),
}))

/** The strongest role that its owner gave this account on the workload; undefined when none. */
export function roleOn(tx: Db, accountId: string, workload: { id: string; ownerId: string }): Role | undefined {
  const held = statements(tx).on.all(accountId, workload.ownerId, workload.id)
  return held.length ? roleNames.findLast((name) => held.some(({ role }) => role === name)) : undefined
}

/** Does anybody share workloads with this account? Most share with nobody, and their lists ask nothing more. */
export const isMember = (tx: Db, accountId: string): boolean => statements(tx).any.get(accountId) !== null

/** The same rule as `roleOn`, as ids of workloads; one parameter, the account. */
export const sharedIds =
  'SELECT w.id FROM team_members m JOIN workloads w ON w.owner_id = m.owner_id AND (m.workload_id IS NULL OR m.workload_id = w.id) WHERE m.member_id = ?'
