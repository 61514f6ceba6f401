// A server that moves to a node whose pools do not carry its addresses gets others there. They are kept for it from the
// beginning of the move on; its own stay in force until its home changes, and are kept until its old node is cleared.

import type { Db, Tx } from '../../../kernel/db/open.ts'
import {
  type AddressNeed,
  addressesById,
  addressesOf,
  freeReserved,
  type HeldAddress,
  isOwn,
  reserveAddresses,
  swapAddresses,
} from '../../../network/ip-pools/allocate.ts'
import { membershipsOf } from '../../../network/private-network-records/queries.ts'
import type { Server } from '../../server-records/model.ts'
import { hasNetworkSeed } from '../../server-vm/seed.ts'
import { floatingOn, isEmpty } from '../movable.ts'
import type { Readdressing, Transfer } from '../tables.ts'

/** As many addresses as it has of its own, and a prefix as long as its own. */
export function addressNeedOf(tx: Db, serverId: string): AddressNeed {
  const own = addressesOf(tx, serverId).filter(isOwn)
  return {
    ipv4: own.filter(({ version }) => version === 4).length,
    ipv6Prefix: own.find(({ version }) => version === 6)?.prefixLength ?? null,
  }
}

/** Why the server cannot be given other addresses by a move, in words behind the name of a node. */
export function readdressObstacle(tx: Db, server: Server): string | undefined {
  const there = 'would give it new addresses'
  if (floatingOn(tx, server.id).length)
    return `${there}, and its floating addresses stay in its location: unassign them first`
  if (membershipsOf(tx, server.id).length)
    return `${there}, and its private networks stay in its location: take it out of them first`
  if (addressesOf(tx, server.id).filter((a) => isOwn(a) && a.version === 6).length > 1)
    return `${there}, and it has more than one IPv6 prefix: remove the others first`
  if (isEmpty(server)) return undefined
  if (server.os !== 'linux' || !hasNetworkSeed(server)) return `${there}, which a move can tell Linux alone`
  return undefined
}

/** Names one move in the list of addresses of a pool. */
const reasonOf = ({ id }: Pick<Transfer, 'id'>) => `Move ${id}`

/** Keeps addresses of the node for the server. Throws `no_addresses`. */
export function reserveFor(tx: Tx, moved: Pick<Transfer, 'id' | 'serverId' | 'toNodeId'>): Readdressing {
  const { serverId: workloadId, toNodeId: nodeId } = moved
  const leave = addressesOf(tx, workloadId).flatMap((a) => (isOwn(a) ? [a.id] : []))
  const of = { workloadId, nodeId, reason: reasonOf(moved) }
  return { take: reserveAddresses(tx, of, addressNeedOf(tx, workloadId)), leave }
}

type Moved = Pick<Transfer, 'id' | 'serverId' | 'readdressing'>
/** The addresses that the server has on its next node. */
export const heldThere = (tx: Db, { serverId, readdressing }: Moved): HeldAddress[] =>
  readdressing ? addressesById(tx, readdressing.take) : addressesOf(tx, serverId)

/** Its new addresses are in force. False: one of them was given to somebody else meanwhile. */
export const takeNew = (tx: Tx, { serverId: workloadId, readdressing, ...moved }: Moved): boolean =>
  !readdressing || swapAddresses(tx, { workloadId, reason: reasonOf(moved) }, readdressing)
/** Its old addresses are in force again, and the new ones are free. */
export function takeOld(tx: Tx, { serverId: workloadId, readdressing, ...moved }: Moved) {
  if (!readdressing) return
  const { take, leave } = readdressing
  swapAddresses(tx, { workloadId, reason: reasonOf(moved) }, { take: leave, leave: take })
  freeReserved(tx, take, reasonOf(moved))
}
/** Of a move that did not come to its end. */
export const freeNew = (tx: Tx, { readdressing, ...moved }: Moved) =>
  freeReserved(tx, readdressing?.take ?? [], reasonOf(moved))
/** Of a move that did, once its old node knows nothing of them any more. */
export const freeOld = (tx: Tx, { readdressing, ...moved }: Moved) =>
  freeReserved(tx, readdressing?.leave ?? [], reasonOf(moved))

/** The addresses of both sides as people read them; those that are deleted meanwhile are left out. */
export function changeOf(tx: Db, { readdressing }: Pick<Transfer, 'readdressing'>) {
  const shown = (ids: readonly string[]) =>
    addressesById(tx, ids).map((a) => (a.version === 4 ? a.address : `${a.address}/${a.prefixLength}`))
  return readdressing && { removed: shown(readdressing.leave), added: shown(readdressing.take) }
}
