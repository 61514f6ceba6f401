// A floating address: its owner's, in one location, pointing to one server there or to none.

import type { SQL } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { load } from '../../compute/servers/model.ts'
import { locationOf, locationReferred } from '../../fleet/locations/reference.ts'
import { customerInEvent } from '../../identity/accounts/model.ts'
import { ownedResource, ownedVisibleTo } from '../../identity/accounts/owned.ts'
import { accountById } from '../../identity/accounts/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
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

export function showFloating(tx: Db, it: FloatingIp) {
  const held = addressById(tx, it.addressId)!
  const server = held.workloadId === null ? null : load(tx, held.workloadId)
  return {
    id: it.id,
    name: it.name,
    address: held.address,
    version: held.version,
    location: locationOf(tx, it),
    owner: { id: it.ownerId, name: accountById(tx, it.ownerId)?.name ?? '' },
    server: server && { id: server.id, hostname: server.hostname },
    jobId: it.jobId,
    createdAt: iso(it.createdAt),
  }
}

/** Its row among the addresses, with its pool. */
export function addressOf(tx: Db, it: FloatingIp) {
  const held = addressById(tx, it.addressId)!
  return { ...held, pool: poolById(tx, held.poolId)! }
}

/** Throws `floating_ip_busy` while a job moves it. */
export function mustRest(tx: Db, it: FloatingIp) {
  if (it.jobId !== null)
    throw new ApiError('floating_ip_busy', `${addressOf(tx, it).address} is being moved. Wait until its job has ended.`)
}

export function tell(tx: Tx, now: number, type: 'floating_ip.created' | 'floating_ip.released', it: FloatingIp) {
  const { id, address, location } = showFloating(tx, it)
  const concerning = { subject: { type: 'floating_ip', id }, customerId: it.ownerId, resellerId: it.resellerId }
  const customer = customerInEvent(accountById(tx, it.ownerId)!)
  emit(tx, now, type, concerning, { floatingIp: { id, address, location }, customer })
}
