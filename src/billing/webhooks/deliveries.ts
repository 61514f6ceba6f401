// The log of deliveries, and deliveries by hand: a test, and another attempt at what was sent before.
import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { Limit } from '../../kernel/api/limits.ts'
import { page } from '../../kernel/api/list.ts'
import {
  type Call,
  described,
  namedSchema,
  nullable,
  operation,
  type Resource,
  time,
} from '../../kernel/api/operation.ts'
import { oneOf } from '../../kernel/api/query.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import { type Clock, iso, isoOrNull } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db } from '../../kernel/db/open.ts'
import {
  attemptsOf,
  type LoggedAttempt,
  type LoggedDelivery,
  lastAttemptOf,
  loggedDelivery,
  pageOfDeliveries,
} from '../../kernel/queue/log.ts'
import { encryptedDeliveries, queueDelivery } from '../../kernel/queue/queries.ts'
import { type AttemptRecord, type WebhookPayload, webhookDelivery } from './delivery.ts'
import { ownerOf, webhook } from './model.ts'
import { tellOverflow } from './notices.ts'
import type { Webhook } from './tables.ts'

const access = everybody('webhooks:write')

const BY_HAND_PER_MINUTE = 10
/** Tests and redeliveries of one person; each makes a request to an address that somebody chose. */
export const deliveriesByHand = (clock: Clock) => new Limit(BY_HAND_PER_MINUTE, clock)

const delivery: Resource<LoggedDelivery> = {
  name: 'delivery',
  notFound: 'delivery_not_found',
  find: (tx, actor, id) => loggedDelivery(tx, webhookDelivery, ownerOf(actor), id),
}

const states = ['waiting', 'delivered', 'failed'] as const
const properties = {
  id: t.String(),
  webhookId: t.String(),
  event: described(t.String(), 'The type of the event; `test` for a test.'),
  eventId: t.String(),
  state: t.Enum([...states]),
  attemptCount: t.Integer(),
  maxAttempts: described(t.Integer(), '1: a test or a redelivery, which is never retried.'),
  nextAttemptAt: described(nullable(time), 'Null when it has ended.'),
  createdAt: time,
  endedAt: nullable(time),
  lastStatus: described(nullable(t.Integer()), 'The HTTP status of the last answer.'),
  lastDurationMs: nullable(t.Integer()),
  error: described(nullable(t.String()), 'Why the last attempt failed.'),
}
const headers = t.Array(t.Object({ name: t.String(), value: t.String() }))
const attemptResponse = namedSchema('WebhookAttempt', {
  n: t.Integer(),
  at: time,
  durationMs: t.Integer(),
  error: nullable(t.String()),
  address: described(nullable(t.String()), 'The address that was connected to; only staff see it.'),
  request: t.Object({ method: t.Literal('POST'), url: t.String(), headers }),
  response: nullable(
    t.Object({
      status: t.Integer(),
      headers,
      body: described(t.String(), 'Its first 16 kB.'),
      bytes: described(t.Integer(), 'Of the body, as far as it was read.'),
      truncated: t.Boolean(),
    }),
  ),
})

function showDelivery(tx: Db, row: LoggedDelivery) {
  const last = lastAttemptOf(tx, row.id)?.record as AttemptRecord | undefined
  return {
    id: row.id,
    webhookId: row.recipient,
    event: row.subject,
    eventId: row.about ?? '',
    state: row.state,
    attemptCount: row.attempts,
    maxAttempts: row.maxAttempts,
    nextAttemptAt: row.state === 'waiting' ? iso(row.nextAt) : null,
    createdAt: iso(row.createdAt),
    endedAt: isoOrNull(row.endedAt),
    lastStatus: last?.answer?.status ?? null,
    lastDurationMs: last?.durationMs ?? null,
    error: row.error,
  }
}
const named = (list: AttemptRecord['headers']) => list.map(([name, value]) => ({ name, value }))
function showAttempt({ n, at, record }: LoggedAttempt, actor: Actor) {
  const { url, headers, error, address, durationMs, answer } = record as AttemptRecord
  const isStaff = actor.kind === 'staff' || actor.via.type === 'support'
  return {
    n,
    at: iso(at),
    durationMs,
    error,
    address: isStaff ? address : null,
    request: { method: 'POST' as const, url, headers: named(headers) },
    response: answer && { ...answer, headers: named(answer.headers) },
  }
}

