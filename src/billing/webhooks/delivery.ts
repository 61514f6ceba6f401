// The delivery of an event to the receiver of a webhook: one signed POST, and what becomes of its answer.
import { day, hour, minute, second } from '../../kernel/db/clock.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { ForbiddenAddress, NoAnswer } from '../../kernel/net/egress.ts'
import { type Exchange, ExchangeFailed, exchange, NotReachable } from '../../kernel/net/exchange.ts'
import { type DeliveryContext, DeliveryFailed, type DeliveryKind } from '../../kernel/queue/delivery-kind.ts'
import { pauseLane } from '../../kernel/queue/queries.ts'
import { PLATFORM, receiverKind } from './model.ts'
import { tellPaused } from './notices.ts'
import {
  countActive,
  encryptedPrevious,
  encryptedSecrets,
  noteFailure,
  noteSuccess,
  updateWebhook,
  webhookById,
} from './queries.ts'
import { policyFor } from './receiver-url.ts'
import { signedHeaders } from './signature.ts'
import type { Webhook } from './tables.ts'

/** `body`: the bytes that each attempt sends. */
export type WebhookPayload = { eventId: string; type: string; body: string }
/** An attempt in the log; its body is that of the delivery. */
export type AttemptRecord = {
  url: string
  headers: [name: string, value: string][]
  error: string | null
} & Exchange

export const FAILURES_TO_PAUSE = 50
export const FAILING_MS_TO_PAUSE = day
/** Of one webhook of staff, and of all of them. */
const PLATFORM_IN_FLIGHT = { one: 32, all: 128 }
const ACCOUNT_IN_FLIGHT = 2
const GONE = 410

/**
 * A stranger's webhook that reaches no address fails after this share of the silence that is allowed: how long our
 * resolver takes would tell which names exist in the networks here.
 */
const UNREACHABLE_SHARE = 0.2
export const UNREACHABLE = 'The address is not reachable from the platform.'

export const webhookDelivery: DeliveryKind<WebhookPayload> = {
  kind: 'webhook',
  retryAfterMs: [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour],
  inFlight: {
    total: 1000,
    // A slow receiver must leave the other webhooks of its account a place.
    perLane: (db, owner) =>
      owner === PLATFORM ? PLATFORM_IN_FLIGHT.one : countActive(db, owner) > 1 ? 1 : ACCOUNT_IN_FLIGHT,
  },
  mostWaiting: { total: 2_000_000, perLane: 2_000_000 },
  groups: (owner) =>
    owner === PLATFORM
      ? { inFlight: PLATFORM_IN_FLIGHT.all, mostWaiting: 5000, logged: 2000 }
      : { inFlight: ACCOUNT_IN_FLIGHT, mostWaiting: 500, logged: 200 },
  log: { dropped: 'Dropped: the queue was full, and this delivery was the oldest.' },
  keepMs: 90 * day,
  // Longer than a request can take: it has limits of its own.
  timeoutMs: 60 * second,
  expired: 'It was not delivered in time.',
  async deliver(context, { id, recipient, payload }, signal) {
    const { db, config, webhookTransport, wallClock } = context
    const webhook = webhookById(db, recipient)
    if (!webhook) throw new DeliveryFailed('The webhook was deleted.', { permanent: true })
    if (!receiverKind(db, webhook.owner))
      throw new DeliveryFailed('The account is locked, suspended or gone, and receives nothing.', { permanent: true })
    const { eventId, type, body } = payload
    const timestamp = Math.floor(wallClock() / second)
    const headers = signedHeaders(secretsOf(context, webhook), { deliveryId: id, eventId, type, timestamp, body })
    const url = new URL(webhook.url)
    const sent = { url: webhook.url, headers: Object.entries(headers) }
    const policy = policyFor(db, webhook.owner, config)
    const began = performance.now()
    const made = await exchange(webhookTransport, { url, policy, headers, body, signal }).catch(async (error) => {
      const exchange = { ...(error as ExchangeFailed).exchange }
      if (webhook.owner !== PLATFORM && exchange.address === null) {
        exchange.durationMs = Math.round(webhookTransport.silenceMs * UNREACHABLE_SHARE)
        await Bun.sleep(Math.max(0, exchange.durationMs - (performance.now() - began)))
      }
      const message = reason(error, webhook.owner)
      throw new DeliveryFailed(message, {
        permanent: exchange.answer?.status === GONE,
        about: { webhookId: webhook.id },
        record: { ...sent, ...exchange, error: message } satisfies AttemptRecord,
        cause: error,
      })
    })
    const record: AttemptRecord = { ...sent, ...made, error: null }
    const { status, headers: answered } = made.answer!
    if (status >= 200 && status < 300) return record
    const message = `The receiver answered ${status}.`
    throw new DeliveryFailed(message, {
      permanent: status === GONE,
      about: { webhookId: webhook.id },
      record: { ...record, error: message } satisfies AttemptRecord,
      notBeforeMs: retryAfterMs(answered, wallClock()),
    })
  },
  recorded(tx, { recipient, maxAttempts }, outcome, now, context) {
    if (outcome.result === 'dropped') return
    if (outcome.result === 'delivered') return noteSuccess(tx, recipient, now)
    const record = outcome.record as AttemptRecord | undefined
    // Without a record there was no attempt; a delivery by hand says nothing of a receiver that works otherwise.
    if (!record || !context) return
    if (record.answer?.status === GONE) return pause(tx, context, recipient, 'gone', now)
    if (maxAttempts === 1) return
    const row = noteFailure(tx, recipient, now)
    if (row && row.failures >= FAILURES_TO_PAUSE && now - row.failingSince > FAILING_MS_TO_PAUSE)
      pause(tx, context, recipient, 'failing', now)
  },
}

/** Newest first. */
function secretsOf({ secrets, clock }: Pick<DeliveryContext, 'secrets' | 'clock'>, webhook: Webhook): string[] {
  const { encryptedSecret, encryptedPrevious: previous, previousUntil } = webhook
  return [
    secrets.open(encryptedSecrets.about(webhook), encryptedSecret),
    ...(previous !== null && previousUntil !== null && previousUntil > clock()
      ? [secrets.open(encryptedPrevious.about(webhook), previous)]
      : []),
  ]
}

/** A stranger learns nothing of what our resolver knows: not which address a name has, nor whether there is one. */
function reason(error: Error, owner: string): string {
  const { cause } = error
  if (owner !== PLATFORM && error instanceof ExchangeFailed && error.exchange.address === null) return UNREACHABLE
  if (cause instanceof ForbiddenAddress || cause instanceof NotReachable) return `${UNREACHABLE} ${cause.message}`
  const message = cause instanceof NoAnswer ? cause.message : error.message
  // The library's words may have the address in them.
  const details = (cause as Error | undefined)?.cause
  return owner === PLATFORM && details instanceof Error ? `${message} ${details.message.slice(0, 160)}` : message
}

/** `Retry-After` as seconds or as a date, in ms from now; 0 without one. */
export function retryAfterMs(headers: AttemptRecord['headers'], now: number): number {
  const value = headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1].trim() ?? ''
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * second
  const at = Date.parse(value)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}

function pause(tx: Tx, context: DeliveryContext, id: string, pauseReason: 'failing' | 'gone', now: number) {
  const found = webhookById(tx, id)
  if (!found || found.pausedAt !== null) return
  const paused = updateWebhook(tx, id, { pausedAt: now, pauseReason })
  pauseLane(tx, webhookDelivery.kind, id)
  tellPaused(tx, context, paused)
}
