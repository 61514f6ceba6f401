import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** `affinity`: its workloads are on one node. `anti_affinity`: each is on a node of its own. */
export const groupPolicies = ['affinity', 'anti_affinity'] as const
export type GroupPolicy = (typeof groupPolicies)[number]

export const placementGroups = sqliteTable('placement_groups', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  resellerId: text('reseller_id'),
  name: text().notNull(),
  policy: text().$type<GroupPolicy>().notNull(),
  /** A node that breaks the rule is refused; otherwise one that keeps it comes first. */
  hard: integer({ mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
})
export type PlacementGroup = typeof placementGroups.$inferSelect

/** Triggers take out a workload that is gone for good or gets another owner. */
export const placementGroupMembers = sqliteTable('placement_group_members', {
  workloadId: text('workload_id').primaryKey(),
  groupId: text('group_id').notNull(),
  createdAt: integer('created_at').notNull(),
})
