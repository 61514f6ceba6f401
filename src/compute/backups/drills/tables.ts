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
