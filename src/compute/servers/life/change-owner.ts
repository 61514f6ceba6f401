// A server moves to another customer: addresses, disk, snapshots and name go with it. Whatever belongs to its present
// owner alone, such as a floating address that points to it, is taken off it first, or the change is refused.
import { Type as t } from 'typebox'
import { changeWorkload, isHostnameFree } from '../../../fleet/workloads/queries.ts'
import { hostnameTaken } from '../../../fleet/workloads/reserve.ts'
import { customer, customerInEvent, mustNotBeLocked } from '../../../identity/account-records/model.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { mustAllowReturn, resellerOf } from '../../../identity/resellers/model.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { type AppContext, done, fields, operation, see } from '../../../kernel/api/operation.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { list } from '../../../kernel/words.ts'
import { takeInterrupted } from '../../installation/queries.ts'
import { mustHaveUnreadDisk } from '../../server-records/disk-lock.ts'
import { heldResources, inEvent, load, type Server, server } from '../../server-records/model.ts'
import { mustAllow, refusalsOf } from '../states.ts'

declare module '../../../kernel/feature.ts' {
  interface FeatureFields {
    /**
     * The things of its present owner that hang on a workload, in words such as `the floating address 203.0.113.9`. It
     * does not change its owner while there are any.
     */
    bindsToOwner?(tx: Db, workloadId: string): string[]
  }
}

export const changeServerOwner = operation({
  id: 'servers.change-owner',
  method: 'POST',
  path: '/servers/{id}/actions/change-owner',
  summary: 'Give a server to another customer, with its addresses and data; everybody else loses access at once',
  past: 'Changed the owner',
  access: { staff: ['customers:write'] },
  powers: ['gives_access'],
  requiresRecentAuth: true,
  on: server,
  body: fields({ ownerId: t.String({ minLength: 1, maxLength: 40 }) }),
  response: done,
  refuses: [
    ...refusalsOf('change_owner'),
    'server_busy',
    'already_done',
    'in_use',
    'account_locked',
    'hostname_taken',
    'reseller_suspended',
    'quota_exceeded',
  ],
  example: { ownerId: '<customer_id>' },
  run(call) {
    changeOwner(call, call.target, call.body.ownerId)
    return {}
  },
})

/** A server may be given to this account. Throws `validation_failed`. */
export function newOwner(tx: Db, actor: Actor, ownerId: string) {
  const owner = see(tx, actor, customer, ownerId, 'ownerId')
  if (owner.kind === 'staff') throw invalid({ field: 'ownerId', message: 'is a member of staff. Choose a customer.' })
  return owner
}

type Changing = Pick<AppContext, 'clock' | 'registry'> & { tx: Tx; actor: Actor }
/** Gives the server to this customer. Throws what the operation refuses. */
export function changeOwner({ tx, actor, clock, registry }: Changing, target: Server, ownerId: string) {
  const owner = newOwner(tx, actor, ownerId)
  mustAllow(target, 'change_owner')
  if (owner.id === target.ownerId)
    throw new ApiError('already_done', `${target.hostname} belongs to ${owner.name} already.`)
  // A reinstallation that waits carries the present owner's keys. A suspension has cancelled whatever was open.
  if (target.status !== 'suspended' && isHeldByJob(tx, target.id))
    throw new ApiError('server_busy', 'A job is working on this server. Wait until it has ended.')
  // Its backup would hold what the next owner writes, under the key of the present one. A suspension leaves it.
  mustHaveUnreadDisk(tx, target)
  const bound = registry.features.flatMap(({ bindsToOwner }) => bindsToOwner?.(tx, target.id) ?? [])
  if (bound.length)
    throw new ApiError(
      'in_use',
      `${list(bound)} ${bound.length === 1 ? 'belongs' : 'belong'} to the present owner of ${target.hostname}. ` +
        `Take ${bound.length === 1 ? 'it' : 'them'} off the server first.`,
    )
  mustNotBeLocked(owner)
  if (!isHostnameFree(tx, { id: target.id, ownerId: owner.id }, target.hostname)) throw hostnameTaken()
  const reseller = resellerOf(tx, owner)
  const before = accountById(tx, target.ownerId)!
  const staysWithin = reseller?.id === resellerOf(tx, before)?.id
  if (reseller && !staysWithin) mustAllowReturn(tx, clock(), reseller, heldResources(tx, target))
  changeWorkload(tx, target.id, { ownerId: owner.id, resellerId: owner.resellerId, ownedSince: clock() })
  // Its installation would carry the keys of the former owner.
  takeInterrupted(tx, target.id)
  // The identifier is of the former provider's billing system; what a reseller has itself is the house's.
  if (owner.resellerId !== target.resellerId) changeWorkload(tx, target.id, { billingServiceId: null })
  const { concerning, data } = inEvent(tx, load(tx, target.id))
  emit(tx, clock(), 'server.owner_changed', concerning, { ...data, previousOwner: customerInEvent(before) })
}
