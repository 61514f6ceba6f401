// Pausing, resuming, and a new secret.
import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { operation, time } from '../../kernel/api/operation.ts'
import { hour, iso } from '../../kernel/db/clock.ts'
import { pauseLane, resumeLane } from '../../kernel/queue/queries.ts'
import { webhookDelivery } from './delivery.ts'
import { showWebhook, webhook, webhookResponse } from './model.ts'
import { encryptedPrevious, encryptedSecrets, updateWebhook } from './queries.ts'
import { newSecret } from './signature.ts'

const access = everybody('webhooks:write')

export const PREVIOUS_SECRET_HOURS = 24

export const rotateSecret = operation({
  id: 'webhooks.rotate-secret',
  method: 'POST',
  path: '/webhooks/{id}/actions/rotate-secret',
  summary: 'Create a new secret, shown only once; for 24 hours deliveries are signed with both',
  past: 'Rotated the secret of a webhook',
  access,
  requiresRecentAuth: true,
  on: webhook,
  response: t.Object({ id: t.String(), secret: t.String(), previousUntil: time }),
  run({ tx, target, clock, secrets }) {
    const { id } = target
    const secret = newSecret()
    const previousUntil = clock() + PREVIOUS_SECRET_HOURS * hour
    const previous = secrets.open(encryptedSecrets.about(target), target.encryptedSecret)
    updateWebhook(tx, id, {
      encryptedSecret: secrets.encrypt(encryptedSecrets.about(target), secret),
      encryptedPrevious: secrets.encrypt(encryptedPrevious.about(target), previous),
      previousUntil,
    })
    return { id, secret, previousUntil: iso(previousUntil) }
  },
})

export const pauseWebhook = operation({
  id: 'webhooks.pause',
  method: 'POST',
  path: '/webhooks/{id}/actions/pause',
  summary: 'Pause a webhook: nothing more is queued for it, and what waits is held',
  access,
  on: webhook,
  response: webhookResponse,
  refuses: ['already_done'],
  run({ tx, target, clock }) {
    if (target.pausedAt !== null) throw new ApiError('already_done', 'The webhook is paused already.')
    pauseLane(tx, webhookDelivery.kind, target.id)
    const now = clock()
    return showWebhook(updateWebhook(tx, target.id, { pausedAt: now, pauseReason: 'by_hand' }), now)
  },
})

export const resumeWebhook = operation({
  id: 'webhooks.resume',
  method: 'POST',
  path: '/webhooks/{id}/actions/resume',
  summary: 'Resume a webhook: what was held is delivered, and events are queued from now on',
  access,
  on: webhook,
  response: webhookResponse,
  refuses: ['already_done'],
  run({ tx, target, clock }) {
    if (target.pausedAt === null) throw new ApiError('already_done', 'The webhook is not paused.')
    resumeLane(tx, webhookDelivery.kind, target.id)
    const row = { pausedAt: null, pauseReason: null, failures: 0, failingSince: null }
    return showWebhook(updateWebhook(tx, target.id, row), clock())
  },
})
