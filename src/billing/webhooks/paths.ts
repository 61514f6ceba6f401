// The pages of webhooks, per kind of account.
import type { AccountKind } from '../../kernel/api/access.ts'

export const webhookPath = {
  staff: { list: '/admin/api', one: '/admin/api/webhooks', events: '/admin/events' },
  reseller: { list: '/reseller/webhooks', one: '/reseller/webhooks', events: '/reseller/events' },
  customer: { list: '/account/webhooks', one: '/account/webhooks', events: '/account/events' },
} as const satisfies Record<AccountKind, object>
