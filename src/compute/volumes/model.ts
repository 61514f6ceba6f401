// An extra volume: a disk of an account, in a storage pool of one node. It is attached to one server there or to none,
// and outlives its server. Snapshots and backups are of a server's own disk alone.
import type { SQL } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { serialOf, type Volume } from '../../../agent/protocol/wire.ts'
import { packageById } from '../../catalog/packages/queries.ts'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { isGoneNode } from '../../fleet/node-records/queries.ts'
import { type PoolSpace, poolSpaceOf, poolSpacesOn } from '../../fleet/storage-pools/queries.ts'
import { mustHaveSpace, silent } from '../../fleet/storage-pools/space.ts'
import {
  searchVolumes,
  type VolumeRow,
  volumeById,
  volumeColumns,
  volumesChangedAt,
  volumesGbOf,
  volumesOf,
} from '../../fleet/volume-records/queries.ts'
import { serversBeside } from '../../fleet/workloads/reports.ts'
import { customerData, customerInEvent } from '../../identity/account-records/model.ts'
import { ownedResource, ownedVisibleTo } from '../../identity/account-records/owned.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { mustAllowDisk, resellerOf } from '../../identity/resellers/model.ts'
import { accessLevel, isLockedFor } from '../../identity/team/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, line, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import type { NewJob } from '../../kernel/jobs/start.ts'
import { exactGb } from '../../kernel/words.ts'
import { load, type Server, serverById, subjectOfOwner } from '../server-records/model.ts'
import { packagesOfOwner } from '../server-records/queries.ts'
import { volumeActions } from './states.ts'

export type { VolumeRow }

/** Volumes that a server can have at a time: each takes one of the few ports that its machine has. */
export const MOST_ATTACHED = 6

export const nameField = line(60)
export const sizeField = t.Integer({ minimum: 1, maximum: 65_536 })

export const visibleTo = (actor: Actor): SQL | undefined => ownedVisibleTo(actor, volumeColumns)
export const volume = ownedResource({ name: 'volume', notFound: 'volume_not_found' }, volumeById)

const aServer = t.Object({ id: t.String(), hostname: t.String() })
export const volumeResponse = namedSchema('Volume', {
  id: t.String(),
  name: t.String(),
  sizeGb: t.Integer(),
  state: described(
    t.Enum(['creating', 'attached', 'detached', 'deleting', 'lost']),
    'lost: its node was lost or removed, and the volume with it.',
  ),
  serial: described(t.String(), 'Its guest finds it as /dev/disk/by-id/virtio- and this.'),
  storageClass: nullable(t.String()),
  location: locationReferred,
  owner: t.Object({ id: t.String(), name: t.String() }),
  server: described(nullable(aServer), 'The server that has it; null: none.'),
  attachableTo: described(
    t.Array(aServer),
    'The other servers of its owner on the same machine: it stays on that, so it can be attached to these.',
  ),
  jobId: described(nullable(t.String()), 'The job that changes it now.'),
  createdAt: time,
})

/** So many servers are offered for one volume. */
const MOST_OFFERED = 50

export function showVolume(tx: Db, actor: Actor, volume: VolumeRow) {
  const { id, name, sizeGb, nodeId, ownerId, resellerId, serverId, jobId } = volume
  const shown = (server: { id: string; hostname: string }) => ({ id: server.id, hostname: server.hostname })
  const isLost = isGoneNode(tx, nodeId)
  return {
    id,
    name,
    sizeGb,
    state: isLost ? 'lost' : volume.state === 'ready' ? (serverId === null ? 'detached' : 'attached') : volume.state,
    serial: serialOf(id),
    storageClass: poolSpaceOf(tx, volume)?.class ?? null,
    location: locationOf(tx, volume),
    owner: { id: ownerId, name: accountById(tx, ownerId)?.name ?? '' },
    server: serverId === null ? null : shown(load(tx, serverId)),
    attachableTo: isLost
      ? []
      : serversBeside(tx, { ownerId, nodeId }, MOST_OFFERED)
          // A server that others share is all that they see of its owner's.
          .filter((server) => server.id !== serverId && accessLevel(tx, actor, { id: server.id, ownerId, resellerId }))
          .map(shown),
    jobId,
    createdAt: iso(volume.createdAt),
  } as const
}

/** The volume as its node knows it. */
export const onNode = ({ id, pool, format }: VolumeRow): Volume => ({ workload: id, generation: 0, pool, format })

export const lost = ({ name }: VolumeRow) =>
  new ApiError('volume_lost', `The machine of the volume ${name} was lost, and the volume with it. Delete it.`)

/** Throws `account_locked`, `volume_lost`, and `volume_busy` while a job changes it. */
export function mustBeChangeable(tx: Db, actor: Actor, volume: VolumeRow) {
  mustNotBeLockedFor(tx, actor, volume)
  if (isGoneNode(tx, volume.nodeId)) throw lost(volume)
  mustRest(volume)
}

export function mustNotBeLockedFor(tx: Db, actor: Actor, volume: VolumeRow) {
  if (isLockedFor(tx, actor, volume))
    throw new ApiError(
      'account_locked',
      `The account is locked, so ${volume.name} cannot be changed. Ask your provider.`,
    )
}

const busy = ({ name }: VolumeRow) =>
  new ApiError('volume_busy', `A job is changing the volume ${name}. Wait until it has ended.`)
/** Throws `volume_busy`. */
export function mustRest(volume: VolumeRow) {
  if (volume.jobId !== null) throw busy(volume)
}

/**
 * Fields of a job about a volume that takes the lock of the volume alone: its node keeps which volumes a vm has,
 * whatever else happens to the server.
 */
