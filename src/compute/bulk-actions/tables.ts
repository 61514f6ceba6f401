import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { NotedActor } from '../../identity/team/audit-actor.ts'

export const bulkStates = ['running', 'cancelling', 'cancelled', 'done'] as const
/** An action for many workloads of one kind. Times in ms. */
export const bulkActions = sqliteTable('bulk_actions', {
  id: text().primaryKey(),
  kind: text().notNull(),
  action: text().notNull(),
  body: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
  state: text({ enum: bulkStates }).notNull(),
  /** The parent of the jobs of its workloads. */
  jobId: text('job_id').notNull(),
  startedBy: text('started_by', { mode: 'json' }).$type<NotedActor>().notNull(),
  /** Of the call that started it, for the lines of the audit log. */
  fromAddress: text('from_address').notNull(),
  requestId: text('request_id').notNull(),
  createdAt: integer('created_at').notNull(),
  finishedAt: integer('finished_at'),
})
export type BulkAction = typeof bulkActions.$inferSelect

/** `refused`: nothing was done, for the reason. `failed`: its job failed. `cancelled`: it had not begun. */
export const bulkWorkloadStates = ['waiting', 'running', 'done', 'failed', 'refused', 'cancelled'] as const
export type BulkWorkloadState = (typeof bulkWorkloadStates)[number]
export const bulkActionWorkloads = sqliteTable(
  'bulk_action_workloads',
  {
    bulkActionId: text('bulk_action_id').notNull(),
    position: integer().notNull(),
    workloadId: text('workload_id').notNull(),
    /** The name that it had then. */
    name: text().notNull(),
    state: text({ enum: bulkWorkloadStates }).notNull(),
    jobId: text('job_id'),
    /** Why it was refused, failed or waits. */
    code: text(),
    reason: text(),
    notBefore: integer('not_before').notNull().default(0),
    tries: integer().notNull().default(0),
    endedAt: integer('ended_at'),
  },
  (t) => [primaryKey({ columns: [t.bulkActionId, t.position] })],
)
export type BulkWorkload = typeof bulkActionWorkloads.$inferSelect
