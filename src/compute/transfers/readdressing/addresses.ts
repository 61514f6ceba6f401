// A server that moves to a node whose pools do not carry its addresses gets others there. They are kept for it from the
// beginning of the move on; its own stay in force until its home changes, and are kept until its old node is cleared,
// and for some days longer (held.ts).

import { day } from '../../../kernel/db/clock.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import {
  type AddressNeed,
  addressesById,
  addressesOf,
  freeReserved,
  type HeldAddress,
  isOwn,
  keepFor,
  reserveAddresses,
  swapAddresses,
} from '../../../network/ip-pools/allocate.ts'
import { isRoutedBy } from '../../../network/ip-pools/floating.ts'
import { transitReasons } from '../../../network/ip-pools/vlan/in-transit.ts'
import { membershipsOf } from '../../../network/private-network-records/queries.ts'
import { guestOf } from '../../guest/queries.ts'
import { wantSwitch } from '../../readdressing/switch.ts'
import { load, type Server } from '../../server-records/model.ts'
import { guestCidr } from '../../server-vm/seed.ts'
import { floatingOn, isEmpty } from '../movable.ts'
import type { Readdressing, Transfer } from '../tables.ts'
import { heldAddressesOn, heldReason, hold, holdAgain } from './held.ts'

/**
 * As many addresses as it has of its own, and prefixes as long as its own, beside those that it gets back. They are in
 * the VLAN of those, and of its floating addresses, which come along.
 */
export function addressNeedOf(tx: Db, serverId: string, back: readonly HeldAddress[] = []): AddressNeed {
  const now = addressesOf(tx, serverId)
  const own = now.filter(isOwn)
  const stays = [...back, ...now.filter((address) => !isOwn(address))][0]
  const ipv4 = (of: readonly HeldAddress[]) => of.filter(({ version }) => version === 4).length
  const lengths = own.flatMap(({ version, prefixLength }) => (version === 6 ? [prefixLength] : []))
  for (const { version, prefixLength } of back) if (version === 6) lengths.splice(lengths.indexOf(prefixLength), 1)
  const [ipv6Prefix = null, ...moreIpv6] = lengths
  return { ipv4: ipv4(own) - ipv4(back), ipv6Prefix, moreIpv6, ...(stays && { vlan: stays.pool.vlan }) }
}

/**
 * Why the server cannot be given other addresses by a move, in words behind the name of a node. `leaves`: it leaves its
 * location, to which floating addresses and private networks belong; within it both stay as they are.
 */
export function readdressObstacle(tx: Db, server: Server, leaves: boolean): string | undefined {
  const there = 'would give it new addresses'
  if (leaves && floatingOn(tx, server.id).length)
    return `${there}, and its floating addresses stay in its location: unassign them first`
  if (leaves && membershipsOf(tx, server.id).length)
    return `${there}, and its private networks stay in its location: take it out of them first`
  if (isEmpty(server)) return undefined
  if (server.os === 'linux') return undefined
  if (server.power !== 'running') return `${there}, which Windows learns while it runs: start it first`
  if (!guestOf(tx, server.id)?.agentAnswers)
    return `${there}, which Windows learns from its guest agent, and none answers: install one first`
  return undefined
}

/** The floating address of the server that the node does not route, in words behind its name; undefined: none. */
export function unroutedFloating(tx: Db, serverId: string, nodeId: string): string | undefined {
  const found = floatingOn(tx, serverId).find(({ addressId }) => !isRoutedBy(tx, addressId, nodeId))
  const [address] = found ? addressesById(tx, [found.addressId]) : []
  return address && `does not route its floating address ${address.address}: unassign that first`
}

/** A Linux that has read them at its start is asked by its guest agent for a day; Windows is asked until it answers. */
export function tellInside(tx: Tx, { serverId, readdressing }: Moved, now: number) {
  if (!readdressing) return
  const leave = addressesById(tx, readdressing.leave).map((a) => guestCidr(a).split('/')[0]!)
  const endsAt = load(tx, serverId).os === 'linux' ? now + day : null
  wantSwitch(tx, { serverId, leave, now, endsAt })
}

/** Names one move in the list of addresses of a pool. */
const reasonOf = ({ id }: Pick<Transfer, 'id'>) => transitReasons.move(id)

/**
 * Keeps addresses of the node for the server: those that it had there before, as far as they are held for it, and new
 * ones. Throws `no_addresses`.
 */
export function reserveFor(tx: Tx, moved: Pick<Transfer, 'id' | 'serverId' | 'toNodeId'>): Readdressing {
  const { serverId: workloadId, toNodeId: nodeId } = moved
  const leave = addressesOf(tx, workloadId).flatMap((a) => (isOwn(a) ? [a.id] : []))
  const of = { workloadId, nodeId, reason: reasonOf(moved) }
  const held = heldAddressesOn(tx, workloadId, nodeId)
  if (!held) return { take: reserveAddresses(tx, of, addressNeedOf(tx, workloadId)), leave }
  const back = held.addresses.map(({ id }) => id)
  keepFor(tx, back, { from: heldReason(held.move), to: of.reason })
  const added = reserveAddresses(tx, of, addressNeedOf(tx, workloadId, held.addresses))
  return { take: [...back, ...added], leave, back: held.move.id }
}

type Moved = Pick<Transfer, 'id' | 'serverId' | 'readdressing'>
/** The addresses that the server has on its next node. Floating ones come along, also where its own change. */
export function heldThere(tx: Db, { serverId, readdressing }: Moved): HeldAddress[] {
  const now = addressesOf(tx, serverId)
  if (!readdressing) return now
  const own = addressesById(tx, readdressing.take)
  return [...own, ...now.filter((address) => !isOwn(address))]
}

/** Its new addresses are in force. False: one of them was given to somebody else meanwhile. */
export const takeNew = (tx: Tx, { serverId: workloadId, readdressing, ...moved }: Moved): boolean =>
  !readdressing || swapAddresses(tx, { workloadId, reason: reasonOf(moved) }, readdressing)
/** Its old addresses are in force again, and the new ones are free. */
export function takeOld(tx: Tx, moved: Moved) {
  const { serverId: workloadId, readdressing } = moved
  if (!readdressing) return
  const { take, leave } = readdressing
  swapAddresses(tx, { workloadId, reason: reasonOf(moved) }, { take: leave, leave: take })
  freeNew(tx, moved)
}
/** Of a move that did not come to its end. What was held before is held again. */
export function freeNew(tx: Tx, { readdressing, ...moved }: Moved) {
  if (!readdressing) return
  const { take, back } = readdressing
  if (back !== undefined) holdAgain(tx, back, take, reasonOf(moved))
  freeReserved(tx, take, reasonOf(moved))
}
/** Of a move that did, where nobody can come back to them. */
export const freeOld = (tx: Tx, { readdressing, ...moved }: Moved) =>
  freeReserved(tx, readdressing?.leave ?? [], reasonOf(moved))
/** Of a move that did, once its old node knows nothing of them any more: they are held for some days. */
export function leaveOld(tx: Tx, moved: Transfer, now: number) {
  if (moved.readdressing) hold(tx, moved, reasonOf(moved), now)
}

/** The addresses of both sides as people read them; those that are deleted meanwhile are left out. */
export function changeOf(tx: Db, { readdressing }: Pick<Transfer, 'readdressing'>) {
  const shown = (ids: readonly string[]) =>
    addressesById(tx, ids).map((a) => (a.version === 4 ? a.address : `${a.address}/${a.prefixLength}`))
  return readdressing && { removed: shown(readdressing.leave), added: shown(readdressing.take) }
}
