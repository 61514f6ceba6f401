// Offers that a customer or a reseller may order itself, and all of them for staff, with their images and the
// locations that have one now.
import { type Static, Type as t } from 'typebox'
import { priceOf, priceResponse } from '../../../catalog/goods.ts'
import { gpuTemplateResponse, showGpuTemplate } from '../../../catalog/gpu-images/model.ts'
import { gpuOfferFields } from '../../../catalog/gpu-offers/fields.ts'
import { type GpuOffer, imagesOf, needOf } from '../../../catalog/gpu-offers/model.ts'
import {
  countOffersOnSale,
  countSelfServiceOffers,
  hasSelfServiceOffers,
  offersOnSale,
  selfServiceOffers,
} from '../../../catalog/gpu-offers/queries.ts'
import { gpuStockCounter } from '../../../fleet/gpus/placement.ts'
import { knownModels } from '../../../fleet/gpus/queries.ts'
import { allLocations } from '../../../fleet/locations/queries.ts'
import type { Account } from '../../../identity/account-records/model.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { instancesWithin, type Reseller, resellerOf } from '../../../identity/resellers/model.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import { paginate } from '../../../kernel/api/list.ts'
import { described, namedSchema, nullable, operation } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { responseOf, valuesOf } from '../../../kernel/fields/field-list.ts'
import { gpusOf } from './limit.ts'

const { model, cards, vcpus, memoryMb, workspaceGb, ownIpv4, ports } = gpuOfferFields
const sizeFields = { model, cards, vcpus, memoryMb, workspaceGb, ownIpv4, ports }

const orderableOffer = namedSchema('OrderableGpuOffer', {
  id: t.String(),
  name: t.String(),
  ...responseOf(sizeFields),
  cardMemoryMb: described(nullable(t.Integer()), 'The memory of one of its cards; null: no node has told.'),
  price: described(nullable(priceResponse), 'Null: none is shown. Bills are made elsewhere.'),
  images: described(t.Array(gpuTemplateResponse), 'An order that names none gets the first; none: it takes no orders.'),
  locations: t.Array(
    t.Object({
      id: t.String(),
      name: t.String(),
      available: described(t.Boolean(), 'An order there is accepted now; false: sold out.'),
    }),
  ),
  withinLimit: described(t.Boolean(), 'Its cards are within what the account may have besides those that it has.'),
})

/** The limit of GPUs, and how many are used of it; `gpus` null: not limited. Without an account: of staff. */
function limitOf(tx: Db, account: Account | undefined, reseller: Reseller | undefined) {
  if (!account) return { gpus: null, used: 0 }
  if (account.kind !== 'reseller') return { gpus: account.gpuLimit, used: gpusOf(tx, account) }
  return { gpus: reseller?.terms.quotas.gpus ?? null, used: gpusOf(tx, account) }
}

/** Why an account can order nothing now, in words for its holder; null: it can. */
function notOrderableReason(account: Account | undefined, reseller: Reseller | undefined): string | null {
  if (!account) return null
  if (account.lockedAt !== null) return 'Your account is locked, so nothing new can be ordered. Ask your provider.'
  if (reseller && reseller.terms.suspendedAt !== null) return 'Nothing new can be ordered now. Ask your provider.'
  if (account.kind === 'customer' && account.gpuLimit === 0)
    return 'Your account may not order GPU instances itself. Ask your provider.'
  return null
}

export const listOrderableOffers = operation({
  id: 'gpu-instances.offers',
  method: 'GET',
  path: '/gpu-offers',
  summary: 'Offers of which you may order GPU instances, and where there is one now',
  access: { staff: ['servers:create'], reseller: ['reseller:read'], customer: ['gpu:order'] },
  response: t.Object({
    data: t.Array(orderableOffer),
    nextCursor: nullable(t.String()),
    total: t.Integer(),
    limit: described(
      t.Object({ gpus: nullable(t.Integer()), used: t.Integer() }),
      'GPUs that the account may have, and has; null: not limited. Of a reseller with its customers.',
    ),
    notOrderable: described(nullable(t.String()), 'Why nothing can be ordered now, in words; null: orders are taken.'),
  }),
  run(call) {
    const { tx, actor, nodes } = call
    // Staff, and System, order for others.
    const account = actor.kind === 'staff' ? undefined : accountById(tx, actor.accountId)!
    const reseller = account && resellerOf(tx, account)
    const limit = limitOf(tx, account, reseller)
    const notOrderable = notOrderableReason(account, reseller)
    // Offers are not for a customer without a limit.
    const isShown = account?.kind !== 'customer' || account.gpuLimit > 0
    const locations = allLocations(tx).filter(({ open }) => open)
    const stock = gpuStockCounter(tx, nodes, 1)
    const memoryOf = new Map(knownModels(tx).map(({ model, memoryMb }) => [model, memoryMb]))
    const show = (offer: GpuOffer): Static<typeof orderableOffer> => {
      const need = needOf(offer)
      return {
        id: offer.id,
        name: offer.name,
        ...valuesOf(sizeFields, offer),
        cardMemoryMb: memoryOf.get(offer.model) ?? null,
        // A reseller asks its customers for prices of its own.
        price: account?.kind === 'customer' && reseller ? null : priceOf(offer),
        images: imagesOf(tx, offer.id).map(showGpuTemplate),
        locations: locations
          .filter((where) => !reseller || instancesWithin(tx, reseller, need, where) !== 'not_allowed')
          .map((where) => ({ id: where.id, name: where.name, available: stock(where, need).available > 0 })),
        withinLimit: limit.gpus === null || limit.used + offer.cards <= limit.gpus,
      }
    }
    const page = paginate({
      call,
      name: 'orderable GPU offers',
      rows: (slice) => (!account ? offersOnSale(tx, slice) : isShown ? selfServiceOffers(tx, slice) : []),
      keyOf: ({ name }) => name,
      show,
      total: () => (!account ? countOffersOnSale(tx) : isShown ? countSelfServiceOffers(tx) : 0),
    })
    return { ...page, limit, notOrderable }
  },
})

/** Is there an offer that the account may order itself, whether one is free now or not? */
export function maySeeOffers(tx: Db, { kind, accountId }: Actor): boolean {
  if (kind === 'staff') return false
  if (kind === 'customer' && accountById(tx, accountId)?.gpuLimit === 0) return false
  return hasSelfServiceOffers(tx)
}
