import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The last night of the restore drill, one row. */
export const drillNights = sqliteTable('drill_nights', {
  id: integer().primaryKey(),
  begunAt: integer('begun_at'),
  /** When none could begin in a night, and why. */
  skippedAt: integer('skipped_at'),
  skippedWords: text('skipped_words'),
})
export type DrillNight = typeof drillNights.$inferSelect
