import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { described, done, fields, line, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import { deleteDeliveriesTo } from '../../kernel/queue/log.ts'
import { groupState } from '../../kernel/queue/queries.ts'
import type { Registry } from '../../kernel/registry.ts'
import { typesFor } from '../events/model.ts'
import { webhookDelivery } from './delivery.ts'
import { EVERY_TYPE } from './fan-out.ts'
import { ownerOf, showWebhook, webhook, webhookProperties, webhookResponse } from './model.ts'
import {
  countWebhooks,
  deleteWebhook,
  encryptedSecrets,
  insertWebhook,
  pageOfWebhooks,
  updateWebhook,
} from './queries.ts'
import { receiverUrl } from './receiver-url.ts'
import { newSecret } from './signature.ts'

export const MOST_WEBHOOKS = 10
const access = everybody('webhooks:write')

const name = described(nullable(line(60)), 'What you call it; null: the host of its address.')
const url = described(
  t.String({ minLength: 1, maxLength: 2000 }),
  'Begins with https:// and is reachable by everybody.',
)
const events = described(
  t.Array(t.String({ minLength: 1, maxLength: 60 }), { minItems: 1, maxItems: 100 }),
  'Types of events, from `GET /event-types`; `*` is every type that you may receive.',
)

/** Each type once. Throws `validation_failed` for a type that the account cannot receive. */
function eventsFrom({ actor, registry }: { actor: Actor; registry: Registry }, types: readonly string[]): string[] {
  const known = typesFor(registry, actor.kind)
  const unknown = types.find((type) => type !== EVERY_TYPE && !known.includes(type))
  if (unknown !== undefined)
    throw invalid({
      field: 'events',
      message: 'names a type that does not exist for you. GET /event-types lists them.',
    })
  return types.includes(EVERY_TYPE) ? [EVERY_TYPE] : [...new Set(types)]
}

export const listWebhooks = operation({
  id: 'webhooks.list',
  method: 'GET',
  path: '/webhooks',
  summary: 'The webhooks of the account, or for staff those of the platform',
  access,
  response: page(webhookResponse),
  run: (call) => pageOfWebhooks(call, ownerOf(call.actor), (row) => showWebhook(row, call.clock())),
})

export const createWebhook = operation({
  id: 'webhooks.create',
  method: 'POST',
  path: '/webhooks',
  summary: 'Add a webhook; its secret is shown only once',
  access,
  powers: ['moves_secrets'],
  requiresRecentAuth: true,
  body: fields({ name: t.Optional(name), url, events }),
  response: namedSchema('NewWebhook', {
    ...webhookProperties,
    secret: described(t.String(), 'Deliveries are signed with it.'),
  }),
  status: 201,
  refuses: ['limit_reached'],
  example: { url: 'https://billing.example.com/berth', events: ['server.provisioned', 'server.suspended'] },
  run(call) {
    const { tx, actor, body, clock, secrets, config } = call
    const owner = ownerOf(actor)
    const given = {
      name: body.name ?? null,
      url: receiverUrl(tx, body.url, owner, config),
      events: eventsFrom(call, body.events),
    }
    if (countWebhooks(tx, owner) >= MOST_WEBHOOKS)
      throw new ApiError('limit_reached', `There are at most ${MOST_WEBHOOKS} webhooks. Delete one that is not used.`)
    const id = newId('whk')
    const secret = newSecret()
    const now = clock()
    const encryptedSecret = secrets.encrypt(encryptedSecrets.about({ id }), secret)
    return { ...showWebhook(insertWebhook(tx, { id, owner, ...given, encryptedSecret, createdAt: now }), now), secret }
  },
})

export const getWebhook = operation({
  id: 'webhooks.get',
  method: 'GET',
  path: '/webhooks/{id}',
  summary: 'One webhook',
  access,
  on: webhook,
  response: webhookResponse,
  run: ({ target, clock }) => showWebhook(target, clock()),
})

export const changeWebhook = operation({
  id: 'webhooks.update',
  method: 'PATCH',
  path: '/webhooks/{id}',
  summary: 'Change the name, the address or the events of a webhook; what is not sent stays as it is',
  past: 'Changed a webhook',
  access,
  powers: ['moves_secrets'],
  requiresRecentAuth: ['url'],
  on: webhook,
  body: fields({ name: t.Optional(name), url: t.Optional(url), events: t.Optional(events) }),
  response: webhookResponse,
  example: { events: ['*'] },
  run(call) {
    const { tx, target, body, clock, config } = call
    const given = {
      ...(body.name !== undefined && { name: body.name }),
      ...(body.url !== undefined && { url: receiverUrl(tx, body.url, target.owner, config) }),
      ...(body.events !== undefined && { events: eventsFrom(call, body.events) }),
    }
    return showWebhook(Object.keys(given).length ? updateWebhook(tx, target.id, given) : target, clock())
  },
})

export const removeWebhook = operation({
  id: 'webhooks.remove',
  destroys: [],
  method: 'DELETE',
  path: '/webhooks/{id}',
  summary: 'Delete a webhook, its log and what waits for it',
  access,
  on: webhook,
  response: done,
  run({ tx, target }) {
    deleteDeliveriesTo(tx, webhookDelivery, target.id, target.id)
    deleteWebhook(tx, target.id)
    return {}
  },
})

export const webhookQueue = operation({
  id: 'webhooks.queue',
  method: 'GET',
  path: '/webhook-queue',
  summary: 'How many deliveries of all webhooks of the account wait, and how many were dropped',
  access,
  response: namedSchema('WebhookQueue', {
    waiting: t.Integer(),
    most: described(t.Integer(), 'For each delivery above it, the oldest that waits is dropped.'),
    dropped: t.Integer(),
    droppedAt: nullable(time),
  }),
  run({ tx, actor }) {
    const owner = ownerOf(actor)
    const { waiting, dropped, droppedAt } = groupState(tx, webhookDelivery.kind, owner)
    return { waiting, most: webhookDelivery.groups!(owner).mostWaiting, dropped, droppedAt: isoOrNull(droppedAt) }
  },
})
