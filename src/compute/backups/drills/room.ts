// The place for a drill: a node that reaches the backup, with memory and disk to spare for a while.
import type { Hardware } from '../../../../agent/protocol/wire.ts'
import { hardwareOf } from '../../../catalog/images/hardware.ts'
import { capacityIn, capacityOf, isGoneNode, type NodeCapacity, nodeById } from '../../../fleet/nodes/queries.ts'
import { runsOn } from '../../../fleet/placement/hardware.ts'
import type { Nodes } from '../../../fleet/placement/placement.ts'
import { formatIn } from '../../../fleet/storage-pools/queries.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { exactGb } from '../../../kernel/words.ts'
import type { Backup } from '../model.ts'
import { isOnNodeOnly } from '../reach.ts'

/** Enough to boot; less than most servers have. */
const LINUX_MB = 1024
const WINDOWS_MB = 4096
export const memoryMbFor = ({ os }: Pick<Hardware, 'os'>) => (os === 'windows' ? WINDOWS_MB : LINUX_MB)

export type Room = { nodeId: string; pool: string; format: 'qcow2' | 'raw' }

/** The node that made the backup, or another one of its location; words where none has the space. */
export function roomFor(tx: Db, nodes: Nodes, it: Backup): Room | { words: string } {
  const own = nodeById(tx, it.nodeId)
  const others = own && !isOnNodeOnly(tx, it) ? capacityIn(tx, own.locationId) : []
  const all = [...(own && !own.removedAt ? [capacityOf(tx, own.id)] : []), ...others.filter(({ id }) => id !== own?.id)]
  const live = all.filter(({ id }) => !isGoneNode(tx, id) && nodes.connected(id) && runsOn(tx, id, hardwareOf(it)))
  if (!live.length) return { words: 'No node that reaches the backup is connected and can run its system.' }
  for (const node of live) {
    const pool = poolIn(node, it)
    if (pool) return { nodeId: node.id, pool: pool.name, format: formatIn(pool) }
  }
  const memory = exactGb(memoryMbFor(it) / 1024)
  return { words: `No node that reaches the backup has ${memory} of memory and ${exactGb(it.diskGb)} of disk free.` }
}

function poolIn({ memoryMb, heldMemoryMb, pools }: NodeCapacity, it: Backup) {
  if (memoryMb - heldMemoryMb < memoryMbFor(it)) return undefined
  return pools.filter(({ freeDiskGb }) => freeDiskGb >= it.diskGb).toSorted((a, b) => b.freeDiskGb - a.freeDiskGb)[0]
}
