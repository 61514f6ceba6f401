import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Traffic that was bought beside the package, for one month. */
export const trafficTopUps = sqliteTable('traffic_top_ups', {
  id: integer().primaryKey(),
  workloadId: text('workload_id').notNull(),
  month: text().notNull(),
  gb: integer().notNull(),
  at: integer().notNull(),
})
/** Shares of its allowance that a server has reached in a month; each is told once. */
export const trafficMarks = sqliteTable(
  'traffic_marks',
  {
    workloadId: text('workload_id').notNull(),
    month: text().notNull(),
    percent: integer().notNull(),
    at: integer().notNull(),
    toldAt: integer('told_at'),
  },
  (t) => [primaryKey({ columns: [t.workloadId, t.month, t.percent] })],
)
/** Servers that are suspended for their traffic alone. */
export const trafficSuspensions = sqliteTable('traffic_suspensions', {
  workloadId: text('workload_id').primaryKey(),
  month: text().notNull(),
  at: integer().notNull(),
})
