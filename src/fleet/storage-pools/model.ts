import { Type as t } from 'typebox'
import { described, namedSchema, nullable, type Resource, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { node } from '../node-records/model.ts'
import { FULL_PERCENT, metadataPercent, usedPercent } from './full.ts'
import { poolSpaceOf, storagePoolById } from './queries.ts'
import type { StoragePool } from './tables.ts'

export type { StoragePool }

/** Staff see the pools of the nodes that they see. */
export const storagePool: Resource<StoragePool> = {
  name: 'storage pool',
  notFound: 'storage_pool_not_found',
  find(tx, actor, id) {
    const found = actor.kind === 'staff' ? storagePoolById(tx, id) : undefined
    return found && node.find(tx, actor, found.nodeId) ? found : undefined
  },
}

const percent = (words: string) => described(nullable(t.Number()), words)
export const storagePoolResponse = namedSchema('NodeStoragePool', {
  id: t.String(),
  nodeId: t.String(),
  name: t.String(),
  kind: described(t.String(), 'file, lvm-thin, zfs or rbd; fake on a simulated node.'),
  class: described(nullable(t.String()), 'What packages ask for; null: the node names none.'),
  path: described(t.String(), 'Where it is on the node.'),
  totalBytes: t.Integer(),
  freeBytes: described(nullable(t.Integer()), 'Null before the first report.'),
  usedPercent: percent('Of its size; null before the first report.'),
  metadataPercent: percent('Of its space for metadata; null where it has none of its own.'),
  heldDiskGb: described(t.Integer(), 'Held for disks and snapshots.'),
  limitGb: described(t.Integer(), 'The overcommit limit: so much can be held.'),
  freeDiskGb: described(t.Integer(), 'The largest disk that fits.'),
  overcommitPercent: described(t.Integer(), 'The overcommit limit, of its size.'),
  open: described(t.Boolean(), 'It takes the disks of new servers.'),
  state: described(
    t.Enum(['open', 'closed', 'full', 'missing', 'silent']),
    `full: ${FULL_PERCENT} % of its data or its metadata are in use, so it takes no new disks. missing: its node ` +
      'does not report it any more. silent: it does not answer its node, so its figures are the last that are known ' +
      'and it takes no new disks.',
  ),
  missingSince: nullable(time),
  silentSince: nullable(time),
  warnings: described(t.Array(t.String()), 'What the node says is wrong with it.'),
})

export function showStoragePool(tx: Db, pool: StoragePool) {
  const space = poolSpaceOf(tx, { nodeId: pool.nodeId, pool: pool.name })!
  const used = usedPercent(pool)
  const metadata = metadataPercent(pool)
  const isFull = Math.max(used ?? 0, metadata ?? 0) >= FULL_PERCENT
  return {
    id: pool.id,
    nodeId: pool.nodeId,
    name: pool.name,
    kind: pool.kind,
    class: pool.class,
    path: pool.path,
    totalBytes: pool.totalBytes,
    freeBytes: pool.freeBytes,
    usedPercent: rounded(used),
    metadataPercent: rounded(metadata),
    heldDiskGb: space.heldDiskGb,
    limitGb: space.limitGb,
    freeDiskGb: space.freeDiskGb,
    overcommitPercent: pool.overcommitPercent,
    open: pool.open,
    state: stateOf(pool, isFull),
    missingSince: isoOrNull(pool.missingSince),
    silentSince: isoOrNull(pool.silentSince),
    warnings: pool.warnings,
  } as const
}

function stateOf({ missingSince, silentSince, open }: StoragePool, isFull: boolean) {
  if (missingSince !== null) return 'missing'
  if (silentSince !== null) return 'silent'
  return !open ? 'closed' : isFull ? 'full' : 'open'
}

const rounded = (value: number | null) => (value === null ? null : Math.floor(value * 10) / 10)
