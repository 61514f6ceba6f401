import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** A server's disk at its termination, its system, or the data that a restore overwrites. */
export const destructionKinds = ['terminate', 'reinstall', 'restore'] as const
export type DestructionKind = (typeof destructionKinds)[number]

/** The destructions of one account that wait for a second person. One case of an account is open at a time. */
export const brakeCases = sqliteTable('brake_cases', {
  id: text().primaryKey(),
  actorId: text('actor_id').notNull(),
  actorName: text('actor_name').notNull(),
  openedAt: integer('opened_at').notNull(),
  decidedAt: integer('decided_at'),
  decision: text().$type<'released' | 'refused'>(),
  decidedByName: text('decided_by_name'),
})
export type BrakeCase = typeof brakeCases.$inferSelect

/** Every destruction that an account asked for; `caseId`: it is held, or was. */
export const destructions = sqliteTable('destructions', {
  id: integer().primaryKey(),
  actorId: text('actor_id').notNull(),
  at: integer().notNull(),
  kind: text().$type<DestructionKind>().notNull(),
  workloadId: text('workload_id').notNull(),
  /** The held job; null for a termination, whose disk waits. */
  jobId: text('job_id'),
  caseId: text('case_id'),
  /** When it was released or refused. */
  settledAt: integer('settled_at'),
})
export type Destruction = typeof destructions.$inferSelect
