import { Type as t } from 'typebox'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { hasCustomers } from '../account-records/queries.ts'
import { setAllowance } from './allowance.ts'
import { lockedCustomers, nearQuotas, suspendedReseller } from './attention.ts'
import { quotaNotices, tellOfQuota } from './notices.ts'
import { createResellerCustomer, exportResellerCustomers, getResellerAccount, listResellerCustomers } from './own.ts'
import { quotaResources } from './quota.ts'
import {
  changeReseller,
  createReseller,
  getReseller,
  listResellers,
  suspendReseller,
  unsuspendReseller,
} from './resellers.ts'
import { resellerLocations, resellerPackages, resellers } from './tables.ts'

const events = {
  'quota.near_limit': event(
    'resellers',
    'A reseller passes 90 % of a quota',
    t.Object({
      resource: t.Enum([...quotaResources]),
      used: t.Integer(),
      limit: t.Integer(),
      reseller: t.Object({ id: t.String(), name: t.String() }),
    }),
  ),
}

const errors = {
  reseller_not_found: { status: 404, when: 'There is no such reseller.', remedy: 'Check the id.' },
  reseller_suspended: { status: 409, when: 'The reseller is suspended.', remedy: 'Unsuspend the reseller first.' },
  quota_exceeded: {
    status: 409,
    when: 'The order would exceed a quota of the reseller; the message names it.',
    remedy: 'Raise the quota, or free something.',
    details: { resource: 'servers', used: 20, limit: 20 },
  },
  package_not_allowed: {
    status: 409,
    when: 'The reseller may not sell this package.',
    remedy: 'Choose another, or allow it.',
  },
  location_not_allowed: {
    status: 409,
    when: 'The reseller may not place servers in this location.',
    remedy: 'Choose another, or allow it.',
  },
} as const

const scopes = {
  'reseller:read': { words: 'See the reseller account, its packages and locations', heldBy: ['reseller'] },
  'reseller:customers': { words: "Create and change the reseller's customers", heldBy: ['reseller'] },
  'reseller:servers': { words: "Order and manage the reseller's servers", heldBy: ['reseller'] },
} as const

const permissions = {
  'resellers.write': { words: 'Manage resellers', opens: ['reseller:read'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    resellers: {
      scopes: typeof scopes
      permissions: typeof permissions
      events: typeof events
      errors: typeof errors
      notices: typeof quotaNotices
    }
  }
}

export const resellersFeature = feature({
  name: 'resellers',
  scopes,
  permissions,
  errors,
  tables: [resellers, resellerPackages, resellerLocations],
  events,
  onEvent: tellOfQuota,
  notices: quotaNotices,
  operations: [
    setAllowance,
    createReseller,
    listResellers,
    getReseller,
    changeReseller,
    suspendReseller,
    unsuspendReseller,
    getResellerAccount,
    createResellerCustomer,
    exportResellerCustomers,
    listResellerCustomers,
  ],
  attention: [suspendedReseller, nearQuotas, lockedCustomers],
  checklist: [
    {
      kinds: ['reseller'],
      position: 30,
      by: createResellerCustomer,
      title: 'First customer',
      words: 'Add one here, or let your billing system do it with a token.',
      done: ({ tx, actor }) => hasCustomers(tx, actor.accountId),
      href: () => '/reseller/customers',
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: '',
      position: 130,
      name: 'resellers',
      title: 'Resellers',
      href: '/admin/resellers',
      icon: 'resellers',
      within: 'customers',
      sees: listResellers,
    },
    {
      kinds: ['reseller'],
      group: '',
      position: 100,
      name: 'overview',
      title: 'Overview',
      href: '/reseller',
      icon: 'overview',
      sees: getResellerAccount,
    },
    {
      kinds: ['reseller'],
      group: '',
      position: 120,
      name: 'customers',
      title: 'Customers',
      href: '/reseller/customers',
      icon: 'customers',
      sees: listResellerCustomers,
    },
    {
      kinds: ['reseller'],
      group: '',
      position: 150,
      name: 'packages',
      title: 'Packages',
      href: '/reseller/packages',
      icon: 'package',
      sees: getResellerAccount,
    },
  ],
  actions: [
    {
      kinds: ['staff'],
      position: 30,
      title: 'Add reseller',
      page: '/admin/resellers',
      dialog: true,
      does: createReseller,
    },
    {
      kinds: ['reseller'],
      position: 20,
      title: 'Add customer',
      page: '/reseller/customers',
      dialog: true,
      does: createResellerCustomer,
    },
  ],
})
