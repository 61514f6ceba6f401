// The log of kinds that have one: their deliveries, newest first, with what was sent and answered in each attempt.
import { and, eq, gte, type SQL } from 'drizzle-orm'
import { newest } from '../api/list.ts'
import type { ReadContext } from '../api/operation.ts'
import { type Db, prepared, type Tx } from '../db/open.ts'
import type { DeliveryKind } from './delivery-kind.ts'
import { deliveries } from './tables.ts'

export type LoggedDelivery = typeof deliveries.$inferSelect
export type LoggedAttempt = { n: number; at: number; record: unknown }

const statements = prepared(({ $client }) => ({
  /** The oldest delivery that the log of a group still shows. */
  first: $client.prepare<{ id: string }, [string, string, number]>(
    `SELECT id FROM deliveries WHERE kind = ? AND lane_group = ? ORDER BY rowid DESC LIMIT 1 OFFSET +?`,
  ),
  attempts: $client.prepare<{ n: number; at: number; record: string }, [string]>(
    'SELECT n, at, record FROM delivery_attempts WHERE delivery_id = ? ORDER BY n',
  ),
  last: $client.prepare<{ n: number; at: number; record: string }, [string]>(
    'SELECT n, at, record FROM delivery_attempts WHERE delivery_id = ? ORDER BY n DESC LIMIT 1',
  ),
  deleteOf: $client.prepare('DELETE FROM deliveries WHERE kind = ? AND recipient = ? AND lane_group IS NOT NULL'),
  deleteLane: $client.prepare('DELETE FROM delivery_lanes WHERE kind = ? AND lane = ?'),
}))

const shown = (db: Db, { kind, groups }: DeliveryKind, group: string): SQL | undefined => {
  const first = statements(db).first.get(kind, group, (groups?.(group).logged ?? 1) - 1)
  return and(
    eq(deliveries.kind, kind),
    eq(deliveries.laneGroup, group),
    first ? gte(deliveries.id, first.id) : undefined,
  )
}

type Of = { kind: DeliveryKind; group: string; recipient: string; state?: LoggedDelivery['state'] | undefined }
/** A page of the deliveries to one recipient of the group, newest first. */
export const pageOfDeliveries = <Shown>(
  call: ReadContext,
  { kind, group, recipient, state }: Of,
  show: (delivery: LoggedDelivery) => Shown,
) =>
  newest({
    call,
    name: `deliveries to ${recipient} ${state ?? ''}`,
    table: deliveries,
    where: and(
      shown(call.tx, kind, group),
      eq(deliveries.recipient, recipient),
      state ? eq(deliveries.state, state) : undefined,
    ),
    show,
  })

/** A delivery that the log of the group shows. */
export const loggedDelivery = (db: Db, kind: DeliveryKind, group: string, id: string): LoggedDelivery | undefined =>
  db
    .select()
    .from(deliveries)
    .where(and(shown(db, kind, group), eq(deliveries.id, id)))
    .get()

const parsed = ({ n, at, record }: { n: number; at: number; record: string }): LoggedAttempt => ({
  n,
  at,
  record: JSON.parse(record),
})
export const attemptsOf = (db: Db, id: string): LoggedAttempt[] => statements(db).attempts.all(id).map(parsed)
export const lastAttemptOf = (db: Db, id: string): LoggedAttempt | undefined => {
  const found = statements(db).last.get(id)
  return found ? parsed(found) : undefined
}

/** Deletes all deliveries to a recipient, also those that wait, and its lane. */
export function deleteDeliveriesTo(tx: Tx, { kind }: DeliveryKind, recipient: string, lane: string) {
  statements(tx).deleteOf.run(kind, recipient)
  statements(tx).deleteLane.run(kind, lane)
}
