import { and, count, desc, eq, inArray, or, type SQL } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { inserting, rowBy } from '../../kernel/db/rows.ts'
import { asSql, hasWords } from '../../kernel/search/index.ts'
import { oneGroup } from '../../kernel/search/text.ts'
import { type PlacementGroup, placementGroupMembers, placementGroups } from './tables.ts'

export type { PlacementGroup }

/** By the workload. */
export const groupMemberReference = reference(placementGroupMembers, ['groupId', 'workloadId'], 'workloadId')
export const placementGroupReference = reference(placementGroups, ['name', 'ownerId', 'policy', 'hard'])
export const groupById = rowBy(placementGroups, placementGroups.id)

/** A page, newest first; `where` decides who sees which. */
export const pageOfGroups = <Shown>(call: ReadContext, where: SQL | undefined, show: (row: PlacementGroup) => Shown) =>
  newest({ call, name: 'placement-groups', table: placementGroups, where, show })
/** Conditions of a list: of this owner; with this workload. */
export const groupsWhere = (tx: Db, { ownerId, workloadId }: { ownerId?: string; workloadId?: string }) =>
  and(
    ownerId === undefined ? undefined : eq(placementGroups.ownerId, ownerId),
    workloadId === undefined
      ? undefined
      : inArray(
          placementGroups.id,
          tx
            .select({ id: placementGroupMembers.groupId })
            .from(placementGroupMembers)
            .where(eq(placementGroupMembers.workloadId, workloadId)),
        ),
  )
export const countGroups = (tx: Db, ownerId: string): number =>
  tx.select({ n: count() }).from(placementGroups).where(eq(placementGroups.ownerId, ownerId)).get()!.n

/** Throws a unique violation when the owner has one of this name. */
export const insertGroup = (tx: Tx, row: typeof placementGroups.$inferInsert): PlacementGroup =>
  tx.insert(placementGroups).values(row).returning().get()
export const updateGroup = (tx: Tx, row: PlacementGroup, given: Partial<PlacementGroup>) =>
  patched(tx, placementGroups, row, given)
export function deleteGroup(tx: Tx, id: string) {
  tx.delete(placementGroupMembers).where(eq(placementGroupMembers.groupId, id)).run()
  tx.delete(placementGroups).where(eq(placementGroups.id, id)).run()
}

const statements = prepared(({ $client }) => ({
  of: $client.prepare<{ groupId: string }, [string]>(
    'SELECT group_id AS groupId FROM placement_group_members WHERE workload_id = ?',
  ),
  members: $client.prepare<{ n: number }, [string]>(
    'SELECT count(*) AS n FROM placement_group_members WHERE group_id = ?',
  ),
  leave: $client.prepare('DELETE FROM placement_group_members WHERE workload_id = ?'),
}))
/** The group of a workload; undefined: it is in none. */
export function groupOf(tx: Db, workloadId: string): PlacementGroup | undefined {
  const found = statements(tx).of.get(workloadId)
  return found ? (groupById(tx, found.groupId) ?? undefined) : undefined
}
/** Those that can be brought back count too. */
export const countMembers = (tx: Db, groupId: string): number => statements(tx).members.get(groupId)!.n
/** Throws a unique violation where the workload is in a group. */
export const joinGroup = inserting(placementGroupMembers)
/** In none: nothing happens. */
export const leaveGroup = (tx: Tx, workloadId: string) => void statements(tx).leave.run(workloadId)

/** The newest groups that the search finds by their name or id. */
export const searchGroups = (tx: Db, visible: SQL | undefined, text: string, limit: number) =>
  tx
    .select({ id: placementGroups.id, title: placementGroups.name, policy: placementGroups.policy })
    .from(placementGroups)
    .where(
      and(
        visible,
        or(asSql(hasWords(tx, 'placement_group', 'placement_groups.id', text, oneGroup)), eq(placementGroups.id, text)),
      ),
    )
    .orderBy(desc(placementGroups.id))
    .limit(limit)
    .all()

export const placementGroupTarget: AuditTarget = {
  prefix: 'plg',
  name: (id) => placementGroupReference.value('name', id),
}
