// An order of a server, from an image or from a backup: what it names is found, and node, disk space, addresses and
// hostname are held by the transaction that accepts it.
import type { SystemHardware } from '../../catalog/images/hardware.ts'
import { type Package, packageOnSale } from '../../catalog/packages/model.ts'
import { type Location, location } from '../../fleet/locations/model.ts'
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import { reserve } from '../../fleet/workloads/reserve.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { type Code, invalid } from '../../kernel/api/errors.ts'
import { type AppContext, see } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { takenOver } from '../server-records/limits.ts'
import { inEvent, load, type Server, serverKind } from '../server-records/model.ts'
import { insertServer } from '../server-records/queries.ts'

/** The package and the location that an order names. Throws `validation_failed`. */
export function namedIn(tx: Tx, actor: Actor, { packageId, nodeGroupId }: { packageId: string; nodeGroupId: string }) {
  const pack = see(tx, actor, packageOnSale, packageId, 'packageId')
  if (pack.archived) throw invalid({ field: 'packageId', message: 'is archived. Choose another package.' })
  return { pack, where: see(tx, actor, location, nodeGroupId, 'nodeGroupId') }
}

/** The codes with which an order is refused. */
export const refusalsOfOrder = [
  'disk_too_small',
  'image_not_supported',
  'account_locked',
  'reseller_suspended',
  'package_not_allowed',
  'location_not_allowed',
  'quota_exceeded',
  'location_closed',
  'hostname_taken',
  'no_capacity',
  'no_addresses',
  'placement_group_unmet',
] as const satisfies Code[]

type Accepted = Pick<
  Parameters<typeof reserve>[2],
  'owner' | 'hardware' | 'hostname' | 'name' | 'lifecycle' | 'nodeId' | 'group' | 'usesReserve'
> & {
  pack: Package
  where: Location
  /** Columns of the server beside those of its package: its image, and what it keeps of a backup. */
  server: Pick<Server, 'imageId'> & Partial<Pick<Server, 'imageChecksum'> & SystemHardware>
  billingServiceId?: string | undefined
}
/** Holds what the server needs, inserts it and tells of it. Throws as `reserve`. */
export function acceptServer(
  { tx, actor, nodes, clock }: Pick<AppContext, 'nodes' | 'clock'> & { tx: Tx; actor: Actor },
  { pack, where, server, billingServiceId, ...order }: Accepted,
) {
  const reserved = reserve(
    tx,
    { nodes, clock },
    { ...order, kind: serverKind, location: where, held: pack, namesNodes: actor.kind === 'staff' },
  )
  const { id, pool } = reserved
  insertServer(tx, { id, ...takenOver(pack, pool), cpuModel: where.cpuModel, ...server })
  if (billingServiceId) changeWorkload(tx, id, { billingServiceId })
  const { concerning, data } = inEvent(tx, load(tx, id))
  emit(tx, clock(), 'server.created', concerning, { ...data, image: server.imageId })
  return reserved
}
