// Keeps the history: triggers note every address of which a row changes that says who has it, whatever code changed it,
// and the end of the same call, step of a job or transaction takes them in.
import type { Cause } from '../../kernel/audit/cause.ts'
import { type Clock, day } from '../../kernel/db/clock.ts'
import type { ExpiringRows } from '../../kernel/db/expiring.ts'
import { afterChange, beforeCommit, type Db, type Tx } from '../../kernel/db/open.ts'
import { settingValue, wholeSetting } from '../../kernel/setting.ts'
import { endRest, restFreed } from '../ip-pools/quarantine/rest.ts'
import {
  amend,
  begin,
  dueIds,
  dueSettled,
  end,
  forgetEnded,
  isSame,
  lastOf,
  noteRested,
  openOf,
  presentOf,
  withdraw,
} from './queries.ts'
import { addressHistory } from './tables.ts'

export const historyDays = wholeSetting({
  name: 'addresses.history_days',
  title: 'History of addresses',
  words: 'Who had an address is kept for so long after it was given back, to answer abuse reports and authorities.',
  weakens: 'lower',
  default: 400,
  minimum: 30,
  maximum: 3650,
  unit: 'days',
})

/** Keeps the history for as long as the database is open. */
export function keepAddressHistory(db: Db, clock: Clock) {
  const settle = (tx: Tx, cause?: Cause) => {
    const due = dueIds(tx)
    if (!due.length) return
    for (const id of due) settleOne(tx, id, clock(), cause)
    // The rest that this begins or ends is no change of hands.
    dueSettled(tx)
  }
  afterChange(db, settle)
  beforeCommit(db, (tx) => settle(tx))
}

function settleOne(tx: Tx, addressId: string, now: number, cause: Cause | undefined) {
  const [present, open] = [presentOf(tx, addressId), openOf(tx, addressId)]
  if (!open) {
    if (!present) return
    const last = lastOf(tx, addressId)
    // A clock that goes back makes no two holdings overlap.
    const since = Math.max(last?.until ?? 0, now)
    if (last?.restedUntil && last.restedUntil > since) noteRested(tx, last.id, since)
    endRest(tx, addressId)
    return begin(tx, present, since, cause)
  }
  if (present && isSame(present, open)) return
  const at = Math.max(open.since, now)
  // Several changes in one moment are one: nobody used it in between.
  if (at === open.since) return present ? amend(tx, open.id, present) : withdraw(tx, open.id)
  end(tx, open.id, at, cause)
  if (present) return begin(tx, present, at, cause)
  const restsUntil = restFreed(tx, addressId, at)
  if (restsUntil !== null) noteRested(tx, open.id, restsUntil)
}

/** Those that have ended so long ago. */
export const endedHoldings: ExpiringRows = {
  table: addressHistory,
  deleteExpired: (tx, now, most) => forgetEnded(tx, now - settingValue(tx, historyDays) * day, most),
}
