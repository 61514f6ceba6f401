// Whether a node can hold a workload that is at home on another one, with all that it has. The words are those of the
// placement of an order.
import type { Hardware } from '../../../../agent/protocol/wire.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { type AddressNeed, lackingAddresses } from '../../../network/ip-pools/allocate.ts'
import { lackingRoute } from '../../../network/ip-pools/given.ts'
import type { NodeCapacity } from '../../placement/capacity.ts'
import { judgeBy, type Nodes, poolsFor, shortageReasons } from '../../placement/placement.ts'
import type { PoolSpace } from '../../storage-pools/queries.ts'
import type { Workload } from '../queries.ts'
import { type Planned, ruleFor } from './group-rule.ts'
import { isVolumeOn, stayOn } from './queries.ts'
import type { ArrivingVolume } from './stays.ts'

/** Its parts beside memory, disk and addresses. Classes: null for a pool of any. */
export type Brought = {
  storageClass: string | null
  /** GiB beside its disk, such as that of its snapshots. */
  spareDiskGb: number
  hardware?: Hardware | undefined
  /** Of its vm; null: that of any node. */
  cpuModel?: string | null
  /** It gives up its addresses, and needs these. */
  readdress?: AddressNeed | undefined
  volumes?: readonly { volumeId: string; storageClass: string | null; diskGb: number }[]
}
/** Where its disk and its extra volumes will be, or why the node cannot hold it, such as `no memory left`. */
export type SecondNode =
  | {
      pool: string
      volumes: ArrivingVolume[]
      /** How the node breaks the rule of its group, which is soft. */
      broken: string | undefined
    }
  | { disabledReason: string; breaksGroup?: true | undefined }

/** It is deleted when the node is connected. */
const WAITS_FOR_DELETION = 'has a copy from an earlier move, which waits for its deletion'

/** Judges nodes for one workload: for `openArriving` in the same transaction, and to show what each node lacks. */
export function judgeForMove(tx: Db, workload: Workload, brought: Brought, nodes: Nodes, planned?: Planned) {
  const { storageClass, spareDiskGb, hardware, cpuModel, readdress, volumes = [] } = brought
  const disk = { storageClass, diskGb: workload.diskGb + spareDiskGb }
  const group = ruleFor(tx, workload.id, planned)
  const addresses = readdress ?? { ipv4: 0, ipv6Prefix: null }
  const need = { ...disk, memoryMb: workload.memoryMb, hardware, cpuModel, ...addresses, group }
  const lacking = readdress
    ? lackingAddresses(tx, readdress)
    : (nodeId: string) => lackingRoute(tx, workload.id, nodeId)
  const judge = judgeBy(tx, need, nodes, lacking)
  return (node: NodeCapacity): SecondNode => {
    const there = stayOn(tx, workload.id, node.id)
    if (there) return { disabledReason: there.role === 'leaving' ? WAITS_FOR_DELETION : 'has it already' }
    if (volumes.some(({ volumeId }) => isVolumeOn(tx, volumeId, node.id))) return { disabledReason: WAITS_FOR_DELETION }
    const { disabledReason, breaksGroup } = judge(node)
    if (disabledReason !== undefined) return { disabledReason, breaksGroup }
    const taken = new Map<string, number>()
    const pool = poolFor(node, disk, taken)
    // The largest first: what is left takes the small ones.
    const placed = volumes
      .toSorted((a, b) => b.diskGb - a.diskGb)
      .map(({ volumeId, ...volume }) => ({ volumeId, diskGb: volume.diskGb, pool: poolFor(node, volume, taken) }))
    const homeless = placed.findIndex((volume) => volume.pool === undefined)
    if (pool === undefined || homeless >= 0) return { disabledReason: shortageReasons.disk }
    const broken = group?.brokenBy(node.id)
    return { pool, volumes: placed.map((volume) => ({ ...volume, pool: volume.pool! })), broken }
  }
}

/** The pool with the most space, if it takes this disk beside those of `taken`, in GiB by pool; it is added there. */
function poolFor(
  node: NodeCapacity,
  { storageClass, diskGb }: { storageClass: string | null; diskGb: number },
  taken: Map<string, number>,
): string | undefined {
  const left = ({ name, freeDiskGb }: PoolSpace) => freeDiskGb - (taken.get(name) ?? 0)
  const [best] = poolsFor(node, { storageClass }).toSorted((a, b) => left(b) - left(a))
  if (!best || left(best) < diskGb) return undefined
  taken.set(best.name, (taken.get(best.name) ?? 0) + diskGb)
  return best.name
}
