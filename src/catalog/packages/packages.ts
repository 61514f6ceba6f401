import { Type as t } from 'typebox'
import { listedLocations, locationResponse } from '../../fleet/locations/model.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { fields, nullable, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { bodyOf, changesOf } from '../../kernel/fields/field-list.ts'
import { mustBeWholePrice } from '../goods.ts'
import { goods, mayBeArchived } from '../goods-operations.ts'
import { packageFields } from './fields.ts'
import { packageOnSale, packageResponse, showPackage } from './model.ts'
import { packageQueries, packageSorts } from './queries.ts'
import type { Package } from './tables.ts'

const packageGoods = goods({
  word: 'package',
  path: '/admin/packages',
  writers: ['packages:write'],
  queries: packageQueries,
  sorts: packageSorts,
  response: packageResponse,
  show: (call) => (row) => showPackage(call, row),
})

const example = {
  name: 'KVM 2G',
  vcpus: 2,
  memoryMb: 2048,
  diskGb: 40,
  trafficGb: 2000,
  portMbps: 1000,
  ipv4: 1,
  ipv6Prefix: 64,
  billingProductId: 'whmcs:12',
}

function mustNameThrottle({ overTraffic, throttleMbps }: Partial<Package>) {
  if (overTraffic === 'throttle' && !throttleMbps)
    throw invalid({ field: 'throttleMbps', message: 'is needed: to what speed is a server slowed down?' })
}

export const createPackage = operation({
  ...packageGoods.creates,
  id: 'packages.create',
  summary: 'Add a package that servers can be ordered with',
  past: 'Added a package',
  body: fields(bodyOf(packageFields)),
  example,
  run(call) {
    mustNameThrottle(call.body)
    mustBeWholePrice(call.body)
    const row = { id: newId('pkg'), ...call.body, createdAt: call.clock() }
    return showPackage(call, packageGoods.insert(call.tx, row))
  },
})

export const changePackage = operation({
  ...packageGoods.changes,
  id: 'packages.update',
  summary: 'Change a package; servers keep what they were ordered with, and follow its limits of mail and connections',
  on: packageOnSale,
  body: fields({ ...changesOf(packageFields), ...mayBeArchived }),
  example: { trafficGb: 4000 },
  run(call) {
    const given = call.body as Partial<Package>
    mustNameThrottle({ ...call.target, ...given })
    mustBeWholePrice({ ...call.target, ...given })
    return showPackage(call, packageGoods.update(call.tx, call.target, given))
  },
})

export const listPackages = operation({
  ...packageGoods.lists,
  id: 'packages.list',
  summary: 'Packages and locations with their identifiers: what an order names',
  access: { staff: ['servers:read', 'servers:create', 'packages:write'] },
  response: t.Object({
    data: t.Array(packageResponse),
    nextCursor: nullable(t.String()),
    total: t.Integer(),
    locations: t.Array(locationResponse),
  }),
  run: (call) => ({ ...packageGoods.list(call), locations: listedLocations(call) }),
})
