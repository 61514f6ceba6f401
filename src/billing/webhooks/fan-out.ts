// Each event is queued for its webhooks in the transaction of the event: none is lost, and none is sent that did not
// happen.
import type { AccountKind } from '../../kernel/api/access.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { EmittedEvent } from '../../kernel/jobs/emitted-event.ts'
import { queueDelivery } from '../../kernel/queue/queries.ts'
import { eventFor, receives } from '../events/model.ts'
import { type WebhookPayload, webhookDelivery } from './delivery.ts'
import { PLATFORM, receiverKind } from './model.ts'
import { tellOverflow } from './notices.ts'
import { type Receiving, receivingOf } from './queries.ts'

/** Every type that the owner may receive. */
export const EVERY_TYPE = '*'

/** Without webhooks an event costs one look into an index. */
export function fanOut(tx: Tx, app: AppContext, event: EmittedEvent) {
  const { id, type, customerId, resellerId } = event
  const candidates = receivingOf(tx, [PLATFORM, resellerId ?? '', customerId ?? ''])
  const chosen = candidates.filter((webhook) => wants(webhook, type) && mayReceive(tx, app, webhook, event))
  if (!chosen.length) return
  const bodyFor = (kind: AccountKind) =>
    JSON.stringify(eventFor(kind, { ...event, data: event.data as Record<string, unknown> }))
  const [ofPlatform, ofAccounts] = [bodyFor('staff'), bodyFor('customer')]
  for (const webhook of chosen) {
    const body = webhook.owner === PLATFORM ? ofPlatform : ofAccounts
    queueFor(tx, app, webhook, { eventId: id, type, body }, event)
  }
}

function wants({ events }: Receiving, type: string): boolean {
  const chosen = JSON.parse(events) as string[]
  return chosen.includes(type) || chosen.includes(EVERY_TYPE)
}

function mayReceive(tx: Tx, { registry }: AppContext, { owner }: Receiving, { type }: EmittedEvent): boolean {
  const kind = receiverKind(tx, owner)
  const audience = registry.events[type]?.audience
  return kind !== undefined && audience !== undefined && receives(kind, audience)
}

const queueFor = (tx: Tx, app: AppContext, webhook: Receiving, payload: WebhookPayload, event: EmittedEvent) =>
  queueDelivery(
    tx,
    webhookDelivery,
    { secrets: app.secrets, now: app.clock() },
    {
      key: `${webhook.id} ${event.id}`,
      lane: webhook.id,
      group: webhook.owner,
      orderedBy: event.subjectId,
      about: event.id,
      recipient: webhook.id,
      subject: event.type,
      payload,
      dropped: () => tellOverflow(tx, app, webhook.owner),
    },
  )
