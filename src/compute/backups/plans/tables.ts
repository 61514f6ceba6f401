import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Frequency } from './times.ts'

export const backupPlans = sqliteTable('backup_plans', {
  id: text().primaryKey(),
  name: text().notNull(),
  targetId: text('target_id').notNull(),
  every: text().$type<Frequency>().notNull(),
  /** A local time of `timeZone`, as 02:30. */
  startsAt: text('starts_at').notNull(),
  timeZone: text('time_zone').notNull(),
  windowMinutes: integer('window_minutes').notNull(),
  keepLast: integer('keep_last').notNull(),
  keepDaily: integer('keep_daily').notNull(),
  keepWeekly: integer('keep_weekly').notNull(),
  keepMonthly: integer('keep_monthly').notNull(),
  billingProductId: text('billing_product_id'),
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
