import { Type as t } from 'typebox'
import { listedLocations, locationResponse } from '../../fleet/locations/model.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { paginate, sortParameter } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { fields, nullable, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { bodyOf, changesOf } from '../../kernel/fields/field-list.ts'
import { packageFields } from './fields.ts'
import { packageOnSale, packageResponse, showPackage } from './model.ts'
import { countPackages, insertPackage, packageSorts, packagesByName, updatePackage } from './queries.ts'
import type { Package } from './tables.ts'

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
  id: 'packages.create',
  method: 'POST',
  path: '/admin/packages',
  summary: 'Add a package that servers can be ordered with',
  access: { staff: ['packages:write'] },
  body: fields(bodyOf(packageFields)),
  response: packageResponse,
  status: 201,
  refuses: ['name_taken'],
  example,
  run(call) {
    const { tx, body, clock } = call
    mustNameThrottle(body)
    const made = named('package', () => insertPackage(tx, { id: newId('pkg'), ...body, createdAt: clock() }))
    return showPackage(call, made)
  },
})

export const changePackage = operation({
  id: 'packages.update',
  method: 'PATCH',
  path: '/admin/packages/{id}',
  summary: 'Change a package; servers keep what they were ordered with, and follow its limits of mail and connections',
  access: { staff: ['packages:write'] },
  on: packageOnSale,
  body: fields({ ...changesOf(packageFields), archived: t.Optional(t.Boolean()) }),
  response: packageResponse,
  refuses: ['name_taken'],
  example: { trafficGb: 4000 },
  run(call) {
    const { tx, target, body } = call
    mustNameThrottle({ ...target, ...(body as Partial<Package>) })
    return showPackage(
      call,
      named('package', () => updatePackage(tx, target, body as Partial<Package>)),
    )
  },
})

export const listPackages = operation({
  id: 'packages.list',
  method: 'GET',
  path: '/admin/packages',
  summary: 'Packages and locations with their identifiers: what an order names',
  access: { staff: ['servers:read', 'servers:create', 'packages:write'] },
  query: { sort: sortParameter(packageSorts, 'by name') },
  pages: { usual: 100, most: 200 },
  response: t.Object({
    data: t.Array(packageResponse),
    nextCursor: nullable(t.String()),
    total: t.Integer(),
    locations: t.Array(locationResponse),
  }),
  run(call) {
    const { tx } = call
    const list = paginate({
      call,
      name: 'packages',
      sorts: packageSorts,
      rows: (slice) => packagesByName(tx, slice),
      keyOf: (p) => p.name,
      show: (p) => showPackage(call, p),
      total: () => countPackages(tx),
    })
    return { ...list, locations: listedLocations(call) }
  },
})
