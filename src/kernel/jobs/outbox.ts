// Queued in the transaction that made it true: no event without the fact, no fact without the event.
import { lt } from 'drizzle-orm'
import type { Static, TSchema } from 'typebox'
import { day } from '../db/clock.ts'
import { expiring } from '../db/expiring.ts'
import { newId } from '../db/ids.ts'
import { type Db, prepared, type Tx } from '../db/open.ts'
import { inserting } from '../db/rows.ts'
import type { EventTypes } from '../register.ts'
import type { Subject } from './saga.ts'
import { events } from './tables.ts'

/** The accounts that may hear of an event; staff hear of every event. */
export type EventAudience = 'staff only' | 'resellers' | 'resellers and customers'
export type EventDeclaration<D extends TSchema = TSchema> = { audience: EventAudience; words: string; data: D }

/** Declares one event of a feature: its audience, what has happened in words, and the schema of its data. */
export const event = <D extends TSchema>(audience: EventAudience, words: string, data: D): EventDeclaration<D> => ({
  audience,
  words,
  data,
})

export type EventName = keyof EventTypes
export type EventData<N extends EventName> = EventTypes[N] extends EventDeclaration<infer D> ? Static<D> : never
/** The thing that it happened to, and the accounts that may hear of it as far as its audience says. */
export type Concerning = { subject: Subject; customerId: string | null; resellerId: string | null }

const insert = inserting(events)

/** Queues an event in the caller's transaction. */
export const emit = <N extends EventName>(
  tx: Tx,
  now: number,
  type: N,
  { subject, ...accounts }: Concerning,
  data: EventData<N>,
) =>
  insert(tx, {
    id: newId('evt'),
    type,
    createdAt: now,
    subjectType: subject.type,
    subjectId: subject.id,
    ...accounts,
    data,
  })

export type StoredEvent = {
  seq: number
  id: string
  type: string
  createdAt: number
  subjectType: string | null
  subjectId: string | null
  customerId: string | null
  resellerId: string | null
  /** JSON text, as it was written. */
  data: string
}
const statements = prepared(({ $client }) => ({
  after: $client.prepare<StoredEvent, [number, number]>(
    `SELECT seq, id, type, created_at AS createdAt, subject_type AS subjectType, subject_id AS subjectId,
       customer_id AS customerId, reseller_id AS resellerId, data
     FROM events WHERE seq > ? ORDER BY seq LIMIT ?`,
  ),
  last: $client.prepare<{ seq: number }, []>('SELECT coalesce(max(seq), 0) AS seq FROM events'),
}))
/** Events in the order in which they happened, from behind the sequence number `after`. */
export const eventsAfter = (db: Db, after: number, limit: number): StoredEvent[] =>
  statements(db).after.all(after, limit)
/** The sequence number of the newest event; 0 without one. A reader that begins now begins behind it. */
export const lastEvent = (db: Db): number => statements(db).last.get()!.seq

/** How long events are kept, in ms. */
export const EVENTS_KEPT_MS = 90 * day
export const expiredEvents = expiring(events, (now) => lt(events.createdAt, now - EVENTS_KEPT_MS))
