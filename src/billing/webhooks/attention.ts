import { mayCall } from '../../kernel/api/operation.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'
import { ownerOf } from './model.ts'
import { webhookPath } from './paths.ts'
import { pausedWebhooks } from './queries.ts'
import { listWebhooks } from './webhooks.ts'

/** Webhooks that paused themselves. */
export const stoppedWebhooks: Source = ({ tx, actor }) =>
  mayCall(listWebhooks, actor)
    ? pausedWebhooks(tx, ownerOf(actor))
        .slice(0, MOST_SHOWN)
        .map(({ id, url, pausedAt, pauseReason }) => ({
          level: 'bad',
          what: `The webhook to ${new URL(url).host} is paused.`,
          effect:
            pauseReason === 'gone'
              ? 'Its receiver answered 410 Gone. Nothing more is sent to it.'
              : 'Its receiver failed for more than a day. Nothing more is sent to it until it is resumed.',
          since: pausedAt === null ? null : iso(pausedAt),
          action: 'Open webhook',
          href: `${webhookPath[actor.kind].one}/${id}`,
        }))
    : []
