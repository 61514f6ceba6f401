// Whether a node can hold a workload that is at home on another one, with all that it has. The words are those of the
// placement of an order.
import type { Hardware } from '../../../../agent/protocol/wire.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { type AddressNeed, lackingAddresses } from '../../../network/ip-pools/allocate.ts'
import { lackingRoute } from '../../../network/ip-pools/given.ts'
import type { NodeCapacity } from '../../placement/capacity.ts'
import { type Lack, lackOf, shortageReasons } from '../../placement/main-cause.ts'
import { judgeBy, type Nodes, poolsFor } from '../../placement/placement.ts'
import { type PoolSpace, poolOfStorage } from '../../storage-pools/queries.ts'
import type { Workload } from '../queries.ts'
import { type Planned, ruleFor } from './group-rule.ts'
import { isVolumeOn, stayOn } from './queries.ts'
import type { ArrivingVolume } from './stays.ts'

/** The storage that has a disk now. `storageClass`: null for a pool of any. `storage`: see `PoolSpace`. */
export type DiskStorage = { storageClass: string | null; storage?: string | null | undefined }
/** Its parts beside memory, disk and addresses. */
export type Brought = DiskStorage & {
  /** GiB beside its disk, such as that of its snapshots. */
  spareDiskGb: number
  hardware?: Hardware | undefined
  /** Of its vm; null: that of any node. */
  cpuModel?: string | null
  /** It gives up its addresses, and needs these. */
  readdress?: AddressNeed | undefined
  volumes?: readonly ({ volumeId: string; diskGb: number } & DiskStorage)[]
}
/**
 * Where a disk will be. `shared`: the storage in which it stays, because both nodes reach that; undefined: it is
 * copied.
 */
export type DiskPlace = { pool: string; shared?: string | undefined }
/** Where its disk and its extra volumes will be, or why the node cannot hold it, such as `no memory left`. */
export type SecondNode =
  | (DiskPlace & {
      volumes: (ArrivingVolume & DiskPlace)[]
      /** How the node breaks the rule of its group, which is soft. */
      broken: string | undefined
    })
  | { disabledReason: string; lack?: Lack | undefined; breaksGroup?: true | undefined }

/** It is deleted when the node is connected. */
const WAITS_FOR_DELETION = 'has a copy from an earlier move, which waits for its deletion'

/** Judges nodes for one workload: for `openArriving` in the same transaction, and to show what each node lacks. */
export function judgeForMove(tx: Db, workload: Workload, brought: Brought, nodes: Nodes, planned?: Planned) {
  const { storageClass, storage = null, spareDiskGb, hardware, cpuModel, readdress, volumes = [] } = brought
  const disk = { storageClass, storage, diskGb: workload.diskGb + spareDiskGb }
  const group = ruleFor(tx, workload.id, planned)
  const addresses = readdress ?? { ipv4: 0, ipv6Prefix: null }
  const rest = { memoryMb: workload.memoryMb, hardware, cpuModel, ...addresses, group }
  const lacking = readdress
    ? lackingAddresses(tx, readdress)
    : (nodeId: string) => lackingRoute(tx, workload.id, nodeId)
  const judge = judgeBy(tx, { ...rest, ...disk }, nodes, lacking)
  // Its disk needs no space where it is already.
  const judgeShared = judgeBy(tx, { ...rest, storageClass: null, diskGb: 0 }, nodes, lacking)
  return (node: NodeCapacity): SecondNode => {
    const there = stayOn(tx, workload.id, node.id)
    if (there) return { disabledReason: there.role === 'leaving' ? WAITS_FOR_DELETION : 'has it already' }
    if (volumes.some(({ volumeId }) => isVolumeOn(tx, volumeId, node.id))) return { disabledReason: WAITS_FOR_DELETION }
    const judged = (poolOfStorage(node.pools, storage) ? judgeShared : judge)(node)
    if (judged.disabledReason !== undefined)
      return { disabledReason: judged.disabledReason, lack: lackOf(judged), breaksGroup: judged.breaksGroup }
    const taken = new Map<string, number>()
    const place = placeFor(node, disk, taken)
    // The largest first: what is left takes the small ones.
    const placed = volumes
      .toSorted((a, b) => b.diskGb - a.diskGb)
      .map(({ volumeId, ...volume }) => ({ volumeId, diskGb: volume.diskGb, place: placeFor(node, volume, taken) }))
    const homeless = placed.some((volume) => volume.place === undefined)
    if (place === undefined || homeless) return { disabledReason: shortageReasons.disk, lack: 'capacity' }
    const broken = group?.brokenBy(node.id)
    return { ...place, volumes: placed.map(({ place: at, ...volume }) => ({ ...volume, ...at! })), broken }
  }
}

/**
 * The pool that has this disk already, or the one with the most space, if it takes the disk beside those of `taken`, in
 * GiB by pool; it is added there.
 */
function placeFor(
  node: NodeCapacity,
  { storageClass, storage = null, diskGb }: DiskStorage & { diskGb: number },
  taken: Map<string, number>,
): DiskPlace | undefined {
  const same = poolOfStorage(node.pools, storage)
  if (same) return { pool: same.name, shared: storage! }
  const left = ({ name, freeDiskGb }: PoolSpace) => freeDiskGb - (taken.get(name) ?? 0)
  const [best] = poolsFor(node, { storageClass }).toSorted((a, b) => left(b) - left(a))
  if (!best || left(best) < diskGb) return undefined
  taken.set(best.name, (taken.get(best.name) ?? 0) + diskGb)
  return { pool: best.name }
}
