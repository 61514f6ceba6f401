import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { ExpiringRows } from '../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { trafficDays, trafficHours, trafficMeters } from './tables.ts'

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

// ---------------------------------------------------------------- allowances
const ofAllowance = prepared(({ $client }) => ({
  added: $client.prepare<{ gb: number }, [string, string]>(
    'SELECT coalesce(sum(gb), 0) AS gb FROM traffic_top_ups WHERE workload_id = ? AND month = ?',
  ),
  add: $client.prepare('INSERT INTO traffic_top_ups (workload_id, month, gb, at) VALUES (?, ?, ?, ?)'),
  mark: $client.prepare('INSERT INTO traffic_marks VALUES (?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING'),
  unmark: $client.prepare('DELETE FROM traffic_marks WHERE workload_id = ? AND month = ? AND percent > ?'),
  untold: $client.prepare<Mark, [number]>(
    `SELECT workload_id AS workloadId, month, max(percent) AS percent FROM traffic_marks WHERE told_at IS NULL
     GROUP BY workload_id, month LIMIT ?`,
  ),
  told: $client.prepare('UPDATE traffic_marks SET told_at = ? WHERE workload_id = ? AND month = ? AND told_at IS NULL'),
  suspend: $client.prepare('INSERT INTO traffic_suspensions VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
  release: $client.prepare('DELETE FROM traffic_suspensions WHERE workload_id = ?'),
  isSuspended: $client.prepare<{ one: 1 }, [string]>('SELECT 1 AS one FROM traffic_suspensions WHERE workload_id = ?'),
  past: $client.prepare<{ workloadId: string }, [string, number]>(
    'SELECT workload_id AS workloadId FROM traffic_suspensions WHERE month < ? LIMIT ?',
  ),
}))

/** Traffic that was bought for a month, e.g. `2026-11`. */
export const addedGb = (tx: Db, id: string, month: string): number => ofAllowance(tx).added.get(id, month)!.gb
export const addGb = (tx: Tx, id: string, month: string, gb: number, now: number) =>
  void ofAllowance(tx).add.run(id, month, gb, now)

/** A share of the allowance that a server has reached, in percent. */
export type Mark = { workloadId: string; month: string; percent: number }
/** Notes that a share is reached; one that is noted stays as it is. */
export const markReached = (tx: Tx, { workloadId, month, percent }: Mark, now: number) =>
  void ofAllowance(tx).mark.run(workloadId, month, percent, now)
/** Forgets the shares above this one: they can be reached again. */
export const unmarkAbove = (tx: Tx, { workloadId, month, percent }: Mark) =>
  void ofAllowance(tx).unmark.run(workloadId, month, percent)
/** The highest share of each server of which its owner was not notified. */
export const untoldMarks = (tx: Db, most: number): Mark[] => ofAllowance(tx).untold.all(most)
export const markTold = (tx: Tx, { workloadId, month }: Mark, now: number) =>
  void ofAllowance(tx).told.run(now, workloadId, month)

export const noteTrafficSuspension = (tx: Tx, id: string, month: string, now: number) =>
  void ofAllowance(tx).suspend.run(id, month, now)
/** From now on it is suspended for another reason, or not at all. False: it was not suspended for its traffic. */
export const endTrafficSuspension = (tx: Tx, id: string): boolean => ofAllowance(tx).release.run(id).changes > 0
export const isSuspendedForTraffic = (tx: Db, id: string): boolean => ofAllowance(tx).isSuspended.get(id) !== null
/** Servers that are still suspended for the traffic of a month before this one. */
export const suspendedBefore = (tx: Db, month: string, most: number): string[] =>
  ofAllowance(tx)
    .past.all(month, most)
    .map(({ workloadId }) => workloadId)

// ---------------------------------------------------------------- all workloads together
// Each query is of one hour or one day: who asks for a month rests between them.
type Bytes = Pick<Sums, 'rxBytes' | 'txBytes'>
export type OfWorkload = Bytes & { workloadId: string }

const ofAll = prepared(({ $client }) => ({
  add: $client.prepare(
    `INSERT INTO traffic_hours VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (hour, workload_id, node_id) DO UPDATE
     SET rx_bytes = rx_bytes + ?4, tx_bytes = tx_bytes + ?5`,
  ),
  hour: $client.prepare<OfWorkload, [number]>(
    `SELECT workload_id AS workloadId, sum(rx_bytes) AS rxBytes, sum(tx_bytes) AS txBytes FROM traffic_hours
     WHERE hour = ? GROUP BY workload_id`,
  ),
  hourOn: $client.prepare<OfWorkload, [number, string]>(
    `SELECT workload_id AS workloadId, rx_bytes AS rxBytes, tx_bytes AS txBytes FROM traffic_hours
     WHERE hour = ? AND node_id = ?`,
  ),
  day: $client.prepare<OfWorkload, [number]>(
    `SELECT workload_id AS workloadId, sum(rx_bytes) AS rxBytes, sum(tx_bytes) AS txBytes FROM traffic_days
     WHERE day = ? GROUP BY workload_id`,
  ),
  dayOn: $client.prepare<OfWorkload, [number, string]>(
    `SELECT workload_id AS workloadId, sum(rx_bytes) AS rxBytes, sum(tx_bytes) AS txBytes FROM traffic_meters
     WHERE day = ? AND node_id = ? GROUP BY workload_id`,
  ),
}))

/** Adds traffic to the hour (since 1970) in which it was reported. */
export const addToHour = (tx: Tx, of: { hour: number; workloadId: string; nodeId: string }, sums: Bytes) =>
  void ofAll(tx).add.run(of.hour, of.workloadId, of.nodeId, sums.rxBytes, sums.txBytes)

/** The traffic of each workload in an hour or a day since 1970, on one node or on all. */
export function trafficOfAll(tx: Db, unit: 'hour' | 'day', at: number, nodeId: string | undefined): OfWorkload[] {
  const { hour, hourOn, day, dayOn } = ofAll(tx)
  if (nodeId === undefined) return (unit === 'hour' ? hour : day).all(at)
  return (unit === 'hour' ? hourOn : dayOn).all(at, nodeId)
}

const HOUR_MS = 3_600_000
export const HOURS_KEPT = 72
export const expiringHours: ExpiringRows = {
  table: trafficHours,
  deleteExpired: (tx, now, most) =>
    tx.$client
      .query(
        `DELETE FROM traffic_hours WHERE (hour, workload_id, node_id) IN (
           SELECT hour, workload_id, node_id FROM traffic_hours WHERE hour < ? LIMIT ?)`,
      )
      .run(Math.floor(now / HOUR_MS) - HOURS_KEPT, most).changes,
}
