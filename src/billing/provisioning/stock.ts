// The stock: how many servers of each package can be ordered in each location now, and the limit that binds.
import { Type as t } from 'typebox'
import type { Package } from '../../catalog/packages/model.ts'
import { allPackages } from '../../catalog/packages/queries.ts'
import type { Location } from '../../fleet/locations/model.ts'
import { allLocations } from '../../fleet/locations/queries.ts'
import { type Stock, stockCounter, stockLimits } from '../../fleet/placement/stock.ts'
import { customer } from '../../identity/accounts/model.ts'
import { ordersWithin, type Reseller, resellerOf } from '../../identity/resellers/model.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, operation, type ReadContext } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import type { Db } from '../../kernel/db/open.ts'

const limits = [...stockLimits, 'quota', 'suspended'] as const

const stockLine = namedSchema('StockLine', {
  packageId: t.String(),
  packageName: t.String(),
  billingProductId: nullable(t.String()),
  nodeGroupId: t.String(),
  locationName: t.String(),
  available: described(t.Integer(), 'So many orders are accepted now, one after another.'),
  orMore: described(t.Boolean(), 'Counting stopped there; there may be more.'),
  limit: described(t.Enum([...limits]), 'What binds the number.'),
  code: described(t.String(), 'The code that refuses the order behind the last one.'),
})

export const getStock = operation({
  id: 'stock.get',
  method: 'GET',
  path: '/stock',
  summary: 'How many servers of each package can be ordered in each location now, and what binds the number',
  access: { staff: ['servers:read', 'servers:create'], reseller: ['reseller:read', 'reseller:servers'] },
  query: {
    packageId: idOf('pkg', 'Only this package.'),
    nodeGroupId: idOf('grp', 'Only this location.'),
    ownerId: idOf('usr', 'For orders of this customer: the terms and quotas of its reseller count too.'),
  },
  response: namedSchema('Stock', { stock: t.Array(stockLine) }),
  refuses: ['customer_not_found'],
  run(call) {
    const { tx, query } = call
    const reseller = resellerFor(call)
    const packages = allPackages(tx).filter((p) => !p.archived && (!query['packageId'] || p.id === query['packageId']))
    const locations = allLocations(tx).filter((l) => !query['nodeGroupId'] || l.id === query['nodeGroupId'])
    const stockIn = stockCounter(tx, call.nodes)
    const lines = packages.flatMap((what) =>
      locations.map((where) => ({ what, where, stock: stockOf(tx, { what, where, reseller, stockIn }) })),
    )
    return {
      stock: lines.flatMap(({ what, where, stock }) =>
        stock
          ? {
              packageId: what.id,
              packageName: what.name,
              billingProductId: what.billingProductId,
              nodeGroupId: where.id,
              locationName: where.name,
              ...stock,
            }
          : [],
      ),
    }
  },
})

/** The reseller whose terms bind the orders; undefined for the house's own. Throws `customer_not_found`. */
function resellerFor({ tx, actor, query }: ReadContext): Reseller | undefined {
  const ownerId = query['ownerId'] ?? (actor.kind === 'reseller' ? actor.accountId : undefined)
  if (!ownerId) return undefined
  const owner = customer.find(tx, actor, ownerId)
  if (!owner) throw new ApiError('customer_not_found', 'There is no such customer, or it is not yours. Check the id.')
  return resellerOf(tx, owner)
}

type Line = {
  what: Package
  where: Location
  reseller: Reseller | undefined
  stockIn: ReturnType<typeof stockCounter>
}
/** Undefined for what the reseller may not order at all. */
function stockOf(
  tx: Db,
  { what, where, reseller, stockIn }: Line,
): (Omit<Stock, 'limit'> & { limit: (typeof limits)[number] }) | undefined {
  const terms = reseller ? ordersWithin(tx, reseller, what, where) : undefined
  if (terms === 'not_allowed') return undefined
  if (terms === 'suspended') return { available: 0, orMore: false, limit: 'suspended', code: 'reseller_suspended' }
  const placed = stockIn(where, what)
  // An order is refused for its quota before it is placed.
  if (terms === undefined || placed.available < terms) return placed
  return { available: terms, orMore: false, limit: 'quota', code: 'quota_exceeded' }
}
