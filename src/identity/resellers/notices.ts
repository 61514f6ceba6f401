import type { AppContext } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { EmittedEvent } from '../../kernel/jobs/emitted-event.ts'
import { accountById } from '../account-records/queries.ts'
import { type NoticeDeclaration, notify } from '../notices/notify.ts'
import { type QuotaResource, quotaWords } from './quota.ts'

export const quotaNotices = {
  quota_near: { when: 'a quota is nearly used up', kinds: ['reseller'], mail: 'optional' },
} as const satisfies Record<string, NoticeDeclaration>

/** Tells the reseller of a quota that it has nearly used up. */
export function tellOfQuota(tx: Tx, app: AppContext, { type, subjectId, data }: EmittedEvent) {
  const reseller = type === 'quota.near_limit' ? accountById(tx, subjectId) : undefined
  if (!reseller) return
  const { resource, used, limit } = data as { resource: QuotaResource; used: number; limit: number }
  const { label, say } = quotaWords[resource]
  notify(tx, app, reseller, 'quota_near', {
    subject: `A quota is nearly used up: ${label}`,
    paragraphs: [
      `You and your customers use ${say(used)} of ${say(limit)}.`,
      'Orders are refused when a quota is used up. Ask your provider to raise it, or remove what you no longer need.',
    ],
    button: { words: 'See your quotas', path: '/reseller' },
  })
}
