import { Type as t } from 'typebox'
import { POOL_CLASS, RestartPolicy } from '../../../agent/protocol/wire.ts'
import { listedLocations, locationAnswer } from '../../fleet/locations/model.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { paginate, sortParameter } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { fields, line, nullable, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { packageAnswer, packageOnSale, showPackage } from './model.ts'
import { overTrafficPolicies } from './over-traffic.ts'
import { countPackages, insertPackage, packageSorts, packagesByName, updatePackage } from './queries.ts'
import type { Package } from './tables.ts'

const storageClass = t.String({
  maxLength: 20,
  pattern: POOL_CLASS,
  title: 'a class of storage in small letters, numbers and hyphens, like nvme',
})
const iops = t.Integer({ minimum: 10, maximum: 10_000_000 })
const mbPerSecond = t.Integer({ minimum: 1, maximum: 1_000_000 })

/** The fields of a package. The limits are those of QEMU and Linux, not recommendations. */
const properties = {
  name: line(60),
  /** More need an interrupt controller that not every system knows: libvirt refuses them for the usual machine. */
  vcpus: t.Integer({ minimum: 1, maximum: 255 }),
  memoryMb: t.Integer({ minimum: 64, maximum: 4_194_304 }),
  diskGb: t.Integer({ minimum: 1, maximum: 65_536 }),
  /** At most 9 PB: its bytes are still a whole number. */
  trafficGb: t.Optional(nullable(t.Integer({ minimum: 1, maximum: 9_000_000 }))),
  portMbps: t.Optional(nullable(t.Integer({ minimum: 1, maximum: 400_000 }))),
  ipv4: t.Optional(t.Integer({ minimum: 0, maximum: 16 })),
  ipv6Prefix: t.Optional(nullable(t.Integer({ minimum: 56, maximum: 128 }))),
  restartPolicy: t.Optional(RestartPolicy),
  overTraffic: t.Optional(t.Enum([...overTrafficPolicies])),
  throttleMbps: t.Optional(nullable(t.Integer({ minimum: 1, maximum: 400_000 }))),
  smtpAllowed: t.Optional(t.Boolean()),
  newConnectionsPerSecond: t.Optional(nullable(t.Integer({ minimum: 1, maximum: 1_000_000 }))),
  packetsPerSecond: t.Optional(nullable(t.Integer({ minimum: 100, maximum: 100_000_000 }))),
  /** A guest reads through all layers of its disk, so they stay few. */
  snapshotLimit: t.Optional(t.Integer({ minimum: 0, maximum: 20 })),
  storageClass: t.Optional(nullable(storageClass)),
  diskReadIops: t.Optional(nullable(iops)),
  diskWriteIops: t.Optional(nullable(iops)),
  diskReadMbPerSecond: t.Optional(nullable(mbPerSecond)),
  diskWriteMbPerSecond: t.Optional(nullable(mbPerSecond)),
  volumeGb: t.Optional(t.Integer({ minimum: 0, maximum: 1_000_000 })),
  volumeClass: t.Optional(nullable(storageClass)),
  billingProductId: t.Optional(nullable(line(100, 0))),
}
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
  body: fields(properties),
  response: packageAnswer,
  status: 201,
  refuses: ['name_taken'],
  example,
  run(call) {
    const { tx, body, clock } = call
    const { ipv4 = 1, ...given } = body
    mustNameThrottle(given as Partial<Package>)
    const made = named('package', () => insertPackage(tx, { id: newId('pkg'), ...given, ipv4, createdAt: clock() }))
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
  body: fields({
    ...(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, t.Optional(schema)])) as {
      [K in keyof typeof properties]: ReturnType<typeof t.Optional<(typeof properties)[K]>>
    }),
    archived: t.Optional(t.Boolean()),
  }),
  response: packageAnswer,
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
    data: t.Array(packageAnswer),
    nextCursor: nullable(t.String()),
    total: t.Integer(),
    locations: t.Array(locationAnswer),
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