export const volumeJob = (tx: Db, volume: VolumeRow, about: Pick<NewJob, 'by' | 'title' | 'now'>) =>
  ({
    ...about,
    holds: volume.id,
    busy: () => busy(volume),
    nodeId: volume.nodeId,
    // At the server that has the volume or had it last.
    subject: subjectOfOwner(tx, volume.serverId ?? volume.lastServerId, volume.ownerId),
  }) satisfies NewJob

/** Throws `limit_reached` when the server has as many volumes as its machine can take. */
export function mustHavePort(tx: Db, target: Server) {
  // One that moves away may come back: its job gives it back if it fails.
  const onItsWay = volumesChangedAt(tx, target).filter(
    ({ serverId, state, sizeGb, heldGb }) => serverId === null && state === 'ready' && sizeGb === heldGb,
  )
  if (volumesOf(tx, target.id).length + onItsWay.length >= MOST_ATTACHED)
    throw new ApiError(
      'limit_reached',
      `${target.hostname} has ${MOST_ATTACHED} volumes, as many as a server can have. Detach one first.`,
    )
}

/** GiB of volumes that come with the servers of the account, by their packages. */
export const allowanceGb = (tx: Db, ownerId: string): number =>
  packagesOfOwner(tx, ownerId).reduce(
    (sum, { packageId, n }) => sum + n * (packageById(tx, packageId)?.volumeGb ?? 0),
    0,
  )

/** Does the actor see a volume, or have a package that comes with some? To others the list of volumes is of no use. */
export const hasVolumes = (tx: Db, actor: Actor): boolean =>
  searchVolumes(tx, visibleTo(actor), '', 1).length > 0 || allowanceGb(tx, actor.accountId) > 0

/** Throws `limit_reached`, `reseller_suspended` or `quota_exceeded` when the account may not have so much more. */
export function mustBeAllowed(tx: Tx, now: number, ownerId: string, moreGb: number) {
  mustFitAllowance(tx, ownerId, moreGb)
  const reseller = resellerOf(tx, accountById(tx, ownerId)!)
  if (reseller) mustAllowDisk(tx, now, reseller, moreGb)
}

/** Throws `limit_reached`. */
export function mustFitAllowance(tx: Db, ownerId: string, moreGb: number) {
  const [most, used] = [allowanceGb(tx, ownerId), volumesGbOf(tx, ownerId)]
  if (most === 0)
    throw new ApiError('limit_reached', 'The packages of these servers have no extra volumes. Choose another package.')
  if (used + moreGb > most)
    throw new ApiError(
      'limit_reached',
      `The packages of these servers have ${exactGb(most)} of extra volumes, of which ${exactGb(used)} are in use. ` +
        'Make it smaller, delete a volume, or choose another package.',
    )
}

/** The pool for a new volume of the server: its own where that fits, else the one with the most space. */
export function poolFor(tx: Db, target: Server, sizeGb: number): PoolSpace {
  const own = poolSpaceOf(tx, target)
  const wanted = packageById(tx, target.packageId)?.volumeClass ?? own?.class ?? null
  const ofClass = poolSpacesOn(tx, [target.nodeId]).filter((pool) => pool.open && pool.class === wanted)
  const [best] = ofClass
    .filter((pool) => pool.freeDiskGb >= sizeGb)
    .sort((a, b) => Number(b.name === target.pool) - Number(a.name === target.pool) || b.freeDiskGb - a.freeDiskGb)
  if (best) return best
  throw ofClass.some((pool) => pool.isSilent)
    ? silent(target.hostname)
    : new ApiError('no_capacity', noSpaceWords(target.hostname, sizeGb))
}

/** Throws `no_capacity`. */
export const mustHaveSpaceToGrow = (tx: Db, volume: VolumeRow, moreGb: number) =>
  mustHaveSpace(tx, volume, moreGb, noSpaceWords(volume.name, moreGb))
const noSpaceWords = (where: string, gb: number) =>
  `There is no space for ${exactGb(gb)} more where ${where} stands. Ask your provider.`

/**
 * Throws `forbidden` for a member of a team: a volume is a thing of the account, which a member may neither detach nor
 * delete.
 */
export function mustBeOwn(tx: Db, actor: Actor, target: Server) {
  if (accessLevel(tx, actor, target) !== 'own')
    throw new ApiError('forbidden', `Volumes belong to the account that owns ${target.hostname}. Ask its owner.`)
}

/** Throws what refuses a new volume of the server apart from its size. */
export function mustBeMakeable(tx: Db, actor: Actor, target: Server) {
  mustBeOwn(tx, actor, target)
  volumeActions.mustAllowFor(tx, actor, target, 'volume')
  mustHavePort(tx, target)
  mustFitAllowance(tx, target.ownerId, 1)
}

export const volumeData = t.Object({
  volume: t.Object({ id: t.String(), name: t.String(), sizeGb: t.Integer(), location: locationReferred }),
  customer: customerData,
})
export function tell(
  tx: Tx,
  now: number,
  type: 'volume.created' | 'volume.resized' | 'volume.deleted',
  volume: VolumeRow,
) {
  const { id, name, sizeGb, ownerId, resellerId } = volume
  const concerning = { subject: { type: 'volume', id }, customerId: ownerId, resellerId }
  emit(tx, now, type, concerning, {
    volume: { id, name, sizeGb, location: locationOf(tx, volume) },
    customer: customerInEvent(accountById(tx, ownerId)!),
  })
}

/**
 * `the volume data`, for a sentence about what belongs to the owner of a server: its volumes, and those that a job
 * would give back to it if it fails.
 */
export function boundVolumes(tx: Db, serverId: string): string[] {
  const server = serverById(tx, serverId)
  const bound = [...volumesOf(tx, serverId), ...(server ? volumesChangedAt(tx, server) : [])]
  return [...new Set(bound.map(({ name }) => `the volume ${name}`))]
}
