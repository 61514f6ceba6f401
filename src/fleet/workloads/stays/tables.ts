import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * `home`: where it runs, or would run. `arriving`: it is brought there, and is not at home there yet. `leaving`: it was
 * at home there, or did not come after all, and its remains have to be deleted.
 */
export const stayRoles = ['home', 'arriving', 'leaving'] as const
export type StayRole = (typeof stayRoles)[number]

/**
 * The share that a workload holds of a node; triggers add up those of each node and pool. Its cards and ports there are
 * the rows that name both (`gpu_cards`, `gpu_ports`).
 */
export const workloadStays = sqliteTable(
  'workload_stays',
  {
    workloadId: text('workload_id').notNull(),
    nodeId: text('node_id').notNull(),
    role: text().$type<StayRole>().notNull(),
    /** The pool of its disk there. */
    pool: text().notNull(),
    vcpus: integer().notNull(),
    /** 0: given back, as by a terminated one that is stopped. */
    memoryMb: integer('memory_mb').notNull(),
    diskGb: integer('disk_gb').notNull(),
    /** Disk space in addition, while a second disk exists beside the first, and for snapshots. */
    spareDiskGb: integer('spare_disk_gb').notNull().default(0),
    /** The revision of the firewall that is in force there. */
    rules: integer().notNull().default(0),
    /** When it began, in ms. */
    since: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.workloadId, t.nodeId] })],
)
export type Stay = typeof workloadStays.$inferSelect

/** Extra volumes that come to a second node with their server, or wait there for their deletion. */
export const workloadStayVolumes = sqliteTable(
  'workload_stay_volumes',
  {
    workloadId: text('workload_id').notNull(),
    nodeId: text('node_id').notNull(),
    volumeId: text('volume_id').notNull(),
    pool: text().notNull(),
    diskGb: integer('disk_gb').notNull(),
  },
  (t) => [primaryKey({ columns: [t.workloadId, t.nodeId, t.volumeId] })],
)

/** Where a workload was, and when, in ms: its node may still tell of that time, and of no other. */
export const workloadPastStays = sqliteTable(
  'workload_past_stays',
  {
    workloadId: text('workload_id').notNull(),
    nodeId: text('node_id').notNull(),
    since: integer().notNull(),
    until: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.workloadId, t.nodeId, t.since] })],
)
