// A snapshot of a server: the state of its disk at one moment, as a layer below the one that the server writes.
import { type Static, Type as t } from 'typebox'
import { packageById } from '../../catalog/packages/queries.ts'
import { mustHaveSpace } from '../../fleet/storage-pools/space.ts'
import { notedNameFor } from '../../identity/team/audit-actor.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, line, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { count, exactGb } from '../../kernel/words.ts'
import { mustHaveUnreadDisk } from '../server-records/disk-lock.ts'
import type { Server } from '../server-records/model.ts'
import type { Snapshot } from '../snapshot-records/model.ts'
import { snapshotById, snapshotsOf } from '../snapshot-records/queries.ts'
import { snapshotActions } from './states.ts'

export const nameField = line(80)
export const commentField = line(200, 0)

const why = (what: string) => described(nullable(t.String()), `Why it cannot be ${what} now, in words; null: it can.`)
export const snapshotResponse = namedSchema('Snapshot', {
  id: t.String(),
  serverId: t.String(),
  name: t.String(),
  comment: t.String(),
  state: described(t.Enum(['taking', 'ready']), 'taking: its job is not done yet.'),
  diskGb: described(t.Integer(), 'The disk when it was taken. So much space is held for it.'),
  usedBytes: described(nullable(t.Integer()), 'What it took on the node when it was taken.'),
  consistent: described(
    nullable(t.Boolean()),
    'True: the guest had written everything to its disk. False: it starts as after a power failure.',
  ),
  takenBy: described(
    nullable(t.String()),
    'The name of who took it, as much as you may know: a provider is Staff to its customers. Null: not noted.',
  ),
  createdAt: time,
  notRestorable: why('restored'),
  notDeletable: why('deleted'),
})

export const showSnapshot = (
  tx: Db,
  actor: Actor,
  target: Server,
  snapshot: Snapshot,
): Static<typeof snapshotResponse> => ({
  id: snapshot.id,
  serverId: snapshot.serverId,
  name: snapshot.name,
  comment: snapshot.comment,
  state: snapshot.layer === null ? 'taking' : 'ready',
  diskGb: snapshot.diskGb,
  usedBytes: snapshot.usedBytes,
  consistent: snapshot.consistent,
  takenBy: snapshot.takenBy && notedNameFor(tx, actor, target, snapshot.takenBy),
  createdAt: iso(snapshot.createdAt),
  notRestorable: refusalOf(() => mustBeRestorable(tx, actor, target, snapshot)),
  notDeletable: refusalOf(() => mustBeDeletable(tx, actor, target, snapshot)),
})

/** The words with which a check refuses; null when it does not. */
export function refusalOf(check: () => unknown): string | null {
  try {
    check()
    return null
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
}

/** The snapshot of this server. Throws `snapshot_not_found`, also for one of another server. */
export function snapshotIn(tx: Db, target: Server, id: string | undefined): Snapshot {
  const found = id === undefined ? undefined : snapshotById(tx, id)
  if (found?.serverId !== target.id)
    throw new ApiError('snapshot_not_found', `${target.hostname} has no such snapshot. Check the id.`)
  return found
}

export const limitOf = (tx: Db, { packageId }: Server): number => packageById(tx, packageId)?.snapshotLimit ?? 0

/** Throws what refuses a new snapshot: the state of the server, the limit of its package, or the space of its node. */
export function mustBeTakeable(tx: Db, actor: Actor, target: Server) {
  snapshotActions.mustAllowFor(tx, actor, target, 'snapshot')
  mustHaveUnreadDisk(tx, target)
  const limit = limitOf(tx, target)
  if (limit === 0)
    throw new ApiError('snapshot_limit', `The package of ${target.hostname} has no snapshots. Choose another package.`)
  if (snapshotsOf(tx, target.id).length >= limit)
    throw new ApiError(
      'snapshot_limit',
      `${target.hostname} has ${count(limit, 'snapshot', 'snapshots')}, as many as its package allows. ` +
        'Delete one first.',
    )
  mustHaveSpace(
    tx,
    { ...target, name: target.hostname },
    target.diskGb,
    `A snapshot can grow to the ${exactGb(target.diskGb)} of the disk, and there is no space left for that where ` +
      `${target.hostname} stands. Delete a snapshot, or ask your provider.`,
  )
}

export function mustBeRestorable(tx: Db, actor: Actor, target: Server, snapshot: Snapshot) {
  snapshotActions.mustAllowFor(tx, actor, target, 'restore_snapshot')
  mustHaveUnreadDisk(tx, target)
  mustBeTaken(snapshot)
}

export function mustBeDeletable(tx: Db, actor: Actor, target: Server, snapshot: Snapshot) {
  snapshotActions.mustAllowFor(tx, actor, target, 'delete_snapshot')
  mustHaveUnreadDisk(tx, target)
  mustBeTaken(snapshot)
  const above = standingOn(tx, target, snapshot)
  // Written into the only layer above it, a snapshot is gone; two cannot share what is left.
  if (above.length < 2) return
  const names = above.flatMap((one) => (one === 'disk' ? [] : [`“${one.name}”`]))
  throw new ApiError(
    'snapshot_in_use',
    `${above.includes('disk') ? 'The disk and ' : ''}${names.join(' and ')} build on “${snapshot.name}”. ` +
      `Delete ${names.join(' or ')} first.`,
  )
}

const mustBeTaken = ({ layer, name }: Snapshot) => {
  if (layer === null) throw new ApiError('server_busy', `“${name}” is still being taken. Follow its job.`)
}

/** The snapshots and the disk that stand directly on the layer of a snapshot. */
export function standingOn(tx: Db, target: Server, { layer }: Snapshot): (Snapshot | 'disk')[] {
  if (layer === null) return []
  const above: (Snapshot | 'disk')[] = snapshotsOf(tx, target.id).filter((snapshot) => snapshot.parent === layer)
  return target.diskParent === layer ? [...above, 'disk'] : above
}
