import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'

const statements = prepared(({ $client }) => ({
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
export const addedGb = (tx: Db, id: string, month: string): number => statements(tx).added.get(id, month)!.gb
export const addGb = (tx: Tx, id: string, month: string, gb: number, now: number) =>
  void statements(tx).add.run(id, month, gb, now)

/** A share of the allowance that a server has reached, in percent. */
export type Mark = { workloadId: string; month: string; percent: number }
/** Notes that a share is reached; one that is noted stays as it is. */
export const markReached = (tx: Tx, { workloadId, month, percent }: Mark, now: number) =>
  void statements(tx).mark.run(workloadId, month, percent, now)
/** Forgets the shares above this one: they can be reached again. */
export const unmarkAbove = (tx: Tx, { workloadId, month, percent }: Mark) =>
  void statements(tx).unmark.run(workloadId, month, percent)
/** The highest share of each server of which its owner was not notified. */
export const untoldMarks = (tx: Db, most: number): Mark[] => statements(tx).untold.all(most)
export const markTold = (tx: Tx, { workloadId, month }: Mark, now: number) =>
  void statements(tx).told.run(now, workloadId, month)

export const noteTrafficSuspension = (tx: Tx, id: string, month: string, now: number) =>
  void statements(tx).suspend.run(id, month, now)
/** From now on it is suspended for another reason, or not at all. False: it was not suspended for its traffic. */
export const endTrafficSuspension = (tx: Tx, id: string): boolean => statements(tx).release.run(id).changes > 0
export const isSuspendedForTraffic = (tx: Db, id: string): boolean => statements(tx).isSuspended.get(id) !== null
/** Servers that are still suspended for the traffic of a month before this one. */
export const suspendedBefore = (tx: Db, month: string, most: number): string[] =>
  statements(tx)
    .past.all(month, most)
    .map(({ workloadId }) => workloadId)
