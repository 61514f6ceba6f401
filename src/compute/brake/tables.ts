import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * All that the brake counts, as the plural of its name. Deleting a snapshot is not counted: the disk stays as it is,
 * and a job that waits would keep its server from every other change.
 */
export const destructionKinds = {
  terminate: 'terminations',
  give_up_window: 'undelete windows given up',
  reinstall: 'reinstallations',
  restore: 'restores',
  delete_volume: 'deletions of volumes',
  delete_backup: 'deletions of backups',
  forget_backup: 'backups forgotten with their target',
  lose_volume: 'volumes lost with a removed node',
  // Counted, and never held: the machine is gone already, and what is on its disks stays there.
  lose: 'servers of lost nodes',
} as const
export type DestructionKind = keyof typeof destructionKinds
/** A disk beside that of a workload: a volume, or a backup. */
export type DiskKind = 'delete_volume' | 'lose_volume' | 'delete_backup' | 'forget_backup'

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
  /** Where it is shown: what is destroyed, or the server that has or had the disk. */
  workloadId: text('workload_id').notNull(),
  /** The volume or backup; null: it is the workload itself. */
  diskId: text('disk_id'),
  diskName: text('disk_name'),
  diskOwnerId: text('disk_owner_id'),
  /** The held job; null for a termination, whose disk waits. */
  jobId: text('job_id'),
  caseId: text('case_id'),
  /** When it was released or refused. */
  settledAt: integer('settled_at'),
})
export type Destruction = typeof destructions.$inferSelect
