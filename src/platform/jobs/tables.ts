import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The time at which the provider was notified of a failed job. */
export const failuresTold = sqliteTable('failures_told', {
  jobId: text('job_id').primaryKey(),
  at: integer().notNull(),
})
