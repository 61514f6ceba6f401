import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The last night of the restore drill, one row. */
export const drillNights = sqliteTable('drill_nights', {
  id: integer().primaryKey(),
  begunAt: integer('begun_at'),
  /** When none could begin in a night, and why. */
  skippedAt: integer('skipped_at'),
  skippedWords: text('skipped_words'),
  /** The last restore that worked, on whatever day: its backup may be gone since. `at` in ms. */
  proven: text({ mode: 'json' }).$type<Proven>(),
})
export type Proven = { backupId: string; serverId: string; serverName: string; at: number; seconds: number | null }
export type DrillNight = typeof drillNights.$inferSelect

/** The last drill that failed of each server, also when its backup is deleted since; one that works removes it. */
export const drillFailures = sqliteTable('drill_failures', {
  serverId: text('server_id').primaryKey(),
  serverName: text('server_name').notNull(),
  ownerId: text('owner_id').notNull(),
  backupId: text('backup_id').notNull(),
  jobId: text('job_id').notNull(),
  words: text().notNull(),
  failedAt: integer('failed_at').notNull(),
})
export type DrillFailure = typeof drillFailures.$inferSelect
