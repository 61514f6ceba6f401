// The guests of a node that was lost or removed run on until its agent hears of it. So their addresses are not given
// to others before the agent has confirmed that nothing runs there, or before the time of the setting is over.
import { hour, minuteText } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { settingValue, wholeSetting } from '../../kernel/setting.ts'
import { addressesOf, freeReserved, isOwn, parkAddress, releaseAddresses } from '../../network/ip-pools/allocate.ts'
import { addressById, reserve } from '../../network/ip-pools/queries.ts'
import {
  dropGoneAddress,
  goneAddress,
  goneAddressesOf,
  goneAddressesUntil,
  isGone,
  nodeById,
  noteGoneAddress,
  reportNode,
} from './queries.ts'
import type { GoneAddress, Node } from './tables.ts'

export const heldHours = wholeSetting({
  name: 'nodes.address_hold_hours',
  title: 'Addresses of lost and removed nodes',
  words:
    'The addresses of servers that were on a node which is lost or removed are kept from others until the node says ' +
    'that it stopped everything, and for so long at most. 0: they are free at once.',
  weakens: 'lower',
  default: 24,
  minimum: 0,
  maximum: 24 * 90,
  unit: 'hours',
})

/** How long addresses are held for the guests of this node; undefined: it is there, or has stopped them. */
function holdFor(tx: Db, node: Node | undefined, now: number) {
  if (!node || !isGone(node) || node.stoppedAt !== null) return undefined
  const until = now + settingValue(tx, heldHours) * hour
  const is = node.removedAt === null ? 'is lost' : 'was removed'
  const words = `Until ${minuteText(until)}: it may still be in use on ${node.name}, which ${is}`
  return until > now ? { nodeId: node.id, words, until } : undefined
}

/**
 * Releases every address of a workload, as `releaseAddresses` does. Those that a guest on a node that is gone may still
 * answer for are free later.
 */
export function releaseAddressesOn(tx: Tx, workload: { id: string; nodeId: string }, now: number) {
  const hold = holdFor(tx, nodeById(tx, workload.nodeId), now)
  if (hold)
    for (const address of addressesOf(tx, workload.id)) {
      if (isOwn(address)) parkAddress(tx, workload.id, address.id, hold.words)
      noteGoneAddress(tx, { addressId: address.id, ...hold })
    }
  releaseAddresses(tx, workload.id)
}

/** Holds addresses that a node had claimed before it was removed, where nothing else has or reserves them. */
export function holdClaimsOf(tx: Tx, nodeId: string, addressIds: readonly string[], now: number) {
  const hold = holdFor(tx, nodeById(tx, nodeId), now)
  if (!hold) return
  for (const id of addressIds) {
    noteGoneAddress(tx, { addressId: id, ...hold })
    holdFreed(tx, id)
  }
}

/** An address that is free now is reserved for as long as a guest on a node that is gone may answer for it. */
export function holdFreed(tx: Tx, addressId: string) {
  const held = goneAddress(tx, addressId)
  const address = held && addressById(tx, addressId)
  if (address && address.workloadId === null && address.reservedFor === null) reserve(tx, addressId, held.words)
}

function free(tx: Tx, held: readonly GoneAddress[]) {
  for (const { addressId, words } of held) {
    freeReserved(tx, [addressId], words)
    dropGoneAddress(tx, addressId)
  }
}

/** A node that is gone has confirmed that nothing runs on it: nothing is held for it any more. */
export function noteStopped(tx: Tx, { id, stoppedAt }: Node, now: number) {
  if (stoppedAt !== null) return
  reportNode(tx, id, { stoppedAt: now })
  free(tx, goneAddressesOf(tx, id))
}

/** Frees those whose time is over. */
export function freeDue(db: Db, now: number) {
  if (goneAddressesUntil(db, now).length) write(db, (tx) => free(tx, goneAddressesUntil(tx, now)))
}
