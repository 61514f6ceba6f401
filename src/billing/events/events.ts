// Lists events: a client that lost its receiver replays them from the last one that it took.
import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page, paginate } from '../../kernel/api/list.ts'
import { described, namedSchema, operation, type ReadContext } from '../../kernel/api/operation.ts'
import { idOf, oneOf, text } from '../../kernel/api/query.ts'
import { day } from '../../kernel/db/clock.ts'
import { countEvents, eventBefore, eventById, eventsFor, type StoredEvent } from '../../kernel/jobs/outbox.ts'
import { accountsOf, canSee, eventResource, eventResponse, REPLAY_MS, receives, showEvent, typesFor } from './model.ts'

const access = everybody('events:read')

/** Throws `invalid_request` for an event that is too old to start from, or that the caller never saw. */
function placeAfter({ tx, actor, registry, clock }: ReadContext, id: string | undefined): number {
  const before = eventBefore(tx, clock() - REPLAY_MS)
  if (id === undefined) return before
  const found = eventById(tx, id)
  if (!found || !canSee(registry, actor, found) || found.seq <= before)
    throw new ApiError(
      'invalid_request',
      `The query parameter after names no event of yours of the last ${REPLAY_MS / day} days. List them without it, ` +
        'and compare what you hold with the API: older events are not listed any more.',
    )
  return found.seq
}

export const listEvents = operation({
  id: 'events.list',
  method: 'GET',
  path: '/events',
  summary: 'Events of the last 30 days that you may receive, in the order in which they happened',
  access,
  query: {
    after: idOf('evt', 'Only events that happened after this one.'),
    type: text('Only events of these types, with commas between them.', 1000),
    sort: oneOf(['created_at', '-created_at'], 'In the order in which they happened, or the newest first.'),
  },
  response: page(eventResponse),
  run(call) {
    const { tx, actor, registry, query } = call
    const mine = typesFor(registry, actor.kind)
    const wanted = query['type']?.split(',')
    if (wanted?.some((type) => !mine.includes(type)))
      throw new ApiError(
        'invalid_request',
        'The query parameter type names a type of event that does not exist for you. See GET /event-types.',
      )
    const filter = {
      accounts: accountsOf(actor),
      types: wanted ?? (actor.kind === 'staff' ? undefined : mine),
      after: placeAfter(call, query['after']),
    }
    const newestFirst = query['sort'] === '-created_at'
    return paginate({
      call,
      name: newestFirst ? 'events, newest first' : 'events',
      rows: ({ after, skip, limit }) =>
        eventsFor(tx, filter, { ...(after !== undefined && { behind: Number(after) }), skip, limit, newestFirst }),
      keyOf: ({ seq }) => String(seq),
      total: () => countEvents(tx, filter),
      show: (row: StoredEvent) => showEvent(row, actor.kind),
    })
  },
})

export const getEvent = operation({
  id: 'events.get',
  method: 'GET',
  path: '/events/{id}',
  summary: 'One event',
  access,
  on: eventResource,
  response: eventResponse,
  refuses: ['event_not_found'],
  run({ target, actor, registry }) {
    // The same answer as for an event of another account.
    if (!canSee(registry, actor, target))
      throw new ApiError('event_not_found', 'There is no such event, or it is not yours. Check the id.')
    return showEvent(target, actor.kind)
  },
})

export const listEventTypes = operation({
  id: 'events.types',
  method: 'GET',
  path: '/event-types',
  summary: 'The types of events that you can receive, each with its audience',
  access,
  response: t.Object({
    types: t.Array(
      namedSchema('EventType', {
        type: t.String(),
        words: described(t.String(), 'When it happens.'),
        audience: described(t.Array(t.Enum(['staff', 'reseller', 'customer'])), 'The kinds of accounts that get it.'),
      }),
    ),
  }),
  run: ({ actor, registry }) => ({
    types: typesFor(registry, actor.kind).map((type) => {
      const { words, audience } = registry.events[type]!
      return {
        type,
        words,
        audience: (['staff', 'reseller', 'customer'] as const).filter((kind) => receives(kind, audience)),
      }
    }),
  }),
})
