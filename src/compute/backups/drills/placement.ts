// The place for a drill: a node that reaches the backup, with memory and disk to spare for a while.
import type { Hardware } from '../../../../agent/protocol/wire.ts'
import { hardwareOf } from '../../../catalog/images/hardware.ts'
import { capacityOf, type NodeCapacity } from '../../../fleet/placement/capacity.ts'
import { runsOn } from '../../../fleet/placement/hardware.ts'
import type { Nodes } from '../../../fleet/placement/placement.ts'
import { formatIn } from '../../../fleet/storage-pools/queries.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { exactGb } from '../../../kernel/words.ts'
import type { Backup } from '../model.ts'
import { nodesReaching } from '../reach.ts'

/** Enough to boot; less than most servers have. */
const LINUX_MB = 1024
const WINDOWS_MB = 4096
export const memoryMbFor = ({ os }: Pick<Hardware, 'os'>) => (os === 'windows' ? WINDOWS_MB : LINUX_MB)

export type DrillNode = { nodeId: string; pool: string; format: 'qcow2' | 'raw' }

/** So many nodes are asked for space: each takes a few statements. */
const MOST_ASKED = 100

/** The node that made the backup, or another one that reaches it, near ones first; words where none has the space. */
export function nodeForDrill(tx: Db, nodes: Nodes, backup: Backup): DrillNode | { words: string } {
  const hardware = hardwareOf(backup)
  const live = nodesReaching(tx, backup)
    .filter((id) => nodes.connected(id))
    .slice(0, MOST_ASKED)
    .filter((id) => runsOn(tx, id, hardware))
  if (!live.length) return { words: 'No node that reaches the backup is connected and can run its system.' }
  for (const nodeId of live) {
    const pool = poolIn(capacityOf(tx, nodeId), backup)
    if (pool) return { nodeId, pool: pool.name, format: formatIn(pool) }
  }
  const memory = exactGb(memoryMbFor(backup) / 1024)
  return {
    words: `No node that reaches the backup has ${memory} of memory and ${exactGb(backup.diskGb)} of disk free.`,
  }
}

function poolIn({ memoryMb, heldMemoryMb, pools }: NodeCapacity, backup: Backup) {
  if (memoryMb - heldMemoryMb < memoryMbFor(backup)) return undefined
  return pools
    .filter(({ freeDiskGb }) => freeDiskGb >= backup.diskGb)
    .toSorted((a, b) => b.freeDiskGb - a.freeDiskGb)[0]
}
