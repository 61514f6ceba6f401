// A floating address: its owner's, in one location, pointing to one server there or to none.

import type { SQL } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { load } from '../../compute/server-records/model.ts'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { customerInEvent } from '../../identity/account-records/model.ts'
import { ownedResource, ownedVisibleTo } from '../../identity/account-records/owned.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { jobFacts, stepNotes } from '../../kernel/jobs/queries.ts'
import { addressById, poolById } from '../ip-pools/queries.ts'
import { floatingById } from './queries.ts'
import { type FloatingIp, floatingIps } from './tables.ts'

export type { FloatingIp }

/** Floating addresses that an account can have. */
export const MOST_FLOATING = 10

export const visibleTo = (actor: Actor): SQL | undefined => ownedVisibleTo(actor, floatingIps)

export const floatingIp = ownedResource({ name: 'floating address', notFound: 'floating_ip_not_found' }, floatingById)

export const floatingResponse = namedSchema('FloatingIp', {
  id: t.String(),
  name: t.String(),
  address: t.String(),
  version: t.Enum([4, 6]),
  location: locationReferred,
  owner: t.Object({ id: t.String(), name: t.String() }),
  server: described(
    nullable(t.Object({ id: t.String(), hostname: t.String() })),
    'The server that it points to; null: none.',
  ),
  jobId: described(nullable(t.String()), 'The job that moves it now.'),
  createdAt: time,
})

export function showFloating(tx: Db, floatingIp: FloatingIp) {
  const held = addressById(tx, floatingIp.addressId)!
  const server = held.workloadId === null ? null : load(tx, held.workloadId)
  return {
    id: floatingIp.id,
    name: floatingIp.name,
    address: held.address,
    version: held.version,
    location: locationOf(tx, floatingIp),
    owner: { id: floatingIp.ownerId, name: accountById(tx, floatingIp.ownerId)?.name ?? '' },
    server: server && { id: server.id, hostname: server.hostname },
    jobId: movedBy(tx, floatingIp),
    createdAt: iso(floatingIp.createdAt),
  }
}

/** Its row among the addresses, with its pool. */
export function addressOf(tx: Db, floatingIp: FloatingIp) {
  const held = addressById(tx, floatingIp.addressId)!
  return { ...held, pool: poolById(tx, held.poolId)! }
}

/** Steps of a move whose undo gives the address back to the server that had it. */
const givingBack: ReadonlySet<string> = new Set(['clear', 'off', 'arriving'])
/**
 * The job that moves it now. One that has failed moves it until the server that had it has it again; a rest that waits
 * for the node of the other server keeps nobody from moving it.
 */
function movedBy(tx: Db, { jobId }: FloatingIp): string | null {
  if (jobId === null || (jobFacts(tx, jobId)?.undoNodeId ?? null) === null) return jobId
  const isLeft = stepNotes(tx, jobId).notes.some(({ name, state }) => givingBack.has(name) && state !== 'undone')
  return isLeft ? jobId : null
}

/** Throws `floating_ip_busy` while a job moves it. */
export function mustRest(tx: Db, floatingIp: FloatingIp) {
  if (movedBy(tx, floatingIp) !== null)
    throw new ApiError(
      'floating_ip_busy',
      `${addressOf(tx, floatingIp).address} is being moved. Wait until its job has ended.`,
    )
}

export function tell(
  tx: Tx,
  now: number,
  type: 'floating_ip.created' | 'floating_ip.released',
  floatingIp: FloatingIp,
) {
  const { id, address, location } = showFloating(tx, floatingIp)
  const { ownerId, resellerId } = floatingIp
  const concerning = { subject: { type: 'floating_ip', id }, customerId: ownerId, resellerId }
  const customer = customerInEvent(accountById(tx, ownerId)!)
  emit(tx, now, type, concerning, { floatingIp: { id, address, location }, customer })
}
