import { count, eq, isNotNull, lt } from 'drizzle-orm'
import type { TimelineSource } from '../../fleet/workloads/timeline.ts'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { day } from '../../kernel/db/clock.ts'
import { expiring } from '../../kernel/db/expiring.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { alertChanges, alerts } from './tables.ts'

export type Alert = typeof alerts.$inferSelect

export const alertById = rowBy(alerts, alerts.id)
/** A page of the alerts of a server, newest first. */
export const pageOfAlerts = <Shown>(call: ReadContext, workloadId: string, show: (alert: Alert) => Shown) =>
  newest({ call, name: `alerts ${workloadId}`, table: alerts, where: eq(alerts.workloadId, workloadId), show })
export const countAlerts = (tx: Db, workloadId: string): number =>
  tx.select({ n: count() }).from(alerts).where(eq(alerts.workloadId, workloadId)).get()!.n

export const insertAlert = (tx: Tx, row: typeof alerts.$inferInsert): Alert =>
  tx.insert(alerts).values(row).returning().get()
export const changeAlert = (tx: Tx, id: string, given: Partial<Pick<Alert, 'threshold' | 'minutes'>>): Alert =>
  tx.update(alerts).set(given).where(eq(alerts.id, id)).returning().get()!
export const deleteAlert = (tx: Tx, id: string) => void tx.delete(alerts).where(eq(alerts.id, id)).run()
/** Its server was terminated: it fires no more, without a notice. */
export const quietAlert = (tx: Tx, id: string) =>
  void tx.update(alerts).set({ firedAt: null }).where(eq(alerts.id, id)).run()

/** How many fire. */
export const countFiring = (tx: Db): number =>
  tx.select({ n: count() }).from(alerts).where(isNotNull(alerts.firedAt)).get()!.n
/** Every alert, for the watch that holds them in memory. */
export const everyAlert = (tx: Db): Alert[] => tx.select().from(alerts).all()
export const alertsOf = (tx: Db, workloadId: string): Alert[] =>
  tx.select().from(alerts).where(eq(alerts.workloadId, workloadId)).all()

/** Notes that an alert fired or recovered. False: it is gone, or stood so already. */
export function noteChange(tx: Tx, alert: Alert, fired: boolean, at: number, description: string): boolean {
  const before = alertById(tx, alert.id)
  if (!before || (before.firedAt !== null) === fired) return false
  tx.update(alerts)
    .set({ firedAt: fired ? at : null })
    .where(eq(alerts.id, alert.id))
    .run()
  tx.insert(alertChanges)
    .values({ id: newId('alc'), workloadId: alert.workloadId, alertId: alert.id, at, fired, description })
    .run()
  return true
}

const KEPT_MS = 400 * day
export const expiredChanges = expiring(alertChanges, (now) => lt(alertChanges.at, now - KEPT_MS))

export type AlertChange = typeof alertChanges.$inferSelect
const changes = prepared(({ $client }) =>
  $client.prepare<Omit<AlertChange, 'fired'> & { fired: number }, [string, number, number, number]>(
    `SELECT id, workload_id AS workloadId, alert_id AS alertId, at, fired, description FROM alert_changes
     WHERE workload_id = ? AND at >= ? AND at < ? ORDER BY at DESC, id DESC LIMIT ?`,
  ),
)
/** The alerts of a workload that fired or recovered in a span of time, newest first. */
export const timelineOfAlerts: TimelineSource = ({ tx }, workload, { from, to, most }) =>
  changes(tx)
    .all(workload.id, from, to, most)
    .map(({ id, at, fired, description }) => ({
      id,
      at,
      kind: 'alert',
      operation: null,
      action: null,
      title: description,
      who: null,
      from: null,
      result: fired ? 'fired' : 'recovered',
      jobId: null,
    }))
