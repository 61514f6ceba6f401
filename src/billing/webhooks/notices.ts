// Notices about webhooks that stopped, and about queues that are full.
import { accountById } from '../../identity/account-records/queries.ts'
import { type Holder, type NoticeDeclaration, notify } from '../../identity/notices/notify.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { day } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import type { MailContext } from '../../kernel/mail/mail.ts'
import { PLATFORM } from './model.ts'
import { noteOverflow } from './queries.ts'
import type { Webhook } from './tables.ts'

type Context = MailContext & Pick<AppContext, 'owners'>

const everybody = ['staff', 'reseller', 'customer'] as const
export const webhookNotices = {
  webhook_paused: { when: 'a webhook was paused because its receiver fails', kinds: everybody, mail: 'always' },
  webhook_overflow: { when: 'webhook deliveries were dropped', kinds: everybody, mail: 'optional' },
} as const satisfies Record<string, NoticeDeclaration>

const OVERFLOW_TOLD_EVERY_MS = day

/** The holder of the account; for webhooks of the platform, the owners of the installation. */
function recipientsOf(tx: Db, { owners }: Context, owner: string): { people: readonly Holder[]; path: `/${string}` } {
  if (owner === PLATFORM) return { people: owners(tx), path: '/admin/api' }
  const account = accountById(tx, owner)
  return {
    people: account ? [account] : [],
    path: account?.kind === 'reseller' ? '/reseller/webhooks' : '/account/webhooks',
  }
}

/** Tells that a webhook paused itself, in the transaction in which it does. */
export function tellPaused(tx: Tx, context: Context, { owner, url, pauseReason }: Webhook) {
  const { people, path } = recipientsOf(tx, context, owner)
  const why =
    pauseReason === 'gone'
      ? 'The receiver answered 410 Gone, which says that it wants no deliveries any more.'
      : 'The receiver failed at least 50 times in a row, over more than a day.'
  for (const person of people)
    notify(tx, context, person, 'webhook_paused', {
      subject: 'A webhook was paused',
      paragraphs: [
        `The webhook to ${new URL(url).host} is paused: nothing more is queued for it.`,
        why,
        'Resume it on its page when the receiver works again. What happened meanwhile can be listed with GET /events.',
      ],
      button: { words: 'Open webhooks', path },
    })
}

/** Tells that deliveries were dropped, at most once a day. */
export function tellOverflow(tx: Tx, context: Context, owner: string) {
  if (!noteOverflow(tx, owner, context.clock(), OVERFLOW_TOLD_EVERY_MS)) return
  const { people, path } = recipientsOf(tx, context, owner)
  for (const person of people)
    notify(tx, context, person, 'webhook_overflow', {
      subject: 'Webhook deliveries were dropped',
      paragraphs: [
        'More webhook deliveries wait than the queue holds. For each new one the oldest is dropped.',
        'See which receiver is slow or fails. What was dropped can be listed with GET /events.',
      ],
      button: { words: 'Open webhooks', path },
    })
}
