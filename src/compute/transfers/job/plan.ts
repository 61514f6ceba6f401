// The values that a move sends to the two nodes, worked out once from the rows, so that a repeated step sends the same.
import type { PortRules, Vm, Volume } from '../../../../agent/protocol/wire.ts'
import { managementAddressOf } from '../../../fleet/node-records/queries.ts'
import { formatIn, poolSpaceOf } from '../../../fleet/storage-pools/queries.ts'
import { volumesOf } from '../../../fleet/volume-records/queries.ts'
import type { DiskPlace } from '../../../fleet/workloads/stays/second-node.ts'
import { type ArrivingVolume, noteRules } from '../../../fleet/workloads/stays/stays.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import type { CommandSource } from '../../../kernel/jobs/saga.ts'
import { policyOf } from '../../../network/firewall-records/policy.ts'
import { isOwn } from '../../../network/ip-pools/allocate.ts'
import { type Iso, isoSource } from '../../isos/model.ts'
import { isoById } from '../../isos/queries.ts'
import { load, type Server } from '../../server-records/model.ts'
import { GIB, portRulesOf, vmOf, volumeOf } from '../../server-vm/definition.ts'
import { seedForNextStart } from '../../server-vm/next-start.ts'
import { hasNetworkSeed } from '../../server-vm/seed.ts'
import { onNode } from '../../volumes/model.ts'
import { transferById } from '../queries.ts'
import { heldThere } from '../readdressing/addresses.ts'
import type { Transfer } from '../tables.ts'

/**
 * `volumeId`: of an extra volume; null: the server's own disk, which is the first. `shared`: the storage in which it
 * stays as it is, because both nodes reach that.
 */
export type Disk = { volumeId: string | null; from: Volume; to: Volume; sizeBytes: number; shared?: string | undefined }
/** The disks that are copied to the other node, and deleted on the one that the server has left. */
export const copiedOf = (disks: readonly Disk[]) => disks.filter(({ shared }) => shared === undefined)
export type MovePlan = {
  disks: Disk[]
  portRules: PortRules
  vm: Vm
  iso: ReturnType<typeof isoSource> | null
  /** Floating addresses that point to it. */
  floating: string[]
  /** Addresses between the nodes. */
  addresses: { from: string; to: string }
  pendingSeed: Server['pendingSeed']
  /** The columns that are another's on the other node, as they were; and the vm on its old node. */
  before: Pick<Server, 'format' | 'diskLayer' | 'diskParent' | 'lastDiskLayer' | 'locationId'> & { vm: Vm }
}
export type Route = DiskPlace & {
  serverId: string
  from: string
  to: string
  volumes: readonly (ArrivingVolume & DiskPlace)[]
}

/** The server as it will be on its next node: a copy of its disk has no layers there. */
const there = (tx: Db, server: Server, { to, pool, shared }: Route): Server => ({
  ...server,
  nodeId: to,
  pool,
  ...(shared === undefined && { format: formatIn(poolSpaceOf(tx, { nodeId: to, pool })!), diskLayer: 0 }),
})

/** Notes the rules that the target gets as those in force there. */
export function planMove(tx: Tx, route: Route, moved: Transfer): MovePlan {
  const server = load(tx, route.serverId)
  const { diskGeneration, format, diskLayer, diskParent, lastDiskLayer, locationId } = server
  const next = there(tx, server, route)
  const own = { from: volumeOf(server, diskGeneration!), to: volumeOf(next, diskGeneration!) }
  const held = heldThere(tx, moved)
  const policy = policyOf(tx, server)
  noteRules(tx, server.id, route.to, policy.revision)
  const iso = server.isoId === null ? undefined : (isoById(tx, server.isoId) as Iso | undefined)
  return {
    disks: [
      { volumeId: null, ...own, sizeBytes: server.diskGb * GIB, shared: route.shared },
      ...volumesOf(tx, server.id).map((volume) => {
        const { pool, shared } = route.volumes.find(({ volumeId }) => volumeId === volume.id)!
        const from = onNode(volume)
        const format = shared === undefined ? formatIn(poolSpaceOf(tx, { nodeId: route.to, pool })!) : from.format
        return { volumeId: volume.id, from, to: { ...from, pool, format }, sizeBytes: volume.sizeGb * GIB, shared }
      }),
    ],
    portRules: { ...portRulesOf(next, held), policy },
    vm: vmOf(tx, next, own.to, takesSeed(server, moved), held),
    iso: iso ? isoSource(iso) : null,
    floating: held.filter((address) => !isOwn(address)).map(({ address }) => address),
    addresses: { from: managementAddressOf(tx, route.from)!, to: managementAddressOf(tx, route.to)! },
    before: {
      ...{ format, diskLayer, diskParent, lastDiskLayer, locationId },
      vm: vmOf(tx, server, own.from, false),
    },
    pendingSeed: server.pendingSeed,
  }
}

/** It gets other addresses, and reads them at its start. Windows is told by its guest agent alone. */
export const takesSeed = (server: Server, { readdressing }: Transfer): boolean =>
  readdressing !== null && hasNetworkSeed(server)

/** The seed for its next start, where it has one or gets new addresses. `instance` is new to the guest. */
export function pendingSeed(source: CommandSource, route: Route & { transferId: string }, instance: string) {
  const server = load(source.db, route.serverId)
  const moved = transferById(source.db, route.transferId)!
  return server.pendingSeed === null && !takesSeed(server, moved)
    ? undefined
    : seedForNextStart(source, there(source.db, server, route), instance, heldThere(source.db, moved))
}
