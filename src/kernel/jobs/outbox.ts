// Queued in the transaction that made it true: no event without the fact, no fact without the event.
import type { Static } from 'typebox'
import type { events as registry } from '../../app/events.ts'
import { newId } from '../db/ids.ts'
import type { Tx } from '../db/open.ts'
import { inserting } from '../db/rows.ts'
import { events } from './tables.ts'

export type EventName = keyof typeof registry
export type EventData<N extends EventName> = Static<(typeof registry)[N]['data']>
/** Whose event it is, for those who may hear of it. */
export type Concerning = { customerId: string | null; resellerId: string | null }

const insert = inserting(events)

export const emit = <N extends EventName>(tx: Tx, now: number, type: N, concerning: Concerning, data: EventData<N>) =>
  insert(tx, { id: newId('event'), type, createdAt: now, ...concerning, data })
