import { Type as t } from 'typebox'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { lockedCustomers, nearQuotas, suspendedReseller } from './attention.ts'
import { createResellerCustomer, getResellerAccount, listResellerCustomers } from './own.ts'
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
    'A reseller passes 90% of a quota',
    t.Object({ resource: t.String(), used: t.Integer(), limit: t.Integer() }),
  ),
}
type Events = typeof events
declare module '../../kernel/register.ts' {
  interface EventTypes extends Events {}
}

export const resellersFeature = feature({
  name: 'resellers',
  tables: [resellers, resellerPackages, resellerLocations],
  events,
  operations: [
    createReseller,
    listResellers,
    getReseller,
    changeReseller,
    suspendReseller,
    unsuspendReseller,
    getResellerAccount,
    createResellerCustomer,
    listResellerCustomers,
  ],
  attention: [suspendedReseller, nearQuotas, lockedCustomers],
})
