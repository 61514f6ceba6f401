import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { ExpiringRows } from '../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { trafficDays, trafficMeters } from './tables.ts'

/** Bytes as seen from the workload, and how many seconds they cover. */
export type Sums = { rxBytes: number; txBytes: number; measuredSeconds: number; estimatedSeconds: number }

const SUMS = `rx_bytes AS rxBytes, tx_bytes AS txBytes, measured_seconds AS measuredSeconds,
  estimated_seconds AS estimatedSeconds`
const statements = prepared(({ $client }) => ({
  reported: $client.prepare<Sums, [string, number, string, string]>(
    `SELECT ${SUMS} FROM traffic_meters WHERE workload_id = ? AND day = ? AND node_id = ? AND meter = ?`,
  ),
  meters: $client.prepare<{ n: number }, [string, number, string]>(
    'SELECT count(*) AS n FROM traffic_meters WHERE workload_id = ? AND day = ? AND node_id = ?',
  ),
  note: $client.prepare(
    `INSERT INTO traffic_meters VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
     ON CONFLICT (workload_id, day, node_id, meter) DO UPDATE
     SET rx_bytes = ?5, tx_bytes = ?6, measured_seconds = ?7, estimated_seconds = ?8`,
  ),
  add: $client.prepare(
    `INSERT INTO traffic_days VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (workload_id, day, owner_id) DO UPDATE
     SET rx_bytes = rx_bytes + ?4, tx_bytes = tx_bytes + ?5, measured_seconds = measured_seconds + ?6,
       estimated_seconds = estimated_seconds + ?7`,
  ),
  measured: $client.prepare<{ seconds: number }, [string, number, string]>(
    'SELECT measured_seconds AS seconds FROM traffic_days WHERE workload_id = ? AND day = ? AND owner_id = ?',
  ),
  total: $client.prepare<Sums, [string, number, number]>(
    `SELECT coalesce(sum(rx_bytes), 0) AS rxBytes, coalesce(sum(tx_bytes), 0) AS txBytes,
      coalesce(sum(measured_seconds), 0) AS measuredSeconds,
      coalesce(sum(estimated_seconds), 0) AS estimatedSeconds
     FROM traffic_days WHERE workload_id = ? AND day >= ? AND day < ?`,
  ),
}))

/** The meter of a node, for one day of a workload. */
export type Meter = { workloadId: string; day: number; nodeId: string; meter: string }
/** The sums that this meter reported last of the day; undefined before its first report. */
export const reportedSums = (tx: Db, { workloadId, day, nodeId, meter }: Meter): Sums | undefined =>
  statements(tx).reported.get(workloadId, day, nodeId, meter) ?? undefined
/** How many meters of the node have reported of the day. */
export const countMeters = (tx: Db, { workloadId, day, nodeId }: Meter): number =>
  statements(tx).meters.get(workloadId, day, nodeId)!.n
const valuesOf = ({ rxBytes, txBytes, measuredSeconds, estimatedSeconds }: Sums) => [
  rxBytes,
  txBytes,
  measuredSeconds,
  estimatedSeconds,
]
export const noteReported = (tx: Tx, { workloadId, day, nodeId, meter }: Meter, sums: Sums) =>
  void statements(tx).note.run(workloadId, day, nodeId, meter, ...valuesOf(sums))
export const addTraffic = (tx: Tx, workloadId: string, day: number, ownerId: string, sums: Sums) =>
  void statements(tx).add.run(workloadId, day, ownerId, ...valuesOf(sums))
/** How many seconds of the day are measured for this owner already. */
export const measuredFor = (tx: Db, workloadId: string, day: number, ownerId: string): number =>
  statements(tx).measured.get(workloadId, day, ownerId)?.seconds ?? 0

/** All traffic of a workload from one day up to, and without, another. */
export const trafficOf = (tx: Db, workloadId: string, fromDay: number, toDay: number): Sums =>
  statements(tx).total.get(workloadId, fromDay, toDay)!

type LineSums = Sums & { workloadId: string; ownerId: string }
/** The traffic of each of these workloads and its owners; none of what was never measured. */
export const trafficByOwner = (tx: Db, workloadIds: readonly string[], fromDay: number, toDay: number): LineSums[] =>
  tx.$client
    .query<LineSums, [string, number, number]>(
      `SELECT workload_id AS workloadId, owner_id AS ownerId, sum(rx_bytes) AS rxBytes, sum(tx_bytes) AS txBytes,
        sum(measured_seconds) AS measuredSeconds, sum(estimated_seconds) AS estimatedSeconds
       FROM traffic_days WHERE workload_id IN (SELECT value FROM json_each(?)) AND day >= ? AND day < ?
       GROUP BY workload_id, owner_id`,
    )
    .all(JSON.stringify(workloadIds), fromDay, toDay)

/** Rows come nearly in the order of their days, so the oldest are at the start of the table: no index is needed. */
const oldest = (table: SQLiteTable, name: string, keptDays: number): ExpiringRows => ({
  table,
  deleteExpired: (tx, now, most) =>
    tx.$client
      .query(
        `DELETE FROM ${name} WHERE rowid IN (SELECT rowid FROM (SELECT rowid, day FROM ${name} ORDER BY rowid LIMIT ?)
         WHERE day < ?)`,
      )
      .run(most, Math.floor(now / 86_400_000) - keptDays).changes,
})
/** A report of an older day is not taken; a bill can be asked about for 400 days. */
export const METER_KEPT_DAYS = 62
const TRAFFIC_KEPT_DAYS = 400
export const expiringTraffic = [
  oldest(trafficMeters, 'traffic_meters', METER_KEPT_DAYS + 2),
  oldest(trafficDays, 'traffic_days', TRAFFIC_KEPT_DAYS),
]
