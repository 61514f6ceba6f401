// The visibility of events, and their form in the API and in webhooks.
import { Type as t } from 'typebox'
import type { AccountKind } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { described, namedSchema, type Resource, time } from '../../kernel/api/operation.ts'
import { day, iso } from '../../kernel/db/clock.ts'
import { type EventAudience, type EventFilter, eventById, type StoredEvent } from '../../kernel/jobs/outbox.ts'
import type { Registry } from '../../kernel/registry.ts'

/** How long an event can be listed and replayed. */
export const REPLAY_MS = 30 * day

/** The kinds of accounts that receive an event, by its audience. */
const receivers: Record<EventAudience, Record<AccountKind, boolean>> = {
  'staff only': { staff: true, reseller: false, customer: false },
  resellers: { staff: true, reseller: true, customer: false },
  'resellers and customers': { staff: true, reseller: true, customer: true },
}
export const receives = (kind: AccountKind, audience: EventAudience): boolean => receivers[audience][kind]

/** The types of events that an account of this kind can receive. */
export const typesFor = ({ events }: Pick<Registry, 'events'>, kind: AccountKind): string[] =>
  Object.keys(events).filter((type) => receives(kind, events[type]!.audience))

/**
 * The accounts that an event may concern for the viewer to see it: a reseller sees those of its customers and of its
 * own servers. Undefined: staff see all.
 */
export const accountsOf = ({ kind, accountId }: Pick<Actor, 'kind' | 'accountId'>): EventFilter['accounts'] =>
  kind === 'staff'
    ? undefined
    : kind === 'reseller'
      ? { customerId: accountId, resellerId: accountId }
      : { customerId: accountId }

const concerns = (actor: Actor, { customerId, resellerId }: StoredEvent): boolean => {
  const accounts = accountsOf(actor)
  return (
    !accounts ||
    (accounts.customerId !== undefined && accounts.customerId === customerId) ||
    (accounts.resellerId !== undefined && accounts.resellerId === resellerId)
  )
}

/** A stored event, and whether the viewer may see it: its type has an audience in the registry of the panel. */
export const canSee = (registry: Pick<Registry, 'events'>, actor: Actor, found: StoredEvent): boolean => {
  const declared = registry.events[found.type]
  return !!declared && receives(actor.kind, declared.audience) && concerns(actor, found)
}

export const eventResponse = namedSchema('Event', {
  id: t.String(),
  type: described(t.String(), 'The type of the event; `GET /event-types` lists all.'),
  created_at: time,
  data: t.Unsafe<Record<string, unknown>>({
    type: 'object',
    description: 'What the event carries. docs/webhooks.md lists the fields of each type.',
  }),
})

/** The body of a webhook delivery and the answer of the API are the same. */
export const showEvent = (event: Omit<Shown, 'data'> & { data: string }, kind: AccountKind) =>
  eventFor(kind, { ...event, data: JSON.parse(event.data) as Record<string, unknown> })

/** A record of an event without what a billing system calls it. */
const withoutService = (record: unknown): unknown =>
  typeof record === 'object' && record !== null && 'billingServiceId' in record
    ? { ...record, billingServiceId: null }
    : record

type Shown = Pick<StoredEvent, 'id' | 'type' | 'createdAt' | 'resellerId'> & { data: Record<string, unknown> }
/**
 * The event as a kind of account gets it. The identifiers of a reseller's billing system are not for that of the house,
 * which would take them for its own services.
 */
export function eventFor(kind: AccountKind, { id, type, createdAt, resellerId, data }: Shown) {
  const isForeign = kind === 'staff' && resellerId !== null
  return {
    id,
    type,
    created_at: iso(createdAt),
    data: isForeign ? Object.fromEntries(Object.entries(data).map(([name, of]) => [name, withoutService(of)])) : data,
  }
}

/** The events that concern the caller; `getEvent` also holds them against the audience of their type. */
export const eventResource: Resource<StoredEvent> = {
  name: 'event',
  notFound: 'event_not_found',
  find: (tx, actor, id) => {
    const found = eventById(tx, id)
    return found && concerns(actor, found) ? found : undefined
  },
}