export const listDeliveries = operation({
  id: 'webhooks.deliveries',
  method: 'GET',
  path: '/webhooks/{id}/deliveries',
  summary: 'The deliveries of a webhook, newest first: the last 200 of an account, 2000 of the platform',
  access,
  on: webhook,
  query: { state: oneOf(states, 'Only those in this state.') },
  pages: { usual: 25, most: 100 },
  response: page(namedSchema('WebhookDelivery', properties)),
  run: (call) =>
    pageOfDeliveries(
      call,
      {
        kind: webhookDelivery,
        group: call.target.owner,
        recipient: call.target.id,
        state: call.query['state'] as LoggedDelivery['state'] | undefined,
      },
      (row) => showDelivery(call.tx, row),
    ),
})

export const getDelivery = operation({
  id: 'webhooks.delivery',
  method: 'GET',
  path: '/webhook-deliveries/{id}',
  summary: 'One delivery, with the request and the response of each attempt',
  access,
  on: delivery,
  response: namedSchema('WebhookDeliveryDetails', {
    ...properties,
    body: described(t.String(), 'What each attempt sends, byte by byte.'),
    attempts: t.Array(attemptResponse),
  }),
  run: ({ tx, target, actor, secrets }) => ({
    ...showDelivery(tx, target),
    body: payloadOf(secrets, target).body,
    attempts: attemptsOf(tx, target.id).map((attempt) => showAttempt(attempt, actor)),
  }),
})

const payloadOf = (secrets: Pick<Secrets, 'open'>, row: LoggedDelivery): WebhookPayload =>
  JSON.parse(secrets.open(encryptedDeliveries.about(row), row.encryptedPayload))

type ByHand = { webhookId: string; owner: string; payload: WebhookPayload }
/** Queues one attempt that is never repeated, in a lane of its own: nothing that waits comes before it. */
function queueByHand(call: Call, { webhookId, owner, payload }: ByHand) {
  const { tx, secrets, clock, actor, webhooksByHand } = call
  webhooksByHand.take(actor.via.type === 'support' ? actor.via.staffId : actor.accountId)
  const deliveryId = queueDelivery(
    tx,
    webhookDelivery,
    { secrets, now: clock() },
    {
      lane: `${webhookId} by hand`,
      group: owner,
      about: payload.eventId,
      recipient: webhookId,
      subject: payload.type,
      payload,
      retries: false,
      dropped: () => tellOverflow(tx, call, owner),
    },
  )
  return { deliveryId }
}

const queued = t.Object({ deliveryId: t.String() })
export const TEST_EVENT = 'test'

const testPayload = (now: number): WebhookPayload => {
  const eventId = newId('evt')
  const data = { test: true, message: 'This is a test delivery. Ignore it.' }
  return {
    eventId,
    type: TEST_EVENT,
    body: JSON.stringify({ id: eventId, type: TEST_EVENT, created_at: iso(now), data }),
  }
}

export const testWebhook = operation({
  id: 'webhooks.test',
  method: 'POST',
  path: '/webhooks/{id}/actions/test',
  summary: 'Send a test delivery, also while the webhook is paused; it is never retried',
  access,
  on: webhook,
  response: queued,
  status: 201,
  refuses: ['rate_limited'],
  run: (call) => {
    const { id, owner }: Webhook = call.target
    return queueByHand(call, { webhookId: id, owner, payload: testPayload(call.clock()) })
  },
})

export const redeliver = operation({
  id: 'webhooks.redeliver',
  method: 'POST',
  path: '/webhook-deliveries/{id}/actions/redeliver',
  summary: 'Send the same event once more, now; it is never retried',
  past: 'Sent an event again',
  access,
  on: delivery,
  response: queued,
  status: 201,
  refuses: ['rate_limited'],
  run(call) {
    const { target, actor, secrets } = call
    const payload = payloadOf(secrets, target)
    return queueByHand(call, { webhookId: target.recipient, owner: ownerOf(actor), payload })
  },
})
