// The place of an adopted server: its own node, and the pool of that in which its disk is.
import { capacityIn } from '../../../fleet/placement/capacity.ts'
import type { Placed } from '../../../fleet/placement/placement.ts'
import { poolsOn } from '../../../fleet/storage-pools/queries.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import type { MovedDrive } from '../../import-records/moves/queries.ts'
import { CannotMove } from '../failures.ts'

type Node = { locationId: string; nodeId: string }

/** `lvm` of `lvm-thin`. */
const kindOf = (kind: string) => kind.split('-')[0]!
/** Does a pool of this kind and path have the disk of this path? */
export function holds(kind: string, pool: string, disk: string): boolean {
  if (pool === '') return false
  if (kind === 'zfs') return disk.startsWith(`/dev/zvol/${pool}/`)
  if (kindOf(kind) !== 'lvm') return disk.startsWith(`${pool.replace(/\/+$/, '')}/`)
  const [group = ''] = pool.split('/')
  // The device mapper doubles the hyphens of a name.
  const mapped = `/dev/mapper/${group.replaceAll('-', '--')}-`
  return disk.startsWith(`/dev/${group}/`) || (disk.startsWith(mapped) && disk[mapped.length] !== '-')
}

/**
 * An adopted server stays where it is, whether the node is open for others or not: it takes nothing new. Throws
 * `CannotMove` where the node has no pool that could have its disk.
 */
export function ownPlace(tx: Tx, { locationId, nodeId }: Node, { path, holder }: MovedDrive): Placed {
  const node = capacityIn(tx, locationId).find(({ id }) => id === nodeId)
  const pools = node?.pools ?? []
  const paths = new Map(poolsOn(tx, nodeId).map((one) => [one.name, one.path]))
  const pathOf = ({ name }: { name: string }) => paths.get(name) ?? ''
  const within = pools
    .filter((pool) => holds(pool.kind, pathOf(pool), path))
    .toSorted((a, b) => pathOf(b).length - pathOf(a).length)
  // The agent looks whether its disk can have a name there; it says so before it changes anything.
  const pool = within[0] ?? pools.find(({ kind }) => kindOf(kind) === holder)
  if (!node || !pool)
    throw new CannotMove('source_disk_elsewhere', 'The node has no storage pool of the kind of its disk.')
  return { node, pool, reason: `${node.name}: where it stood` }
}
