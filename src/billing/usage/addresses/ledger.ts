// The ledger of addresses: who had each extra and floating one, from when to when. It is kept like that of workloads:
// triggers note what changes hands, and the end of the same transaction takes it in.
import type { Clock } from '../../../kernel/db/clock.ts'
import { beforeCommit, type Db, type Tx } from '../../../kernel/db/open.ts'
import { addressesSettled, addressStatements, type DueAddress, dueAddresses } from './queries.ts'
import type { AddressInterval } from './tables.ts'

/** Keeps the ledger for as long as the database is open. */
export function keepAddressLedger(db: Db, clock: Clock) {
  beforeCommit(db, (tx) => {
    const due = dueAddresses(tx)
    if (!due.length) return
    const now = clock()
    for (const address of due) record(tx, address, now)
    addressesSettled(tx)
  })
}

function record(tx: Tx, { present, open, closedAt }: DueAddress, now: number) {
  const { insert, close, amend, withdraw } = addressStatements(tx)
  if (!open) {
    if (!present) return
    // An address that somebody had before begins anew, whatever the clock says.
    const since = closedAt === null ? Math.min(present.createdAt ?? now, now) : Math.max(closedAt, now)
    return void insert.run(present.addressId, ...facts(present), since)
  }
  if (present && facts(present).every((fact, i) => fact === facts(open)[i])) return
  const at = Math.max(open.since, now)
  const isNew = at === open.since
  if (!present) return void (isNew ? withdraw.run(open.id) : close.run(at, open.id))
  // Several changes in one moment are one.
  if (isNew) return void amend.run(...facts(present), open.id)
  close.run(at, open.id)
  insert.run(present.addressId, ...facts(present), at)
}

const facts = (of: Omit<AddressInterval, 'id' | 'since' | 'until'>) =>
  [
    of.address,
    of.prefixLength,
    of.version,
    of.kind,
    of.holderId,
    of.workloadId,
    of.ownerId,
    of.resellerId,
    of.billingServiceId,
  ] as const
