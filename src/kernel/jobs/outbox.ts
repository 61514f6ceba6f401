// Queued in the transaction that made it true: no event without the fact, no fact without the event.
import { lt } from 'drizzle-orm'
import type { Static, TSchema } from 'typebox'
import { day } from '../db/clock.ts'
import { expiring } from '../db/expiring.ts'
import { newId } from '../db/ids.ts'
import { type Db, prepared, type Tx } from '../db/open.ts'
import { inserting } from '../db/rows.ts'
import type { Declared } from '../register.ts'
import type { EmittedEvent } from './emitted-event.ts'
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

type EventTypes = Declared<'events'>
export type EventName = keyof EventTypes
export type EventData<N extends EventName> = EventTypes[N] extends EventDeclaration<infer D> ? Static<D> : never
/** The thing that it happened to, and the accounts that may hear of it as far as its audience says. */
export type Concerning = { subject: Subject; customerId: string | null; resellerId: string | null }

const insert = inserting(events)

const listeners = prepared((): ((tx: Tx, event: EmittedEvent) => void)[] => [])
/** Calls `work` for each event, in the transaction that emits it: whatever it writes is true if the event is. */
export const onEvent = (db: Db, work: (tx: Tx, event: EmittedEvent) => void) => void listeners(db).push(work)

/** Queues an event in the caller's transaction. */
export function emit<N extends EventName>(
  tx: Tx,
  now: number,
  type: N,
  { subject, ...accounts }: Concerning,
  data: EventData<N>,
) {
  const emitted: EmittedEvent = {
    id: newId('evt'),
    type,
    createdAt: now,
    subjectType: subject.type,
    subjectId: subject.id,
    ...accounts,
    data,
  }
  insert(tx, emitted)
  for (const work of listeners(tx)) work(tx, emitted)
}

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
const columns = `seq, id, type, created_at AS createdAt, subject_type AS subjectType, subject_id AS subjectId,
  customer_id AS customerId, reseller_id AS resellerId, data`
const statements = prepared(({ $client }) => ({
  byId: $client.prepare<StoredEvent, [string]>(`SELECT ${columns} FROM events WHERE id = ?`),
  since: $client.prepare<{ seq: number }, [number]>(
    'SELECT seq FROM events WHERE created_at >= +? ORDER BY created_at, seq LIMIT 1',
  ),
  after: $client.prepare<StoredEvent, [number, number]>(
    `SELECT ${columns} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`,
  ),
  last: $client.prepare<{ seq: number }, []>('SELECT coalesce(max(seq), 0) AS seq FROM events'),
}))
/** Events in the order in which they happened, from behind the sequence number `after`. */
export const eventsAfter = (db: Db, after: number, limit: number): StoredEvent[] =>
  statements(db).after.all(after, limit)
/** The sequence number of the newest event; 0 without one. A reader that begins now begins behind it. */
export const lastEvent = (db: Db): number => statements(db).last.get()!.seq

/** Events that one viewer may see. `accounts` undefined: those of every account. `types` undefined: of every type. */
export type EventFilter = {
  accounts: { customerId?: string; resellerId?: string } | undefined
  types: readonly string[] | undefined
  /** Only events from behind this sequence number. */
  after: number
}
/** One condition for each account, because each has an index of its own and SQLite would sort what an OR finds. */
function conditionsOf({ accounts, types, after }: EventFilter): { sql: string; values: (string | number)[] }[] {
  const [ofType, values] = types
    ? [' AND type IN (SELECT value FROM json_each(+?))', [JSON.stringify(types)]]
    : ['', []]
  const concerned = accounts
    ? ([
        ['customer_id = +? AND ', accounts.customerId],
        ['reseller_id = +? AND ', accounts.resellerId],
      ] as const)
    : ([['', '']] as const)
  return concerned.flatMap(([sql, id]) =>
    id === undefined ? [] : [{ sql: `${sql}seq > +?${ofType}`, values: [...(id ? [id] : []), after, ...values] }],
  )
}
/** A part of the events that fit, in the order in which they happened or, with `newestFirst`, the other way round. */
export function eventsFor(
  db: Db,
  filter: EventFilter,
  { behind, skip, limit, newestFirst }: { behind?: number; skip: number; limit: number; newestFirst: boolean },
): StoredEvent[] {
  const way = newestFirst ? 'DESC' : 'ASC'
  const place = behind === undefined ? '' : ` AND seq ${newestFirst ? '<' : '>'} +?`
  const parts = conditionsOf(filter).map(({ sql, values }) => ({
    sql: `SELECT * FROM (SELECT ${columns} FROM events WHERE ${sql}${place} ORDER BY seq ${way} LIMIT +?)`,
    values: [...values, ...(behind === undefined ? [] : [behind]), skip + limit],
  }))
  return db.$client
    .query<StoredEvent, (string | number)[]>(
      `${parts.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY seq ${way} LIMIT +? OFFSET +?`,
    )
    .all(...parts.flatMap(({ values }) => values), limit, skip)
}
export const countEvents = (db: Db, filter: EventFilter): number =>
  conditionsOf(filter).reduce(
    (sum, { sql, values }) =>
      sum +
      db.$client
        .query<{ n: number }, (string | number)[]>(`SELECT count(*) AS n FROM events WHERE ${sql}`)
        .get(...values)!.n,
    0,
  )
export const eventById = (db: Db, id: string): StoredEvent | undefined => statements(db).byId.get(id) ?? undefined
/** The sequence number before the first event since `since`, in ms. */
export const eventBefore = (db: Db, since: number): number =>
  (statements(db).since.get(since)?.seq ?? lastEvent(db) + 1) - 1

/** How long events are kept, in ms. */
export const EVENTS_KEPT_MS = 90 * day
export const expiredEvents = expiring(events, (now) => lt(events.createdAt, now - EVENTS_KEPT_MS))
