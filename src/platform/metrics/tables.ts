import { blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Points of a workload or of a node over a span of time, packed (blocks.ts). */
export const metricBlocks = sqliteTable(
  'metric_blocks',
  {
    tier: integer().notNull(),
    block: integer().notNull(),
    /** A workload or a node. */
    subjectId: text('subject_id').notNull(),
    data: blob({ mode: 'buffer' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.tier, t.block, t.subjectId] })],
)
