import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Instances that are stopped when their cards were not used for so long. */
export const gpuIdleStops = sqliteTable('gpu_idle_stops', {
  instanceId: text('instance_id').primaryKey(),
  minutes: integer().notNull(),
})
