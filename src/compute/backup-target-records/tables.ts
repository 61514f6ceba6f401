import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { BackupTargetKind, BackupTestResult } from '../../../agent/protocol/backup.ts'

export const backupTargets = sqliteTable('backup_targets', {
  id: text().primaryKey(),
  name: text().notNull(),
  kind: text().$type<BackupTargetKind>().notNull(),
  address: text().notNull(),
  /** Empty where the kind has none, as `trust` is. */
  login: text().notNull(),
  encryptedSecret: text('encrypted_secret'),
  trust: text().notNull(),
  /** Of the repository that tests use. */
  encryptedPassword: text('encrypted_password').notNull(),
  /** Backups that no plan makes go to it. At most one target is. */
  isDefault: integer('is_default', { mode: 'boolean' }).notNull().default(false),
  /** Its removal, with the backups in it, waits for a second person. */
  removalHeld: integer('removal_held', { mode: 'boolean' }).notNull().default(false),
  /** A node without a login of its own does not reach it. */
  ownLoginsOnly: integer('own_logins_only', { mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
  changedAt: integer('changed_at').notNull(),
  /** The last test; all of it null before the first, and after a change. */
  testJobId: text('test_job_id'),
  testNodeId: text('test_node_id'),
  testStartedAt: integer('test_started_at'),
  /** Null while it runs. */
  testedAt: integer('tested_at'),
  testFinding: text('test_finding').$type<Finding>(),
  testDetail: text('test_detail'),
  testSeconds: real('test_seconds'),
  appendOnly: text('append_only').$type<BackupTestResult['appendOnly']>(),
})
export type BackupTarget = typeof backupTargets.$inferSelect

/** The login that a node alone has at a target, in place of the one that the nodes share. */
export const backupTargetLogins = sqliteTable('backup_target_logins', {
  id: text().primaryKey(),
  targetId: text('target_id').notNull(),
  nodeId: text('node_id').notNull(),
  login: text().notNull(),
  encryptedSecret: text('encrypted_secret').notNull(),
  changedAt: integer('changed_at').notNull(),
})
export type NodeLogin = typeof backupTargetLogins.$inferSelect

/** `not_tested`: the job of the test failed, so nothing is known of the target. */
export type Finding = BackupTestResult['finding'] | 'not_tested'
