// Webhooks: the owner of each, their form in the API, and who receives nothing any more.
import { Type as t } from 'typebox'
import { accountById } from '../../identity/account-records/queries.ts'
import { termsById } from '../../identity/resellers/queries.ts'
import type { AccountKind } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { webhookById } from './queries.ts'
import type { Webhook } from './tables.ts'

/** The owner of the webhooks that staff share. */
export const PLATFORM = 'platform'
export const ownerOf = ({ kind, accountId }: Pick<Actor, 'kind' | 'accountId'>): string =>
  kind === 'staff' ? PLATFORM : accountId

/** The kind of account that an owner is; undefined when it receives nothing: locked, suspended or gone. */
export function receiverKind(tx: Db, owner: string): AccountKind | undefined {
  if (owner === PLATFORM) return 'staff'
  const account = accountById(tx, owner)
  if (!account || account.lockedAt !== null || account.disabledAt !== null) return undefined
  if (account.kind === 'reseller' && termsById(tx, owner)?.suspendedAt != null) return undefined
  return account.kind
}

/** Staff with the right see those of the platform; everybody else their own. */
export const webhook: Resource<Webhook> = {
  name: 'webhook',
  notFound: 'webhook_not_found',
  find: (tx, actor, id) => {
    const found = webhookById(tx, id)
    return found && found.owner === ownerOf(actor) ? found : undefined
  },
}

export const webhookProperties = {
  id: t.String(),
  name: described(nullable(t.String()), 'What you call it; null: the host of its address.'),
  url: t.String(),
  events: described(t.Array(t.String()), 'Types of events; `*` is every type that the owner may receive.'),
  status: t.Enum(['active', 'paused']),
  pauseReason: described(
    nullable(t.Enum(['by_hand', 'failing', 'gone'])),
    'failing: 50 attempts in a row failed over more than a day. gone: the receiver answered 410.',
  ),
  pausedAt: nullable(time),
  failures: described(t.Integer(), 'Failed attempts since the last success.'),
  failingSince: nullable(time),
  deliveredAt: described(nullable(time), 'The last success.'),
  failedAt: described(nullable(time), 'The last failed attempt.'),
  previousSecretUntil: described(nullable(time), 'Until then deliveries are also signed with the previous secret.'),
  createdAt: time,
}
export const webhookResponse = namedSchema('Webhook', webhookProperties)

export const showWebhook = (row: Webhook, now: number) => ({
  id: row.id,
  name: row.name,
  url: row.url,
  events: row.events,
  status: row.pausedAt === null ? ('active' as const) : ('paused' as const),
  pauseReason: row.pauseReason,
  pausedAt: isoOrNull(row.pausedAt),
  failures: row.failures,
  failingSince: isoOrNull(row.failingSince),
  deliveredAt: isoOrNull(row.deliveredAt),
  failedAt: isoOrNull(row.failedAt),
  previousSecretUntil: row.previousUntil !== null && row.previousUntil > now ? iso(row.previousUntil) : null,
  createdAt: iso(row.createdAt),
})
