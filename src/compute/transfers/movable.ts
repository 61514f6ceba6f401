// A server can be moved in these states, and without things that cannot come along.
import { MOST_DISKS } from '../../../agent/protocol/values/transfers.ts'
import { poolOfStorage, poolSpaceOf, poolSpacesOn } from '../../fleet/storage-pools/queries.ts'
import { volumesOf } from '../../fleet/volume-records/queries.ts'
import { homeOf } from '../../fleet/workloads/stays/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { mustRest } from '../../network/floating-ips/model.ts'
import { floatingById } from '../../network/floating-ips/queries.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import { mustHaveUnreadDisk } from '../server-records/disk-lock.ts'
import type { Server } from '../server-records/model.ts'
import { GIB } from '../server-vm/definition.ts'
import { hasNetworkSeed } from '../server-vm/seed.ts'
import { snapshotsOf } from '../snapshot-records/queries.ts'
import { mustRest as volumeMustRest } from '../volumes/model.ts'
import { transferActions } from './states.ts'

/** Its own disk is one of those that a transfer can have. */
const MOST_VOLUMES = MOST_DISKS - 1

/** Nothing is installed on it: it moves at once. */
export const isEmpty = ({ lifecycle, diskGeneration }: Pick<Server, 'lifecycle' | 'diskGeneration'>): boolean =>
  lifecycle === 'pending_setup' && diskGeneration === null

/** Throws what refuses a move to any node: the state of the server, `not_movable`, or that something changes it now. */
export function mustBeMovable(tx: Db, actor: Actor, server: Server) {
  transferActions.mustAllowFor(tx, actor, server, 'move')
  for (const floating of floatingOn(tx, server.id)) mustRest(tx, floating)
  if (isEmpty(server)) return
  const { id, hostname } = server
  const cannot = (words: string) => new ApiError('not_movable', words)
  if (server.diskGeneration === null)
    throw cannot(`${hostname} has no system: its installation was interrupted. Reinstall it first, or terminate it.`)
  mustHaveUnreadDisk(tx, server)
  const snapshots = snapshotsOf(tx, id).length
  if (snapshots)
    throw cannot(
      `${hostname} has ${count(snapshots, 'snapshot', 'snapshots')}, which cannot come along. Delete them first; a ` +
        'backup keeps the same state.',
    )
  if (homeOf(tx, id)!.spareDiskGb > 0)
    throw cannot(`An old disk of ${hostname} is being deleted. Try again when its job has ended.`)
  const volumes = volumesOf(tx, id)
  if (volumes.length > MOST_VOLUMES)
    throw cannot(
      `${hostname} has ${volumes.length} extra volumes, and at most ${MOST_VOLUMES} can come along. Detach one first.`,
    )
  for (const volume of volumes) volumeMustRest(volume)
  if (server.pendingSeed !== null && (server.os === 'windows' || !hasNetworkSeed(server)))
    throw cannot(
      `${hostname} has data for its next start that only its present node can read. Restart it, and try again half ` +
        'an hour later.',
    )
}

/** The floating addresses that point to the server. */
export const floatingOn = (tx: Db, serverId: string) =>
  addressesOf(tx, serverId).flatMap(({ holderId }) => (holderId === null ? [] : (floatingById(tx, holderId) ?? [])))

/** The size of all its disks, in bytes. */
export const bytesOf = (tx: Db, server: Server): number =>
  disksOf(tx, server).reduce((sum, { bytes }) => sum + bytes, 0)
const disksOf = (tx: Db, { id, pool, diskGb }: Server) => [
  { pool, bytes: diskGb * GIB },
  ...volumesOf(tx, id).map((volume) => ({ pool: volume.pool, bytes: volume.sizeGb * GIB })),
]

/** The disks that a move to this node copies, as their bytes, and how many stay in storage that both nodes reach. */
export function copiedTo(tx: Db, server: Server, to: string): { bytes: number; copied: number; stays: number } {
  const there = poolSpacesOn(tx, [to])
  const isThere = (pool: string) =>
    poolOfStorage(there, poolSpaceOf(tx, { nodeId: server.nodeId, pool })?.storage ?? null) !== undefined
  const disks = disksOf(tx, server)
  const copied = disks.filter(({ pool }) => !isThere(pool))
  return {
    bytes: copied.reduce((sum, { bytes }) => sum + bytes, 0),
    copied: copied.length,
    stays: disks.length - copied.length,
  }
}
