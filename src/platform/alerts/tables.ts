import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AlertKind } from './kinds.ts'

/** A threshold of a server, and whether it is exceeded now. */
export const alerts = sqliteTable('alerts', {
  id: text().primaryKey(),
  workloadId: text('workload_id').notNull(),
  kind: text().$type<AlertKind>().notNull(),
  /** In the unit of its kind; null where the kind has none. */
  threshold: integer(),
  minutes: integer().notNull(),
  createdAt: integer('created_at').notNull(),
  /** Since when it fires; null: it does not. */
  firedAt: integer('fired_at'),
})

/** When alerts fired and recovered. */
export const alertChanges = sqliteTable('alert_changes', {
  id: text().primaryKey(),
  workloadId: text('workload_id').notNull(),
  alertId: text('alert_id').notNull(),
  at: integer().notNull(),
  fired: integer({ mode: 'boolean' }).notNull(),
  description: text().notNull(),
})
