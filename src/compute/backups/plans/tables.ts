import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { columnsOf } from '../../../kernel/fields/field-list.ts'
import { planFields } from './fields.ts'

export const backupPlans = sqliteTable('backup_plans', {
  id: text().primaryKey(),
  ...columnsOf(planFields),
  archived: integer({ mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
  /** The last restore drill of one of its backups, and the last that worked: the backups may be gone since. */
  drilledAt: integer('drilled_at'),
  provenAt: integer('proven_at'),
})
export type BackupPlan = typeof backupPlans.$inferSelect

/** The servers that are on a plan. */
export const serverBackupPlans = sqliteTable('server_backup_plans', {
  serverId: text('server_id').primaryKey(),
  planId: text('plan_id').notNull(),
  assignedAt: integer('assigned_at').notNull(),
  /** When its next backup begins; null: to be worked out, because the plan has changed. */
  dueAt: integer('due_at'),
  /** Until when a backup that could not begin is tried again; null: none was refused. */
  triesUntil: integer('tries_until'),
  lastBackupId: text('last_backup_id'),
  /** The last backup after which old ones were chosen to go. */
  retainedBackupId: text('retained_backup_id'),
})
export type ServerBackupPlan = typeof serverBackupPlans.$inferSelect
