import { primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** `owner`: of the owner and whom the workload is shared with; `staff`: of the provider alone. */
export type LabelSide = 'owner' | 'staff'

export const workloadLabels = sqliteTable(
  'workload_labels',
  {
    workloadId: text('workload_id').notNull(),
    side: text().$type<LabelSide>().notNull(),
    label: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.workloadId, t.side, t.label] })],
)
