import { and, eq, inArray, isNull } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { ownRow, rowBy } from '../../kernel/db/rows.ts'
import { type Role, roleNames } from './role.ts'
import { type TeamMember, teamMembers } from './tables.ts'

/** The entry of this id in the account's own team. */
export const ownMember = ownRow(teamMembers, teamMembers.ownerId)
/** The entry of this id by which somebody shares with the account. */
export const ownMembership = ownRow(teamMembers, teamMembers.memberId)
/** The invitation whose link has this hash; undefined once it is used. */
export const memberByTokenHash = rowBy(teamMembers, teamMembers.tokenHash)

/** A page of the account's team and invitations, newest first. */
export const pageOfTeam = <Shown>(call: ReadContext, ownerId: string, show: (member: TeamMember) => Shown) =>
  newest({ call, name: 'team', table: teamMembers, where: eq(teamMembers.ownerId, ownerId), show })
/** A page of what others share with the account, newest first. */
export const pageOfMemberships = <Shown>(call: ReadContext, memberId: string, show: (member: TeamMember) => Shown) =>
  newest({ call, name: 'memberships', table: teamMembers, where: eq(teamMembers.memberId, memberId), show })

/** Throws a unique violation when the address is in the team for this workload, or for all. */
export const insertMember = (tx: Tx, row: typeof teamMembers.$inferInsert): TeamMember =>
  tx.insert(teamMembers).values(row).returning().get()
/** Throws a unique violation when the account is a member for this workload, or for all. */
export const updateMember = (tx: Tx, row: TeamMember, given: Partial<TeamMember>): TeamMember =>
  patched(tx, teamMembers, row, given)
export const deleteMember = (tx: Tx, id: string) => void tx.delete(teamMembers).where(eq(teamMembers.id, id)).run()

// Raw and prepared: each call about a workload that is not the actor's own runs the first.
const statements = prepared(({ $client }) => ({
  roles: $client.prepare<{ role: Role }, [string, string, string]>(
    'SELECT role FROM team_members WHERE member_id = ? AND owner_id = ? AND (workload_id IS NULL OR workload_id = ?)',
  ),
  others: $client.prepare<{ n: number }, [string, string]>(
    'SELECT count(DISTINCT email) AS n FROM team_members WHERE owner_id = ? AND email <> ?',
  ),
  any: $client.prepare<unknown, [string]>('SELECT 1 FROM team_members WHERE member_id = ? LIMIT 1'),
}))

/** The roles that its owner gave the account on the workload: on it alone, or on all. */
export const rolesOn = (tx: Db, accountId: string, workload: { id: string; ownerId: string }): Role[] =>
  statements(tx)
    .roles.all(accountId, workload.ownerId, workload.id)
    .map(({ role }) => role)

/** The strongest role that its owner gave this account on the workload; undefined when none. */
export function roleOn(tx: Db, accountId: string, workload: { id: string; ownerId: string }): Role | undefined {
  const given = rolesOn(tx, accountId, workload)
  return given.length ? roleNames.findLast((name) => given.includes(name)) : undefined
}

/** The strongest role that an owner gave this account on all of its workloads; undefined when none. */
export const accountRole = (tx: Db, accountId: string, ownerId: string): Role | undefined =>
  roleOn(tx, accountId, { id: '', ownerId })
/** The owners who gave this account one of these roles on all of their workloads. */
export const ownersWith = (tx: Db, accountId: string, roles: readonly Role[]): string[] =>
  tx
    .select({ id: teamMembers.ownerId })
    .from(teamMembers)
    .where(
      and(eq(teamMembers.memberId, accountId), isNull(teamMembers.workloadId), inArray(teamMembers.role, [...roles])),
    )
    .all()
    .map(({ id }) => id)

/** How many people besides this address are in the account's team; who has several workloads counts once. */
export const countOthers = (tx: Db, ownerId: string, email: string): number =>
  statements(tx).others.get(ownerId, email)!.n

/** Does anybody share workloads with this account? Most share with nobody, and their lists ask nothing more. */
export const isMember = (tx: Db, accountId: string): boolean => statements(tx).any.get(accountId) !== null

/**
 * SQL text by the same rule as `rolesOn`: `JOIN` and `WHERE` that leave of the workloads `as` those that are shared
 * with an account; one parameter, the account.
 */
export const joinShared = (as: string) =>
  `JOIN team_members m ON ${as}.owner_id = m.owner_id AND (m.workload_id IS NULL OR m.workload_id = ${as}.id)
   WHERE m.member_id = ?`
