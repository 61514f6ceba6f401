import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Bytes as seen from the workload (`rx` is received by it); days are counted since 1970, in UTC. */
const sums = {
  rxBytes: integer('rx_bytes').notNull(),
  txBytes: integer('tx_bytes').notNull(),
  /** How much of the day the sums cover. */
  measuredSeconds: integer('measured_seconds').notNull(),
  /** How much of that nobody counted in: its traffic is spread evenly over it. */
  estimatedSeconds: integer('estimated_seconds').notNull().default(0),
}
/** The sums of a day that a node reported last, by the meter that added them up. */
export const trafficMeters = sqliteTable(
  'traffic_meters',
  {
    workloadId: text('workload_id').notNull(),
    day: integer().notNull(),
    nodeId: text('node_id').notNull(),
    meter: text().notNull(),
    ...sums,
  },
  (t) => [primaryKey({ columns: [t.workloadId, t.day, t.nodeId, t.meter] })],
)
/** The traffic of a day, by the owner to whom it is billed. */
export const trafficDays = sqliteTable(
  'traffic_days',
  { workloadId: text('workload_id').notNull(), day: integer().notNull(), ownerId: text('owner_id').notNull(), ...sums },
  (t) => [primaryKey({ columns: [t.workloadId, t.day, t.ownerId] })],
)

/** The traffic of the last days by the hour in which it was reported; hours since 1970, in UTC. */
export const trafficHours = sqliteTable(
  'traffic_hours',
  {
    hour: integer().notNull(),
    workloadId: text('workload_id').notNull(),
    nodeId: text('node_id').notNull(),
    rxBytes: integer('rx_bytes').notNull(),
    txBytes: integer('tx_bytes').notNull(),
  },
  (t) => [primaryKey({ columns: [t.hour, t.workloadId, t.nodeId] })],
)

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
