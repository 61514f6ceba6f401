// The stock: how many servers of each package and GPU instances of each offer can be ordered in each location now, and
// the limit that binds.
import { Type as t } from 'typebox'
import { imagesOf, needOf } from '../../catalog/gpu-offers/model.ts'
import { everyGpuOffer } from '../../catalog/gpu-offers/queries.ts'
import { allPackages } from '../../catalog/packages/queries.ts'
import { gpuStockCounter, gpuStockLimits } from '../../fleet/gpus/placement.ts'
import { allLocations } from '../../fleet/locations/queries.ts'
import { locationReferred } from '../../fleet/locations/reference.ts'
import { stockCounter, stockLimits } from '../../fleet/placement/stock.ts'
import { customer } from '../../identity/account-records/model.ts'
import { instancesWithin, ordersWithin, type Reseller, resellerOf } from '../../identity/resellers/model.ts'
import { ApiError, type Code } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, operation, type ReadContext } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'

const termLimits = ['quota', 'suspended'] as const

/** The fields of a line behind those that say what is ordered. */
const counted = <L extends string>(limits: readonly L[]) => ({
  billingProductId: nullable(t.String()),
  location: locationReferred,
  available: described(t.Integer(), 'So many orders are accepted now, one after another.'),
  orMore: described(t.Boolean(), 'Counting stopped there; there may be more.'),
  limit: described(t.Enum([...limits, ...termLimits]), 'What binds the number.'),
  code: described(t.String(), 'The code that refuses the order behind the last one.'),
})
const stockLine = namedSchema('StockLine', { packageId: t.String(), packageName: t.String(), ...counted(stockLimits) })
const gpuStockLine = namedSchema('GpuStockLine', {
  offerId: t.String(),
  offerName: t.String(),
  ...counted(gpuStockLimits),
})

export const getStock = operation({
  id: 'stock.get',
  method: 'GET',
  path: '/stock',
  summary: 'How many orders of each package and GPU offer each location takes now, and what binds the number',
  access: { staff: ['servers:read', 'servers:create'], reseller: ['reseller:read', 'reseller:servers'] },
  query: {
    packageId: idOf('pkg', 'Only this package, and no GPU offers.'),
    offerId: idOf('off', 'Only this GPU offer, and no packages.'),
    nodeGroupId: idOf('grp', 'Only this location.'),
    ownerId: idOf('usr', 'For orders of this customer: the terms and quotas of its reseller count too.'),
  },
  response: namedSchema('Stock', {
    stock: t.Array(stockLine),
    gpuStock: described(t.Array(gpuStockLine), 'Of a reseller: the offers that it may order itself.'),
  }),
  refuses: ['customer_not_found'],
  run(call) {
    const { tx, nodes, query } = call
    const reseller = resellerFor(call)
    const locations = allLocations(tx).filter((l) => !query['nodeGroupId'] || l.id === query['nodeGroupId'])
    const stockIn = stockCounter(tx, nodes)
    const gpuStockIn = gpuStockCounter(tx, nodes)
    return {
      stock: packagesFor(call).flatMap((what) =>
        locations.flatMap((where) => {
          const terms = reseller && ordersWithin(tx, reseller, what, where)
          return within(terms, () => stockIn(where, what)).map((line) => ({
            packageId: what.id,
            packageName: what.name,
            billingProductId: what.billingProductId,
            location: { id: where.id, name: where.name },
            ...line,
          }))
        }),
      ),
      gpuStock: offersFor(call).flatMap((offer) =>
        locations.flatMap((where) => {
          const terms = reseller && instancesWithin(tx, reseller, needOf(offer), where)
          return within(terms, () => gpuStockIn(where, needOf(offer))).map((line) => ({
            offerId: offer.id,
            offerName: offer.name,
            billingProductId: offer.billingProductId,
            location: { id: where.id, name: where.name },
            ...line,
          }))
        }),
      ),
    }
  },
})

const packagesFor = ({ tx, query: { packageId, offerId } }: ReadContext) =>
  offerId ? [] : allPackages(tx).filter(({ id, archived }) => !archived && (!packageId || id === packageId))

/** The offers that an order may name: those with an image that is on sale. */
const offersFor = ({ tx, actor, query: { packageId, offerId } }: ReadContext) =>
  packageId
    ? []
    : everyGpuOffer(tx).filter(
        ({ id, archived, selfService }) =>
          !archived &&
          (selfService || actor.kind === 'staff') &&
          (!offerId || id === offerId) &&
          imagesOf(tx, id).length > 0,
      )

/** The reseller whose terms bind the orders; undefined for the house's own. Throws `customer_not_found`. */
function resellerFor({ tx, actor, query }: ReadContext): Reseller | undefined {
  const ownerId = query['ownerId'] ?? (actor.kind === 'reseller' ? actor.accountId : undefined)
  if (!ownerId) return undefined
  const owner = customer.find(tx, actor, ownerId)
  if (!owner) throw new ApiError('customer_not_found', 'There is no such customer, or it is not yours. Check the id.')
  return resellerOf(tx, owner)
}

type Counted<L> = { available: number; orMore: boolean; limit: L; code: Code }
/** The stock within a reseller's terms, undefined for none. Empty for what the reseller may not order at all. */
function within<L>(
  terms: ReturnType<typeof ordersWithin> | undefined,
  placed: () => Counted<L>,
): Counted<L | (typeof termLimits)[number]>[] {
  if (terms === 'not_allowed') return []
  if (terms === 'suspended') return [{ available: 0, orMore: false, limit: 'suspended', code: 'reseller_suspended' }]
  const found = placed()
  // An order is refused for its quota before it is placed.
  if (terms === undefined || found.available < terms) return [found]
  return [{ available: terms, orMore: false, limit: 'quota', code: 'quota_exceeded' }]
}
