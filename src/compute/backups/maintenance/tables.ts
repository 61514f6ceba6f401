import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { BackupCheckResult } from '../../../../agent/protocol/backup.ts'

/**
 * The repository of each account in each target; in folders on nodes, that on each node. A trigger adds it with the
 * first backup (0050_backup_folders.sql).
 */
export const backupRepositories = sqliteTable(
  'backup_repositories',
  {
    targetId: text('target_id').notNull(),
    ownerId: text('owner_id').notNull(),
    /** The node in whose folder it lies; empty in a target that all nodes share. */
    folderNodeId: text('folder_node_id').notNull().default(''),
    /** The last job that checked or tidied it. */
    jobId: text('job_id'),
    /** The part of its data that is read next, from 1 on. */
    nextPart: integer('next_part').notNull().default(1),
    /** When reading its parts began; backups from before are proven when the last part was read. */
    roundBeganAt: integer('round_began_at').notNull(),
    checkedAt: integer('checked_at'),
    finding: text().$type<BackupCheckResult['finding']>(),
    detail: text(),
    /** When damage was found that is still there. */
    damagedAt: integer('damaged_at'),
    checkDueAt: integer('check_due_at').notNull(),
    pruneDueAt: integer('prune_due_at').notNull(),
    prunedAt: integer('pruned_at'),
    freedBytes: integer('freed_bytes'),
  },
  (t) => [primaryKey({ columns: [t.targetId, t.ownerId, t.folderNodeId] })],
)
export type BackupRepository = typeof backupRepositories.$inferSelect
