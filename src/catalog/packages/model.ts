import { Type as t } from 'typebox'
import { RestartPolicy } from '../../../agent/protocol/wire.ts'
import { described, namedSchema, nullable, type Resource } from '../../kernel/api/operation.ts'
import { type UseContext, useOfPackage } from '../in-use.ts'
import { overTrafficPolicies } from './over-traffic.ts'
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

export const packageAnswer = namedSchema('Package', {
  id: t.String(),
  name: t.String(),
  vcpus: t.Integer(),
  memoryMb: t.Integer(),
  diskGb: t.Integer(),
  trafficGb: nullable(t.Integer()),
  portMbps: nullable(t.Integer()),
  ipv4: described(t.Integer(), 'How many addresses a server gets.'),
  ipv6Prefix: described(nullable(t.Integer()), 'The length of the prefix that a server gets.'),
  restartPolicy: described(
    RestartPolicy,
    'A server that ends by itself starts again: `on_failure` after a crash, `always` after a shutdown too.',
  ),
  overTraffic: described(
    t.Enum([...overTrafficPolicies]),
    'What becomes of a server that has used its traffic of the month.',
  ),
  throttleMbps: described(
    nullable(t.Integer()),
    'The speed in each direction of a server that `throttle` slows down; null with another `overTraffic`.',
  ),
  smtpAllowed: described(t.Boolean(), 'Its servers may connect to mail servers, on TCP port 25.'),
  newConnectionsPerSecond: described(
    nullable(t.Integer()),
    'TCP connections that a server may begin; null: as the settings say.',
  ),
  packetsPerSecond: described(nullable(t.Integer()), 'Packets that a server may send; null: as the settings say.'),
  snapshotLimit: described(t.Integer(), 'Snapshots that a server may have at a time; 0: none.'),
  storageClass: described(nullable(t.String()), 'Disks are made in storage of this class; null: of any.'),
  diskReadIops: described(nullable(t.Integer()), 'Of each disk, per second; null, as for the next three: not limited.'),
  diskWriteIops: nullable(t.Integer()),
  diskReadMbPerSecond: described(nullable(t.Integer()), 'MiB.'),
  diskWriteMbPerSecond: described(nullable(t.Integer()), 'MiB.'),
  volumeGb: described(t.Integer(), 'GiB of extra volumes that come with a server; 0: none.'),
  volumeClass: described(nullable(t.String()), 'Volumes are made in storage of this class; null: of that of its disk.'),
  billingProductId: described(nullable(t.String()), 'Free text, such as vendor:number.'),
  archived: described(t.Boolean(), 'It can no longer be ordered.'),
  servers: t.Integer(),
})
export const showPackage = (call: UseContext, { createdAt: _, ...shown }: Package) => ({
  ...shown,
  servers: useOfPackage(call, shown.id),
})
