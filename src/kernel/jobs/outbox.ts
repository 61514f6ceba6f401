// Queued in the transaction that made it true: no event without the fact, no fact without the event.
import type { Static, TSchema } from 'typebox'
import { newId } from '../db/ids.ts'
import type { Tx } from '../db/open.ts'
import { inserting } from '../db/rows.ts'
import type { EventTypes } from '../register.ts'
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
/** Whose event it is, for those who may hear of it. */
export type Concerning = { customerId: string | null; resellerId: string | null }

const insert = inserting(events)

export const emit = <N extends EventName>(tx: Tx, now: number, type: N, concerning: Concerning, data: EventData<N>) =>
  insert(tx, { id: newId('evt'), type, createdAt: now, ...concerning, data })
