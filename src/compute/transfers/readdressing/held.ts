// The addresses that a server gave up by a move are held for some days: nobody else gets them, and a move back gives
// them back. Staff release one at once on the page of its pool. Those of its last move are held, and no others, so that
// no server holds more than it has.
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { day, dayText } from '../../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../../kernel/db/open.ts'
import type { ScheduleContext } from '../../../kernel/feature.ts'
import { settingValue, wholeSetting } from '../../../kernel/setting.ts'
import {
  addressesById,
  addressesOf,
  freeReserved,
  type HeldAddress,
  isOwn,
  keepFor,
} from '../../../network/ip-pools/allocate.ts'
import { nodeIdsOf } from '../../../network/ip-pools/queries.ts'
import { load } from '../../server-records/model.ts'
import { changeTransfer, movesThatHold, transferById } from '../queries.ts'
import type { Transfer } from '../tables.ts'

export const heldDays = wholeSetting({
  name: 'transfers.held_days',
  title: 'Old addresses of moved servers',
  words:
    'A server that moves where it gets new addresses leaves its old ones; nobody else gets them for so long, and a ' +
    'move back gives them back. 0: they are free at once.',
  weakens: 'never',
  default: 7,
  minimum: 0,
  maximum: 90,
  unit: 'days',
})

type Holding = Pick<Transfer, 'id' | 'heldUntil'>
/** Names one move in the list of addresses of a pool. */
export const heldReason = ({ id, heldUntil }: Holding) =>
  `Held until ${dayText(heldUntil!)}: a server had it before move ${id}`

/** `reason`: for which its old addresses are kept now. */
export function hold(tx: Tx, { id, serverId, readdressing }: Transfer, reason: string, now: number) {
  const { leave } = readdressing!
  for (const earlier of movesThatHold(tx, serverId)) giveBack(tx, earlier)
  const days = settingValue(tx, heldDays)
  if (days === 0) return freeReserved(tx, leave, reason)
  const heldUntil = now + days * day
  keepFor(tx, leave, { from: reason, to: heldReason({ id, heldUntil }) })
  changeTransfer(tx, id, { heldUntil })
}

/** A move back has ended without taking them: they are held as before, unless their time is over. */
export function holdAgain(tx: Tx, moveId: string, ids: readonly string[], reason: string) {
  const move = transferById(tx, moveId)
  if (!move || move.heldUntil === null) return
  const own = ids.filter((id) => move.readdressing!.leave.includes(id))
  keepFor(tx, own, { from: reason, to: heldReason(move) })
}

function giveBack(tx: Tx, move: Transfer) {
  freeReserved(tx, move.readdressing?.leave ?? [], heldReason(move))
  changeTransfer(tx, move.id, { heldUntil: null })
}

/** Frees those whose time is over, and those of servers that are gone. */
export function freeHeld({ db, app }: Pick<ScheduleContext, 'db' | 'app'>) {
  const now = app.clock()
  const isOver = (tx: Db, { heldUntil, serverId }: Transfer) =>
    heldUntil! <= now || load(tx, serverId).releasedAt !== null
  if (!movesThatHold(db).some((move) => isOver(db, move))) return
  write(db, (tx) => {
    for (const move of movesThatHold(tx)) if (isOver(tx, move)) giveBack(tx, move)
  })
}

/** The move after which addresses are held for the server, and the location to which they belong. */
export function heldOf(tx: Db, serverId: string) {
  const move = movesThatHold(tx, serverId)[0]
  if (!move) return undefined
  const reason = heldReason(move)
  const { leave } = move.readdressing!
  const kept = addressesById(tx, leave).filter((a) => a.reservedFor === reason && a.workloadId === null)
  const locationId = nodeById(tx, move.fromNodeId)?.locationId
  // One that staff gave back by hand ends the way back.
  if (kept.length < leave.length || locationId === undefined) return undefined
  // In the order in which it had them, its primary ones first.
  return { move, locationId, addresses: kept.toSorted((a, b) => leave.indexOf(a.id) - leave.indexOf(b.id)) }
}

/** Those of them that it would get back on this node: at most as many as it has now. Undefined: none. */
export function heldAddressesOn(tx: Db, serverId: string, nodeId: string) {
  const held = heldOf(tx, serverId)
  if (!held?.addresses.every(({ poolId }) => nodeIdsOf(tx, poolId).includes(nodeId))) return undefined
  const kindOf = ({ version, prefixLength }: HeldAddress) => (version === 4 ? '4' : `6/${prefixLength}`)
  const left = addressesOf(tx, serverId).filter(isOwn).map(kindOf)
  const addresses = held.addresses.filter((a) => {
    const at = left.indexOf(kindOf(a))
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  })
  return addresses.length ? { move: held.move, addresses } : undefined
}
