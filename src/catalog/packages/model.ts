import { Type as t } from 'typebox'
import { namedSchema, type Resource } from '../../kernel/api/operation.ts'
import { responseOf } from '../../kernel/fields/field-list.ts'
import { archived } from '../goods.ts'
import { type UseContext, useOfPackage } from '../in-use.ts'
import { packageFields } from './fields.ts'
import { packageById } from './queries.ts'
import type { Package } from './tables.ts'

export type { Package }

/**
 * Staff and resellers see every package; an order checks the packages that a reseller may sell.
 */
export const packageOnSale: Resource<Package> = {
  name: 'package',
  notFound: 'package_not_found',
  find: (tx, actor, id) => (actor.kind === 'customer' ? undefined : packageById(tx, id)),
}

export const packageResponse = namedSchema('Package', {
  id: t.String(),
  ...responseOf(packageFields),
  archived,
  servers: t.Integer(),
})
export const showPackage = (call: UseContext, { createdAt: _, ...shown }: Package) => ({
  ...shown,
  servers: useOfPackage(call, shown.id),
})
