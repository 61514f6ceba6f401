import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const audit = sqliteTable('audit', {
  id: text().primaryKey(),
  at: integer().notNull(),
  actorId: text('actor_id').notNull(),
  actorName: text('actor_name').notNull(),
  via: text().notNull(),
  operation: text().notNull(),
  target: text(),
  from: text('from_address').notNull(),
  requestId: text('request_id').notNull(),
  result: text().notNull(),
  details: text({ mode: 'json' }),
  /** Fields with their values before and after. */
  changes: text({ mode: 'json' }),
  /** The job that it started. */
  jobId: text('job_id'),
  /** Its place in the chain, and the hash over it and the line before. */
  seq: integer(),
  hash: text(),
})

/** How many lines there are of each operation and result; kept by a trigger. */
export const auditCounts = sqliteTable(
  'audit_counts',
  { operation: text().notNull(), result: text().notNull(), lines: integer().notNull() },
  (c) => [primaryKey({ columns: [c.operation, c.result] })],
)
