// Orders of GPU instances: by staff and billing, by a reseller for itself and its customers, by a customer for itself.

import { Type as t } from 'typebox'
import { accountById } from '../../../identity/account-records/queries.ts'
import { fields, nullable, operation } from '../../../kernel/api/operation.ts'
import { orderedFor, ownerOf } from '../../ordered-for.ts'
import { billingServiceId } from '../../workloads/service-id.ts'
import { accept, orderFields, ordering, refusalsOfOrder } from './accept.ts'

const forAnother = {
  ...ordering,
  body: fields({ ownerId: orderedFor, ...orderFields, billingServiceId: t.Optional(nullable(billingServiceId)) }),
  refuses: ['billing_service_id_taken' as const, ...refusalsOfOrder],
  example: { ownerId: '<customer_id>', offerId: '<gpu_offer_id>', nodeGroupId: '<location_id>' },
}

export const createInstance = operation({
  ...forAnother,
  id: 'gpu-instances.create',
  path: '/admin/gpu-instances',
  summary: 'Order a GPU instance',
  past: 'Ordered',
  access: { staff: ['servers:create'] },
  run: (call) => accept(call, ownerOf(call, ordering, call.body.ownerId)),
})

export const createResellerInstance = operation({
  ...forAnother,
  id: 'gpu-instances.create-for-reseller',
  path: '/reseller/gpu-instances',
  summary: 'Order a GPU instance for yourself or one of your customers, of an offer that allows it',
  past: 'Ordered',
  access: { reseller: ['reseller:servers'] },
  run: (call) => accept(call, ownerOf(call, ordering, call.body.ownerId)),
})

export const orderInstance = operation({
  ...ordering,
  id: 'gpu-instances.order',
  path: '/gpu-instances',
  summary: 'Order a GPU instance for yourself, of an offer that allows it and within your GPU limit',
  past: 'Ordered',
  access: { customer: ['gpu:order'] },
  body: fields(orderFields),
  refuses: ['limit_reached', ...refusalsOfOrder],
  example: { offerId: '<gpu_offer_id>', nodeGroupId: '<location_id>' },
  run: (call) => accept(call, accountById(call.tx, call.actor.accountId)!),
})
