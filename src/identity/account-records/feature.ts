import { feature } from '../../kernel/feature.ts'
import { areas } from './areas.ts'
import { accountTarget } from './queries.ts'
import { accounts, roles } from './tables.ts'

const errors = {
  customer_not_found: { status: 404, when: 'There is no such customer, or it is not yours.', remedy: 'Check the id.' },
  account_locked: {
    status: 409,
    when: "The customer's account is locked.",
    remedy: 'Unlock it first; a customer asks the provider.',
  },
  email_taken: {
    status: 409,
    when: 'Another account has this e-mail address.',
    remedy: 'Use that account, or another address.',
  },
  external_id_taken: {
    status: 409,
    when: 'Another customer has this externalId.',
    remedy: 'Find that one with `externalId`: it is probably the one you mean.',
  },
  staff_not_found: { status: 404, when: 'There is no such member of staff.', remedy: 'Check the id.' },
  role_not_found: { status: 404, when: 'There is no such role.', remedy: 'Check the id.' },
} as const

const ids = {
  account: {
    prefix: 'usr',
    sample: 'Cal Customer',
    also: ['owner', 'customer', 'reseller', 'actor', 'startedBy', 'staff', 'staffMember', 'memberOfStaff'],
  },
  role: { prefix: 'role' },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'account-records': { ids: typeof ids; errors: typeof errors }
  }
}

export const accountRecordsFeature = feature({
  name: 'account-records',
  ids,
  samples: {
    email: 'cal@example.com',
    organization: 'Example GmbH',
    externalId: '4711',
    lockReason: null,
    lockedAt: null,
    resellerId: null,
    resellerName: null,
  },
  errors,
  tables: [roles, accounts],
  auditTargets: [
    {
      ...accountTarget,
      page: ({ id, kind }, actor) => {
        if (id === actor.accountId) return '/account'
        if (actor.kind === 'staff' && kind === 'staff') return `/admin/staff#${id}`
        if (actor.kind === 'staff' && kind === 'reseller') return `/admin/resellers/${id}`
        return actor.kind !== 'customer' && kind === 'customer' ? `${areas[actor.kind]}/customers/${id}` : undefined
      },
    },
  ],
})
