import { readFileSync } from 'node:fs'
import { keepAliveAgent } from '../../../agent/protocol/net/pinned-request.ts'
import type { Limit } from '../../kernel/api/limits.ts'
import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { trustedBeside } from '../../kernel/net/authorities.ts'
import type { Transport } from '../../kernel/net/exchange.ts'
import { stoppedWebhooks } from './attention.ts'
import { deliveriesByHand, getDelivery, listDeliveries, redeliver, testWebhook } from './deliveries.ts'
import { webhookDelivery } from './delivery.ts'
import { fanOut } from './fan-out.ts'
import { webhookNotices } from './notices.ts'
import { webhookPath } from './paths.ts'
import { encryptedPrevious, encryptedSecrets } from './queries.ts'
import { pauseWebhook, resumeWebhook, rotateSecret } from './state.ts'
import { webhookOverflows, webhooks } from './tables.ts'
import { changeWebhook, createWebhook, getWebhook, listWebhooks, removeWebhook, webhookQueue } from './webhooks.ts'

const errors = {
  webhook_not_found: { status: 404, when: 'There is no such webhook, or it is not yours.', remedy: 'Check the id.' },
  delivery_not_found: {
    status: 404,
    when: 'There is no such delivery, it is not yours, or it is no longer in the log.',
    remedy: 'Check the id.',
  },
} as const

const ids = {
  webhook: { prefix: 'whk' },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    webhooks: { ids: typeof ids; errors: typeof errors; notices: typeof webhookNotices }
  }
  interface Services {
    /** How deliveries leave. */
    webhookTransport: Transport
    /** Counts the tests and redeliveries of each person. */
    webhooksByHand: Limit
  }
}

export const SILENCE_MS = 10 * second
export const TOTAL_MS = 15 * second

export const webhooksFeature = feature({
  name: 'webhooks',
  ids,
  errors,
  samples: {
    secret: 'whsec_…',
    pauseReason: null,
    lastStatus: 200,
    lastDurationMs: 120,
    nextAttemptAt: null,
  },
  tables: [webhooks, webhookOverflows],
  encrypted: [encryptedSecrets, encryptedPrevious],
  services: ({ clock, config: { webhookCaFile } }) => ({
    webhookTransport: {
      silenceMs: SILENCE_MS,
      totalMs: TOTAL_MS,
      agent: keepAliveAgent(),
      ...(webhookCaFile && { ca: trustedBeside(readFileSync(webhookCaFile, 'utf8')) }),
    },
    webhooksByHand: deliveriesByHand(clock),
  }),
  onEvent: fanOut,
  notices: webhookNotices,
  deliveries: [webhookDelivery],
  operations: [
    listWebhooks,
    createWebhook,
    getWebhook,
    changeWebhook,
    removeWebhook,
    rotateSecret,
    pauseWebhook,
    resumeWebhook,
    testWebhook,
    listDeliveries,
    getDelivery,
    redeliver,
    webhookQueue,
  ],
  attention: [stoppedWebhooks],
  nav: [
    {
      kinds: ['staff'],
      group: 'Platform',
      position: 305,
      name: 'webhooks',
      title: 'Webhooks & API',
      href: webhookPath.staff.list,
      icon: 'webhook',
      sees: listWebhooks,
    },
    {
      kinds: ['reseller'],
      group: '',
      position: 170,
      name: 'webhooks',
      title: 'Webhooks',
      href: webhookPath.reseller.list,
      icon: 'webhook',
      sees: listWebhooks,
    },
    {
      kinds: ['customer'],
      group: 'Account',
      position: 445,
      name: 'webhooks',
      menu: true,
      title: 'Webhooks',
      href: webhookPath.customer.list,
      icon: 'webhook',
      sees: listWebhooks,
    },
  ],
  actions: (['staff', 'reseller', 'customer'] as const).map((kind) => ({
    kinds: [kind],
    position: 310,
    title: 'Add webhook',
    page: webhookPath[kind].list,
    dialog: true as const,
    does: createWebhook,
  })),
  async fixture({ call, customer, admin }) {
    const body = { url: 'https://hooks.example.com/berth', events: ['*'] }
    await call(customer, 'POST', '/webhooks', body)
    const { id } = await admin('POST', '/webhooks', body)
    const { deliveryId } = await admin('POST', `/webhooks/${id}/actions/test`)
    return { webhook: id, delivery: deliveryId }
  },
})
