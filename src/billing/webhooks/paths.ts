// The pages of webhooks, per kind of account.
import type { AccountKind } from '../../kernel/api/access.ts'

export const webhooksPath = {
  staff: '/admin/api',
  reseller: '/reseller/webhooks',
  customer: '/account/webhooks',
} as const satisfies Record<AccountKind, string>
